// What a session does about a failed leg, beside its charts: it asks the breakers and the node's budget what is possible now,
// and opens the leg that was chosen. Which one that is, the failover chart decides.

import type { LegFailure } from '../../../machines/events.ts';
import { firstCandidate, type Weighed } from '../../../machines/failover/decision.ts';
import type { AudioPipeline } from '../../audio/pipeline.ts';
import type { Ticket } from '../failover/admission.ts';
import { judged } from '../failover/blame.ts';
import type { ResolvedCandidate } from '../failover/chain.ts';
import { timingOf } from '../failover/chain.ts';
import { ownKeyFailure } from '../failover/chain-credential.ts';
import { noWords } from '../failover/model-attempt.ts';
import type { AudioAccount } from './billing/audio-account.ts';
import type { Charts } from './charts.ts';
import type { EventWriter } from './event-writer.ts';
import type { CurrentLeg } from './leg/current-leg.ts';
import type { SessionDependencies, SessionOpening } from './session-opening.ts';

/** A client whose audio waits longer than this hears of it. */
const WAITING_MS = 1_000;
/** Connections that fail at the same audio are not sent exactly as much of it. */
const PROGRESS_SECONDS_MIN = 2;

/** The parts of the session that a failed leg concerns. */
export interface RecoveryParts {
  charts: Charts;
  leg: CurrentLeg;
  pipeline: Pick<AudioPipeline, 'sentSamples'>;
  account: Pick<AudioAccount, 'isOwed' | 'lacks'>;
  events: Pick<EventWriter, 'waiting'>;
}

export class Recovery {
  readonly #opening: SessionOpening;
  readonly #dependencies: SessionDependencies;
  readonly #charts: Charts;
  readonly #leg: CurrentLeg;
  readonly #pipeline: RecoveryParts['pipeline'];
  readonly #account: RecoveryParts['account'];
  readonly #events: RecoveryParts['events'];
  /** The members that have failed, and when the first did: until a leg has held. */
  readonly #failed = new Set<number>();
  #sinceMs: number | undefined;
  /** Up to where the legs of the incident were sent audio; and whether the leg that is open works, as far as time tells. */
  #failedAtSample = Number.NEGATIVE_INFINITY;
  #isSteady = false;
  /** Since when no leg was ready; and whether the client was told. */
  #unreadySinceMs: number | undefined;
  #isWaitingTold = false;
  /** The leg that is open takes audio. */
  #isReady = false;
  /** A share of the node's retry budget, between the failure and the next attempt. */
  #retry: Ticket | undefined;
  /** The member that has, or had, the leg. */
  #index = 0;
  /** Members that were ready once. */
  readonly #accepting = new Set<number>();
  /** The incident began with a turn without words, not with a failure. */
  #beganEmpty = false;
  /** What the customer is to hear of its own key that was refused, until a leg has held. */
  #ownKey: string | undefined;

  constructor(
    opening: SessionOpening,
    dependencies: SessionDependencies,
    { charts, leg, pipeline, account, events }: RecoveryParts,
  ) {
    this.#opening = opening;
    this.#dependencies = dependencies;
    this.#charts = charts;
    this.#leg = leg;
    this.#pipeline = pipeline;
    this.#account = account;
    this.#events = events;
  }

  /** The member to begin with. */
  first(): number {
    return this.#firstOf(this.#opening.chain);
  }

  /** The chain continues behind so many members, which are tried no more. Gives the member to begin with. */
  configured(before: number): number {
    this.#beginAnew();
    return before + this.#firstOf(this.#opening.chain.slice(before));
  }

  /** Whether the first of a chain would be begun with now. */
  beginsWithFirst(chain: readonly ResolvedCandidate[]): boolean {
    return this.#firstOf(chain) === 0;
  }

  #firstOf(chain: readonly ResolvedCandidate[]): number {
    return firstCandidate(chain.length, this.#dependencies.attempts.breakers.openIn(chain));
  }

  /** The same, where the leg that is open is that of the first new member. */
  became(index: number): void {
    this.#beginAnew();
    this.#index = index;
    this.#accepting.add(index);
    const { chain, request } = this.#opening;
    const member = chain[index] as ResolvedCandidate;
    this.#leg.became(member, timingOf(member, request, this.#dependencies.access));
  }

  /** Another member takes over, and nothing has failed. */
  takenOver(): void {
    this.end();
    this.#over();
  }

