// Plays what was recorded from a word on, and says where it is.
import { type Signal, signal } from '@preact/signals';
import type { Tape } from './tape.ts';

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
