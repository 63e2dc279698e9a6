// The items of a simulated session: what an ear hears becomes the server's events of speech, commits, deltas and finals.
// What a client may send, and when, is in live.ts.

import type { SimulatorTools } from '../../kit/simulation.ts';
import type { HeardTurnText } from '../../kit/simulator/session.ts';
import { millisecondsOf } from '../../kit/simulator/words.ts';
import {
  committedItem,
  completed,
  delta,
  failed,
  joined,
  speechStarted,
  speechStopped,
  TRANSCRIPTION,
} from '../messages.ts';
import { LIVE_RATE, traitsOf } from '../models.ts';
import type { SessionSettings } from './session.ts';
import { usageOf } from './session.ts';

/** The session that the items are of. */
interface ItemHost {
  say(type: string, members: Readonly<Record<string, unknown>>): void;
  settings(): SessionSettings;
  later(delayMs: number, work: () => void): unknown;
  cancel(timer: unknown): void;
}

interface Item {
  id: string;
  /** Settled words, and those among them that deltas have told. */
  text: string;
  told: string;
  start: number;
  /** Sample it was committed at. */
  end: number;
}

interface Commit {
  end: number;
  /** Called with the samples that are there, when they are too few. */
  refuse(samples: number): void;
}

const FAILED = { code: 'transcription_failed', message: 'Transcription failed.' };
const LIMITED = { code: null, message: 'Transcription failed: upstream answered 429 Too Many Requests.' };
/** A commit of less than 100 ms is refused. */
export const COMMIT_SAMPLES_MIN = LIVE_RATE / 10;
/** A turn that the ear is in may take so long to come out; with none, a word may still be on its way. */
const HEARING_MS = 10_000;
const QUIET_MS = 500;
/** An item held back by `out-of-order` comes after so long, when no other does. */
const HOLD_MS = 500;

/** One for each connection. Samples count from the first that was appended. */
export class SimulatedItems {
  readonly #tools: SimulatorTools;
  readonly #host: ItemHost;
  /** The item of the audio that is not committed. */
  #open: Item | undefined;
  /** Requested by the client; the ear has not come so far. */
  readonly #commits: Commit[] = [];
  #lastId: string | null = null;
  /** Sample behind the last commit. */
  #committedUntil = 0;
  /** Sample up to which the ear has said everything. */
  #heardUntil = 0;
  /** What was cleared before this sample is no longer wanted. */
  #clearedUntil = 0;
  /** Where turn detection was switched off: the ear may not have come so far. */
  #detectedUntil = 0;
  #isHearing = false;
  #grace: unknown;
  #completed = 0;
  #held: (() => void) | undefined;

  constructor(tools: SimulatorTools, host: ItemHost) {
    this.#tools = tools;
    this.#host = host;
  }

  /** Samples up to `end` that no commit has taken. */
  uncommitted(end: number): number {
    return end - this.#committedUntil;
  }

  /** The client commits everything up to `end`; `refuse` is called when the server has committed too much of it itself. */
  commit(end: number, refuse: Commit['refuse']): void {
    this.#commits.push({ end, refuse });
    if (this.#heardUntil >= end) this.#settle(end);
    else this.#awaitEar();
  }

  /** The client drops what is not committed. */
  clear(end: number): void {
    this.#settle(Number.POSITIVE_INFINITY);
    this.#open = undefined;
    this.#committedUntil = end;
    this.#clearedUntil = end;
  }

  /** Turn detection is about to be switched off, at this sample. */
  detectionEnds(end: number): void {
    this.#detectedUntil = end;
  }

  speechStarted(startSeconds: number): void {
    this.#heard(startSeconds, (start) => {
      this.#isHearing = true;
      if (this.#detects(start) && start >= this.#clearedUntil) this.#tellSpeech(start);
    });
  }

