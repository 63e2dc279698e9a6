// `voxgate serve`: runs a gateway until a signal ends it; with --workers as several processes on one port, and shows its first secrets.
import cluster from 'node:cluster';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { rolesOf, WORKERS_MAX } from '../../config/schema-cluster.ts';
import { startGateway } from '../../node/gateway.ts';
import { collectByCores } from '../../runtime/collector.ts';
import { createLogger } from '../../runtime/telemetry/log.ts';
import { type Command, readArguments } from '../shared/command.ts';
import { CommandError, EXIT, tell } from '../shared/output.ts';
import { loadSettings, recordAddress } from '../shared/settings.ts';
import { drainOnUncaughtError, EndSignals } from './ending.ts';
import type { FirstSecrets } from './worker-group.ts';
import { FirstProcess, runWorkers } from './workers.ts';

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
        onListening: (message) => {
          recordAddress(config, message.url);
          tell(welcome(message.url, shown(message.first, config), workers));
        },
      });
    }
    collectByCores();
    return serveHere(config, first).finally(() => first?.leave());
  },
};

/** The settings, with the arguments in place of their variables. */
function settingsWith({ port, workers }: { port?: string | undefined; workers?: string | undefined }): Config {
  return loadSettings(
    {
      ...process.env,
      ...(port === undefined ? {} : { VOXGATE_PORT: wholeNumber('--port', port, 0, PORT_MAX) }),
      ...(workers === undefined ? {} : { VOXGATE_WORKERS: wholeNumber('--workers', workers, 1, WORKERS_MAX) }),
    },
    // The first process has reported it.
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
    ...(first === undefined ? { onListening: () => signals.listen() } : { drainsAfter: first.mayFinish }),
  });
  const uncaughtErrors = drainOnUncaughtError(gateway, logger);
  const { url } = gateway;
  const secrets = { key: gateway.firstKey?.secret, ownerLink: await gateway.inviteFirstOwner() };
  const stop = first === undefined ? signals.appliedTo(gateway) : first.follow(gateway);
  if (first === undefined) {
    recordAddress(config, url);
    const lines = shown(secrets, config);
    tell(rolesOf(config.cluster.roles)?.includes('edge') ? welcome(url, lines) : operated(url, config, lines));
  } else first.send({ type: 'listening', url, first: secrets });
  const error = await gateway.ended;
  stop();
  uncaughtErrors.detach();
  if (error === null) return uncaughtErrors.occurred ? EXIT.failed : EXIT.ok;
  tell(`voxgate: ${error}`);
  return EXIT.failed;
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
    '  Try it, with a key in $VOXGATE_KEY and any recording of English speech; no provider is needed:',
    `    curl ${url}/v1/audio/transcriptions -H "Authorization: Bearer $VOXGATE_KEY" -F model=local/dictation-en -F file=@${recording()}`,
    '',
  ].join('\n');
}

const SAMPLE = 'test/fixtures/audio/reading.wav';

/** The sample of a checkout; elsewhere a name that stands for the reader's own file. */
const recording = (): string => (existsSync(SAMPLE) ? SAMPLE : 'recording.mp3');

interface SecretTexts {
  file: string;
  /** Before the secret, on a terminal. */
  shown: string;
  name: string;
  /** What to do with the file. */
  next: string;
  /** What to do without it. */
  instead: string;
}

const KEY: SecretTexts = {
  file: 'first-key',
  shown: 'Your first API key, shown only this once',
  name: 'Your first API key',
  next: 'take it, and delete the file.',
  instead: 'Make one: voxgate keys create',
};

const OWNER_LINK: SecretTexts = {
  file: 'first-owner',
  shown: 'To become its owner, open this link; it works once, within 24 hours',
  name: 'The link that makes its owner',
  next: 'open it; it works once, within 24 hours.',
  instead: 'The next start tries again.',
};

/**
 * The first API key and the link of the first owner: on a terminal they are shown once; else they are in a file that only its owner can
 * read, since the output of a service is kept in logs.
 */
export function firstSecretLines({ key, ownerLink }: FirstSecrets, directory: string, isTerminal: boolean): string[] {
  return [...linesOf(KEY, key, directory, isTerminal), ...linesOf(OWNER_LINK, ownerLink, directory, isTerminal)];
}

function linesOf(words: SecretTexts, secret: string | undefined, directory: string, isTerminal: boolean): string[] {
  if (secret === undefined) return [];
  if (isTerminal) return [`  ${words.shown}: ${secret}`];
  const path = resolve(join(directory, words.file));
  try {
    // From the start before, or left in a directory that was emptied.
    rmSync(path, { force: true });
    writeFileSync(path, `${secret}\n`, { mode: 0o600, flag: 'wx' });
    return [`  ${words.name} is in ${path}: ${words.next}`];
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return [`  ${words.name} could not be written to ${path} (${code}). ${words.instead}`];
  }
}
