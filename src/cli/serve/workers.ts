// `voxgate serve --workers`: the settings of each worker, and what they share: the port, the secret, and NATS. The first keeps the accounts,
// and the others serve next to it. At the end, the side of a worker.
import cluster from 'node:cluster';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadSecret } from '../../accounts/auth/secret.ts';
import type { Config } from '../../config/schema.ts';
import { type Role, rolesOf } from '../../config/schema-cluster.ts';
import { listenFailure, tryAddress } from '../../runtime/address-failure.ts';
import { systemClock } from '../../runtime/telemetry/clock.ts';
import { createLogger, type Logger } from '../../runtime/telemetry/log.ts';
import { CommandError, EXIT } from '../shared/output.ts';
import { onSignals } from './ending.ts';
import { PrivateNats } from './private-nats.ts';
import { type Listening, type Order, type StartedAs, WorkerGroup, type WorkerProcess } from './worker-group.ts';

const NODE_ID_LENGTH_MAX = 32;

interface WorkersOptions {
  config: Config;
  /** All of them listen. */
  onListening(message: Listening): void;
}

/** Runs the workers until a signal ends them. Resolves with the exit code; rejects with one sentence when they cannot serve. */
export async function runWorkers({ config, onListening }: WorkersOptions): Promise<number> {
  const logger = createLogger(config.log.level);
  const common = { ...(await sharedPort(config)), ...secretOf(config), VOXGATE_WORKERS: '1' };
  const roles = rolesOfWorkers(config);
  let group: WorkerGroup | undefined;
  const nats = await privateNats(config, logger, () => group?.drain(EXIT.failed));
  try {
    const start = spawnerOf((worker, starts) => ({
      ...common,
      ...natsSettings(config, nats),
      VOXGATE_ROLES: (worker === 1 ? roles.first : roles.others).join(','),
      VOXGATE_NODE_ID: nodeIdOf(config.cluster.nodeId, worker, starts),
    }));
    const running = new WorkerGroup({
      workers: config.cluster.workers,
      start,
      clock: systemClock,
      drainMs: config.session.drainMs,
      onListening,
      onLost: (lost) => logger.error(lost, 'worker exited unexpectedly'),
    });
    group = running;
    return await untilSignalled(running, logger);
  } finally {
    await nats?.stop();
  }
}

async function untilSignalled(group: WorkerGroup, logger: Logger): Promise<number> {
  let signals = 0;
  const ignoreSignals = onSignals(() => {
    logger.info({ signals: ++signals }, signals === 1 ? 'workers drain' : 'workers stop');
    if (signals === 1) group.drain();
    else group.stop();
  });
  group.start();
  const code = await group.ended;
  ignoreSignals();
  return code;
}

/**
 * The port that all workers share. Any gateway of this user could share it as well, so check first that no process listens on it.
 */
async function sharedPort({ server: { host, port, door } }: Config): Promise<Record<string, string>> {
  const found = await tryAddress(host, port);
  if (!('port' in found)) throw new CommandError(listenFailure(host, port, found.code));
  const settings = { VOXGATE_PORT: String(found.port) };
  // Elsewhere the system takes the option, and gives every connection to one of them.
  if (process.platform === 'linux') return settings;
  if (door !== 'uws') return { ...settings, VOXGATE_DOOR: 'node' };
  throw new CommandError(
    'uWebSockets.js shares a port on Linux only: take one worker, or leave VOXGATE_DOOR away.',
    EXIT.config,
  );
}

/** Made before the first of them starts, so that all of them read the same secret. */
function secretOf({ data }: Config): Record<string, string> {
  return { VOXGATE_SECRET: Buffer.from(loadSecret(data.secret, data.directory)).toString() };
}

/** One of them keeps the accounts, if any of them is to. */
export function rolesOfWorkers({ cluster: { roles } }: Config): { first: readonly Role[]; others: readonly Role[] } {
  const first = rolesOf(roles) ?? [];
  const others = first.filter((role) => role !== 'accounts');
  if (others.length > 0) return { first, others };
  throw new CommandError(
    'VOXGATE_ROLES is "accounts", which one process does: more than one worker needs "edge" or "upstream" as well.',
    EXIT.config,
  );
}

