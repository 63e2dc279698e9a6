// The usage stream: what sessions and files have used, on its way to the ledger. The port and its promises; nats-usage.ts keeps
// them on JetStream. What a message says, and what the ledger makes of it, is not known here.
import type { BusBody, Detach } from './bus.ts';

/** What became of a message. `again`: later; `never`: this ledger will not take it, and it is put aside where it can be read. */
export type UsageVerdict = 'done' | 'again' | 'never';

/**
 * Applies one message. It may come more than once, also after it was applied: applying is idempotent. `isPutAside`: it was put aside
 * before.
 */
export type UsageHandler = (body: BusBody, isPutAside: boolean) => Promise<UsageVerdict>;

/**
 * Promises:
 * - When `publish` resolves, the message is on disk as often as is configured, and will be handed to the consumer of its shard
 *   until that says `done` or `never`.
 * - A message that is published again under the same id within the stream's window is kept once; beyond it the ledger's own
 *   idempotency counts.
 * - Messages are handed over at least once, and by one consumer of a shard at a time.
 * - What was put aside is handed over once more to each consumer that begins, and goes when that says `done`.
 */
export interface UsageStream {
  /** Rejects with BusError when the stream did not say that it has it: it may have it all the same. */
  publish(shard: string, id: string, body: BusBody): Promise<void>;
  /** Begins to hand over what waits, and what comes. After the detach nothing more is handed over. */
  consume(shard: string, handler: UsageHandler): Detach;
  /** Messages that were not taken yet; undefined while that is not known. */
  waiting(shard: string): Promise<number | undefined>;
  /** Messages that are put aside now; undefined while that is not known. */
  putAside(shard: string): Promise<number | undefined>;
}
