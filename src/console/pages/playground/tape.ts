// What was sent in a run, as far as the page keeps it: samples to be played again, and their peaks for the waveform. It stays in this
// browser; the oldest goes first.
import { type Signal, signal } from '@preact/signals';

/** The beginning of a longer one is dropped: 29 MB at 48 kHz. */
export const TAPE_SECONDS_MAX = 300;

interface Piece {
  samples: Int16Array;
  /** Seconds from the beginning of the run. */
  start: number;
  /** The loudest sample, from 0 to 1. */
  peak: number;
}

export class Tape {
  readonly sampleRate: number;
  readonly #pieces: Piece[] = [];
  /** Seconds that were sent. */
  seconds = 0;

  constructor(sampleRate: number) {
    this.sampleRate = sampleRate;
  }

  /** Where what is kept begins. */
  get from(): number {
    return this.#pieces[0]?.start ?? 0;
  }

  get peaks(): readonly Readonly<Piece>[] {
    return this.#pieces;
  }

  /** 16-bit samples; they are copied. */
  push(bytes: Uint8Array): void {
    const samples = new Int16Array(bytes.slice().buffer, 0, bytes.byteLength >> 1);
    let peak = 0;
    for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
    this.#pieces.push({ samples, start: this.seconds, peak: peak / 0x8000 });
    this.seconds += samples.length / this.sampleRate;
    while (this.seconds - this.from > TAPE_SECONDS_MAX) this.#pieces.shift();
  }

  /** What is kept from there on, from -1 to 1. */
  samplesFrom(second: number): Float32Array<ArrayBuffer> {
    const wanted = this.#pieces.filter(({ start, samples }) => start + samples.length / this.sampleRate > second);
    const audio = new Float32Array(wanted.reduce((sum, { samples }) => sum + samples.length, 0));
    let at = 0;
    for (const { samples } of wanted) {
      for (const sample of samples) {
        audio[at] = sample / 0x8000;
        at++;
      }
    }
    return audio.subarray(Math.round(Math.max(0, second - (wanted[0]?.start ?? 0)) * this.sampleRate));
  }
}

/** Plays a recording from a word on. */
export class Player {
  /** Seconds of the run; undefined while nothing is played. */
  readonly at: Signal<number | undefined> = signal(undefined);
  #context: AudioContext | undefined;

  play(tape: Tape, from: number): void {
    this.stop();
    const start = Math.max(from, tape.from);
    const audio = tape.samplesFrom(start);
    if (audio.length === 0) return;
    const context = new AudioContext();
    const buffer = context.createBuffer(1, audio.length, tape.sampleRate);
    buffer.copyToChannel(audio, 0);
    const node = context.createBufferSource();
    node.buffer = buffer;
    node.connect(context.destination);
    node.onended = () => this.#context === context && this.stop();
    node.start();
    this.#context = context;
    const follow = () => {
      if (this.#context !== context) return;
      this.at.value = start + context.currentTime;
      requestAnimationFrame(follow);
    };
    follow();
  }

  stop(): void {
    void this.#context?.close();
    this.#context = undefined;
    this.at.value = undefined;
  }
}
