// A nats-server for the workers of one gateway: on a loopback port, with a password of its own, its files in the data
// directory. Starts it again when it dies, and leaves none behind, however this process ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Clock } from '../../../machines/clock.ts';
import { tryAddress } from '../../runtime/address-failure.ts';
import type { Logger } from '../../runtime/telemetry/log.ts';
import { CommandError, EXIT } from '../shared/output.ts';
import { Restarts } from './worker-group.ts';

const HOST = '127.0.0.1';
const USER = 'voxgate';
// Below those that the system gives to connections: while it is down, none may sit on its port, least of all a client of it.
const PORT_MIN = 20_000;
const PORT_END = 32_000;
const PORTS_TRIED = 20;
/** The file is for this user alone, as the password in it is. */
const KNOWN_WARNING = 'Plaintext passwords detected';
const READY_MS = 15_000;
const STOP_MS = 5_000;
/** Debian keeps it where only root looks. */
const FURTHER_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/usr/local/bin'];

/**
 * Runs a program that ends when descriptor 3 is closed, as it is when this process ends in whatever way. The lock is the
 * program's as well: two of them never write to one folder, also where the one before takes a moment to go.
 */
const UNTIL_CLOSED = `
exec 9>"$1"; shift
if command -v flock >/dev/null 2>&1; then flock -w 5 9 || { echo "another process uses these files" >&2; exit 75; }; fi
"$@" 3<&- &
program=$!
{ read -r _ <&3; kill "$program"; } 9>&- 2>/dev/null &
guard=$!
wait "$program"
code=$?
kill "$guard" 2>/dev/null
exit "$code"
`;

export interface PrivateNatsOptions {
  /** Made for this user alone when missing. */
  directory: string;
  clock: Clock;
  logger: Logger;
  /** It was started again often enough. */
  onGivenUp(): void;
  /** Its name; `nats-server` when absent. */
  program?: string;
}

export class PrivateNats {
  readonly url: string;
  readonly user = USER;
  readonly password: string;
  readonly #program: string;
  readonly #port: number;
  readonly #options: PrivateNatsOptions;
  readonly #restarts = new Restarts();
  #child: ChildProcess | undefined;
  #timer: unknown;
  #stopped: (() => void) | undefined;

  private constructor(program: string, port: number, options: PrivateNatsOptions) {
    this.#program = program;
    this.#port = port;
    this.#options = options;
    this.url = `nats://${HOST}:${port}`;
    this.password = randomBytes(24).toString('base64url');
  }

  /** Resolves when clients can connect. Rejects with one sentence when there is no such program, or it does not start. */
  static async start(options: PrivateNatsOptions): Promise<PrivateNats> {
    const { program: name = 'nats-server' } = options;
    const program = await findProgram(name);
    if (program === undefined) {
      throw new CommandError(
        `more than one worker needs NATS, and no ${name} was found: install it (\`apt-get install nats-server\`), or set VOXGATE_NATS.`,
        EXIT.config,
      );
    }
    const nats = new PrivateNats(program, await findPort(), options);
    const refused = await nats.#run();
    if (refused === undefined) return nats;
    await nats.stop();
    throw new CommandError(`nats-server did not start: ${refused}.`);
  }

  /** Ends it, and resolves when nothing is left of it. */
  async stop(): Promise<void> {
    const { clock } = this.#options;
    clock.clearTimeout(this.#timer);
    const child = this.#child;
    const gone = new Promise<void>((resolve) => {
      this.#stopped = resolve;
    });
    if (child === undefined) return;
    const timer = clock.setTimeout(() => killGroup(child), STOP_MS);
    closeGuard(child);
    await gone;
    clock.clearTimeout(timer);
  }

  get #configuration(): string {
    return join(this.#options.directory, 'nats-server.conf');
  }

  async #configure(): Promise<void> {
    const { directory } = this.#options;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const lines = [
      `host: ${HOST}`,
      `port: ${this.#port}`,
      `pid_file: ${JSON.stringify(join(directory, 'nats-server.pid'))}`,
      `authorization { user: ${USER}, password: ${JSON.stringify(this.password)} }`,
      `jetstream { store_dir: ${JSON.stringify(directory)} }`,
    ];
    await writeFile(this.#configuration, `${lines.join('\n')}\n`, { mode: 0o600 });
  }

  /** Resolves with undefined when it is ready, or with what it said last when it ended instead. */
  async #run(): Promise<string | undefined> {
    const { clock, directory, logger } = this.#options;
    await this.#configure();
    if (this.#stopped !== undefined) return undefined;
    const command = [join(directory, 'lock'), this.#program, '-c', this.#configuration];
    // In a group of its own: a terminal's interrupt is for the gateway, whose sessions need it to the last.
    const child = spawn('/bin/sh', ['-c', UNTIL_CLOSED, 'sh', ...command], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      detached: true,
      // It does not get this process's environment.
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    });
    this.#child = child;
    child.stdio[3]?.on('error', () => {});
    let last = 'it said nothing';
    return new Promise((resolve) => {
      const timer = clock.setTimeout(() => killGroup(child), READY_MS);
      const outcome = (refused: string | undefined) => {
        clock.clearTimeout(timer);
        resolve(refused);
      };
      child.once('error', (error) => {
        last = error.message;
        this.#over(child);
        outcome(last);
      });
      createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
        last = line.replace(/^\[\d+\] \S+ \S+ /, '');
        if (/\[(ERR|FTL|WRN)\]/.test(line) && !line.includes(KNOWN_WARNING)) logger.warn({ line: last }, 'nats-server');
        if (line.includes('Server is ready')) outcome(undefined);
      });
      // Where only the shell was killed, the program would still be there.
      child.once('exit', () => killGroup(child));
      child.once('close', (code, signal) => {
        logger.debug({ code, signal }, 'nats-server ended');
        this.#over(child);
        outcome(last);
      });
    });
  }

  #over(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    closeGuard(child);
    const { clock, logger, onGivenUp } = this.#options;
    if (this.#stopped !== undefined) {
      this.#stopped();
      return;
    }
    const restartMs = this.#restarts.after(clock.now());
    logger.error({ restartMs }, 'nats-server exited unexpectedly');
    if (restartMs === undefined) onGivenUp();
    else this.#timer = clock.setTimeout(() => void this.#run(), restartMs);
  }
}

/** The program, or what still waits for it, ends when it is told by its own descriptor. */
function closeGuard(child: ChildProcess): void {
  child.stdio[3]?.destroy();
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has gone.
  }
}

async function findProgram(name: string): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined;
  for (const folder of [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), ...FURTHER_FOLDERS]) {
    const path = join(folder, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

async function findPort(): Promise<number> {
  for (let attempt = 0; attempt < PORTS_TRIED; attempt++) {
    const port = randomInt(PORT_MIN, PORT_END);
    if ('port' in (await tryAddress(HOST, port))) return port;
  }
  throw new CommandError('no port of this machine is free for nats-server.');
}
