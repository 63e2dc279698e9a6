// What was said of a session, by its numbers, within a bound: the oldest is let go of.

export class KeptTexts {
  readonly #bytesMax: number;
  /** In their order; the last one has the number {@link lastSeq}. Those before `#from` are let go of. */
  #texts: string[] = [];
  #from = 0;
  #bytes = 0;
  #lastSeq = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** In characters. */
  get bytes(): number {
    return this.#bytes;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Of the oldest that is kept; one more than the last where none is. */
  get firstSeq(): number {
    return this.#lastSeq - (this.#texts.length - this.#from) + 1;
  }

  add(text: string): void {
    this.#lastSeq++;
    this.#texts.push(text);
    this.#bytes += text.length;
    while (this.#bytes > this.#bytesMax) this.forget();
  }

  forget(): void {
    this.#bytes -= (this.#texts[this.#from] as string).length;
    this.#texts[this.#from] = '';
    this.#from++;
    if (this.#from < 64 || this.#from * 2 < this.#texts.length) return;
    this.#texts = this.#texts.slice(this.#from);
    this.#from = 0;
  }

  /** Those behind that number that are kept. */
  after(seq: number): readonly string[] {
    return this.#texts.slice(this.#from + Math.max(0, seq + 1 - this.firstSeq));
  }
}
