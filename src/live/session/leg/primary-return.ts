// Brings a session that has failed over back to its primary, where that is requested: at the end of a turn it opens a spare leg at the
// primary while the fallback serves, and at an end of a turn at which that leg is ready, the charts turn to it. What fails on the way
// costs the client nothing and is not reported to it.
import type { LegFailure } from '../../../../machines/events.ts';
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import { type ResolvedCandidate, timingOf } from '../../failover/chain.ts';
import { ReturnPace } from '../../failover/return-pace.ts';
import type { Charts } from '../charts.ts';
import type { EventWriter } from '../event-writer.ts';
import type { Recovery } from '../recovery.ts';
import type { SessionDependencies, SessionOpening } from '../session-opening.ts';
import type { Turns } from '../turns/turns.ts';
import type { CurrentLeg } from './current-leg.ts';

/** From its dial on, a leg at the primary waits this long for the end of a turn: some providers end one without audio after 10 s. */
const WAIT_MS_MAX = 8_000;
/** So much audio of the next turn may be transcribed again. */
const REPEATED_SECONDS_MAX = 2;

export interface PrimaryReturnParts {
  charts: Pick<Charts, 'tell' | 'tellFailover' | 'streaming' | 'mayTry'>;
  leg: Pick<CurrentLeg, 'spare' | 'spareState' | 'hasSpareFor' | 'closeSpare'>;
  recovery: Pick<Recovery, 'takenOver'>;
  turns: Pick<Turns, 'open'>;
  pipeline: Pick<AudioPipeline, 'ended' | 'coveredSamples' | 'sentSamples' | 'lastSpeechSample'>;
  events: Pick<EventWriter, 'returning'>;
}

export class PrimaryReturn {
  readonly #opening: SessionOpening;
  readonly #dependencies: SessionDependencies;
  readonly #parts: PrimaryReturnParts;
  /** Its place in the chain. */
  #primary = 0;
  /** The member that has the audio; undefined before the first. */
  #index: number | undefined;
  /** Made with the first failover. */
  #pace: ReturnPace | undefined;
  #isReturning = false;
  /** The primary refuses the credential. */
  #isRefused = false;
  #timer: unknown;

  constructor(opening: SessionOpening, dependencies: SessionDependencies, parts: PrimaryReturnParts) {
    this.#opening = opening;
    this.#dependencies = dependencies;
    this.#parts = parts;
  }

  /** A leg of that member has the audio from now on. */
  heardBy(index: number): void {
    const before = this.#index ?? this.#primary;
    const isReturning = this.#isReturning;
    this.#index = index;
    this.#isReturning = false;
    if (index === this.#primary) {
      if (before !== index) this.stop();
      if (isReturning) this.#returned();
    } else if (before === this.#primary) this.#left();
    // The leg at the primary was lost before it had any audio.
    else if (isReturning) this.#failed(undefined);
  }

  /** The chain begins again with that member. @param isInPlace it has the audio already */
  configured(primary: number, isInPlace: boolean): void {
    this.stop();
    this.#isReturning = false;
    this.#isRefused = false;
    this.#pace = undefined;
    this.#primary = primary;
    this.#index = isInPlace ? primary : undefined;
  }

  /** A turn has its final. */
  turnSettled(): void {
    if (this.#index === undefined || this.#index === this.#primary) return;
    const { leg } = this.#parts;
    if (leg.hasSpareFor(this.#member)) this.#return();
    else if (leg.spareState === 'none' && this.#isRequested) this.#open();
  }

  /** No leg is wanted but the current one. */
  stop(): void {
    this.#dependencies.clock.clearTimeout(this.#timer);
    this.#parts.leg.closeSpare();
  }

  #left(): void {
    const { clock, settings } = this.#dependencies;
    this.#pace ??= new ReturnPace(settings.returnMs);
    this.#pace.left(clock.now());
  }

  get #isRequested(): boolean {
    return this.#opening.request.returnToPrimary ?? this.#dependencies.settings.returnToPrimary === 'on';
  }

  get #member(): ResolvedCandidate {
    return this.#opening.chain[this.#primary] as ResolvedCandidate;
  }

  /** A second attempt at a model that has failed: it needs a share of the node's budget for these. */
  #open(): void {
    const { clock, access, attempts } = this.#dependencies;
    const { charts, leg, pipeline } = this.#parts;
    const member = this.#member;
    const isPossible = charts.streaming && !pipeline.ended && charts.mayTry(this.#primary);
    if (!isPossible || this.#isRefused || member.barred || this.#pace?.isDue(clock.now()) !== true) return;
    if (attempts.breakers.isOpen(member) || !attempts.retries.hasRoom) return;
    this.#timer = clock.setTimeout(() => this.#unused(), WAIT_MS_MAX);
    leg.spare.open(member, timingOf(member, this.#opening.request, access), attempts.retries.take(), {
      reason: 'probe',
      ready: () => {
        if (this.#isBetweenTurns) this.#return();
      },
      failed: (failure) => this.#failed(failure),
    });
  }

  /** All that was said has its final, or the next turn has hardly begun. */
  get #isBetweenTurns(): boolean {
    const { pipeline, turns } = this.#parts;
    const { coveredSamples, sentSamples } = pipeline;
    if (turns.open) return false;
    const isShort = sentSamples - coveredSamples <= REPEATED_SECONDS_MAX * this.#opening.request.sampleRate;
    return isShort || pipeline.lastSpeechSample(coveredSamples) === undefined;
  }

  #return(): void {
    const { charts, recovery, turns, events, pipeline } = this.#parts;
    if (!charts.streaming || turns.open || pipeline.ended) return;
    this.#dependencies.clock.clearTimeout(this.#timer);
    this.#isReturning = true;
    recovery.takenOver();
    events.returning();
    charts.tellFailover({ type: 'member.returned', index: this.#primary });
    charts.tell({ type: 'session.returning', index: this.#primary });
  }

  #returned(): void {
    const { clock, totals } = this.#dependencies;
    this.#pace?.returned(clock.now());
    totals.primaryReturn('returned');
  }

  #failed(failure: LegFailure | undefined): void {
    const { clock, totals } = this.#dependencies;
    clock.clearTimeout(this.#timer);
    this.#isRefused ||= failure?.kind === 'account';
    // What is the gateway's own, such as all streams in use, says nothing of the primary.
    if (failure?.own === true) this.#pace?.unused(clock.now());
    else this.#pace?.failed(clock.now());
    totals.primaryReturn('failed');
  }

  #unused(): void {
    const { clock, totals } = this.#dependencies;
    this.#parts.leg.closeSpare();
    this.#pace?.unused(clock.now());
    totals.primaryReturn('unused');
  }
}
