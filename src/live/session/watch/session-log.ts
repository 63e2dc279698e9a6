// What is kept of one session for whoever looks at it, then or later: its latest frames, so many at most. Marks are kept of every
// session, since they are few; steps of its charts while it is watched. The text of finals is kept only while the session is live, and
// only where its organisation shows transcripts.
import type { StateValue } from 'xstate';
import type { FailureReason } from '../../../../machines/events.ts';
import {
  type FrameBody,
  type MarkName,
  TRANSCRIPT_CHARS_MAX,
  WATCHED_FRAMES_MAX,
  type WatchedFrame,
} from '../../../api/console/watching.ts';
import type { OutgoingEvent } from '../../../api/listen-events.ts';
import type { PlacingState } from '../leg/leg-dialer.ts';
import { type LegNote, type LegPlace, LegRecords } from '../leg/leg-record.ts';
import { KeptTurn, markOf } from './kept-turn.ts';
import type { SessionObserver, TranscriptGatherer, TurnNote } from './session-observer.ts';

/** How it has ended, and what it had. */
export type EndedBody = Extract<FrameBody, { kind: 'ended' }>;
type Mark = Extract<FrameBody, { kind: 'mark' }>;
type Audio = Extract<FrameBody, { kind: 'audio' }>;
type MarkDetails = { [Name in 'model' | 'start' | 'end']?: Mark[Name] | undefined };
type KeptFrame = WatchedFrame | KeptTurn;
/** In the place of what would make a frame longer than it may be. */
const TEXT_CHARS_MAX = 256;
/** Characters of all transcripts in the log of one session; the oldest are removed first. */
export const TRANSCRIPTS_CHARS_MAX = 65_536;

/** While a session is watched: takes what would be appended, to bring it into order with the steps of the charts. */
export interface LogReader {
  noted(body: FrameBody, at: string): void;
  /** A leg was opened. */
  leg(leg: LegPlace): void;
  /** A chart of the leg has told the session something, by the number of its report. */
  reported(generation: number, report: number): void;
  placing(state: PlacingState): void;
  /** Nothing follows. */
  ended(ended: EndedBody, at: string): void;
}

