// The turns of a session: what its legs hear becomes transcript events on the session's own timeline. Texts and positions
// live here; when a final is due is the turn chart's decision, which this class is told of boundaries by.
import type { Heard, LegFailure, Utterance } from '../../../../machines/events.ts';
import type { ListenRequest } from '../../../api/listen.ts';
import type { LegTimeline } from '../../../audio/leg-timeline.ts';
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import { type TurnMessage, TurnText } from '../../../vendors/kit/turn-text.ts';
import { noWords } from '../../failover/model-attempt.ts';
import type { AudioAccount } from '../billing/audio-account.ts';
import type { EventWriter } from '../event-writer.ts';
import type { Outbox } from '../outbox.ts';
import type { SessionTotals } from '../session-opening.ts';
import type { SessionDelays } from '../watch/session-delays.ts';
import type { SessionLog } from '../watch/session-log.ts';
import type { TurnChart } from './turn-chart.ts';
import { endConfidenceOf, SpeakerNumbers, TurnEvents, transcriptEvent } from './turn-events.ts';
import { TurnPlacement } from './turn-placement.ts';

/** A shorter turn is heard again as a whole, so that a sentence stays in one piece; a longer one would make the next finals late. */
const KEPT_SECONDS_MIN = 10;

/** The parts of the session that the turns work with. */
export interface TurnsParts {
  request: Pick<ListenRequest, 'sampleRate' | 'interimResults' | 'turnEvents'>;
  pipeline: Pick<AudioPipeline, 'receivedSamples' | 'sentSamples' | 'speechStartAfter' | 'meter'>;
  account: Pick<AudioAccount, 'covered' | 'answered'>;
  chart: Pick<TurnChart, 'tell'>;
  events: Pick<EventWriter, 'speakersRestarted' | 'warn' | 'warnOnce'>;
  outbox: Pick<Outbox, 'push'> & Partial<Pick<Outbox, 'texts'>>;
  totals: Pick<SessionTotals, 'dropped'>;
  empties: Pick<EmptyTurns, 'isHeardAgain'>;
  delays: Pick<SessionDelays, 'partial' | 'final'>;
  log: Pick<SessionLog, 'turn'>;
}

/** One for each session. `beginLeg` starts again with each leg; turn numbers and positions continue. */
export class Turns {
  readonly #parts: TurnsParts;
  readonly #place: TurnPlacement;
  #text = new TurnText();
  #model = '';
  readonly #speakers = new SpeakerNumbers();
  readonly #bounds: TurnEvents;
  #due: Utterance | undefined;
  #dueConfidence: number | undefined;
  /** The turn ended without the words that were shown of it: its provider may say another end. */
  #isEmptied = false;
  /** When the message was read that is being heard, and the one that made the final that is due. */
  #readMs = 0;
  #dueReadMs = 0;
  /** Number of the current turn. */
  number = 0;
  #interimShown = false;
  /** Up to where words of the current turn were shown by a leg that failed. */
  #shownToSample = 0;
  #lastShownSample = 0;
  /** Up to where the legs have said anything of the audio. */
  #heardSamples = 0;

  constructor(parts: TurnsParts) {
    this.#parts = parts;
    this.#place = new TurnPlacement(parts.pipeline, parts.request.sampleRate);
    this.#bounds = new TurnEvents(parts.request.turnEvents === true, parts.outbox);
  }

  /** A new leg hears, and what it hears lies there in the session. */
  beginLeg(model: string, timeline: LegTimeline): void {
    this.#text = new TurnText();
    this.#model = model;
    this.#place.beginLeg(timeline);
    this.#speakers.beginLeg();
    // The client does not see its text shrink: what is heard again is shown once it says more.
    this.#shownToSample = this.#interimShown ? this.#lastShownSample : 0;
  }

  /** Whether words were heard that have no final yet. */
  get open(): boolean {
    return this.#text.open;
  }

  /** Whether words were heard, or shown, that have no final yet. */
  get owed(): boolean {
    return this.open || this.#interimShown;
  }

