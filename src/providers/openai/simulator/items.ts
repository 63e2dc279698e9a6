// The items of a simulated session: what an ear hears becomes the server's events of speech, commits, deltas and finals.
// What a client may send, and when, is in live.ts.
import type { EarMessage, SimulatorTools } from '../../simulation.ts';
import { LIVE_RATE, traitsOf } from '../models.ts';
import { usageOf } from './formats.ts';
import type { SessionSettings } from './session.ts';

type Say = (type: string, members: Readonly<Record<string, unknown>>) => void;

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

/** A commit of less than 100 ms is refused. */
export const COMMIT_SAMPLES_MIN = LIVE_RATE / 10;
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
/** A turn that the ear is in may take so long to come out; with none, a word may still be on its way. */
const HEARING_MS = 10_000;
const QUIET_MS = 500;
/** An item held back by `out-of-order` comes after so long, when no other does. */
const HOLD_MS = 500;

/** One for each connection. Samples count from the first that was appended. */
export class SimulatedItems {
  private readonly tools: SimulatorTools;
  private readonly say: Say;
  private readonly settings: () => SessionSettings;
  private readonly timers = new Set<unknown>();
  /** The item of the audio that is not committed. */
  private open: Item | undefined;
  /** Asked for by the client; the ear has not come so far. */
  private readonly commits: Commit[] = [];
  private lastId: string | null = null;
  /** Sample behind the last commit. */
  private committedUntil = 0;
  /** Sample up to which the ear has said everything. */
  private heardUntil = 0;
  /** What was cleared before this sample is no longer wanted. */
  private clearedUntil = 0;
  /** Where turn detection was switched off: the ear may not have come so far. */
  private detectedUntil = 0;
  private isHearing = false;
  private grace: unknown;
  private completed = 0;
  private held: (() => void) | undefined;

  constructor(tools: SimulatorTools, say: Say, settings: () => SessionSettings) {
    this.tools = tools;
    this.say = say;
    this.settings = settings;
  }

  /** Samples up to `end` that no commit has taken. */
  uncommitted(end: number): number {
    return end - this.committedUntil;
  }

  /** The client commits everything up to `end`; `refuse` is called when the server has committed too much of it itself. */
  commit(end: number, refuse: Commit['refuse']): void {
    this.commits.push({ end, refuse });
    if (this.heardUntil >= end) this.settle(end);
    else this.awaitEar();
  }

  /** The client drops what is not committed. */
  clear(end: number): void {
    this.settle(Number.POSITIVE_INFINITY);
    this.open = undefined;
    this.committedUntil = end;
    this.clearedUntil = end;
  }

  /** Turn detection is about to be switched off, at this sample. */
  detectionEnds(end: number): void {
    this.detectedUntil = end;
  }

  hear(message: EarMessage): void {
    // What begins behind a commit shows that the ear has nothing more to say of it.
    if ('start' in message) this.settle(sampleOf(message.start));
    if (message.type === 'speech_started') this.speechStarted(sampleOf(message.start));
    else if (message.type === 'interim') this.interim(message.text, sampleOf(message.start));
    else if (message.type === 'final') this.turnEnded(message.text, sampleOf(message.start), sampleOf(message.end));
    else if (message.type === 'no_match') this.turnEnded('', sampleOf(message.start), sampleOf(message.end));
    if (this.commits.length > 0) this.awaitEar();
  }

  /** Runs after so long, unless the connection ends before. */
  later(afterMs: number, work: () => void): unknown {
    const timer = this.tools.clock.setTimeout(() => {
      this.timers.delete(timer);
      work();
    }, afterMs);
    this.timers.add(timer);
    return timer;
  }

  close(): void {
    for (const timer of this.timers) this.tools.clock.clearTimeout(timer);
    this.timers.clear();
  }

  private get model(): string {
    return this.settings().model ?? '';
  }

  private get streams(): boolean {
    return traitsOf(this.model)?.serverTurns === false;
  }

  /** Whether the server ends turns at this sample. */
  private detects(sample: number): boolean {
    return this.settings().turnDetection !== null || sample < this.detectedUntil;
  }

  private begin(start: number): Item {
    this.open = { id: `item_${this.tools.newId()}`, text: '', told: '', start, end: start };
    return this.open;
  }

  private speechStarted(start: number): void {
    this.isHearing = true;
    if (this.detects(start) && start >= this.clearedUntil) this.tellSpeech(start);
  }

  private tellSpeech(start: number): Item {
    const item = this.open ?? this.begin(start);
    this.say('input_audio_buffer.speech_started', { audio_start_ms: millisecondsOf(start), item_id: item.id });
    return item;
  }

  private interim(text: string, start: number): void {
    if (!this.streams || start < this.clearedUntil) return;
    const item = this.open ?? this.begin(start);
    this.tellDelta(item, joined(item.text, text));
  }

  private turnEnded(text: string, start: number, end: number): void {
    this.isHearing = false;
    this.heardUntil = end;
    const [commit] = this.commits;
    const isCommitted = commit !== undefined && end >= commit.end;
    if (start >= this.clearedUntil) {
      if (this.detects(end) && !isCommitted) this.serverTurn(text, start, end);
      else this.keep(text, start);
    }
    this.settle(end);
  }

