// One line on standard error that is written over, for people who wait. Nothing where that is no terminal, or where it is not
// wanted: logs and pipes never see it.
import type { Output } from '../demo/screen.ts';

/** Goes back to the first column and clears the line. */
const CLEAR_LINE = '\r\x1b[K';

export interface StatusLineOptions {
  isQuiet: boolean;
  output?: Output;
}

export class StatusLine {
  readonly isShown: boolean;
  readonly #output: Output;

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
