// `voxgate serve`: runs a gateway until a signal ends it.
import { startGateway } from '../gateway.ts';
import { createLogger } from '../telemetry/log.ts';
import { type Command, readArguments } from './command.ts';
import { EXIT, tell } from './output.ts';
import { loadSettings } from './settings.ts';

const usage = `Usage: voxgate serve

Starts the gateway. Settings are environment variables (voxgate config docs lists them); logs are JSON lines on standard
output. SIGTERM and SIGINT let live sessions end at their next turn boundary; a second signal stops at once.`;

export const serve: Command = {
  name: 'serve',
  summary: 'run the gateway',
  usage,
  async run(args) {
    readArguments({ usage }, args, {});
    const config = loadSettings();
    const gateway = await startGateway({ config, logger: createLogger(config.log.level) });
    const stop = onSignals(gateway);
    tell(welcome(gateway.url, gateway.firstKey?.secret));
    const error = await gateway.ended;
    stop();
    if (error === null) return EXIT.ok;
    tell(`voxgate: ${error}`);
    return EXIT.failed;
  },
};

/** The first signal drains, the second stops. */
function onSignals(gateway: { drain(): void; stop(): void }): () => void {
  let signalled = false;
  const signal = () => {
    if (signalled) gateway.stop();
    else gateway.drain();
    signalled = true;
  };
  process.on('SIGTERM', signal);
  process.on('SIGINT', signal);
  return () => {
    process.off('SIGTERM', signal);
    process.off('SIGINT', signal);
  };
}

function welcome(url: string, firstKey: string | undefined): string {
  const key = firstKey ?? '$VOXGATE_KEY';
  return [
    '',
    `  Voxgate listens on ${url}`,
    ...(firstKey === undefined ? [] : [`  Your first API key, shown only this once: ${firstKey}`]),
    '  Try it:',
    `    curl ${url}/v1/audio/transcriptions -H "Authorization: Bearer ${key}" -F model=local/commands-en -F file=@test/fixtures/audio/commands.wav`,
    '',
  ].join('\n');
}
