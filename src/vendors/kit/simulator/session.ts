// One connection of a simulated live service: its ear, its timers and its end. A provider extends it with what it takes and
// says; the ear never speaks inside a call, and nothing is heard once the session is over.

import type { Clock } from '../../../../machines/clock.ts';
import { BYTES_PER_SAMPLE } from '../../../api/audio-formats.ts';
import type { Ear, EarMessage, SimulatedConnection, SimulatedPeer, SimulatorTools } from '../simulation.ts';
import { PacedIntake } from './pace.ts';
import type { HeardText } from './words.ts';

export class Timers {
  readonly #clock: Clock;
  readonly #armed = new Set<unknown>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Works after so long; at once, inside the call, where that is nothing. */
  later(delayMs: number, work: () => void): unknown {
    if (delayMs > 0) return this.after(delayMs, work);
    work();
    return undefined;
  }

  /** Works after so long, and never inside the call. */
  after(delayMs: number, work: () => void): unknown {
    const timer = this.#clock.setTimeout(() => {
      this.#armed.delete(timer);
      work();
    }, delayMs);
    this.#armed.add(timer);
    return timer;
  }

  cancel(timer: unknown): void {
    this.#clock.clearTimeout(timer);
    this.#armed.delete(timer);
  }

  clear(): void {
    for (const timer of this.#armed) this.#clock.clearTimeout(timer);
    this.#armed.clear();
  }
}

export interface Hearing {
  sampleRate: number;
  language: string | undefined;
  /** Audio is taken up no faster than this many times real time, as a slow service does; what comes faster waits. */
  speedMax?: number;
  /** `progressed` is called at every multiple of these seconds of audio, in place of every frame. */
  stepSeconds?: number;
}

/** A turn of the ear, by its number from 0. */
export interface HeardTurnText extends HeardText {
  turn: number;
}

/** What a close frame holds of a reason. */
const REASON_CHARACTERS_MAX = 123;

/** Clients choose some of the words of a reason. */
const reasonOf = (words: string): string => words.replace(/[^ -~]/g, '?').slice(0, REASON_CHARACTERS_MAX);

/** A connection that was accepted and is closed at once. */
export function closedAtOnce(peer: SimulatedPeer, code: number, reason: string): SimulatedConnection {
  peer.close(code, reasonOf(reason));
  return { text: () => {}, bytes: () => {}, gone: () => {} };
}

export abstract class SimulatedSession implements SimulatedConnection {
  protected readonly peer: SimulatedPeer;
  protected readonly tools: SimulatorTools;
  /** The client has ended its audio: no more is taken. */
  protected closing = false;
  /** All of it was given to the ear. */
  protected ended = false;
  /** The session has ended: nothing more is heard or said. */
  protected over = false;
  readonly #timers: Timers;
  #hearing: Hearing = { sampleRate: 1, language: undefined };
  #ear: Ear | undefined;
  #intake: PacedIntake | undefined;
  #bytes = 0;
  #expected: unknown;

  constructor(peer: SimulatedPeer, tools: SimulatorTools) {
    this.peer = peer;
    this.tools = tools;
    this.#timers = new Timers(tools.clock);
  }

  /** A text frame. */
  protected abstract message(text: string): void;
  /** A binary frame, while the client has not ended its audio. */
  protected audio(bytes: Uint8Array): void {
    this.hear(bytes);
  }

  protected speechStarted(_start: number): void {}
  protected abstract interim(heard: HeardTurnText): void;
  protected abstract final(heard: HeardTurnText): void;
  /** The end of a turn in which nothing was understood. */
  protected noMatch(heard: HeardTurnText): void {
    this.final(heard);
  }
  /** Everything was heard, and every turn told. */
  protected finished(): void {
    this.close(1000);
  }
  /** The ear failed, or more audio waits than is kept. */
  protected abstract failed(code: string): void;
  /** More audio was given to the ear. */
  protected progressed(): void {}

  text(text: string): void {
    if (!this.over) this.message(text);
  }

  bytes(bytes: Uint8Array): void {
    if (!this.over && !this.closing) this.audio(bytes);
  }

  gone(): void {
    this.end();
  }