  /** What the current leg has heard, and when it was read from its provider. */
  hear(heard: Heard, readMs: number): void {
    const { events, account } = this.#parts;
    this.#readMs = readMs;
    if (heard.type === 'speech.started') {
      const start = this.#place.startSampleOf(heard.start);
      this.#bounds.speech(this.number, this.#place.secondsOf(start));
    } else if (heard.type === 'warned') {
      if (heard.once) events.warnOnce(heard);
      else events.warn(heard);
    } else if ('turnId' in heard) {
      this.#hearTurn(heard);
      account.answered(this.#heardSamples);
    }
  }

  #hearTurn(message: TurnMessage): void {
    const { chart, empties, totals, delays } = this.#parts;
    const step = this.#text.hear(message);
    switch (step.type) {
      case 'interim':
        this.#noteHeard(step.utterance);
        if (step.begins) {
          delays.partial(this.#place.startSampleOf(step.utterance.start));
          chart.tell({ type: this.#resumes(step.utterance) ? 'turn.resumed' : 'turn.heard' });
        }
        this.#interim(step.utterance, message);
        return;
      case 'ended': {
        const text = this.#text;
        if (step.begins && !this.#resumes(step.utterance, step.resumes)) chart.tell({ type: 'turn.heard' });
        // The turn before was settled by it, and the leg replaced: the next one hears this turn again.
        if (this.#text !== text) return;
        if (step.utterance.text !== '') this.#place.judge(step.utterance, step.isLate, text.hasGoneBack);
        this.#noteHeard(step.utterance);
        this.#setDue(this.#placed(step.utterance), endConfidenceOf(message));
        chart.tell({ type: 'turn.ended', formattedFollows: step.formattedFollows });
        return;
      }
      case 'formatted':
        if (this.#due === undefined) {
          totals.dropped('late_formatted');
          return;
        }
        this.#noteHeard(step.utterance);
        this.#setDue(this.#placed(step.utterance), this.#dueConfidence);
        chart.tell({ type: 'turn.formatted' });
        return;
      case 'empty':
        if (step.until !== undefined && empties.isHeardAgain(this.#place.quietEndOf(step.until))) return;
        this.#empty(step.until, step.heard);
        return;
      case 'dropped':
        totals.dropped(step.why);
    }
  }

  #noteHeard({ text, end }: Utterance): void {
    if (text !== '') this.#heardSamples = Math.max(this.#heardSamples, this.#place.endSampleOf(end));
  }

  /** Called by the turn chart: gives the final that is due, and begins the next turn. */
  deliver(): void {
    const final = this.#due;
    if (final === undefined) return;
    this.#due = undefined;
    this.#isEmptied = false;
    this.#interimShown = false;
    this.#shownToSample = 0;
    this.#bounds.settling(this.number, final);
    this.#tell(final, true);
    this.#bounds.ended(this.number, final, this.#dueConfidence);
    const endSample = this.#place.samplesOf(final.end);
    const { start, end } = final;
    const { partialMs, finalMs, gatewayMs } = this.#parts.delays.final(endSample, this.#dueReadMs);
    const { outbox, log } = this.#parts;
    (outbox.texts ?? log).turn(
      { turn: this.number, model: this.#model, start, end, partialMs, finalMs, gatewayMs },
      final.text,
    );
    this.number++;
    this.#place.lastEndSample = endSample;
    this.#parts.account.covered(this.#place.lastEndSample, this.#model);
  }

  #setDue(due: Utterance, endConfidence?: number): void {
    this.#due = due;
    this.#dueConfidence = endConfidence;
    this.#dueReadMs = this.#readMs;
  }

  /**
   * Forgets the unfinished turn: its leg failed, and the next one hears it from its beginning. Of a long turn, what the provider has
   * settled is the final, and the next leg hears the rest.
   */
  discard(): void {
    const { settled, hasGoneBack } = this.#text;
    this.#text = new TurnText();
    const isKnown = settled !== undefined && this.#place.isKnown(settled, hasGoneBack);
    const kept = isKnown ? this.#placed(settled) : undefined;
    if (kept !== undefined && kept.end - kept.start >= KEPT_SECONDS_MIN) {
      this.#setDue(kept);
      this.#parts.chart.tell({ type: 'turn.kept' });
    } else {
      if (this.#isEmptied) this.#due = undefined;
      this.#isEmptied = false;
      this.#parts.chart.tell({ type: 'turn.discarded' });
    }
    this.#bounds.lost(this.number);
  }

  /** No leg will say more: a turn that was shown and not heard again gets its final anyway, without words. */
  finish(): void {
    if (!this.#interimShown) return;
    if (!this.#isEmptied) this.#endEmpty(undefined, false);
    this.#parts.chart.tell({ type: 'turn.ended', formattedFollows: false });
  }

  #interim(utterance: Utterance, message: TurnMessage): void {
    const { interimResults } = this.#parts.request;
    if (!(interimResults || this.#bounds.isAskedFor) || utterance.text === '') return;
    const placed = this.#placed(utterance);
    const endSample = this.#place.samplesOf(placed.end);
    if (endSample < this.#shownToSample) return;
    this.#interimShown = true;
    this.#lastShownSample = endSample;
    this.#bounds.words(this.number, placed.start);
    if (interimResults) this.#tell(placed, false);
    this.#bounds.unsettled(this.number, this.#model, placed, message);
  }

  /** A turn without words: one that was shown still gets its final, any other leaves no trace. */
  #empty(until: number | undefined, heard: boolean): void {
    if (this.#isEmptied) return;
    // While a turn waits for its formatted version, what was shown is its own.
    if (this.#interimShown && this.#due === undefined && this.#reachesShown(until)) {
      this.#endEmpty(until, heard);
      return;
    }
    if (heard) this.#parts.chart.tell({ type: 'turn.discarded' });
    if (until !== undefined) {
      this.#place.lastEndSample = this.#place.quietEndOf(until);
      this.#parts.account.covered(this.#place.lastEndSample, this.#model);
    }
  }

  /**
   * Whether what was shown may be in audio that has ended without words. Words that a leg has shown before it failed are still to
   * be heard while the next one is in the silence before them: where they are is known as well as that leg has told it, and that
   * there was speech.
   */
  #reachesShown(until: number | undefined): boolean {
    if (this.#shownToSample === 0) return true;
    if (until === undefined) return false;
    const end = this.#place.quietEndOf(until);
    return end >= this.#shownToSample && this.#parts.pipeline.speechStartAfter(this.#place.lastEndSample) < end;
  }

  /** Whether words that follow the end of a turn without words are its own: the words that were shown, or what its provider names so. */
  #resumes({ start }: Utterance, isNamed = false): boolean {
    const resumes = this.#isEmptied && (isNamed || this.#place.startSampleOf(start) < this.#lastShownSample);
    if (!resumes) return false;
    this.#isEmptied = false;
    this.#due = undefined;
    return true;
  }

  /** What was shown gets its final, without words; in a while, where its provider may have meant another. */
  #endEmpty(until: number | undefined, heard: boolean): void {
    // It may have been shown by a leg that failed: then the chart does not know of it any more.
    if (!heard) this.#parts.chart.tell({ type: 'turn.heard' });
    const end = this.#place.secondsOf(until === undefined ? this.#place.lastEndSample : this.#place.quietEndOf(until));
    this.#setDue({ text: '', start: end, end });
    this.#isEmptied = true;
    this.#parts.chart.tell({ type: 'turn.emptied' });
  }

  #placed(utterance: Utterance): Utterance {
    const placed = this.#place.placed(utterance);
    this.#speakers.renumber(placed);
    return placed;
  }

  #tell(utterance: Utterance, isFinal: boolean): void {
    const { events, outbox } = this.#parts;
    if (this.#speakers.restartWith(utterance)) events.speakersRestarted(utterance.start, this.#speakers.first);
    outbox.push(transcriptEvent(utterance, isFinal, this.number, this.#model));
  }
}

interface EmptyTurnsParts {
  isAskedFor: boolean;
  pipeline: Pick<AudioPipeline, 'coveredSamples' | 'sentSamples' | 'speechStartAfter'>;
  /** Whether another model could take over. */
  hasNext(): boolean;
  /** The leg is taken for failed. */
  fail(failure: LegFailure): void;
  events: Pick<EventWriter, 'warnOnce'>;
}

/**
 * Turns without words in which somebody spoke: where the setting asks for it, the next model hears them as well. No audio is heard
 * again twice for that.
 */
export class EmptyTurns {
  readonly #parts: EmptyTurnsParts;
  /** Up to where audio is heard for the second time. */
  #againToSample = 0;

  constructor(parts: EmptyTurnsParts) {
    this.#parts = parts;
  }

  /** A turn without words ends at this sample. Gives whether its audio is heard again: then it is not a turn. */
  isHeardAgain(endSample: number): boolean {
    const { isAskedFor, pipeline, hasNext, fail, events } = this.#parts;
    const { coveredSamples, sentSamples } = pipeline;
    if (!isAskedFor || endSample <= this.#againToSample) return false;
    if (pipeline.speechStartAfter(coveredSamples) >= endSample) return false;
    if (hasNext()) {
      this.#againToSample = sentSamples;
      fail(noWords);
      return true;
    }
    events.warnOnce({
      code: 'empty_result',
      message:
        'The model found no words in a turn with sound in it as loud as speech, and no other is left to hear it.',
    });
    return false;
  }
}