  /** Words that wait for a commit. */
  private keep(text: string, start: number): void {
    const item = this.open ?? this.begin(start);
    item.text = joined(item.text, text);
    if (this.streams) this.tellDelta(item, item.text);
  }

  /** The server's turn detection ends a turn; noise that was never taken for speech leaves no trace. */
  private serverTurn(text: string, start: number, end: number): void {
    if (this.open === undefined && text === '') return;
    const item = this.open ?? this.tellSpeech(start);
    item.text = joined(item.text, text);
    this.say('input_audio_buffer.speech_stopped', { audio_end_ms: millisecondsOf(end), item_id: item.id });
    this.commitItem(item, end);
    this.complete(item);
  }

  /** Answers the commits that end at or before a sample. */
  private settle(sample: number): void {
    for (let first = this.commits[0]; first !== undefined && first.end <= sample; first = this.commits[0]) {
      this.commits.shift();
      const samples = this.uncommitted(first.end);
      if (samples < COMMIT_SAMPLES_MIN) {
        first.refuse(samples);
      } else {
        const item = this.open ?? this.begin(this.committedUntil);
        this.commitItem(item, first.end);
        this.complete(item);
      }
    }
    if (this.commits.length === 0) this.stopWaiting();
  }

  /** An ear with nothing left to say of a commit does not say so: it is given time, and taken for done. */
  private awaitEar(): void {
    this.stopWaiting();
    this.grace = this.later(this.isHearing ? HEARING_MS : QUIET_MS, () => {
      this.settle(this.commits[0]?.end ?? 0);
      if (this.commits.length > 0) this.awaitEar();
    });
  }

  private stopWaiting(): void {
    this.tools.clock.clearTimeout(this.grace);
    this.timers.delete(this.grace);
  }

  private commitItem(item: Item, end: number): void {
    item.end = end;
    this.open = undefined;
    this.committedUntil = end;
    this.say('input_audio_buffer.committed', { item_id: item.id, previous_item_id: this.lastId });
    this.say('conversation.item.added', {
      previous_item_id: this.lastId,
      item: {
        id: item.id,
        object: 'realtime.item',
        type: 'message',
        status: 'completed',
        role: 'user',
        content: [{ type: 'input_audio', transcript: null }],
      },
    });
    this.lastId = item.id;
  }

  private complete(item: Item): void {
    this.completed++;
    const fails = this.tools.quirk('fail-item') === String(this.completed);
    // A session without a model hears, and writes nothing.
    if (this.model === '') return;
    const slow = Number(this.tools.quirk('slow-complete') ?? 0);
    const tell = () => this.inOrder(() => (fails ? this.tellFailed(item) : this.tellCompleted(item)));
    if (slow > 0) this.later(slow, tell);
    else tell();
  }

  /** With `out-of-order` every other item waits for the one behind it. */
  private inOrder(tell: () => void): void {
    if (this.tools.quirk('out-of-order') === undefined) {
      tell();
      return;
    }
    const before = this.held;
    if (before === undefined) {
      this.held = tell;
      this.later(HOLD_MS, () => {
        if (this.held !== tell) return;
        this.held = undefined;
        tell();
      });
      return;
    }
    this.held = undefined;
    tell();
    before();
  }

  private tellCompleted(item: Item): void {
    const { text } = item;
    if (this.streams || this.model === 'whisper-1') this.tellDelta(item, text);
    else for (const piece of text.match(/\s*\S+/g) ?? []) this.tellDelta(item, item.told + piece);
    const { language } = this.settings();
    const hints = traitsOf(this.model)?.hints === true && language !== undefined;
    this.say(`${TRANSCRIPTION}.completed`, {
      item_id: item.id,
      content_index: 0,
      transcript: text,
      usage: usageOf(this.model, (item.end - item.start) / LIVE_RATE, text),
      ...(hints ? { languages: [{ code: language }] } : {}),
    });
  }

  private tellFailed(item: Item): void {
    this.say(`${TRANSCRIPTION}.failed`, {
      item_id: item.id,
      content_index: 0,
      error: { type: 'server_error', code: 'transcription_failed', message: 'Transcription failed.', param: null },
    });
  }

  /** Deltas only ever add: what the ear thinks better of is told by the final. */
  private tellDelta(item: Item, text: string): void {
    if (!text.startsWith(item.told) || text.length === item.told.length) return;
    this.say(`${TRANSCRIPTION}.delta`, { item_id: item.id, content_index: 0, delta: text.slice(item.told.length) });
    item.told = text;
  }
}

const joined = (before: string, text: string): string =>
  before === '' || text === '' ? before + text : `${before} ${text}`;

const sampleOf = (seconds: number): number => Math.round(seconds * LIVE_RATE);

/** Whole milliseconds, never beyond the audio. */
const millisecondsOf = (sample: number): number => Math.floor((sample * 1000) / LIVE_RATE);
