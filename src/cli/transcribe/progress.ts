// The progress of a transcription, for people who wait at a terminal.
import type { Clock } from '../../../machines/clock.ts';
import { CLEAR_LINE, type OutputStream } from '../shared/output.ts';

interface StatusLineOptions {
  isQuiet: boolean;
  output?: OutputStream;
}

/** One line that is written over. Nothing is shown where that is not a terminal, or in quiet mode: logs and pipes never see it. */
export class StatusLine {
  readonly isShown: boolean;
  readonly #output: OutputStream;

  constructor({ isQuiet, output = process.stderr }: StatusLineOptions) {
    this.#output = output;
    this.isShown = output.isTTY === true && !isQuiet;
  }

  get columns(): number {
    return this.#output.columns ?? 80;
  }

  show(text: string): void {
    if (this.isShown) this.#output.write(`${CLEAR_LINE}${text}`);
  }

  clear(): void {
    this.show('');
  }
}

/** Most files are transcribed before anything is shown. */
const EVERY_MS = 1_000;
const MEGABYTE = 1_000_000;

/** How much of a file is sent, then how long the answer has taken. */
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

  /** After the answer, or an error. */
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

/** A file that reports how much of it was read: a form is sent by reading it. */
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