  #beginAnew(): void {
    this.end();
    this.#over();
    this.#accepting.clear();
  }

  /** Whether a model behind this one could transcribe a turn without words again. The last resort is for failures alone. */
  get hasNext(): boolean {
    return this.#hasOther((at) => at > this.#index && at !== this.#lastResort);
  }

  openLeg(index: number, generation: number): void {
    const { chain, request } = this.#opening;
    const { access } = this.#dependencies;
    const member = chain[index] as ResolvedCandidate;
    this.#index = index;
    this.#isReady = false;
    this.#isSteady = false;
    const retry = this.#retry;
    this.#retry = undefined;
    // The share is for members that have failed; another one is not a second attempt.
    const isSecondAttempt = this.#failed.has(index);
    if (!isSecondAttempt) retry?.release();
    this.#leg.open(member, timingOf(member, request, access), generation, {
      retry: isSecondAttempt ? retry : undefined,
      hasOther: () => this.#hasOther(() => true),
    });
  }

  /** Whether another member may do better than the one that has the leg: nothing is known against it. */
  get hasBetter(): boolean {
    return this.#hasOther((at) => !this.#failed.has(at));
  }

  /** Its place in the chain, or -1. */
  get #lastResort(): number {
    return this.#opening.chain.findLastIndex(({ isLastResort }) => isLastResort === true);
  }

  #hasOther(isMeant: (at: number) => boolean): boolean {
    const { breakers } = this.#dependencies.attempts;
    return this.#opening.chain.some(
      (other, at) => at !== this.#index && isMeant(at) && this.#charts.mayTry(at) && !breakers.isOpen(other),
    );
  }

  /** The leg is ready: the request was good enough for its provider. */
  ready(): void {
    this.#accepting.add(this.#index);
    this.#isReady = true;
    this.#unreadySinceMs = undefined;
    this.#isWaitingTold = false;
  }

  /**
   * What comes of the failure. Where the customer's own key was refused, it is to hear of that when nothing else is left.
   */
  judge(told: LegFailure): LegFailure {
    const member = this.#opening.chain[this.#index] as ResolvedCandidate;
    const others = [...this.#accepting].some((index) => index !== this.#index);
    const failure = judged(told, member, others);
    this.#ownKey = ownKeyFailure(member, failure) ?? this.#ownKey;
    return this.#ownKey === undefined || failure.kind === 'caller' ? failure : { ...failure, ownKey: this.#ownKey };
  }

  /** The leg of that member has failed. */
  decide(index: number, failure: LegFailure | null): void {
    const { kind = 'next', retryAfterMs = 0, own = false, lasting = false } = failure ?? {};
    if (this.#isSteady && this.#hasProgress) this.held();
    this.#isSteady = false;
    this.#failedAtSample = Math.max(this.#failedAtSample, this.#pipeline.sentSamples);
    if (this.#failed.size === 0) this.#beganEmpty = kind === noWords.kind;
    this.#failed.add(index);
    const wasReady = this.#isReady;
    this.#isReady = false;
    const weighed = this.#weigh();
    // What was lost inside the gateway is not a second attempt at the provider.
    if (own) this.end();
    this.#charts.tellFailover({ type: 'attempt.failed', kind, retryAfterMs, own, lasting, wasReady, ...weighed });
    if (!this.#charts.waiting) return;
    this.end();
    if (!own) this.#tellWaiting();
  }

  /** A pause is over: whether there may be another attempt now. */
  weigh(): void {
    this.#charts.tellFailover({ type: 'attempt.weighed', ...this.#weigh() });
  }

  /** What is possible now. Takes a share of the budget where there is one: what is chosen may be a second attempt. */
  #weigh(): Weighed {
    const { clock, attempts } = this.#dependencies;
    const { chain } = this.#opening;
    const now = clock.now();
    this.#sinceMs ??= now;
    this.#unreadySinceMs ??= now;
    this.end();
    // With the next model connected already, a second dial of the same one would only take longer.
    const mayRetry = attempts.retries.hasRoom && !this.#leg.hasSpareFor(chain[this.#index + 1]);
    if (mayRetry) this.#retry = attempts.retries.take();
    const open = attempts.breakers.openIn(chain);
    // The model that found no words works: it continues before the last resort does.
    if (this.#beganEmpty && this.#lastResort >= 0) open.push(this.#lastResort);
    return { open, mayRetry, elapsedMs: now - this.#sinceMs };
  }

  /** Its client hears of it when nothing could be sent for a while. */
  #tellWaiting(): void {
    const unreadyMs = this.#dependencies.clock.now() - (this.#unreadySinceMs ?? Number.POSITIVE_INFINITY);
    if (this.#isWaitingTold || unreadyMs < WAITING_MS) return;
    const { slug } = this.#opening.chain[this.#index] as ResolvedCandidate;
    this.#isWaitingTold = this.#account.isOwed && this.#events.waiting(slug, 'it fails and is tried again');
  }

  /**
   * The leg has held for a while. What went wrong before is over once the leg is past the audio at which the others failed, or has
   * answered all of it: a model that fails there each time would be tried without end.
   */
  steady(): void {
    this.#isSteady = true;
    if (this.#hasProgress) this.held();
    else this.#leg.held();
  }

  get #hasProgress(): boolean {
    const { sampleRate } = this.#opening.request;
    const isPast = this.#pipeline.sentSamples >= this.#failedAtSample + PROGRESS_SECONDS_MIN * sampleRate;
    // Or another leg would have no speech to hear again.
    return isPast || !this.#account.isOwed || this.#account.lacks('speech');
  }

  /** The leg works: what went wrong before is over. */
  held(): void {
    this.#over();
    this.#leg.held();
    this.#charts.tellHeld();
  }

  #over(): void {
    this.#failed.clear();
    this.#beganEmpty = false;
    this.#sinceMs = undefined;
    this.#failedAtSample = Number.NEGATIVE_INFINITY;
    this.#ownKey = undefined;
  }

  /** No attempt follows that would need a share of the budget. */
  end(): void {
    this.#retry?.release();
    this.#retry = undefined;
  }
}
