// The workers of one `voxgate serve`: starts the first and then the others, restarts workers that die, drains and stops all of them, and
// decides the exit code. `start` makes a process.
import type { Clock } from '../../../machines/clock.ts';
import { DRAIN_TAIL_MS } from '../../live/session/host.ts';
import { EXIT } from '../shared/output.ts';

/** What a start shows once. */
export interface FirstSecrets {
  /** The first API key, where this start made the data directory. */
  key: string | undefined;
  /** The link that makes the first owner, where there is none. */
  ownerLink: string | undefined;
}

/** The message of a worker that listens. */
export interface Listening {
  type: 'listening';
  url: string;
  first: FirstSecrets;
}

/**
 * A message to a worker. `drain`: no new sessions, live ones end at a turn boundary. `last`: no other process needs it any more, a drain
 * may complete. `stop`: at once.
 */
export type Order = 'drain' | 'last' | 'stop';

/** After all that a node takes to drain: a worker that is still there then is killed. */
const CLOSING_MS = 5_000;
const STOP_MS = 10_000;
/** A restart does not help against these. */
const UNRECOVERABLE: ReadonlySet<number | null> = new Set([EXIT.usage, EXIT.config]);

/** One process. Its methods are safe after its end. */
export interface WorkerProcess {
  send(order: Order): void;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

export interface WorkerEnd {
  code: number | null;
  signal: string | null;
}

export interface StartedAs {
  /** 1 is the one with the accounts. */
  worker: number;
  /** 1, and one more each time it is started again. */
  start: number;
  onListening(message: Listening): void;
  /** Called once, never during `start`. */
  onEnd(end: WorkerEnd): void;
}

export interface WorkerGroupOptions {
  workers: number;
  start(as: StartedAs): WorkerProcess;
  clock: Clock;
  /** The sessions' own time to drain. */
  drainMs: number;
  /** All of them listen for the first time. @param message of the first one */
  onListening(message: Listening): void;
  /** One exited unexpectedly. Without `restartMs` it is not restarted, and everything ends. */
  onLost(lost: WorkerEnd & { worker: number; restartMs: number | undefined }): void;
}

interface Worker {
  readonly number: number;
  readonly restarts: Restarts;
  starts: number;
  process: WorkerProcess | undefined;
  /** Whether it listens, and whether it ever did. */
  listens: boolean;
  listened: boolean;
  timer: unknown;
}

export class WorkerGroup {
  /** Resolves with the exit code when nothing is left. */
  readonly ended: Promise<number>;
  readonly #options: WorkerGroupOptions;
  readonly #workers: readonly Worker[];
  #end!: (code: number) => void;
  #code: number = EXIT.ok;
  #phase: 'runs' | 'drains' | 'stops' = 'runs';
  #first: Listening | undefined;
  #announced = false;
  #deadline: unknown;

  constructor(options: WorkerGroupOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#workers = Array.from({ length: options.workers }, (_, index) => ({
      number: index + 1,
      restarts: new Restarts(),
      starts: 0,
      process: undefined,
      listens: false,
      listened: false,
      timer: undefined,
    }));
  }

  /** Starts the first; the others follow when it listens, since they need its accounts. */
  start(): void {
    this.#start(this.#workers[0] as Worker);
  }

  /** Everything ends in order. The second time, and after {@link stop}, nothing happens. */
  drain(code: number = EXIT.ok): void {
    if (this.#phase !== 'runs') return;
    this.#leave('drains', code, this.#options.drainMs + DRAIN_TAIL_MS + CLOSING_MS);
    for (const worker of this.#running()) {
      if (!worker.listens) worker.process?.kill('SIGTERM');
      else worker.process?.send('drain');
    }
    this.#settle();
  }

  /** Everything ends at once. */
  stop(code: number = EXIT.ok): void {
    if (this.#phase === 'stops') return;
    this.#leave('stops', code, STOP_MS);
    for (const worker of this.#running()) {
      if (!worker.listens) worker.process?.kill('SIGKILL');
      else worker.process?.send('stop');
    }
    this.#settle();
  }

  #leave(phase: 'drains' | 'stops', code: number, patienceMs: number): void {
    const { clock } = this.#options;
    this.#phase = phase;
    this.#code ||= code;
    for (const worker of this.#workers) clock.clearTimeout(worker.timer);
    clock.clearTimeout(this.#deadline);
    this.#deadline = clock.setTimeout(() => {
      this.#code ||= EXIT.failed;
      for (const { process } of this.#running()) process?.kill('SIGKILL');
    }, patienceMs);
  }

  #running(): Worker[] {
    return this.#workers.filter(({ process }) => process !== undefined);
  }

  #start(worker: Worker): void {
    worker.starts++;
    worker.process = this.#options.start({
      worker: worker.number,
      start: worker.starts,
      onListening: (message) => this.#listens(worker, message),
      onEnd: (end) => this.#ended(worker, end),
    });
  }

  #listens(worker: Worker, message: Listening): void {
    worker.listens = true;
    worker.listened = true;
    if (this.#phase === 'drains') worker.process?.send('drain');
    if (this.#phase === 'stops') worker.process?.send('stop');
    if (this.#phase !== 'runs') {
      this.#settle();
      return;
    }
    if (this.#first === undefined) {
      this.#first = message;
      for (const other of this.#workers.slice(1)) this.#start(other);
    }
    if (this.#announced || !this.#workers.every(({ listened }) => listened)) return;
    this.#announced = true;
    this.#options.onListening(this.#first);
  }

  #ended(worker: Worker, end: WorkerEnd): void {
    // A worker that is killed during its start followed an order.
    const isFailure = end.code !== EXIT.ok && worker.listens;
    worker.process = undefined;
    worker.listens = false;
    if (this.#phase === 'runs') this.#lost(worker, end);
    else if (isFailure) this.#code ||= EXIT.failed;
    this.#settle();
  }

  #lost(worker: Worker, end: WorkerEnd): void {
    const { clock, onLost } = this.#options;
    // A worker that never listened has logged why.
    const isUnrecoverable = !worker.listened || UNRECOVERABLE.has(end.code);
    const restartMs = isUnrecoverable ? undefined : worker.restarts.after(clock.now());
    onLost({ ...end, worker: worker.number, restartMs });
    if (restartMs === undefined) this.drain(end.code || EXIT.failed);
    else worker.timer = clock.setTimeout(() => this.#start(worker), restartMs);
  }

  /** Completes the end: the first worker is needed until the others are gone. */
  #settle(): void {
    if (this.#phase === 'runs') return;
    const running = this.#running();
    for (const { number, process } of running) if (number > 1 || running.length === 1) process?.send('last');
    if (running.length > 0) return;
    this.#options.clock.clearTimeout(this.#deadline);
    this.#end(this.#code);
  }
}

const WINDOW_MS = 60_000;
const RESTARTS_MAX = 5;
const BACKOFF_MS = 100;
const BACKOFF_FACTOR = 3;
const BACKOFF_MS_MAX = 10_000;

/** The restarts of one process. */
export class Restarts {
  #at: number[] = [];

  /**
   * It ended: how long to wait before it is started again, longer each time within a minute; undefined when it has been started
   * again often enough in that minute.
   *
   * @param nowMs monotonic
   */
  after(nowMs: number): number | undefined {
    this.#at = this.#at.filter((ms) => nowMs - ms < WINDOW_MS);
    if (this.#at.length === RESTARTS_MAX) return undefined;
    this.#at.push(nowMs);
    return Math.min(BACKOFF_MS * BACKOFF_FACTOR ** (this.#at.length - 1), BACKOFF_MS_MAX);
  }
}
