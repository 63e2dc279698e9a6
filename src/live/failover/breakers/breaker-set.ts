// A bounded number of breakers, each started when it is first needed. The one that was used longest ago makes room.
import type { Actor } from 'xstate';
import { type BreakerInput, breakerMachine } from '../../../../machines/breaker.ts';
import type { Clock } from '../../../../machines/clock.ts';
import { beginning, startObserved } from '../../../runtime/actors.ts';
import { type BreakerStep, BreakerWatch } from './breaker-watch.ts';
import type { Guarded } from './guarded.ts';
import { SharedFailures } from './shared-failures.ts';

/** Being forgotten means being closed. */
const BREAKERS_MAX = 1_000;

export interface Breaker {
  guarded: Guarded;
  actor: Actor<typeof breakerMachine>;
  /** Open or being tried. */
  open: boolean;
  /** Since it last opened, a failure occurred that may have been this or one other node's fault. */
  isDoubtful: boolean;
  failures: SharedFailures;
}

export interface BreakerSetOptions {
  clock: Clock;
  input: BreakerInput;
  onChange?: ((guarded: Guarded, state: 'open' | 'closed') => void) | undefined;
  onFault(error: unknown): void;
}

export class BreakerSet {
  readonly #options: BreakerSetOptions;
  readonly #beginning;
  /** In the order of their last use. */
  readonly #breakers = new Map<string, Breaker>();
  readonly #watch = new BreakerWatch();

  constructor(options: BreakerSetOptions) {
    this.#options = options;
    this.#beginning = beginning(breakerMachine, options.input);
  }

  get size(): number {
    return this.#breakers.size;
  }

  get openCount(): number {
    return [...this.#breakers.values()].filter(({ open }) => open).length;
  }

  get(key: string): Breaker | undefined {
    return this.#breakers.get(key);
  }

  /** Those of one model, with their keys. */
  of(slug: string): [key: string, breaker: Breaker][] {
    return [...this.#breakers].filter(([, { guarded }]) => guarded.slug === slug);
  }

  hasRoomFor(key: string): boolean {
    return this.#breakers.has(key) || this.#breakers.size < BREAKERS_MAX;
  }

  /** The breaker, which is started where there is none. */
  use(key: string, guarded: Guarded): Breaker {
    const known = this.#breakers.get(key);
    if (known !== undefined) {
      this.#breakers.delete(key);
      this.#breakers.set(key, known);
      return known;
    }
    const [oldest] = this.#breakers.keys();
    if (this.#breakers.size >= BREAKERS_MAX && oldest !== undefined) this.drop(oldest);
    return this.#start(key, guarded);
  }

  drop(key: string): void {
    const breaker = this.#breakers.get(key);
    if (breaker === undefined) return;
    breaker.actor.stop();
    this.#breakers.delete(key);
    this.#watch.dropped(key);
  }

  /** Reports each step of one breaker until it is detached; gives its current state. */
  watch(key: string, watcher: (step: BreakerStep) => void): ReturnType<BreakerWatch['add']> {
    return this.#watch.add(key, this.#breakers.get(key)?.actor, watcher);
  }

  close(): void {
    for (const { actor } of this.#breakers.values()) actor.stop();
    this.#breakers.clear();
  }

  #start(key: string, guarded: Guarded): Breaker {
    const { clock, input, onChange, onFault } = this.#options;
    const failures = new SharedFailures(input.failuresMax);
    const breaker: Omit<Breaker, 'actor'> & { actor?: Breaker['actor'] } = {
      ...{ guarded, failures, open: false, isDoubtful: false },
    };
    breaker.actor = startObserved(
      breakerMachine,
      input,
      clock,
      {
        changed: (snapshot) => {
          const open = !snapshot.hasTag('closed');
          if (open === breaker.open) return;
          breaker.open = open;
          onChange?.(guarded, open ? 'open' : 'closed');
        },
        ended: () => {},
        failed: (error) => {
          onFault(error);
          this.#breakers.delete(key);
          this.#watch.dropped(key);
        },
      },
      this.#beginning,
    );
    this.#breakers.set(key, breaker as Breaker);
    this.#watch.started(key, breaker.actor);
    return breaker as Breaker;
  }
}
