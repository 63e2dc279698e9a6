// The scripted provider itself, as an engine: in this process, or behind a WebSocket. It plays turns by audio position and
// delays and failures by the clock; nothing is said inside `send`, as on a real network.
import type { Clock } from '../../../machines/clock.ts';
import type { Engine, EngineConnection, EngineListener, Outgoing } from '../kit/provider.ts';
import { Timers } from '../kit/simulator/session.ts';
import type { LoopbackMessage } from './live.ts';
import type { NumberedOptions, ScriptOptions } from './options.ts';

const DEFAULT_TURNS: NonNullable<ScriptOptions['turns']> = [
  { text: 'hello and welcome', seconds: 2 },
  { text: 'this is a script', seconds: 2 },
  { text: 'nothing was recognised', seconds: 2.5 },
];

interface Start {
  type: 'start';
  model: string;
  sampleRate: number;
  interims: boolean;
  /** Whether early ends of turns are told: with every other interim, taken back by the one behind it. */
  bounds?: boolean;
  params: ScriptOptions & NumberedOptions;
}

/** Plays the scripted provider for any number of connections. */
export class LoopbackEngine implements Engine {
  readonly #clock: Clock;
  #open = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Connections open now. */
  get connections(): number {
    return this.#open;
  }

  connect(_: Readonly<Record<string, unknown>>, listener: EngineListener): EngineConnection {
    this.#open++;
    return new LoopbackConnection(this.#clock, listener, () => {
      this.#open--;
    });
  }
}

class LoopbackConnection implements EngineConnection {
  readonly bufferedBytes = 0;
  readonly #listener: EngineListener;
  readonly #onGone: () => void;
  readonly #timers: Timers;
  #mail: (LoopbackMessage | (() => void))[] = [];
  #start: Start | undefined;
  #over = false;
  #mute = false;
  #heardSamples = 0;
  #turn = 0;
  #turnStart = 0;
  /** First sample after the current turn; found again when a turn ends, as every frame asks for it. */
  #turnEnd = 0;
  #nextInterim = 0;
  #interims = 0;
  #pendingFinals = 0;
  #finishing = false;
  #confirmed = false;
  #ranges = new NumberedRanges();

  constructor(clock: Clock, listener: EngineListener, onGone: () => void) {
    this.#timers = new Timers(clock);
    this.#listener = listener;
    this.#onGone = onGone;
    this.#post(() => this.#listener.open());
  }

