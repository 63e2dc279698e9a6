// Keeps the first fallback of a session connected while its first model serves, where that is requested and the provider neither bills
// nor ends a connection without audio: a failover then needs no dial. One that is lost is dialled again, less and less often.
import type { LegFailure } from '../../../../machines/events.ts';
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import { timingOf } from '../../failover/chain.ts';
import type { Charts } from '../charts.ts';
import type { SessionDependencies, SessionOpening } from '../session-opening.ts';
import type { CurrentLeg } from './current-leg.ts';

/** Pauses before it is dialled again: each is twice the one before. */
const PAUSE_MS = { first: 1_000, max: 60_000 };
/** One that has lasted for so long begins with the first pause again. */
const HELD_MS = 60_000;

export interface StandbyParts {
  charts: Pick<Charts, 'streaming'>;
  pipeline: Pick<AudioPipeline, 'ended'>;
  leg: Pick<CurrentLeg, 'spare' | 'spareState' | 'closeSpare'>;
}

export class Standby {
  readonly #opening: SessionOpening;
  readonly #dependencies: SessionDependencies;
  readonly #parts: StandbyParts;
  /** Places in the chain. */
  #primary = 0;
  #index: number | undefined;
  #pauseMs = PAUSE_MS.first;
  #readyMs: number | undefined;
  #timer: unknown;
  /** The spare leg, if there is one, is that of the fallback. */
  #isOpen = false;

  constructor(opening: SessionOpening, dependencies: SessionDependencies, parts: StandbyParts) {
    this.#opening = opening;
    this.#dependencies = dependencies;
    this.#parts = parts;
  }

  /** A leg of that member has the audio from now on. */
  heardBy(index: number): void {
    this.#index = index;
    this.#dependencies.clock.clearTimeout(this.#timer);
    if (this.#isOpen && index !== this.#primary) this.#left(index);
    // In a microtask: the chart is not streaming yet.
    if (this.#opening.request.standby === true) queueMicrotask(() => this.#open());
  }

  /** The client has switched it on or off. */
  changed(): void {
    this.#dependencies.clock.clearTimeout(this.#timer);
    this.#pauseMs = PAUSE_MS.first;
    if (this.#opening.request.standby === true) this.#open();
    else if (this.#isOpen) {
      this.#isOpen = false;
      this.#parts.leg.closeSpare();
    }
  }

  /** Another member than the first has the audio: the fallback itself with the leg that was there for it, where that was ready. */
  #left(index: number): void {
    const { leg } = this.#parts;
    this.#isOpen = false;
    if (index === this.#primary + 1 && this.#readyMs !== undefined && leg.spareState === 'none')
      this.#dependencies.totals.standby('used');
    leg.closeSpare();
  }

  /** The chain begins again with that member. @param isInPlace it has the audio already */
  configured(primary: number, isInPlace: boolean): void {
    this.stop();
    this.#primary = primary;
    if (isInPlace) this.heardBy(primary);
  }

  /** No leg is wanted but the current one. */
  stop(): void {
    this.#index = undefined;
    this.#isOpen = false;
    this.#dependencies.clock.clearTimeout(this.#timer);
  }

  #open(): void {
    const { access, attempts, clock, totals } = this.#dependencies;
    const { charts, leg, pipeline } = this.#parts;
    const { chain, request } = this.#opening;
    const member = chain[this.#primary + 1];
    if (this.#index !== this.#primary || member === undefined || member.barred || leg.spareState !== 'none') return;
    const timing = timingOf(member, request, access);
    if (timing.isIdleFree !== true || pipeline.ended) return;
    if (!charts.streaming || attempts.breakers.isOpen(member)) {
      this.#openLater();
      return;
    }
    this.#isOpen = true;
    this.#readyMs = undefined;
    leg.spare.open(member, timing, undefined, {
      reason: 'standby',
      ready: () => {
        this.#readyMs = clock.now();
        totals.standby('opened');
      },
      failed: (failure) => this.#failed(failure),
    });
  }

  #failed({ kind }: LegFailure): void {
    const readyMs = this.#readyMs;
    this.#isOpen = false;
    this.#readyMs = undefined;
    this.#dependencies.totals.standby(readyMs === undefined ? 'failed' : 'dropped');
    if (readyMs !== undefined && this.#dependencies.clock.now() - readyMs >= HELD_MS) this.#pauseMs = PAUSE_MS.first;
    // The credential does not get better.
    if (kind !== 'account') this.#openLater();
  }

  #openLater(): void {
    this.#timer = this.#dependencies.clock.setTimeout(() => this.#open(), this.#pauseMs);
    this.#pauseMs = Math.min(PAUSE_MS.max, 2 * this.#pauseMs);
  }
}
