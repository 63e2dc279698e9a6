// The circuit breakers of this node: of each model under each credential, at each endpoint, that something has gone wrong with. Sessions and
// files ask them before they choose a model, and report what became of the attempt; machines/breaker.ts decides the rest.
import type { Actor } from 'xstate';
import { type BreakerInput, breakerMachine } from '../../../../machines/breaker.ts';
import type { Clock } from '../../../../machines/clock.ts';
import type { LegFailure } from '../../../../machines/events.ts';
import {
  beginning,
  type Chart,
  type Inspection,
  inspectSystem,
  type Macrostep,
  startObserved,
  stepsOf,
} from '../../../runtime/actors.ts';
import { mayBeOfNode } from '../blame.ts';
import { SERVICE_CREDENTIAL } from '../chain-credential.ts';
import { type Guarded, isPrivate, isShared, keyOf, privateKeyOf, sharedOf } from './guarded.ts';

/** A probe that says nothing for so long is taken for lost. */
const PROBE_MS = 30_000;
/** A breaker that is not kept is closed. */
const CLOSED = 'closed';

export interface BreakersOptions {
  clock: Clock;
  /** Failures in a row that open a breaker. */
  failuresMax: number;
  /** How long it is open the first time, and at most. */
  openMs: number;
  openMsMax: number;
  /** A breaker has opened or closed. */
  onChange?(guarded: Guarded, state: 'open' | 'closed'): void;
  /** A session or a file ran on an organisation's own key, or the provider refused it. */
  onOwnKey?(keyId: string, outcome: 'accepted' | 'refused'): void;
  onFault(error: unknown): void;
}

/** A breaker of this node has opened, or stays open for longer, by what the node itself has met. */
export type Opened = (guarded: Guarded, openMs: number) => void;

export class Breakers {
  readonly #options: BreakersOptions;
  /** Of the gateway's own credentials, for every organisation. */
  readonly #shared: BreakerSet;
  /** Of one organisation: under its own key, or under the gateway's credential by what its own requests met. */
  readonly #private: BreakerSet;
  readonly #listeners = new Set<Opened>();
  #closed = false;

  constructor(options: BreakersOptions) {
    this.#options = options;
    const { clock, failuresMax, openMs, openMsMax, onChange, onFault } = options;
    const input: BreakerInput = { failuresMax, openMs, openMsMax, probeMs: PROBE_MS };
    this.#shared = new BreakerSet({ clock, input, onChange, onFault });
    this.#private = new BreakerSet({ clock, input, onChange, onFault });
  }

  get size(): number {
    return this.#shared.size + this.#private.size;
  }

  /** Those under which calls go elsewhere, or are tried. */
  get openCount(): number {
    return this.#shared.openCount + this.#private.openCount;
  }

  /** Whether calls should go elsewhere. Half open it is not: the next call is the probe. */
  isOpen(guarded: Guarded): boolean {
    return this.#of(guarded).some(({ actor }) => actor.getSnapshot().hasTag('open'));
  }

  /** Places in a chain whose breaker is open. */
  openIn(chain: readonly Guarded[]): number[] {
    return chain.flatMap((member, index) => (this.isOpen(member) ? [index] : []));
  }

  /** An attempt has begun. Gives whether it is the probe: then one of `succeeded`, `failed` and `released` must follow. */
  begun(guarded: Guarded): boolean {
    const breakers = this.#of(guarded);
    const isProbe = breakers.some(({ actor }) => actor.getSnapshot().hasTag('probe'));
    for (const { actor } of breakers) actor.send({ type: 'call.begun' });
    return isProbe;
  }