export class SessionLog {
  readonly #wallNow: () => Date;
  readonly #observer: SessionObserver | undefined;
  readonly #keepsTranscripts: boolean;
  readonly #gatherer: TranscriptGatherer | undefined;
  readonly #frames: KeptFrame[] = [];
  reader: LogReader | undefined;
  readonly legs = new LegRecords((note) => this.#leg(note));
  #placing: PlacingState = 'none';
  #value = '';
  #transcriptChars = 0;
  /** Someone watched the figures at some time: then the log also keeps the final ones. */
  #hasAudio = false;
  /** That of the latest frame. */
  sequence = 0;

  /** @param observer is told of the same moments as they come, watched or not */
  constructor(
    wallNow: () => Date,
    observer?: SessionObserver,
    keepsTranscripts = false,
    gatherer?: TranscriptGatherer,
  ) {
    this.#gatherer = gatherer;
    this.#wallNow = wallNow;
    this.#observer = observer;
    this.#keepsTranscripts = keepsTranscripts;
  }

  get now(): string {
    return this.#wallNow().toISOString();
  }

  /** The frames behind that one, as far as they are kept. */
  after(sequence: number): WatchedFrame[] {
    return this.#frames.filter((kept) => kept.sequence > sequence).map(frameOf);
  }

  /** What may outlive the session. */
  get withoutTranscripts(): WatchedFrame[] {
    return this.#frames.map((kept) => withoutTranscript(frameOf(kept)));
  }

  /** @param body becomes the frame */
  append(body: FrameBody, at: string): WatchedFrame {
    this.sequence++;
    this.#hasAudio ||= body.kind === 'audio';
    const frame = body as WatchedFrame;
    frame.sequence = this.sequence;
    frame.at = at;
    this.#keep(frame);
    return frame;
  }

  #keep(kept: KeptFrame): void {
    this.#frames.push(kept);
    this.#transcriptChars += charsOf(kept);
    const oldest = this.#frames.length > WATCHED_FRAMES_MAX ? this.#frames.shift() : undefined;
    if (oldest !== undefined) this.#transcriptChars -= charsOf(oldest);
    if (this.#transcriptChars > TRANSCRIPTS_CHARS_MAX) this.#removeOldTranscripts();
  }

  #removeOldTranscripts(): void {
    for (const kept of this.#frames) {
      if (this.#transcriptChars <= TRANSCRIPTS_CHARS_MAX) return;
      this.#transcriptChars -= charsOf(kept);
      if (kept instanceof KeptTurn) kept.transcript = undefined;
      else if (kept.kind === 'mark') delete kept.transcript;
    }
  }

  mark(mark: MarkName, text: string, { model, start, end }: MarkDetails = {}): void {
    // Members are added one by one: each object made of a spread would have a shape of its own, and thousands are kept.
    const body: Mark = { kind: 'mark', mark, text: text.slice(0, TEXT_CHARS_MAX) };
    if (model !== undefined) body.model = model;
    if (start !== undefined) body.start = start;
    if (end !== undefined) body.end = end;
    const at = this.now;
    if (this.reader === undefined) this.append(body, at);
    else this.reader.noted(body, at);
  }

  /** Where the session's own chart is, kept also while nobody watches: so that it can be told again afterwards. */
  moved(value: StateValue): void {
    if (this.reader !== undefined) return;
    const text = JSON.stringify(value);
    if (text === this.#value) return;
    this.#value = text;
    this.append(
      { kind: 'step', actor: 'session', event: '', edges: [], through: [], value, status: 'active' },
      this.now,
    );
  }

  /** @param audio the final figures */
  end(ended: EndedBody, audio: () => Audio): void {
    const at = this.now;
    if (this.reader !== undefined) {
      this.reader.ended(ended, at);
      return;
    }
    if (this.#hasAudio) this.append(audio(), at);
    this.append(ended, at);
  }

  /** What the client is told, where it is a mark. Codes and numbers: messages may repeat what a client has sent. */
  told(event: OutgoingEvent): void {
    if (event.type === 'failover' && event.reason === 'returned') {
      this.mark('returned', `${event.from} to ${event.to}`, { model: event.to });
    } else if (event.type === 'failover') {
      const { from, to, reason, replayed_seconds: replayedSeconds } = event;
      this.mark('failover', `${from} to ${to}: ${reason}`, { model: to });
      this.#observer?.failover({ from, to, reason: reason as FailureReason, replayedSeconds });
    } else if (event.type === 'discontinuity') {
      this.mark('discontinuity', event.reason, { start: event.from, end: event.to });
    } else if (event.type === 'turn_eager_end') {
      const { turn, model, start, end } = event;
      this.mark('turn_eager_end', `turn ${turn}`, { model, start, end });
    } else if (event.type === 'turn_resumed') {
      this.mark('turn_resumed', `turn ${event.turn}: ${event.reason}`);
    } else if (event.type === 'warning') this.#warned(event.code);
    else if (event.type === 'error') this.#warned(event.error.code);
  }

  #warned(code: string): void {
    this.mark('warning', code);
    this.#observer?.warned(code);
  }

  /** A turn has its final, which was written to the client where that reads. Observers never receive its text. */
  turn(note: TurnNote, text: string): void {
    const transcript = this.#keepsTranscripts ? cut(text) : undefined;
    if (this.reader !== undefined) this.reader.noted(markOf(note, transcript), this.now);
    else {
      this.sequence++;
      this.#keep(new KeptTurn(this.sequence, this.#wallNow().getTime(), note, transcript));
    }
    this.#observer?.turn(note);
    this.#gatherer?.turn(note, text);
  }

  /** From the client's frame to the connection of a leg of that model. */
  passed(model: string, delayMs: number): void {
    this.#observer?.audioPassed(model, delayMs);
  }

  /** How far the session is with finding a node for its leg. */
  get placing(): PlacingState {
    return this.#placing;
  }

  set placing(state: PlacingState) {
    if (state === this.#placing) return;
    this.#placing = state;
    this.reader?.placing(state);
  }

  #leg(note: LegNote): void {
    const { event, model, generation, legNode, reason } = note;
    this.#observer?.leg(note);
    if (event === 'opened') this.reader?.leg({ model, generation, legNode });
    const leg = `leg ${generation}${legNode === null ? '' : ` on ${legNode}`}`;
    if (event === 'opened') this.mark('leg_opened', leg, { model });
    else if (event === 'failed') this.mark('leg_lost', `${leg}: ${reason ?? 'failed'}`, { model });
  }
}

/** The frame as those may see it who are not shown what was said. */
export function withoutTranscript(frame: WatchedFrame): WatchedFrame {
  if (frame.kind !== 'mark' || frame.transcript === undefined) return frame;
  const { transcript: _, ...rest } = frame;
  return rest;
}

const frameOf = (kept: KeptFrame): WatchedFrame => (kept instanceof KeptTurn ? kept.frame : kept);

const charsOf = (kept: KeptFrame): number =>
  kept instanceof KeptTurn || kept.kind === 'mark' ? (kept.transcript?.length ?? 0) : 0;

const cut = (text: string): string =>
  text.length <= TRANSCRIPT_CHARS_MAX ? text : `${text.slice(0, TRANSCRIPT_CHARS_MAX - 1)}…`;
