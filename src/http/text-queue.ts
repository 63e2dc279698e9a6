// A body that is written while it is read, such as an event stream.

/** Proxies are asked to hand each event on as it comes. */
export const EVENT_STREAM: Readonly<Record<string, string>> = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'X-Accel-Buffering': 'no',
};

/**
 * Pieces of a body as they come, for one reader. What it does not ask for waits in one text, whose
 * length is bounded by whoever adds to it.
 */
export class TextQueue implements AsyncIterableIterator<string> {
  #text = '';
  #end: { error?: unknown } | undefined;
  #wake: () => void = () => {};
  readonly #onGone: () => void;

  /** @param onGone nobody asks for more: the reader has left */
  constructor(onGone: () => void = () => {}) {
    this.#onGone = onGone;
  }

  /** Characters that wait. */
  get waiting(): number {
    return this.#text.length;
  }

  add(text: string): void {
    this.#text += text;
    this.#wake();
  }

  end(): void {
    this.#end ??= {};
    this.#wake();
  }

  /** The reader is given what is left, and then this error. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }

  async next(): Promise<IteratorResult<string>> {
    while (this.#text === '' && this.#end === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const value = this.#text;
    this.#text = '';
    if (value !== '') return { value, done: false };
    if (this.#end !== undefined && 'error' in this.#end) throw this.#end.error;
    return { value: undefined, done: true };
  }

  async return(): Promise<IteratorResult<string>> {
    this.end();
    this.#text = '';
    this.#onGone();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