  /** The model gave a final, or its leg has held for a while. */
  succeeded(guarded: Guarded): void {
    this.#tellOwner(guarded, 'accepted');
    const key = keyOf(guarded);
    const wasOpen = isShared(guarded) && this.#shared.get(key)?.open === true;
    for (const { actor } of this.#of(guarded)) actor.send({ type: 'call.succeeded' });
    if (isShared(guarded)) this.#shared.drop(key);
    this.#private.drop(privateKeyOf(guarded));
    if (!wasOpen) return;
    // What every organisation met is over for each of them.
    for (const [each, { guarded: other }] of this.#private.of(guarded.slug)) {
      if (keyOf(other) === key) this.#private.drop(each);
    }
  }

  failed(guarded: Guarded, failure: CountedFailure): void {
    if (this.#closed) return;
    if (failure.kind === 'account') this.#tellOwner(guarded, 'refused');
    if (isShared(guarded)) {
      const breaker = this.#shared.use(keyOf(guarded), sharedOf(guarded));
      const counted = breaker.failures.count(guarded.organisationId, failure);
      if (counted === undefined) breaker.actor.send({ type: 'call.released' });
      else this.#fail(breaker, counted, failure);
    }
    if (isPrivate(guarded)) this.#fail(this.#private.use(privateKeyOf(guarded), guarded), failure, failure);
  }

  #fail(breaker: Breaker, { kind, retryAfterMs = 0 }: CountedFailure, met: CountedFailure): void {
    const { actor, guarded } = breaker;
    const isOnOwnKey = guarded.credentialId !== SERVICE_CREDENTIAL;
    // What nodes are configured with says nothing of the others' configuration, also where two have met it.
    const isOfNode = met.kind === 'account' && !isOnOwnKey;
    breaker.isDoubtful ||= isOfNode || (mayBeOfNode(met, isOnOwnKey) && met.confirmed !== true);
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
    const [set, key] = isPrivate(guarded)
      ? [this.#private, privateKeyOf(guarded)]
      : ([this.#shared, keyOf(guarded)] as const);
    if (this.#closed || !set.hasRoomFor(key)) return 'no_room';
    set.use(key, guarded).actor.send({ type: 'hint.opened', openMs });
    return 'taken';
  }

  /** The probe told nothing of the model. */
  released(guarded: Guarded): void {
    for (const { actor } of this.#of(guarded)) actor.send({ type: 'call.released' });
  }

  /**
   * Reports each step of the breakers that decide for one organisation until it is detached; gives the current state. Of the shared one
   * those that open or close it.
   */
  watch(guarded: Guarded, watcher: (step: BreakerStep) => void): ReturnType<BreakerWatch['add']> {
    const looks: ReturnType<BreakerWatch['add']>[] = [];
    if (isPrivate(guarded)) looks.push(this.#private.watch(privateKeyOf(guarded), watcher));
    if (isShared(guarded)) {
      let last: unknown = CLOSED;
      const shared = this.#shared.watch(keyOf(guarded), (step) => {
        const isNews = !isPrivate(guarded) || step.value !== CLOSED || last !== CLOSED;
        last = step.value;
        if (isNews) watcher(step);
      });
      last = shared.value;
      looks.push(shared);
    }
    return {
      value: looks.find(({ value }) => value !== CLOSED)?.value ?? CLOSED,
      detach: () => {
        for (const { detach } of looks) detach();
      },
    };
  }

  /** How a model is doing for an organisation, under any of the credentials that it uses; for the gateway's own when absent. */
  statusOf(slug: string, organisationId?: string): 'up' | 'degraded' | 'down' {
    const isOpen = new Map<string, boolean>();
    const own = this.#private
      .of(slug)
      .filter(([, { guarded }]) => organisationId !== undefined && guarded.organisationId === organisationId);
    const shared = this.#shared.of(slug).filter(([, { open, failures }]) => open || failures.isShared);
    for (const [, { guarded, actor }] of [...shared, ...own]) {
      const key = keyOf(guarded);
      isOpen.set(key, isOpen.get(key) === true || actor.getSnapshot().hasTag('open'));
    }
    if (isOpen.size === 0) return 'up';
    // One that waits for a probe has to be asked again by somebody.
    return [...isOpen.values()].every(Boolean) ? 'down' : 'degraded';
  }

  close(): void {
    this.#closed = true;
    this.#shared.close();
    this.#private.close();
  }

  #tellOwner({ credentialId }: Guarded, outcome: 'accepted' | 'refused'): void {
    if (credentialId !== SERVICE_CREDENTIAL) this.#options.onOwnKey?.(credentialId, outcome);
  }

  /** The breakers that decide, as far as there are any. */
  #of(guarded: Guarded): Breaker[] {
    const shared = isShared(guarded) ? this.#shared.get(keyOf(guarded)) : undefined;
    const own = isPrivate(guarded) ? this.#private.get(privateKeyOf(guarded)) : undefined;
    return [shared, own].filter((breaker) => breaker !== undefined);
  }
}

/** Being forgotten means being closed. */
const BREAKERS_MAX = 1_000;

interface Breaker {
  guarded: Guarded;
  actor: Actor<typeof breakerMachine>;
  /** Open or being tried. */
  open: boolean;
  /** Since it last opened, a failure occurred that may have been this or one other node's fault. */
  isDoubtful: boolean;
  failures: SharedFailures;
}

interface BreakerSetOptions {
  clock: Clock;
  input: BreakerInput;
  onChange?: ((guarded: Guarded, state: 'open' | 'closed') => void) | undefined;
  onFault(error: unknown): void;
}

/** A bounded number of breakers, each started when it is first needed. The one that was used longest ago makes room. */
class BreakerSet {
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

type BreakerStep = Pick<Macrostep, 'event' | 'edges' | 'through' | 'value'>;

interface Looked {
  watchers: Set<(step: BreakerStep) => void>;
  inspection: Inspection | undefined;
  value: unknown;
}

/**
 * Whoever looks at the breaker of one model: told of its steps as long as they look, also where the breaker is made, or forgotten,
 * meanwhile. A breaker that nobody looks at has nothing attached.
 */
class BreakerWatch {
  readonly #looked = new Map<string, Looked>();

  /** Gives the state of now, and what ends it. */
  add(key: string, actor: Chart | undefined, watcher: (step: BreakerStep) => void) {
    const looked = this.#looked.get(key) ?? this.#look(key, actor);
    looked.watchers.add(watcher);
    return {
      value: looked.value,
      detach: () => {
        if (!looked.watchers.delete(watcher) || looked.watchers.size > 0) return;
        looked.inspection?.detach();
        this.#looked.delete(key);
      },
    };
  }

  started(key: string, actor: Chart): void {
    const looked = this.#looked.get(key);
    if (looked !== undefined) this.#inspect(looked, actor);
  }

  dropped(key: string): void {
    const looked = this.#looked.get(key);
    if (looked === undefined) return;
    looked.inspection?.detach();
    looked.inspection = undefined;
    if (looked.value !== CLOSED) tell(looked, { event: 'breaker.forgotten', edges: [], through: [], value: CLOSED });
  }

  #look(key: string, actor: Chart | undefined): Looked {
    const looked: Looked = { watchers: new Set(), inspection: undefined, value: CLOSED };
    this.#looked.set(key, looked);
    if (actor !== undefined) this.#inspect(looked, actor);
    return looked;
  }

  #inspect(looked: Looked, actor: Chart): void {
    looked.value = stepsOf(actor)[0]?.value ?? CLOSED;
    looked.inspection = inspectSystem(actor, (step) => {
      if (step.status === 'active') tell(looked, step);
    });
  }
}

function tell(looked: Looked, step: BreakerStep): void {
  looked.value = step.value;
  for (const watcher of [...looked.watchers]) watcher(step);
}

// Which failures count against a model for every organisation. What one organisation sends may fail in any way: a file that makes a
// provider answer 404 or 500, an option that its account may not use, audio that ends a connection. So one organisation alone opens its
// own breaker only; the shared one opens when at least two met failures without a success in between. A request that the provider
// refuses for good (404 and the like) never counts: it may be the request's fault. A provider that could not be reached was sent
// nothing, and counts immediately.
export type CountedFailure = Pick<LegFailure, 'kind'> & Partial<LegFailure>;

/** There was no connection, so no part of the request can be the cause. */
const UNREACHED = 'unreachable';
/** Beyond these, failures count whoever met them. */
const ORGANISATIONS_MAX = 100;

/** The failures of one model since its last success. */
export class SharedFailures {
  readonly #failuresMax: number;
  /** Failures of each organisation. */
  readonly #met = new Map<string, number>();
  /** Organisations that met a failure which opens a breaker at once. */
  readonly #metUrgent = new Set<string>();
  #isCertain = false;

  constructor(failuresMax: number) {
    this.#failuresMax = failuresMax;
  }

  /** Whether the failures are evidence for every organisation. */
  get isShared(): boolean {
    return this.#isCertain || this.#met.size > 1;
  }

  /** @returns the failure as it counts for every organisation; undefined where it does not */
  count(organisationId: string | undefined, failure: CountedFailure): CountedFailure | undefined {
    if (organisationId === undefined || failure.code === UNREACHED) {
      this.#isCertain = true;
      return failure;
    }
    if (failure.lasting === true) return undefined;
    if (this.#met.size >= ORGANISATIONS_MAX) return failure;
    const before = this.#met.get(organisationId) ?? 0;
    this.#met.set(organisationId, before + 1);
    if (failure.kind === 'account' || failure.retryAfterMs !== undefined) {
      this.#metUrgent.add(organisationId);
      if (this.#metUrgent.size > 1) return failure;
    }
    return this.#isWithinShare(before) ? { kind: 'next' } : undefined;
  }

  /** One organisation brings about at most half of the failures that open a breaker. */
  #isWithinShare(before: number): boolean {
    return this.#failuresMax === 1 ? this.#met.size > 1 : before < Math.ceil(this.#failuresMax / 2);
  }
}
