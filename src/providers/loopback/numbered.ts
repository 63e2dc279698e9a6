// Numbered audio: sample i is the low 16 bits of i. Whoever hears it can say exactly which samples it was given.

/** Collects the ranges of sample numbers heard, counted on from the first one: "17-32017", or "17-900 905-32017" with a gap. */
export class NumberedRanges {
  private first = -1;
  private next = -1;
  private readonly done: string[] = [];

  /** Hears `samples` linear16 samples of `bytes` from byte `offset`. */
  hear(bytes: Uint8Array, offset: number, samples: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset + offset, samples * 2);
    for (let index = 0; index < samples; index++) {
      const value = view.getUint16(index * 2, true);
      if (this.next >= 0 && value === (this.next & 0xffff)) {
        this.next++;
        continue;
      }
      this.breakOff();
      // After a gap the count goes on from the nearest number that fits.
      this.first = this.next < 0 ? value : this.next + ((value - this.next) & 0xffff);
      this.next = this.first + 1;
    }
  }

  text(): string {
    return this.first < 0 ? '' : [...this.done, `${this.first}-${this.next}`].join(' ');
  }

  private breakOff(): void {
    if (this.first >= 0 && this.done.length < 100) this.done.push(`${this.first}-${this.next}`);
  }
}
