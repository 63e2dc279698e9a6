// What it means for a session that its leg is ready, has failed or has finished: the charts are told once it is clear whether words
// or audio are still owed their final.
import type { LegFailure } from '../../../../machines/events.ts';
import { unfinished } from '../../../../machines/upstream.ts';
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import { finalMissing } from '../../../vendors/kit/turn-text.ts';
import type { AudioAccount } from '../billing/audio-account.ts';
import type { Charts } from '../charts.ts';
import type { EventWriter } from '../event-writer.ts';
import type { Recovery } from '../recovery.ts';
import type { Signals } from '../signals.ts';
import type { Turns } from '../turns/turns.ts';
import type { CurrentLeg } from './current-leg.ts';

/** The parts of the session that an outcome concerns. */
export interface LegOutcomesParts {
  pipeline: Pick<AudioPipeline, 'ended'>;
  charts: Charts;
  turns: Pick<Turns, 'open' | 'owed' | 'finish'>;
  account: AudioAccount;
  events: Pick<EventWriter, 'lostLeg'>;
  recovery: Recovery;
  leg: Pick<CurrentLeg, 'lost' | 'stalled'>;
  signals: Signals;
}

export class LegOutcomes {
  readonly #parts: LegOutcomesParts;

  /** Up to where the leg had answered when it was asked to finish. */
  #answeredSamples = 0;

  constructor(parts: LegOutcomesParts) {
    this.#parts = parts;
    const { signals } = parts;
    signals.on('legReady', (generation) => this.#ready(generation));
    signals.on('legFinished', (generation) => this.#finished(generation));
    signals.on('legOverdue', (generation) => this.#overdue(generation));
    signals.on('legFailed', (generation, failure) => this.#failed(generation, failure));
  }

  #ready(generation: number): void {
    this.#parts.recovery.ready();
    this.#parts.charts.tell({ type: 'upstream.ready', generation });
  }

  /** A leg that finished while words have no final did not finish: they are heard again, never made final by guess. */
  #finished(generation: number): void {
    const { charts, turns, recovery, account } = this.#parts;
    charts.turn.tell({ type: 'turn.flush' });
    if (turns.open) {
      this.#lose(generation, finalMissing);
      return;
    }
    turns.finish();
    recovery.held();
    if (!charts.suspending) account.finishedInOrder = true;
    charts.tell({ type: 'upstream.finished', generation });
  }

  /** The leg is asked to finish. */
  finishing(): void {
    this.#answeredSamples = this.#parts.account.answeredSamples;
  }

  /**
   * The leg takes longer to finish than its provider needs as a rule, and is alive. Where nothing is left to be heard, only
   * the provider's own goodbye is late. A leg that has said more since is heard out; one that has not is left where another model
   * may be better, and waited for where none is.
   */
  #overdue(generation: number): void {
    const { charts, recovery, account, leg } = this.#parts;
    if (!charts.finishing) return;
    if (this.#isSaidBut('sound')) this.#finished(generation);
    else if (account.answeredSamples === this.#answeredSamples && recovery.hasBetter) leg.stalled();
  }

  /** A leg that was asked to finish and has given every sample its final owes nothing: it need not confirm the end. */
  #failed(generation: number, failure: LegFailure): void {
    const { charts, recovery } = this.#parts;
    charts.turn.tell({ type: 'turn.flush' });
    const isEnding = charts.finishing || charts.suspending;
    // What may be a quiet voice is heard again where another model could hear it.
    const rest = recovery.hasBetter ? 'sound' : 'speech';
    const isSaid = failure.code === unfinished.code ? this.#isSaidBut(rest) : this.#isSettled;
    if (isEnding && isSaid) this.#finished(generation);
    else this.#lose(generation, failure);
  }

  /** The leg was released, and all it was sent is answered for. Gives whether the session is settled by that. */
  rested(): boolean {
    const { turns, account } = this.#parts;
    turns.finish();
    account.heardWhatWasSent();
    return this.settle();
  }

  /** Settles the session where its audio has ended and every sample has its final: there is no leg to say so. */
  settle(): boolean {
    const { pipeline, turns, account, charts } = this.#parts;
    if (!pipeline.ended || !this.#isSettled) return false;
    turns.finish();
    account.finishedInOrder = true;
    charts.tell({ type: 'audio.settled' });
    return true;
  }

  #lose(generation: number, told: LegFailure): void {
    const { charts, account, events, recovery, leg } = this.#parts;
    const failure = recovery.judge(told);
    account.isLegGood = false;
    leg.lost(failure);
    events.lostLeg(failure);
    charts.tell({ type: 'upstream.failed', generation, failure });
    if (charts.unlinked) this.settle();
  }

  /** All that the leg owes is the confirmation: it had time for the rest, which has nothing of that in it. */
  #isSaidBut(what: 'sound' | 'speech'): boolean {
    const { account, turns } = this.#parts;
    return this.#isSettled || (account.lacks(what) && !turns.owed);
  }

  get #isSettled(): boolean {
    return !this.#parts.account.isOwed && !this.#parts.turns.open;
  }
}