  interim(heard: HeardTurnText): void {
    this.#heard(heard.start, (start) => {
      if (!this.#streams || start < this.#clearedUntil) return;
      const item = this.#open ?? this.#begin(start);
      this.#tellDelta(item, joined(item.text, heard.text));
    });
  }

  /** With the words, or without any. */
  turnEnded(heard: HeardTurnText): void {
    this.#heard(heard.start, (start) => {
      const end = sampleOf(heard.end);
      this.#isHearing = false;
      this.#heardUntil = end;
      const isCommitted = this.#commits[0] !== undefined && end >= this.#commits[0].end;
      if (start >= this.#clearedUntil) {
        if (this.#detects(end) && !isCommitted) this.#serverTurn(heard.text, start, end);
        else this.#keep(heard.text, start);
      }
      this.#settle(end);
    });
  }

  /** What begins behind a commit shows that the ear has nothing more to say of it. */
  #heard(startSeconds: number, work: (start: number) => void): void {
    const start = sampleOf(startSeconds);
    this.#settle(start);
    work(start);
    if (this.#commits.length > 0) this.#awaitEar();
  }

  get #model(): string {
    return this.#host.settings().model ?? '';
  }

  get #streams(): boolean {
    return traitsOf(this.#model)?.serverTurns === false;
  }

  /** Whether the server ends turns at this sample. */
  #detects(sample: number): boolean {
    return this.#host.settings().turnDetection !== null || sample < this.#detectedUntil;
  }

  #begin(start: number): Item {
    this.#open = { id: `item_${this.#tools.newId()}`, text: '', told: '', start, end: start };
    return this.#open;
  }

  #tellSpeech(start: number): Item {
    const item = this.#open ?? this.#begin(start);
    this.#host.say('input_audio_buffer.speech_started', speechStarted(item.id, msOf(start)));
    return item;
  }

  /** Words that wait for a commit. */
  #keep(text: string, start: number): void {
    const item = this.#open ?? this.#begin(start);
    item.text = joined(item.text, text);
    if (this.#streams) this.#tellDelta(item, item.text);
  }

  /** The server's turn detection ends a turn; noise that was never taken for speech leaves no trace. */
  #serverTurn(text: string, start: number, end: number): void {
    if (this.#open === undefined && text === '') return;
    const item = this.#open ?? this.#tellSpeech(start);
    item.text = joined(item.text, text);
    this.#host.say('input_audio_buffer.speech_stopped', speechStopped(item.id, msOf(end)));
    this.#commitItem(item, end);
  }

  /** Answers the commits that end at or before a sample. */
  #settle(sample: number): void {
    for (let first = this.#commits[0]; first !== undefined && first.end <= sample; first = this.#commits[0]) {
      this.#commits.shift();
      const samples = this.uncommitted(first.end);
      if (samples < COMMIT_SAMPLES_MIN) first.refuse(samples);
      else this.#commitItem(this.#open ?? this.#begin(this.#committedUntil), first.end);
    }
    if (this.#commits.length === 0) this.#host.cancel(this.#grace);
  }

  /** An ear with nothing left to say of a commit does not say so: it is given time, and taken for done. */
  #awaitEar(): void {
    this.#host.cancel(this.#grace);
    this.#grace = this.#host.later(this.#isHearing ? HEARING_MS : QUIET_MS, () => {
      this.#settle(this.#commits[0]?.end ?? 0);
      if (this.#commits.length > 0) this.#awaitEar();
    });
  }

  #commitItem(item: Item, end: number): void {
    item.end = end;
    this.#open = undefined;
    this.#committedUntil = end;
    const { committed, created } = committedItem(item.id, this.#lastId);
    this.#lastId = item.id;
    this.#host.say('input_audio_buffer.committed', committed);
    this.#host.say('conversation.item.added', created);
    this.#complete(item);
  }

  #complete(item: Item): void {
    this.#completed++;
    const isNth = (quirk: string) => this.#tools.quirk(quirk) === String(this.#completed);
    const fault = isNth('fail-item') ? FAILED : isNth('limit-item') ? LIMITED : undefined;
    // A session without a model hears, and writes nothing.
    if (this.#model === '') return;
    const tell = () =>
      this.#inOrder(() => (fault === undefined ? this.#tellCompleted(item) : this.#tellFailed(item, fault)));
    this.#host.later(Number(this.#tools.quirk('slow-complete') ?? 0), tell);
  }

  /** With `out-of-order` every other item waits for the one behind it. */
  #inOrder(tell: () => void): void {
    const before = this.#held;
    this.#held = undefined;
    if (before !== undefined || this.#tools.quirk('out-of-order') === undefined) {
      tell();
      before?.();
      return;
    }
    this.#held = tell;
    this.#host.later(HOLD_MS, () => {
      if (this.#held !== tell) return;
      this.#held = undefined;
      tell();
    });
  }

  #tellCompleted(item: Item): void {
    const { text } = item;
    if (this.#streams || this.#model === 'whisper-1') this.#tellDelta(item, text);
    else for (const piece of text.match(/\s*\S+/g) ?? []) this.#tellDelta(item, item.told + piece);
    const { language } = this.#host.settings();
    const hints = traitsOf(this.#model)?.hints === true && language !== undefined;
    const usage = usageOf(this.#model, (item.end - item.start) / LIVE_RATE, text);
    this.#host.say(`${TRANSCRIPTION}.completed`, completed(item.id, text, usage, hints ? language : undefined));
  }

  #tellFailed(item: Item, fault: typeof FAILED | typeof LIMITED): void {
    const error = { type: 'server_error', ...fault, param: null };
    this.#host.say(`${TRANSCRIPTION}.failed`, failed(item.id, error));
  }

  /** Deltas only ever add: what the ear thinks better of is told by the final. */
  #tellDelta(item: Item, text: string): void {
    if (!text.startsWith(item.told) || text.length === item.told.length) return;
    // Models that write while they hear begin with the space that stands before a word.
    const more = (this.#streams && item.told === '' ? ' ' : '') + text.slice(item.told.length);
    this.#host.say(`${TRANSCRIPTION}.delta`, delta(item.id, more));
    item.told = text;
  }
}

const sampleOf = (seconds: number): number => Math.round(seconds * LIVE_RATE);

/** Whole milliseconds, never beyond the audio. */
const msOf = (sample: number): number => millisecondsOf(sample / LIVE_RATE);
