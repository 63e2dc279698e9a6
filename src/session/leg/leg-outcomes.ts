// What it means for a session that its leg is ready, has failed or has finished: the charts are told once it is clear whether words
// or audio are still owed their final.
import type { LegFailure } from '../../../machines/events.ts';
import type { AudioPipeline } from '../../audio/pipeline.ts';
import { finalMissing } from '../../providers/turn-text.ts';
import type { AudioAccount } from '../billing/audio-account.ts';
import type { Charts } from '../charts.ts';
import type { EventWriter } from '../event-writer.ts';
import type { Recovery } from '../recovery.ts';
import type { Turns } from '../turns/turns.ts';
import type { CurrentLeg } from './current-leg.ts';

/** The parts of the session that an outcome concerns. */
export interface LegOutcomesParts {
  pipeline: Pick<AudioPipeline, 'ended' | 'coveredSamples' | 'soundSince'>;
  charts: Charts;
  turns: Pick<Turns, 'open' | 'finish'>;
  account: AudioAccount;
  events: Pick<EventWriter, 'lostLeg'>;
  recovery: Recovery;
  leg: Pick<CurrentLeg, 'lost'>;
}

export class LegOutcomes {
  readonly #parts: LegOutcomesParts;

  constructor(parts: LegOutcomesParts) {
    this.#parts = parts;
  }

  ready(generation: number): void {
    this.#parts.recovery.ready();
    this.#parts.charts.tell({ type: 'upstream.ready', generation });
  }

  /** A leg that finished while words have no final did not finish: they are heard again, never made final by guess. */
  finished(generation: number): void {
    const { charts, turns, recovery, account } = this.#parts;
    charts.tellTurn({ type: 'turn.flush' });
    if (turns.open) {
      this.#lose(generation, finalMissing);
      return;
    }
    turns.finish();
    recovery.held();
    if (!charts.suspending) account.finishedInOrder = true;
    charts.tell({ type: 'upstream.finished', generation });
  }

  /** A leg that was asked to finish and has given every sample its final owes nothing: it need not confirm the end. */
  failed(generation: number, failure: LegFailure): void {
    const { charts } = this.#parts;
    charts.tellTurn({ type: 'turn.flush' });
    if ((charts.finishing || charts.suspending) && this.#isSettled) this.finished(generation);
    else this.#lose(generation, failure);
  }

  /** Whether there is nothing to be heard in what the leg was sent, and no turn open, that has no final. */
  get isAnswered(): boolean {
    const { pipeline, turns } = this.#parts;
    return !turns.open && !pipeline.soundSince(pipeline.coveredSamples);
  }

  /** The leg was let go of, and all it was sent is answered for. Gives whether the session is settled by that. */
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

  get #isSettled(): boolean {
    return !this.#parts.account.isOwed && !this.#parts.turns.open;
  }
}
