// Three replicas of one ledger over a log, for as long as a seed says what goes wrong: kills, pauses, partitions, lost and doubled
// answers, a log that forgets its end. All time is simulated.
import type { Clock } from '../../../machines/clock.ts';
import { Replica, type ReplicaEnd } from '../../../src/cluster/replication/replica.ts';
import { type Random, seeded } from '../../fakes/random.ts';
import { EventClock } from '../../simulation/event-clock.ts';
import { LogClient, LogServer } from './faulty-log.ts';
import { add, type ModelAnswer, ModelStore } from './model-store.ts';

const REPLICAS = 3;
const CHAOS_MS = 60_000;
const CALM_MS = 30_000;
const ACCOUNTS = ['a', 'b', 'c'];

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

export interface SimulationResult {
  problems: string[];
  answered: number;
  takeovers: number;
  /** Times without an owner that was sure, in milliseconds. */
  withoutOwnerMs: number[];
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
  readonly #result: SimulationResult = { problems: [], answered: 0, takeovers: 0, withoutOwnerMs: [], ends: [] };
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
    for (const [index, process] of this.#processes.entries()) {
      process?.clock.resume();
      if (process) process.log.isCut = false;
      if (process === undefined || process.replica.role === 'ended') this.#begin(index);
    }
    await this.#clock.run(CHAOS_MS + CALM_MS, () => false);
    this.#check();
    return this.#result;
  }

  #begin(index: number): void {
    const clock = new ProcessClock(this.#clock);
    const faults = { lostRequests: 0.02, lostAnswers: 0.02, delayMsMax: 10 };
    const log = new LogClient(this.#server, clock, this.#random, faults);
    const store = this.#stores[index] as ModelStore;
    store.clock = clock;
    const replica: Replica<ModelAnswer> = new Replica<ModelAnswer>({
      ...{ log, store, clock },
      wallNowMs: () => this.#clock.now() + this.#random.integer(-90_000, 90_000),
      ledger: 'led_0',
      node: `accounts-${index}`,
      version: 1,
      claimDelayMs: index * 300,
      mayClaim: async (number) =>
        this.#processes.every(
          (other) => other === undefined || other.log.isCut || (other.replica.position?.number ?? 0) <= number,
        ),
      onOwner: () => this.#result.takeovers++,
      onEnd: (reason) => {
        this.#result.ends.push(reason);
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
    this.#processes[index] = { clock, log, replica };
    void replica.start();
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
    let sinceMs: number | undefined = 0;
    const look = () => {
      const sure = this.#processes.filter((process) => process?.replica.isSure && !process.clock.isDead);
      if (sure.length > 1) this.#result.problems.push(`${sure.length} owners are sure at ${this.#clock.now()} ms`);
      if (sure.length === 0) sinceMs ??= this.#clock.now();
      else if (sinceMs !== undefined) {
        this.#result.withoutOwnerMs.push(this.#clock.now() - sinceMs);
        sinceMs = undefined;
      }
      this.#clock.setTimeout(look, 20);
    };
    look();
  }

  /** Something goes wrong now and then; never with two replicas at a time. */
  #disturb(): void {
    this.#clock.setTimeout(() => {
      if (this.#isCalm) return;
      const index = this.#random.integer(0, REPLICAS - 1);
      const process = this.#processes[index];
      const forMs = this.#random.integer(100, 8_000);
      const heal = (work: () => void) => this.#clock.setTimeout(work, forMs);
      switch (this.#random.integer(0, this.#forgets ? 3 : 2)) {
        case 0:
          if (process) process.clock.isDead = true;
          this.#processes[index] = undefined;
          heal(() => this.#processes[index] ?? this.#begin(index));
          break;
        case 1:
          process?.clock.pause();
          heal(() => process?.clock.resume());
          break;
        case 2:
          if (process) process.log.isCut = true;
          heal(() => {
            if (process) process.log.isCut = false;
          });
          break;
        default:
          this.#server.forget(this.#random.integer(1, 3));
      }
      this.#clock.setTimeout(() => this.#disturb(), forMs + this.#random.integer(0, 4_000));
    }, 0);
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
    this.#result.answered = this.#answers.size;
  }
}
