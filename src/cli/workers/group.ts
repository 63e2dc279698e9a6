// The workers of one `voxgate serve`: starts the first and then the others, starts again what dies, drains and stops all of
// them, and says with which code everything ends. How a process is made is left to `start`.
import type { Clock } from '../../../machines/clock.ts';
import { DRAIN_TAIL_MS } from '../../live/session/host.ts';
import { EXIT } from '../shared/output.ts';
import type { Listening, Order } from './messages.ts';
import { Restarts } from './restarts.ts';

/** After all that a node takes to drain: a worker that is still there then is killed. */
const CLOSING_MS = 5_000;
const STOP_MS = 10_000;
/** Starting again does not help against these. */
const HOPELESS: ReadonlySet<number | null> = new Set([EXIT.usage, EXIT.config]);

/** One process. Its methods are safe after its end. */
export interface WorkerProcess {
  tell(order: Order): void;
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
  onListening(told: Listening): void;
  /** Called once, never during `start`. */
  onEnd(end: WorkerEnd): void;
}

export interface WorkerGroupOptions {
  workers: number;
  start(as: StartedAs): WorkerProcess;
  clock: Clock;
  /** The sessions' own time to drain. */
  drainMs: number;
  /** All of them listen for the first time: what the first one told. */
  onListening(told: Listening): void;
  /** One ended unasked. `restartMs` undefined: it is not started again, and everything ends. */
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

  /** Starts the first; the others follow when it listens, for what they ask of it is there then. */
  start(): void {
    this.#start(this.#workers[0] as Worker);
  }

  /** Everything ends in order. The second time, and after {@link stop}, nothing happens. */
  drain(code: number = EXIT.ok): void {
    if (this.#phase !== 'runs') return;
    this.#leave('drains', code, this.#options.drainMs + DRAIN_TAIL_MS + CLOSING_MS);
    for (const worker of this.#running()) {
      if (!worker.listens) worker.process?.kill('SIGTERM');
      else worker.process?.tell('drain');
    }
    this.#look();
  }

  /** Everything ends at once. */
  stop(code: number = EXIT.ok): void {
    if (this.#phase === 'stops') return;
    this.#leave('stops', code, STOP_MS);
    for (const worker of this.#running()) {
      if (!worker.listens) worker.process?.kill('SIGKILL');
      else worker.process?.tell('stop');
    }
    this.#look();
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
      onListening: (told) => this.#listens(worker, told),
      onEnd: (end) => this.#ended(worker, end),
    });
  }

  #listens(worker: Worker, told: Listening): void {
    worker.listens = true;
    worker.listened = true;
    if (this.#phase === 'drains') worker.process?.tell('drain');
    if (this.#phase === 'stops') worker.process?.tell('stop');
    if (this.#phase !== 'runs') {
      this.#look();
      return;
    }
    if (this.#first === undefined) {
      this.#first = told;
      for (const other of this.#workers.slice(1)) this.#start(other);
    }
    if (this.#announced || !this.#workers.every(({ listened }) => listened)) return;
    this.#announced = true;
    this.#options.onListening(this.#first);
  }

  #ended(worker: Worker, end: WorkerEnd): void {
    // One that is killed while it is still starting does what it was told.
    const isFailure = end.code !== EXIT.ok && worker.listens;
    worker.process = undefined;
    worker.listens = false;
    if (this.#phase === 'runs') this.#lost(worker, end);
    else if (isFailure) this.#code ||= EXIT.failed;
    this.#look();
  }

  #lost(worker: Worker, end: WorkerEnd): void {
    const { clock, onLost } = this.#options;
    // What never worked is wrong in itself, and has said so.
    const isHopeless = !worker.listened || HOPELESS.has(end.code);
    const restartMs = isHopeless ? undefined : worker.restarts.after(clock.now());
    onLost({ ...end, worker: worker.number, restartMs });
    if (restartMs === undefined) this.drain(end.code || EXIT.failed);
    else worker.timer = clock.setTimeout(() => this.#start(worker), restartMs);
  }

  /** Once everything is to end: the first worker is needed until the others have gone. */
  #look(): void {
    if (this.#phase === 'runs') return;
    const running = this.#running();
    for (const { number, process } of running) if (number > 1 || running.length === 1) process?.tell('last');
    if (running.length > 0) return;
    this.#options.clock.clearTimeout(this.#deadline);
    this.#end(this.#code);
  }
}
