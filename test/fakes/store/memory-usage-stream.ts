// A usage stream in memory that keeps the port's promises and no more: messages are handed over again after a consumer died, ids
// are known for a window only, and an answer may be lost although the message was kept.
import { type BusBody, BusError, type Detach } from '../../../src/cluster/bus/bus.ts';
import type { UsageHandler, UsageStream } from '../../../src/cluster/bus/usage-stream.ts';
import type { Random } from '../random.ts';

interface Kept {
  id: string;
  text: string;
}

export class MemoryUsageStream implements UsageStream {
  /** Nothing is taken while this is set. */
  isAway = false;
  /** Shares of the messages: kept without an answer, and kept twice. */
  faults = { unanswered: 0, forgotten: 0 };
  readonly refused: BusBody[] = [];
  private readonly random: Random;
  private readonly kept: Kept[] = [];
  private readonly known = new Set<string>();
  private handler: UsageHandler | undefined;
  private isHanding = false;

  constructor(random: Random) {
    this.random = random;
  }

  async publish(shard: string, id: string, body: BusBody): Promise<void> {
    await Promise.resolve();
    if (this.isAway) throw new BusError('disconnected', 'The stream is away.');
    if (this.random.next() < this.faults.forgotten) this.known.clear();
    if (!this.known.has(`${shard} ${id}`)) this.kept.push({ id, text: JSON.stringify(body) });
    this.known.add(`${shard} ${id}`);
    queueMicrotask(() => void this.hand());
    if (this.random.next() < this.faults.unanswered) throw new BusError('timeout', 'No answer came.');
  }

  consume(_: string, handler: UsageHandler): Detach {
    this.handler = handler;
    void this.handAgain(handler);
    void this.hand();
    return () => {
      this.handler = undefined;
    };
  }

  async waiting(): Promise<number> {
    return this.kept.length;
  }

  async putAside(): Promise<number> {
    return this.refused.length;
  }

  private async handAgain(handler: UsageHandler): Promise<void> {
    for (const body of [...this.refused]) {
      if ((await handler(body, true)) === 'done') this.refused.splice(this.refused.indexOf(body), 1);
    }
  }

  /** Hands over what waits. What is not answered by the consumer that began with it is handed over to the next. */
  async hand(): Promise<void> {
    if (this.isHanding) return;
    this.isHanding = true;
    for (let left = this.kept.length; left > 0; left--) {
      const { handler } = this;
      const message = this.kept.shift();
      if (message === undefined) break;
      const verdict = (await handler?.(JSON.parse(message.text) as BusBody, false)) ?? 'again';
      if (verdict === 'never') this.refused.push(JSON.parse(message.text) as BusBody);
      // The consumer died between what it did and its word for it.
      if (verdict === 'again' || (verdict === 'done' && handler !== this.handler)) this.kept.push(message);
    }
    this.isHanding = false;
  }
}
