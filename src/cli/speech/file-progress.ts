// What is shown of a file that takes long: how much of it is sent, then for how long it has been waited for.
import type { Clock } from '../../../machines/clock.ts';
import type { StatusLine } from '../shared/status-line.ts';

/** Most files are answered before anything would be shown. */
const EVERY_MS = 1_000;
const MEGABYTE = 1_000_000;

export class FileProgress {
  readonly #line: StatusLine;
  readonly #clock: Clock;
  readonly #totalBytes: number;
  readonly #startMs: number;
  #sentBytes = 0;
  #sentAtMs: number;
  #timer: unknown;

  constructor(line: StatusLine, totalBytes: number, clock: Clock) {
    this.#line = line;
    this.#clock = clock;
    this.#totalBytes = totalBytes;
    this.#startMs = this.#sentAtMs = clock.now();
    if (line.isShown) this.#arm();
  }

  sent(bytes: number): void {
    this.#sentBytes += bytes;
    this.#sentAtMs = this.#clock.now();
  }

  /** The answer is there, or none will be. */
  end(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#line.clear();
  }

  #arm(): void {
    this.#timer = this.#clock.setTimeout(() => {
      this.#line.show(this.#text());
      this.#arm();
    }, EVERY_MS);
  }

  #text(): string {
    const total = (this.#totalBytes / MEGABYTE).toFixed(1);
    if (this.#sentBytes >= this.#totalBytes)
      return `sent ${total} MB, waiting for ${this.#secondsSince(this.#sentAtMs)} s`;
    const percent = Math.floor((this.#sentBytes / this.#totalBytes) * 100);
    const sent = (this.#sentBytes / MEGABYTE).toFixed(1);
    return `sending ${sent} of ${total} MB (${percent} %), ${this.#secondsSince(this.#startMs)} s`;
  }

  #secondsSince(atMs: number): number {
    return Math.round((this.#clock.now() - atMs) / 1_000);
  }
}

/** A file that tells how much of it was read: a form is sent by reading it. */
export class CountedFile extends File {
  readonly #onBytes: (bytes: number) => void;

  constructor(content: Blob, name: string, onBytes: (bytes: number) => void) {
    super([content], name);
    this.#onBytes = onBytes;
  }

  override stream(): ReturnType<File['stream']> {
    const count = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        this.#onBytes(chunk.byteLength);
        controller.enqueue(chunk);
      },
    });
    return super.stream().pipeThrough(count);
  }
}
