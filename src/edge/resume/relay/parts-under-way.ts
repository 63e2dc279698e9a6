// Parts of large messages on their way to other nodes, of all clients of this one: nodes have a window of 8 MiB for everything that
// they say, and what does not fit into it is lost.

const UNDER_WAY_BYTES_MAX = 4 * 1024 * 1024;

export interface PartsSender {
  /** There may be room. */
  goOn(): void;
}

export class PartsUnderWay {
  #bytes = 0;
  /** In the order in which they wait. */
  readonly #waiting = new Set<PartsSender>();

  /** Bytes that are under way. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether so many bytes more may be under way; else the sender hears when there may be room. */
  take(bytes: number, sender: PartsSender): boolean {
    if (this.#bytes + bytes > UNDER_WAY_BYTES_MAX) {
      this.#waiting.add(sender);
      return false;
    }
    this.#bytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes;
    for (const sender of [...this.#waiting]) {
      if (this.#bytes >= UNDER_WAY_BYTES_MAX) return;
      this.#waiting.delete(sender);
      sender.goOn();
    }
  }

  /** It has nothing more to send. */
  leave(sender: PartsSender): void {
    this.#waiting.delete(sender);
  }
}
