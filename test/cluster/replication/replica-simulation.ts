// Three replicas of one ledger over a log, for as long as a seed says what goes wrong: kills, pauses, partitions, full disks, lost
// answers, doubled requests, a log whose server is killed or full, that forgets its end or everything. All time is simulated.
import type { Clock } from '../../../machines/clock.ts';
import { Replica, type ReplicaEnd } from '../../../src/cluster/replication/replica.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { type Random, seeded } from '../../fakes/random.ts';
import { EventClock } from '../../simulation/event-clock.ts';
import { LogClient, LogServer } from './faulty-log.ts';
import { add, type ModelAnswer, ModelStore } from './model-store.ts';

const REPLICAS = 3;
const CHAOS_MS = 60_000;
const CALM_MS = 30_000;
const ACCOUNTS = ['a', 'b', 'c'];
const EPOCH_MS = 1_800_000_000_000;
/** Clocks are so far from the right time, at most. */
const APART_MS = 45_000;
/** Without an owner, or with a log that does not answer, plus what clocks are apart. */
const SILENT_MS_MAX = 40_000 + 2 * APART_MS;
const SAY_MS = 1_000;
const HEARD_MS = 3_000;
/** Nothing that goes wrong here makes a replica end for these. */
const NEVER: readonly ReplicaEnd[] = ['different', 'foreign', 'version', 'changed', 'locked'];
/** Until the owner has written again what the log has lost, whatever requests and answers are lost. */
const RESTORED_MS = 10_000;
const REPLICA_FAULTS = ['kill', 'pause', 'partition', 'full disk'] as const;
const LOG_FAULTS = ['kill of the log', 'full log', 'removed oldest entries'] as const;
/** With three replicas present: what one of them alone has may be lost with it. */
const LOSSES = ['forgotten end', 'forgotten log'] as const;

/** The clock of one process, which can be paused and killed. */
class ProcessClock implements Clock {
  readonly #clock: Clock;
  #isPaused = false;
  isDead = false;
  #late: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  setTimeout(callback: () => void, delayMs: number): unknown {
    return this.#clock.setTimeout(() => {
      if (this.isDead) return;
      if (this.#isPaused) this.#late.push(callback);
      else callback();
    }, delayMs);
  }

  clearTimeout(handle: unknown): void {
    this.#clock.clearTimeout(handle);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.isDead) for (const callback of this.#late.splice(0)) callback();
  }
}

interface Process {
  clock: ProcessClock;
  log: LogClient;
  replica: Replica<ModelAnswer>;
}

/** How often each thing went wrong, by its name. */
export type FaultCounts = Record<string, number>;

export interface SimulationResult {
  problems: string[];
  answered: number;
  takeovers: number;
  /** From what ended an owner until another one was sure, in milliseconds, where the log was there meanwhile. */
  takeoverMs: number[];
  faults: FaultCounts;
  ends: ReplicaEnd[];
}

export interface SimulationOptions {
  seed: number;
  /** Whether the log may forget what it accepted. */
  forgets?: boolean;
}

export async function simulateReplicas({ seed, forgets = false }: SimulationOptions): Promise<SimulationResult> {
  return new ReplicaSimulation(seed, forgets).run();
}

