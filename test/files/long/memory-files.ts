// Files of parts, in memory, which count how many are open.
import type { PartFile } from '../../../src/files/long/cutter.ts';

export class MemoryFiles {
  /** Open now, and at most. */
  opened = 0;
  most = 0;
  /** Bytes of all that were written. */
  written = 0;
  bytesMax = Number.POSITIVE_INFINITY;

  async open(): Promise<PartFile> {
    this.opened++;
    this.most = Math.max(this.most, this.opened);
    let content = Buffer.alloc(0);
    let pieces: Uint8Array[] = [];
    let isClosed = false;
    return {
      write: async (bytes) => {
        this.written += bytes.length;
        if (this.written > this.bytesMax) throw new Error('The disk is full.');
        pieces.push(Uint8Array.from(bytes));
      },
      readAt: async (position, length) => {
        if (isClosed) throw new Error('The file is closed.');
        if (pieces.length > 0) content = Buffer.concat([content, ...pieces]);
        pieces = [];
        return content.subarray(position, position + length);
      },
      close: async () => {
        if (!isClosed) this.opened--;
        isClosed = true;
      },
    };
  }
}