  send(frame: Outgoing): void {
    if (this.#over) return;
    if (frame instanceof Uint8Array) {
      this.#audio(frame);
      return;
    }
    const message = (typeof frame === 'string' ? JSON.parse(frame) : frame) as { type?: unknown };
    if (message.type === 'start') this.#begin(message as Start);
    else if (message.type === 'finalize') this.#endTurn();
    else if (message.type === 'finish') this.#finish();
  }

  close(): void {
    this.#post(() => this.#hangUp(1000, ''));
  }

  terminate(): void {
    if (this.#over) return;
    this.#over = true;
    this.#timers.clear();
    this.#mail = [];
    this.#onGone();
  }

  #begin(start: Start): void {
    this.#start = start;
    this.#turnEnd = this.#turnSamples();
    const { fail, ready_delay_ms } = start.params;
    if (fail?.how === 'hang') {
      this.#mute = true;
      return;
    }
    this.#timers.later(ready_delay_ms ?? 0, () => {
      if (fail?.how === 'refuse') this.#hangUp(fail.code ?? 1011, 'refused by the script');
      else this.#say({ type: 'ready' });
    });
  }

  #audio(frame: Uint8Array): void {
    if (this.#start === undefined || this.#mute) return;
    const { model } = this.#start;
    let offset = 0;
    // A frame may end one turn and begin the next.
    while (offset + 1 < frame.byteLength) {
      const turnEnd = this.#turnEnd;
      const samples = Math.min((frame.byteLength - offset) >> 1, turnEnd - this.#heardSamples);
      if (model === 'numbered') this.#ranges.hear(frame, offset, samples);
      if (this.#heardSamples === this.#turnStart)
        this.#say({ type: 'speech_started', start: this.#seconds(this.#turnStart) });
      this.#heardSamples += samples;
      offset += samples * 2;
      if (this.#failed()) return;
      if (this.#heardSamples === turnEnd) this.#endTurn();
      else this.#interim();
    }
  }

  #interim(): void {
    const start = this.#start;
    if (start === undefined || !start.interims || this.#heardSamples < this.#nextInterim) return;
    this.#nextInterim = this.#heardSamples + Math.round((start.params.interim_seconds ?? 0.5) * start.sampleRate);
    const words = this.#turnText().split(' ');
    const part = (this.#heardSamples - this.#turnStart) / this.#turnSamples();
    const text =
      start.model === 'numbered'
        ? this.#turnText()
        : words.slice(0, Math.max(1, Math.ceil(part * words.length))).join(' ');
    if (text === '') return;
    this.#interims++;
    const boundary = this.#interims % 2 === 0 ? 'eager_end' : 'resumed';
    this.#say({
      type: 'interim',
      turn: this.#turn,
      text,
      start: this.#seconds(this.#turnStart),
      end: this.#seconds(this.#heardSamples),
      ...(start.bounds === true ? { boundary } : {}),
    });
  }

  #endTurn(): void {
    const start = this.#start;
    if (start === undefined || this.#heardSamples === this.#turnStart) return;
    const final: LoopbackMessage = {
      type: 'final',
      turn: this.#turn,
      text: this.#turnText(),
      start: this.#seconds(this.#turnStart),
      end: this.#seconds(this.#heardSamples),
    };
    this.#turn++;
    this.#turnStart = this.#heardSamples;
    this.#turnEnd = this.#turnStart + this.#turnSamples();
    this.#nextInterim = 0;
    this.#interims = 0;
    this.#ranges = new NumberedRanges();
    this.#pendingFinals++;
    this.#timers.later(start.params.final_delay_ms ?? 0, () => {
      this.#say(final);
      this.#pendingFinals--;
      this.#confirm();
    });
  }

  #finish(): void {
    this.#finishing = true;
    this.#endTurn();
    this.#confirm();
  }

  #confirm(): void {
    if (!this.#finishing || this.#confirmed || this.#pendingFinals > 0) return;
    if (this.#start?.params.fail?.how === 'finish') return;
    this.#confirmed = true;
    this.#say({ type: 'finished' });
  }

  /** Plays the scripted failure once its position is reached. */
  #failed(): boolean {
    const fail = this.#start?.params.fail;
    if (
      fail === undefined ||
      this.#heardSamples < Math.round((fail.at_seconds ?? 0) * (this.#start as Start).sampleRate)
    )
      return false;
    if (fail.how === 'stall') this.#mute = true;
    else if (fail.how === 'error') this.#say({ type: 'error', code: fail.kind ?? 'next' });
    else if (fail.how === 'close') this.#post(() => this.#hangUp(fail.code ?? 1011, 'closed by the script'));
    else return false;
    this.#mute = true;
    return true;
  }

  #turnSamples(): number {
    const { model, params, sampleRate } = this.#start as Start;
    const seconds = model === 'numbered' ? (params.turn_seconds ?? 2) : this.#scripted().seconds;
    return Math.max(1, Math.round(seconds * sampleRate));
  }

  #turnText(): string {
    return this.#start?.model === 'numbered' ? this.#ranges.text() : this.#scripted().text;
  }

  #scripted(): { text: string; seconds: number } {
    const turns = this.#start?.params.turns ?? DEFAULT_TURNS;
    return turns[this.#turn % turns.length] as { text: string; seconds: number };
  }

  #seconds(samples: number): number {
    return samples / (this.#start as Start).sampleRate;
  }

  #say(message: LoopbackMessage): void {
    if (!this.#mute) this.#post(message);
  }

  /** Delivers after the current call, in order. */
  #post(mail: LoopbackMessage | (() => void)): void {
    if (this.#over) return;
    this.#mail.push(mail);
    if (this.#mail.length > 1) return;
    queueMicrotask(() => {
      const due = this.#mail;
      this.#mail = [];
      for (const each of due) {
        if (this.#over) return;
        if (typeof each === 'function') each();
        else this.#listener.message(each);
      }
    });
  }

  #hangUp(code: number, reason: string): void {
    if (this.#over) return;
    this.terminate();
    this.#listener.closed(code, reason);
  }
}

/** Ranges told of one turn; more are left out. */
const RANGES_MAX = 100;

/**
 * Collects the ranges of sample numbers heard, counted on from the first one: "17-32017", or "17-900 905-32017" with a gap.
 * Silence between them, which someone put in to fill a frame or a pause, reads "17-900 s1600 900-32017".
 */
export class NumberedRanges {
  #first = -1;
  #next = -1;
  /** Samples of the silence that is being heard. */
  #silent = 0;
  readonly #done: string[] = [];

  /** Hears `samples` linear16 samples of `bytes` from byte `offset`. */
  hear(bytes: Uint8Array, offset: number, samples: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset + offset, samples * 2);
    for (let index = 0; index < samples; index++) {
      const value = view.getUint16(index * 2, true);
      if (this.#silent === 0 && this.#next >= 0 && value === (this.#next & 0xffff)) this.#next++;
      else this.#break(value);
    }
  }

  text(): string {
    const last = this.#silent > 0 ? `s${this.#silent}` : this.#first < 0 ? '' : `${this.#first}-${this.#next}`;
    return [...this.#done, ...(last === '' ? [] : [last])].join(' ');
  }

  /** A sample that does not follow the one before. */
  #break(value: number): void {
    if (value === 0 && this.#next >= 0 && (this.#silent > 0 || value !== (this.#next & 0xffff))) {
      if (this.#silent === 0) this.#note(`${this.#first}-${this.#next}`);
      this.#silent++;
      return;
    }
    if (this.#silent > 0) this.#note(`s${this.#silent}`);
    else if (this.#first >= 0) this.#note(`${this.#first}-${this.#next}`);
    this.#silent = 0;
    // After a gap the count continues from the nearest number that fits.
    this.#first = this.#next < 0 ? value : this.#next + ((value - this.#next) & 0xffff);
    this.#next = this.#first + 1;
  }

  #note(range: string): void {
    if (this.#done.length < RANGES_MAX) this.#done.push(range);
  }
}
