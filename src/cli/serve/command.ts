// `voxgate serve`: runs a gateway until a signal ends it; as several processes on one port where that is asked for.
import cluster from 'node:cluster';
import type { Config } from '../../config/schema.ts';
import { rolesOf, WORKERS_MAX } from '../../config/schema-cluster.ts';
import { type Gateway, startGateway } from '../../node/gateway.ts';
import { createLogger } from '../../runtime/telemetry/log.ts';
import { type Command, readArguments } from '../shared/command.ts';
import { recordAddress } from '../shared/gateway-url.ts';
import { CommandError, EXIT, tell } from '../shared/output.ts';
import { loadSettings } from '../shared/settings.ts';
import { onSignals } from '../shared/signals.ts';
import { FirstProcess } from '../workers/messages.ts';
import { runWorkers } from '../workers/workers.ts';
import { type FirstSecrets, firstSecretLines } from './first-secrets.ts';
import { drainOnUncaughtError } from './uncaught-errors.ts';

const PORT_MAX = 65_535;

const usage = `Usage: voxgate serve [--port N] [--workers N]

Starts the gateway. Settings are environment variables: voxgate config docs
lists them. Logs go to standard output, as JSON lines if it is not a terminal.
SIGTERM and SIGINT let live sessions end at their next turn boundary; a second
signal stops at once.

  --port     the port to listen on; VOXGATE_PORT when absent
  --workers  the number of processes on one port, each a node of one gateway;
             VOXGATE_WORKERS when absent. They need NATS: if VOXGATE_NATS names
             no server, a nats-server is run for them`;

export const serve: Command = {
  usage,
  async run(args) {
    const { values } = readArguments({ usage }, args, { port: { type: 'string' }, workers: { type: 'string' } });
    const config = settingsWith(values);
    const first = FirstProcess.ofThisWorker();
    if (first === undefined && config.cluster.workers > 1) {
      const { workers } = config.cluster;
      return runWorkers({
        config,
        onListening: (told) => {
          recordAddress(config, told.url);
          tell(welcome(told.url, shown(told.first, config), workers));
        },
      });
    }
    return serveHere(config, first).finally(() => first?.leave());
  },
};

/** The settings, with what the arguments say of them. */
function settingsWith({ port, workers }: { port?: string | undefined; workers?: string | undefined }): Config {
  return loadSettings(
    {
      ...process.env,
      ...(port === undefined ? {} : { VOXGATE_PORT: wholeNumber('--port', port, 0, PORT_MAX) }),
      ...(workers === undefined ? {} : { VOXGATE_WORKERS: wholeNumber('--workers', workers, 1, WORKERS_MAX) }),
    },
    // A worker is started by one that has said so.
    cluster.isWorker ? () => {} : (sentence) => tell(`voxgate: ${sentence}`),
  );
}

function wholeNumber(option: string, text: string, least: number, most: number): string {
  if (/^\d{1,5}$/.test(text) && Number(text) >= least && Number(text) <= most) return text;
  throw new CommandError(`${option} takes a whole number from ${least} to ${most}.`, EXIT.usage);
}

async function serveHere(config: Config, first: FirstProcess | undefined): Promise<number> {
  const logger = createLogger(config.log.level);
  const signals = new EndSignals();
  const gateway = await startGateway({
    config,
    logger,
    ...(first === undefined ? { onListening: () => signals.listen() } : { drainsAfter: first.needsNobody }),
  });
  const uncaughtErrors = drainOnUncaughtError(gateway, logger);
  const { url } = gateway;
  const secrets = { key: gateway.firstKey?.secret, ownerLink: await gateway.inviteFirstOwner() };
  const stop = first === undefined ? signals.obeyedBy(gateway) : first.obey(gateway);
  if (first === undefined) recordAddress(config, url);
  if (first === undefined)
    tell(
      rolesOf(config.cluster.roles)?.includes('edge')
        ? welcome(url, shown(secrets, config))
        : operated(url, config, shown(secrets, config)),
    );
  else first.tell({ type: 'listening', url, first: secrets });
  const error = await gateway.ended;
  stop();
  uncaughtErrors.detach();
  if (error === null) return uncaughtErrors.occurred ? EXIT.failed : EXIT.ok;
  tell(`voxgate: ${error}`);
  return EXIT.failed;
}

/** The first signal drains, the second stops. One that comes between the opening of the door and the end of the start is kept. */
class EndSignals {
  #count = 0;
  #gateway: Pick<Gateway, 'drain' | 'stop'> | undefined;
  #detach = () => {};

  listen(): void {
    this.#detach = onSignals(() => {
      this.#count++;
      this.#tell();
    });
  }

  obeyedBy(gateway: Pick<Gateway, 'drain' | 'stop'>): () => void {
    this.#gateway = gateway;
    this.#tell();
    return this.#detach;
  }

  #tell(): void {
    if (this.#count === 1) this.#gateway?.drain();
    else if (this.#count > 1) this.#gateway?.stop();
  }
}

const shown = (first: FirstSecrets, { data }: Config): string[] =>
  firstSecretLines(first, data.directory, process.stderr.isTTY === true);

/** A node without clients shows no commands to try. */
function operated(url: string, { cluster }: Config, first: readonly string[]): string {
  return [
    '',
    `  Voxgate serves its operator on ${url}, without clients: its roles are ${cluster.roles}`,
    ...first,
    '',
  ].join('\n');
}

function welcome(url: string, first: readonly string[], processes = 1): string {
  return [
    '',
    `  Voxgate listens on ${url}${processes === 1 ? '' : `, with ${processes} processes`}`,
    `  The console is at ${url}/`,
    ...first,
    '  Try it, with a key in $VOXGATE_KEY:',
    `    curl ${url}/v1/audio/transcriptions -H "Authorization: Bearer $VOXGATE_KEY" -F model=local/commands-en -F file=@test/fixtures/audio/commands.wav`,
    '',
  ].join('\n');
}
