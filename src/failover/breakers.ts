// The circuit breakers of this node: one for each model under each credential, at each endpoint, that something has gone wrong with. Sessions and
// files ask it before they choose a model, and tell it what became of the attempt; machines/breaker.ts decides the rest.
import type { Actor } from 'xstate';
import { type BreakerInput, breakerMachine } from '../../machines/breaker.ts';
import type { Clock } from '../../machines/clock.ts';
import type { LegFailure } from '../../machines/events.ts';
import { beginning, startObserved } from '../runtime/observe.ts';
import { type BreakerStep, BreakerWatch } from './breaker-watch.ts';
import { SERVICE_CREDENTIAL } from './chain-credential.ts';
import { mayBeOfNode } from './node-failure.ts';

/** Breakers kept; the one that was used longest ago makes room. Being forgotten means being closed. */
const BREAKERS_MAX = 1_000;
/** A probe that says nothing for so long is taken for lost. */
const PROBE_MS = 30_000;

export interface BreakersOptions {
  clock: Clock;
  /** Failures in a row that open a breaker. */
  failuresMax: number;
  /** How long it is open the first time, and at most. */
  openMs: number;
  openMsMax: number;
  /** A breaker has opened or closed. */
  onChange?(slug: string, state: 'open' | 'closed'): void;
  /** A session or a file ran on an organisation's own key, or the provider refused it. */
  onOwnKey?(keyId: string, outcome: 'accepted' | 'refused'): void;
  onFault(error: unknown): void;
}

/** A model under a credential. */
export interface Guarded {
  slug: string;
  /** Which credential: `service`, or the id of a customer's own. Never the credential itself. */
  credentialId: string;
  /** Where a rule has chosen it: one region's trouble says nothing of another. */
  endpoint?: string;
}

/** A breaker of this node has opened, or stays open for longer, by what the node itself has met. */
export type Opened = (guarded: Guarded, openMs: number) => void;

interface Breaker {
  actor: Actor<typeof breakerMachine>;
  open: boolean;
  /** Since it opened last, something has failed that may have been this or one other node's doing. */
  isDoubtful: boolean;
}

export class Breakers {
  readonly #options: BreakersOptions;
  readonly #input: BreakerInput;
  readonly #beginning;
  /** In the order of their last use. */
  readonly #breakers = new Map<string, Breaker>();
  readonly #listeners = new Set<Opened>();
  readonly #watch = new BreakerWatch();
  #closed = false;

  constructor(options: BreakersOptions) {
    this.#options = options;
    const { failuresMax, openMs, openMsMax } = options;
    this.#input = { failuresMax, openMs, openMsMax, probeMs: PROBE_MS };
    this.#beginning = beginning(breakerMachine, this.#input);
  }

  get size(): number {
    return this.#breakers.size;
  }