class ReplicaSimulation {
  readonly #random: Random;
  readonly #forgets: boolean;
  readonly #clock = new EventClock();
  readonly #server = new LogServer();
  readonly #stores: ModelStore[];
  readonly #processes: (Process | undefined)[] = [];
  readonly #answers = new Map<number, ModelAnswer>();
  readonly #result: SimulationResult = {
    problems: [],
    answered: 0,
    takeovers: 0,
    takeoverMs: [],
    ends: [],
    faults: {},
  };
  /** What each replica said last of how far it has come. */
  readonly #said = new Map<number, { number: number; atMs: number }>();
  #ownerLostMs: number | undefined;
  /** The owner that something happened to last. */
  #lost: Replica<ModelAnswer> | undefined;
  #ids = 0;
  #isCalm = false;

  constructor(seed: number, forgets: boolean) {
    this.#random = seeded(seed);
    this.#forgets = forgets;
    this.#stores = Array.from(
      { length: REPLICAS },
      () => new ModelStore(this.#clock, () => this.#random.integer(0, 5)),
    );
  }

  async run(): Promise<SimulationResult> {
    for (let index = 0; index < REPLICAS; index++) this.#begin(index);
    this.#work();
    this.#watch();
    this.#disturb();
    await this.#clock.run(CHAOS_MS, () => false);
    this.#isCalm = true;
    this.#server.isDown = false;
    this.#server.isFull = false;
    for (const [index, process] of this.#processes.entries()) {
      process?.clock.resume();
      if (process) process.log.isCut = false;
      (this.#stores[index] as ModelStore).fault = undefined;
      if (process === undefined || process.replica.role === 'ended') this.#begin(index);
    }
    await this.#clock.run(CHAOS_MS + CALM_MS, () => false);
    this.#check();
    return this.#result;
  }

  #begin(index: number): void {
    const clock = new ProcessClock(this.#clock);
    const faults = {
      ...{ lostRequests: 0.02, lostAnswers: 0.02, doubledRequests: 0.01, delayMsMax: 10 },
      isOff: () => this.#isCalm,
      onFault: (kind: string) => this.#count(kind),
    };
    const log = new LogClient(this.#server, clock, this.#random, faults);
    const store = this.#stores[index] as ModelStore;
    store.clock = clock;
    // Each start: as if the clock was set meanwhile.
    const apartMs = this.#random.integer(-APART_MS, APART_MS);
    const replica: Replica<ModelAnswer> = new Replica<ModelAnswer>({
      ...{ log, store, clock },
      wallNowMs: () => EPOCH_MS + this.#clock.now() + apartMs,
      ledger: 'led_0',
      node: `accounts-${index}`,
      version: 1,
      claimDelayMs: index * 300,
      mayClaim: async (number) => !this.#isAhead(index, number),
      mayContinue: (number) => log.isCut || !this.#isAhead(index, number),
      onOwner: () => this.#result.takeovers++,
      onEnd: (reason) => {
        this.#result.ends.push(reason);
        if (NEVER.includes(reason)) this.#result.problems.push(`replica ${index} ended: ${reason}`);
        this.#clock.setTimeout(
          () => {
            if (this.#processes[index]?.replica !== replica) return;
            if (reason === 'behind' || reason === 'diverged') store.copyFrom(this.#furthest());
            this.#begin(index);
          },
          this.#random.integer(200, 2_000),
        );
      },
    });
    const say = () => {
      if (!log.isCut && replica.role !== 'ended') {
        this.#said.set(index, { number: replica.position?.number ?? 0, atMs: this.#clock.now() });
      }
      clock.setTimeout(say, SAY_MS);
    };
    say();
    this.#processes[index] = { clock, log, replica };
    void replica.start();
  }

  /** Whether another replica has lately said that it has more entries. */
  #isAhead(index: number, number: number): boolean {
    const sinceMs = this.#clock.now() - HEARD_MS;
    return [...this.#said].some(([other, said]) => other !== index && said.number > number && said.atMs >= sinceMs);
  }

  #count(fault: string): void {
    this.#result.faults[fault] = (this.#result.faults[fault] ?? 0) + 1;
  }

  #furthest(): ModelStore {
    const owner = this.#processes.findIndex((process) => process?.replica.role === 'owning');
    if (owner >= 0) return this.#stores[owner] as ModelStore;
    const lengths = this.#stores.map((store) => store.booked.length + store.refused.length);
    return this.#stores[lengths.indexOf(Math.max(...lengths))] as ModelStore;
  }

  /** Calls of clients, to any replica that says it is the owner. */
  #work(): void {
    for (const process of this.#processes) {
      if (process?.replica.role !== 'owning' || process.clock.isDead) continue;
      const count = this.#random.integer(1, 3);
      const calls = Array.from({ length: count }, () =>
        add(++this.#ids, this.#random.pick(ACCOUNTS), this.#random.integer(-10, 12)),
      );
      process.replica.propose(calls).then(
        (answers) => {
          if (process.clock.isDead) return;
          for (const [index, answer] of answers.entries()) {
            this.#answers.set((calls[index] as (typeof calls)[number]).args[0] as number, answer);
          }
        },
        () => {},
      );
    }
    if (!this.#isCalm || this.#clock.now() < CHAOS_MS + CALM_MS / 2) {
      this.#clock.setTimeout(() => this.#work(), this.#random.integer(5, 100));
    }
  }

  #watch(): void {
    const look = () => {
      const sure = this.#processes.filter((process) => process?.replica.isSure && !process.clock.isDead);
      if (sure.length > 1) this.#result.problems.push(`${sure.length} owners are sure at ${this.#clock.now()} ms`);
      if (this.#server.isDown || this.#server.isFull) this.#ownerLostMs = undefined;
      const isServed = sure.some((process) => !process?.log.isCut && process?.replica !== this.#lost);
      if (isServed && this.#ownerLostMs !== undefined) {
        this.#result.takeoverMs.push(this.#clock.now() - this.#ownerLostMs);
        this.#ownerLostMs = undefined;
      }
      this.#clock.setTimeout(look, 20);
    };
    look();
  }

  /** Something goes wrong now and then; never with two replicas at a time. */
  #disturb(): void {
    this.#clock.setTimeout(() => {
      if (this.#isCalm) return;
      const forMs = this.#random.integer(100, 8_000);
      const kinds = [...REPLICA_FAULTS, ...REPLICA_FAULTS, ...LOG_FAULTS, ...(this.#forgets ? LOSSES : [])];
      const kind = this.#random.pick(kinds);
      const index = this.#random.integer(0, REPLICAS - 1);
      if (isOf(REPLICA_FAULTS, kind)) this.#disturbReplica(kind, index, forMs);
      else if (!isOf(LOSSES, kind) || this.#isComplete()) this.#disturbLog(kind, forMs);
      const untilNextMs = isOf(LOSSES, kind) ? RESTORED_MS : forMs + this.#random.integer(0, 4_000);
      this.#clock.setTimeout(() => this.#disturb(), untilNextMs);
    }, 0);
  }

  /** One replica owns the log, and the others are no more behind than an entry that is on its way. */
  #isComplete(): boolean {
    const numbers = this.#processes.map((process) => process?.replica.position?.number ?? Number.NEGATIVE_INFINITY);
    const roles = this.#processes.map((process) => process?.replica.role).toSorted();
    return Math.max(...numbers) - Math.min(...numbers) <= 1 && `${roles}` === 'following,following,owning';
  }

  #disturbReplica(kind: (typeof REPLICA_FAULTS)[number], index: number, forMs: number): void {
    const process = this.#processes[index];
    const store = this.#stores[index] as ModelStore;
    const isOwner = process?.replica.role === 'owning';
    this.#count(`${kind} of ${isOwner ? 'the owner' : 'a standby'}`);
    if (isOwner) {
      this.#ownerLostMs = this.#clock.now();
      this.#lost = process.replica;
    }
    const heal = (work: () => void) => this.#clock.setTimeout(work, forMs);
    switch (kind) {
      case 'kill':
        if (process) process.clock.isDead = true;
        this.#processes[index] = undefined;
        heal(() => this.#processes[index] ?? this.#begin(index));
        break;
      case 'pause':
        process?.clock.pause();
        heal(() => {
          process?.clock.resume();
          this.#stayed(process);
        });
        break;
      case 'partition':
        if (process) process.log.isCut = true;
        heal(() => {
          if (process) process.log.isCut = false;
          this.#stayed(process);
        });
        break;
      case 'full disk':
        store.fault = new StoreError('failed', 'The database could not do it (SQLITE_FULL): database or disk is full.');
        heal(() => {
          store.fault = undefined;
          this.#stayed(process);
        });
    }
  }

  /** What was over before anything else could own the log was no takeover. */
  #stayed(process: Process | undefined): void {
    if (process?.replica !== this.#lost || process?.replica.role !== 'owning') return;
    this.#lost = undefined;
    this.#ownerLostMs = undefined;
  }

  #disturbLog(kind: (typeof LOG_FAULTS)[number] | (typeof LOSSES)[number], forMs: number): void {
    const server = this.#server;
    this.#count(kind);
    switch (kind) {
      case 'kill of the log':
        server.isDown = true;
        this.#clock.setTimeout(() => {
          server.isDown = false;
          server.restart();
        }, forMs);
        break;
      case 'full log':
        server.isFull = true;
        this.#clock.setTimeout(() => {
          server.isFull = false;
        }, forMs);
        break;
      case 'removed oldest entries':
        server.trim(Math.floor(server.messages.length / 2));
        break;
      case 'forgotten end':
        server.forget(this.#random.integer(1, 3));
        if (this.#random.integer(0, 1) === 1) server.restart();
        break;
      case 'forgotten log':
        server.wipe();
    }
  }

  /** Leases end by the time of the entries: it neither goes back nor leaps, whichever clock writes it. */
  #checkTimes(store: ModelStore): void {
    const { problems } = this.#result;
    for (const [index, nowMs] of store.times.entries()) {
      const sinceMs = nowMs - (store.times[index - 1] ?? nowMs);
      if (sinceMs < 0 || sinceMs > SILENT_MS_MAX) problems.push(`an entry is ${sinceMs} ms after the one before`);
    }
  }

  #check(): void {
    const { problems } = this.#result;
    const owners = this.#processes.flatMap((process, index) => (process?.replica.role === 'owning' ? [index] : []));
    if (owners.length !== 1) problems.push(`${owners.length} replicas own the log in the end`);
    const store = this.#stores[owners[0] ?? 0] as ModelStore;
    for (const [index, other] of this.#stores.entries()) {
      if (other.content !== store.content) problems.push(`replica ${index} has another content than the owner`);
    }
    const all = [...store.booked, ...store.refused];
    if (new Set(all).size !== all.length) problems.push('a call was applied twice');
    const booked = new Set(store.booked);
    const refused = new Set(store.refused);
    for (const [id, answer] of this.#answers) {
      if (!(answer === 'booked' ? booked : refused).has(id))
        problems.push(`call ${id} was answered ${answer} and is lost`);
    }
    this.#checkTimes(store);
    this.#result.answered = this.#answers.size;
  }
}

const isOf = <Kind extends string>(kinds: readonly Kind[], kind: string): kind is Kind => kinds.includes(kind as Kind);