/** One that starts again does not wait for the lease of the one that died. */
export function nodeIdOf(configured: string | undefined, worker: number, starts: number): string {
  if (configured === undefined) return '';
  const suffix = `-${worker}${starts === 1 ? '' : `-${starts}`}`;
  return configured.slice(0, NODE_ID_LENGTH_MAX - suffix.length) + suffix;
}

async function privateNats(config: Config, logger: Logger, onGivenUp: () => void): Promise<PrivateNats | undefined> {
  if (config.cluster.nats !== undefined) return undefined;
  const directory = join(config.data.directory, 'nats');
  return PrivateNats.start({ directory, clock: systemClock, logger, onGivenUp });
}

function natsSettings({ cluster: { natsMissing } }: Config, nats: PrivateNats | undefined): Record<string, string> {
  // Alone, each of them would take the database for its own.
  if (nats === undefined) return natsMissing === 'alone' ? { VOXGATE_NATS_MISSING: 'stop' } : {};
  return {
    VOXGATE_NATS: nats.url,
    VOXGATE_NATS_USER: nats.user,
    VOXGATE_NATS_PASSWORD: nats.password,
    VOXGATE_NATS_MISSING: 'stop',
  };
}

/** Workers of node:cluster: the port of node:http is shared by its means, that of uWebSockets.js by the system's. */
function spawnerOf(settings: (worker: number, starts: number) => Record<string, string>) {
  const program = import.meta.url.endsWith('.ts') ? '../../main.ts' : '../../main.js';
  cluster.setupPrimary({ exec: fileURLToPath(new URL(program, import.meta.url)), args: ['serve'] });
  return ({ worker, start, onListening, onEnd }: StartedAs): WorkerProcess => {
    const forked = cluster.fork(settings(worker, start));
    const { process: child } = forked;
    forked.on('message', (message: Listening) => {
      if (message.type === 'listening') onListening(message);
    });
    // Without it, a channel that breaks while an order is written would end this process.
    forked.on('error', () => {});
    void Promise.race([once(child, 'exit'), once(child, 'error').then(() => [EXIT.failed, null])]).then(
      ([code, signal]) => onEnd({ code, signal }),
      () => onEnd({ code: EXIT.failed, signal: null }),
    );
    return {
      send: (order: Order) => {
        if (forked.isConnected()) forked.send(order);
      },
      kill: (signal) => child.kill(signal),
    };
  };
}

/** The time for everything to close in order once the first process is gone. */
const ALONE_MS = 5_000;

/** The first process, from the side of a worker. */
export class FirstProcess {
  /** Resolves when a drain may complete: until then, other processes may need the accounts of this one. */
  readonly mayFinish: Promise<void>;
  #finish!: () => void;

  private constructor() {
    this.mayFinish = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** Undefined in a process that is not a worker. */
  static ofThisWorker(): FirstProcess | undefined {
    return cluster.isWorker ? new FirstProcess() : undefined;
  }

  send(message: Listening): void {
    process.send?.(message);
  }

  /**
   * Follows the orders until the returned function is called. A signal from another process drains, and never stops: a terminal and a
   * service manager signal the whole group, and the first process has sent its orders already. Without a first process, it ends.
   */
  follow(gateway: { drain(): void; stop(): void }): () => void {
    const receive = (order: Order) => {
      if (order === 'drain') gateway.drain();
      else if (order === 'stop') gateway.stop();
      else if (order === 'last') this.#finish();
    };
    const orphaned = () => {
      // Otherwise it would exit without closing its clients' connections in order.
      this.#staysAfterDisconnect();
      this.#finish();
      gateway.stop();
      setTimeout(() => process.exit(EXIT.failed), ALONE_MS).unref();
    };
    process.on('message', receive);
    cluster.worker?.once('disconnect', orphaned);
    const ignoreSignals = onSignals(() => {
      this.#finish();
      gateway.drain();
    });
    return () => {
      process.off('message', receive);
      cluster.worker?.off('disconnect', orphaned);
      ignoreSignals();
    };
  }

  /** Closes the channel, so that the process can end. */
  leave(): void {
    this.#staysAfterDisconnect();
    if (process.connected) process.disconnect();
  }

  /** Otherwise the process ends in the middle of things, with code 0. */
  #staysAfterDisconnect(): void {
    if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
  }
}