  protected listen(hearing: Hearing): void {
    const { sampleRate, language, speedMax } = hearing;
    this.#hearing = hearing;
    this.#ear = this.tools.openEar({ sampleRate, language }, (message) => this.#heard(message));
    if (speedMax === undefined) return;
    this.#intake = new PacedIntake(this.tools.clock, sampleRate * BYTES_PER_SAMPLE, speedMax, {
      audio: (bytes) => this.#giveToEar(bytes),
      overflow: () => this.failed('more audio waits than is kept'),
    });
  }

  protected get isListening(): boolean {
    return this.#ear !== undefined;
  }

  /** Takes audio for the ear. */
  protected hear(bytes: Uint8Array): void {
    if (this.#intake === undefined) this.#giveToEar(bytes);
    else this.#intake.audio(bytes);
  }

  /** Does `work` when all audio sent before has been taken up. */
  protected inTurn(work: () => void): void {
    if (this.#intake === undefined) work();
    else this.#intake.message(work);
  }

  /** Ends the current turn of the ear. */
  protected finalize(): void {
    this.#ear?.finalize();
  }

  /** The client has ended its audio: `finished` follows the last turn. */
  protected finish(): void {
    this.closing = true;
    this.inTurn(() => {
      this.ended = true;
      this.#ear?.finish();
    });
  }

  /** Samples given to the ear. */
  protected get samples(): number {
    return this.#bytes / BYTES_PER_SAMPLE;
  }

  /** Whether a turn that ends here reaches the end of all audio. The position tells: an ear may say the end of a turn late. */
  protected isRest(endSeconds: number): boolean {
    return this.ended && endSeconds >= this.seconds;
  }

  protected get seconds(): number {
    return this.samples / this.#hearing.sampleRate;
  }

  /** Works after so long, at once where that is nothing, unless the session ends before. */
  protected later(delayMs: number, work: () => void): unknown {
    return this.#timers.later(delayMs, work);
  }

  protected cancel(timer: unknown): void {
    this.#timers.cancel(timer);
  }

  /** Works where nothing more comes within so long: each call stands for what came. Not once the client has ended its audio. */
  protected expectMore(withinMs: number, work: () => void): void {
    this.cancel(this.#expected);
    this.#expected = this.later(withinMs, () => {
      if (!this.closing) work();
    });
  }

  /** Whether a quirk was requested, and there was so much audio as it says: a second without a number. */
  protected isBehind(quirk: string): boolean {
    return this.has(quirk) && this.seconds >= this.numberOf(quirk, 1);
  }

  /** Whether a quirk was requested. */
  protected has(quirk: string): boolean {
    return this.tools.quirk(quirk) !== undefined;
  }

  /** The number of a quirk, or what it is without one. */
  protected numberOf(quirk: string, otherwise: number): number {
    const text = this.tools.quirk(quirk) ?? '';
    return text !== '' && Number(text) >= 0 ? Number(text) : otherwise;
  }

  /** Ends the session and closes the connection. */
  protected close(code?: number, reason = ''): void {
    this.end();
    this.peer.close(code, reasonOf(reason));
  }

  /** Releases the ear and the timers. */
  protected end(): void {
    if (this.over) return;
    this.over = true;
    this.#intake?.stop();
    this.#ear?.close();
    this.#timers.clear();
  }

  #giveToEar(bytes: Uint8Array): void {
    const { sampleRate, stepSeconds } = this.#hearing;
    const stepBytes = stepSeconds === undefined ? undefined : Math.round(stepSeconds * sampleRate) * BYTES_PER_SAMPLE;
    for (let at = 0; at < bytes.byteLength && !this.over; ) {
      const piece = bytes.subarray(at, stepBytes && at + stepBytes - (this.#bytes % stepBytes));
      this.#ear?.audio(piece);
      this.#bytes += piece.byteLength;
      at += piece.byteLength;
      if (stepBytes === undefined || this.#bytes % stepBytes === 0) this.progressed();
    }
  }

  #heard(message: EarMessage): void {
    if (this.over) return;
    const { type } = message;
    if (type === 'interim') this.interim(message);
    else if (type === 'final') this.final(message);
    else if (type === 'no_match') this.noMatch({ ...message, text: '' });
    else if (type === 'speech_started') this.speechStarted(message.start);
    else if (type === 'finished') this.finished();
    else if (type === 'error') this.failed(message.code);
  }
}
