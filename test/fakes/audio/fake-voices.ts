// A voice detector that knows a voice by one loud sample in each tenth of a second: what is only loud is noise.
import type { Engine, EngineConnection, EngineListener, Outgoing } from '../../../src/vendors/kit/provider.ts';

const RATE = 16_000;
const BLOCK = RATE / 10;
const MARK = 32_000;

/** Makes a voice of a sound. */
export function voiced(sound: Uint8Array): Uint8Array {
  const bytes = sound.slice();
  const samples = new Int16Array(bytes.buffer);
  for (let at = 0; at < samples.length; at += BLOCK) samples[at] = MARK;
  return bytes;
}

export class FakeVoices implements Engine {
  /** What it does on `finalize`: reports at once, never, or closes the stream; `refuses` closes each stream before. */
  manner: 'prompt' | 'silent' | 'dies' | 'refuses' = 'prompt';
  opened = 0;
  /** Streams that are open now, and the most that were. */
  streams = 0;
  /** Reports on the newest stream what it knows by now. */
  answer = () => {};
  streamsMax = 0;
  secondsHeard = 0;
  /** Audio that was sent and not reported, at most. */
  unreportedSecondsMax = 0;

  connect(_query: Readonly<Record<string, unknown>>, listener: EngineListener): EngineConnection {
    this.opened++;
    this.streams++;
    this.streamsMax = Math.max(this.streamsMax, this.streams);
    let samples = 0;
    let reported = 0;
    let ranges: [number, number][] = [];
    let isOver = false;
    const end = () => {
      if (!isOver) this.streams--;
      isOver = true;
    };
    const close = () => {
      if (isOver) return;
      end();
      listener.closed(1013, 'recogniser_overloaded');
    };
    if (this.manner === 'refuses') queueMicrotask(close);
    const report = () => {
      if (isOver) return;
      reported = samples;
      const known = ranges;
      ranges = [];
      listener.message({ type: 'voice', until: samples / RATE, ranges: known });
    };
    this.answer = report;
    return {
      send: (frame: Outgoing) => {
        if (!(frame instanceof Uint8Array)) {
          if (this.manner === 'prompt') queueMicrotask(report);
          if (this.manner === 'dies') queueMicrotask(close);
          return;
        }
        const heard = new Int16Array(frame.slice().buffer);
        for (const [at, sample] of heard.entries()) {
          const start = (samples + at) / RATE;
          if (sample >= MARK) ranges.push([start, start + 0.1]);
        }
        samples += heard.length;
        this.secondsHeard += heard.length / RATE;
        this.unreportedSecondsMax = Math.max(this.unreportedSecondsMax, (samples - reported) / RATE);
      },
      bufferedBytes: 0,
      close,
      terminate: end,
    };
  }
}
