// The end of the usage stream, at the node that has the database: each session that ended elsewhere is settled, once however often
// it is told. What this ledger will not settle is put aside and told of, and tried once by each that comes after it; the
// rest is tried until it is settled.
import type { BusBody, Detach } from '../../cluster/bus/bus.ts';
import type { SigningKeys } from '../../cluster/bus/signed.ts';
import type { UsageStream, UsageVerdict } from '../../cluster/bus/usage-stream.ts';
import { StoreError } from '../../store/store-error.ts';
import type { LedgerStore, SessionEnd, SessionHead } from '../store/calls.ts';
import { type SettledAgain, settleAgain } from './history/replay.ts';
import { NEVER } from './recovery.ts';
import { readUsage } from './usage-message.ts';

export interface UsageConsumerOptions {
  usage: Pick<UsageStream, 'consume'>;
  shard: string;
  store: Pick<LedgerStore, 'settleSession' | 'findSession'>;
  /** `usageKeys` of the gateway's secret. */
  keys: SigningKeys;
  /** After the commit, perhaps more than once. */
  onSettled(head: SessionHead, end: SessionEnd): void;
  /** A session of a node's history: whether this ledger had it, lacked it, or does not know its organisation. */
  onHistory?(outcome: SettledAgain): void;
  /**
   * `usage refused`: a message that was put aside, and what it says is not billed. `usage waits`: the ledger does not take what
   * comes; told once until it does again. `usage newer`: a node of a later version wrote it, and it waits for such a ledger.
   */
  onFault(name: 'usage refused' | 'usage waits' | 'usage newer', error: unknown): void;
}

/** From now on what waits in the stream is settled; until the returned function is called. */
export function consumeUsage(options: UsageConsumerOptions): Detach {
  const { usage, shard, store, keys, onSettled, onHistory = () => {}, onFault } = options;
  let isWaiting = false;
  let isNewerTold = false;

  return usage.consume(shard, async (body: BusBody, isPutAside: boolean): Promise<UsageVerdict> => {
    const refused = (error: unknown): UsageVerdict => {
      // A message that was refused before is not reported again.
      if (!isPutAside) onFault('usage refused', error);
      return 'never';
    };
    const message = readUsage(keys, body);
    if (message === 'foreign') return refused(new Error('A message of the usage stream is not of this gateway.'));
    if (message === 'newer') {
      if (!isNewerTold) onFault('usage newer', new Error('A node of a later version tells of usage: update this one.'));
      isNewerTold = true;
      return 'again';
    }
    try {
      if (message.isHistory) {
        const outcome = await settleAgain(store, message.head, message.end);
        onHistory(outcome);
        isWaiting = false;
        if (outcome === 'added') onSettled(message.head, message.end);
        // The node that sent it keeps it.
        return 'done';
      }
      await store.settleSession(message.head, message.end);
    } catch (error) {
      if (error instanceof StoreError && NEVER.has(error.reason)) {
        return refused(new Error(`Session ${message.head.id} cannot be settled.`, { cause: error }));
      }
      if (!isWaiting) onFault('usage waits', error);
      isWaiting = true;
      return 'again';
    }
    isWaiting = false;
    onSettled(message.head, message.end);
    return 'done';
  });
}
