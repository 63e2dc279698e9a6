// Audio that proves its own wholeness: sample i of a session is the low 16 bits of i, as linear16, with no markers. A sample
// names its position modulo 65,536, so a reader that knows roughly where it is sees every loss, shift and repetition.

/** Sample `position` of numbered audio. */
export function numberedSample(position: number): number {
  return (position << 16) >> 16;
}

/** Samples [from, to) as little-endian linear16. */
export function numberedAudio(from: number, to: number): Uint8Array {
  const samples = new Int16Array(to - from);
  for (let i = 0; i < samples.length; i++) samples[i] = numberedSample(from + i);
  return new Uint8Array(samples.buffer);
}

/** The position nearest to `expected` whose sample this is. */
export function numberedPosition(sample: number, expected: number): number {
  return expected + numberedSample(sample - expected);
}

/** Reads linear16 at any byte offset. */
export function samplesOf(bytes: Uint8Array): Int16Array {
  return new Int16Array(new Uint8Array(bytes).buffer);
}

/** Takes numbered audio piece by piece and throws, with both positions, at the first sample that is not the next one. */
export class NumberedReader {
  /** Position of the next sample. */
  position: number;

  constructor(position = 0) {
    this.position = position;
  }

  take(bytes: Uint8Array): void {
    if (bytes.length % 2 !== 0) throw new Error(`${bytes.length} bytes are no whole samples.`);
    for (const sample of samplesOf(bytes)) {
      if (sample !== numberedSample(this.position)) {
        throw new Error(`Sample ${numberedPosition(sample, this.position)} came in place of ${this.position}.`);
      }
      this.position++;
    }
  }
}
