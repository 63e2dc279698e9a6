// The ledger, for the reservations of a node without the database: holds are asked of the node that has, and what was used goes
// into the usage stream, from which that node takes it.

import { BusError } from '../../cluster/bus/bus.ts';
import type { SigningKeys } from '../../cluster/bus/signed.ts';
import type { UsageStream } from '../../cluster/bus/usage-stream.ts';
import { lineCostMicroUsd } from '../../config/prices/price.ts';
import { StoreError } from '../../store/store-error.ts';
import type { LedgerStore, SessionEnd, SessionHead, SessionRecord } from '../store/calls.ts';
import type { ReservationStore } from './reservations.ts';
import { usageBody, usageId } from './usage-message.ts';

export interface StreamedStoreOptions {
  /** Of the node that has the database. */
  accounts: Pick<LedgerStore, 'openSession' | 'renewHold' | 'settleSession' | 'balanceOf'>;
  usage: Pick<UsageStream, 'publish'>;
  /** `usageKeys` of the gateway's secret. */
  keys: SigningKeys;
  shardOf(organisationId: string): string;
}

/**
 * A session is settled when the stream has it on its disks. `settleSession` gives the bill as it is computed here, which is what
 * the ledger makes of it unless it knows more of that session; `settleExactly` asks the ledger for its own.
 *
 * @throws StoreError `unreachable` when the stream did not say that it has it: it is told again, and kept once
 */
export function createStreamedStore({ accounts, usage, keys, shardOf }: StreamedStoreOptions): ReservationStore {
  const settleSession = async (head: SessionHead, end: SessionEnd): Promise<SessionRecord> => {
    try {
      await usage.publish(shardOf(head.organisationId), usageId(head), usageBody(keys, head, end));
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      throw new StoreError('unreachable', 'The usage stream did not take a session that has ended.');
    }
    return recordOf(head, end);
  };
  return {
    openSession: (head, hold) => accounts.openSession(head, hold),
    renewHold: (...call) => accounts.renewHold(...call),
    balanceOf: (organisationId) => accounts.balanceOf(organisationId),
    settleSession,
    async settleExactly(head, end) {
      const record = await settleSession(head, end);
      // The ledger settles once, by this call or by the stream; its answer is what it has recorded.
      return accounts.settleSession(head, end).catch(() => record);
    },
  };
}

function recordOf(head: SessionHead, { endedAt, reason, code, audioMs, lines: used }: SessionEnd): SessionRecord {
  const lines = used.map((line) => ({ ...line, costMicroUsd: lineCostMicroUsd(line) }));
  const cost = lines.reduce((sum, { costMicroUsd: each }) => sum + each, 0n);
  return { ...head, endedAt, reason, code, audioMs, lines, costMicroUsd: cost, heldMicroUsd: 0n };
}