  /** Those under which calls go elsewhere, or are tried. */
  get openCount(): number {
    return [...this.#breakers.values()].filter(({ open }) => open).length;
  }

  /** Whether calls should go elsewhere. Half open it is not: the next call is the probe. */
  isOpen(guarded: Guarded): boolean {
    return this.#breakers.get(keyOf(guarded))?.actor.getSnapshot().hasTag('open') ?? false;
  }

  /** Places in a chain whose breaker is open. */
  openIn(chain: readonly Guarded[]): number[] {
    return chain.flatMap((member, index) => (this.isOpen(member) ? [index] : []));
  }

  /** An attempt has begun. Gives whether it is the probe: then one of `succeeded`, `failed` and `released` must follow. */
  begun(guarded: Guarded): boolean {
    const actor = this.#breakers.get(keyOf(guarded))?.actor;
    const isProbe = actor?.getSnapshot().hasTag('probe') ?? false;
    actor?.send({ type: 'call.begun' });
    return isProbe;
  }

  /** The model gave a final, or its leg has held for a while. */
  succeeded(guarded: Guarded): void {
    this.#tellOwner(guarded, 'accepted');
    const key = keyOf(guarded);
    const breaker = this.#breakers.get(key);
    if (breaker === undefined) return;
    breaker.actor.send({ type: 'call.succeeded' });
    this.#drop(key, breaker);
  }

  failed(guarded: Guarded, failure: Pick<LegFailure, 'kind'> & Partial<LegFailure>): void {
    if (this.#closed) return;
    const { kind, retryAfterMs = 0 } = failure;
    if (kind === 'account') this.#tellOwner(guarded, 'refused');
    const breaker = this.#of(guarded);
    if (breaker === undefined) return;
    const { actor } = breaker;
    const isOnOwnKey = guarded.credentialId !== SERVICE_CREDENTIAL;
    // What nodes are configured with says nothing of the others' configuration, also where two have met it.
    const isOfNode = kind === 'account' && !isOnOwnKey;
    breaker.isDoubtful ||= isOfNode || (mayBeOfNode(failure, isOnOwnKey) && failure.confirmed !== true);
    const before = actor.getSnapshot();
    actor.send({ type: 'call.failed', kind, retryAfterMs });
    const { context, value } = actor.getSnapshot();
    const stays = before.value === 'open' && context.waitMs <= before.context.waitMs;
    if (value !== 'open' || stays) return;
    const { isDoubtful } = breaker;
    breaker.isDoubtful = false;
    if (isDoubtful) return;
    for (const opened of [...this.#listeners]) opened(guarded, context.waitMs);
  }

  /** Hears of breakers that open by what this node has met, never of those that were hinted at. */
  onOpened(listener: Opened): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Another node leaves the model alone for so long. Nothing that this node knows makes room for it. */
  hinted(guarded: Guarded, openMs: number): 'taken' | 'no_room' {
    const isKnown = this.#breakers.has(keyOf(guarded));
    if (this.#closed || (!isKnown && this.#breakers.size >= BREAKERS_MAX)) return 'no_room';
    this.#of(guarded)?.actor.send({ type: 'hint.opened', openMs });
    return 'taken';
  }

  /** The probe told nothing of the model. */
  released(guarded: Guarded): void {
    this.#breakers.get(keyOf(guarded))?.actor.send({ type: 'call.released' });
  }

  /** Tells of each step of one breaker until it is detached; gives where it is now. */
  watch(guarded: Guarded, watcher: (step: BreakerStep) => void): ReturnType<BreakerWatch['add']> {
    const key = keyOf(guarded);
    return this.#watch.add(key, this.#breakers.get(key)?.actor, watcher);
  }

  /** How a model is doing under any of its credentials. */
  statusOf(slug: string): 'up' | 'degraded' | 'down' {
    const known = [...this.#breakers].filter(([key]) => key.startsWith(`${slug} `));
    if (known.length === 0) return 'up';
    // One that waits for a probe has to be asked again by somebody.
    return known.every(([, { actor }]) => actor.getSnapshot().hasTag('open')) ? 'down' : 'degraded';
  }

  close(): void {
    this.#closed = true;
    for (const { actor } of this.#breakers.values()) actor.stop();
    this.#breakers.clear();
  }

  #tellOwner({ credentialId }: Guarded, outcome: 'accepted' | 'refused'): void {
    if (credentialId !== SERVICE_CREDENTIAL) this.#options.onOwnKey?.(credentialId, outcome);
  }

  #of(guarded: Guarded): Breaker | undefined {
    const key = keyOf(guarded);
    const known = this.#breakers.get(key);
    if (known !== undefined) {
      this.#breakers.delete(key);
      this.#breakers.set(key, known);
      return known;
    }
    const [oldest] = this.#breakers;
    if (this.#breakers.size >= BREAKERS_MAX && oldest !== undefined) this.#drop(...oldest);
    return this.#start(key, guarded.slug);
  }

  #start(key: string, slug: string): Breaker {
    const { clock, onChange, onFault } = this.#options;
    const breaker: Omit<Breaker, 'actor'> & { actor?: Breaker['actor'] } = { open: false, isDoubtful: false };
    breaker.actor = startObserved(
      breakerMachine,
      this.#input,
      clock,
      {
        changed: (snapshot) => {
          const open = !snapshot.hasTag('closed');
          if (open === breaker.open) return;
          breaker.open = open;
          onChange?.(slug, open ? 'open' : 'closed');
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

  #drop(key: string, { actor }: Breaker): void {
    actor.stop();
    this.#breakers.delete(key);
    this.#watch.dropped(key);
  }
}

/** One text for a model under a credential, at an endpoint. */
export const keyOf = ({ slug, credentialId, endpoint }: Guarded): string =>
  [slug, credentialId, ...(endpoint === undefined ? [] : [endpoint])].join(' ');
