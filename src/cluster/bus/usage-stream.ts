// The usage stream: usage of sessions and files on its way to the ledger. This is the port and its contract;
// nats/jetstream/usage-stream.ts implements it.
import type { BusBody, Detach } from './bus.ts';

/**
 * The result for one message. `again`: deliver it later; `never`: this ledger refuses it for good, and it is kept for the
 * operator to read.
 */
export type UsageVerdict = 'done' | 'again' | 'never';

/**
 * Applies one message. It must be idempotent: a message may come again after it was applied. `isPutAside`: this ledger or another
 * one refused it before.
 */
export type UsageHandler = (body: BusBody, isPutAside: boolean) => Promise<UsageVerdict>;

/**
 * Contract:
 * - When `publish` resolves, the message is stored with the configured number of replicas, and is delivered to the consumer of
 *   its shard until that answers `done` or `never`.
 * - A message that is published twice under one id is stored once within the stream's deduplication window; after it the ledger
 *   deduplicates.
 * - Delivery is at least once, to one consumer of a shard at a time.
 * - Refused messages are delivered once more to each consumer that begins, and removed when it answers `done`.
 */
export interface UsageStream {
  /** Rejects with BusError when the stream did not confirm the message; it may have stored it anyway. */
  publish(shard: string, id: string, body: BusBody): Promise<void>;
  /** Begins to deliver waiting and new messages. Nothing is delivered after the detach. */
  consume(shard: string, handler: UsageHandler): Detach;
  /** Messages that are not processed yet; undefined while that is not known. */
  waiting(shard: string): Promise<number | undefined>;
  /** Refused messages that are kept now; undefined while that is not known. */
  putAside(shard: string): Promise<number | undefined>;
}
