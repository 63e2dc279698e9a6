// What a node tells the ledger of a session that has ended, on its way through the usage stream: how it is written, and what of
// it is believed when it is read. Ranges are the ledger's own business.
import { type BusBody, BusError, type Detach } from '../../cluster/bus/bus.ts';
import { type SigningKeys, type SigningSecrets, signed, signingKeys, unsigned } from '../../cluster/bus/signed.ts';
import type { UsageStream, UsageVerdict } from '../../cluster/bus/usage-stream.ts';
import { lineCostMicroUsd } from '../../config/prices/price.ts';
import { isRecord } from '../../runtime/plain-data.ts';
import { StoreError } from '../../store/store-error.ts';
import type {
  FileCharge,
  LedgerPrice,
  LedgerStore,
  SentAgain,
  SessionEnd,
  SessionHead,
  SessionRecord,
  UsageLine,
} from '../store/calls.ts';
import { areRedactions, SENT_AGAIN_REASONS } from '../store/checks.ts';
import { type SettledAgain, settleAgain } from './history/replay.ts';
import { NEVER } from './recovery.ts';
import type { ReservationStore } from './reservations.ts';

const TYPE = 'usage.end';
/** Grows when an older reader would understand a message wrongly. */
const VERSION = 1;
/** Of a message with the time of a connection, which an older reader would not bill. */
const VERSION_OF_CONNECTIONS = 2;
/** Of a message with several prices of one model, which an older reader would refuse for good. */
const VERSION_OF_RATES = 3;
/** 64 bits have no more. */
const AMOUNT = /^\d{1,19}$/;

export const usageKeys = (secrets: SigningSecrets): SigningKeys => signingKeys(secrets, 'usage');

/** The same for every try, so that the stream keeps one of them. */
export const usageId = (head: Pick<SessionHead, 'id'>): string => `${head.id}:end`;

/** Of a message from the history of a node. The stream may still remember the first one: to this generation of the ledger it is another. */
export const historyId = (head: Pick<SessionHead, 'id'>, generation: number): string =>
  `${usageId(head)}:${generation}`;

/** `isHistory`: the session was settled before, and this generation of the ledger may lack it. */
export function usageBody(keys: SigningKeys, head: SessionHead, end: SessionEnd, isHistory = false): BusBody {
  return signed(keys, TYPE, { version: versionOf(end), head, end, ...(isHistory && { isHistory }) });
}

function versionOf({ lines }: SessionEnd): number {
  if (lines.some(({ rate }) => rate !== undefined)) return VERSION_OF_RATES;
  return lines.some(({ connectionMs }) => connectionMs !== undefined) ? VERSION_OF_CONNECTIONS : VERSION;
}

/** `newer`: written by a node of a later version. `foreign`: no node of this gateway wrote it, or it says nothing that could be settled. */
export type UsageMessage = { head: SessionHead; end: SessionEnd; isHistory?: true } | 'newer' | 'foreign';

/** Never throws, whatever it is given. */
export function readUsage(keys: SigningKeys, body: BusBody): UsageMessage {
  const value = unsigned(keys, TYPE, body);
  if (!isRecord(value)) return 'foreign';
  const version = Number.isInteger(value.version) ? Number(value.version) : 0;
  if (version > VERSION_OF_RATES) return 'newer';
  const head = headOf(value.head);
  const end = endOf(value.end);
  if (version < VERSION || head === undefined || end === undefined) return 'foreign';
  return { head, end, ...(value.isHistory === true && { isHistory: true as const }) };
}

const areTexts = (...values: unknown[]): boolean => values.every((value) => typeof value === 'string');

function headOf(value: unknown): SessionHead | undefined {
  if (!isRecord(value)) return undefined;
  const { id, organisationId, keyId, mode, model, openedAt, tags } = value;
  if (!areTexts(id, organisationId, keyId, mode, model, openedAt)) return undefined;
  const head = { id, organisationId, keyId, mode, model, openedAt } as SessionHead;
  // Whatever they are, the session is billed.
  if (typeof tags === 'string') head.tags = tags;
  return head;
}

function endOf(value: unknown): SessionEnd | undefined {
  if (!isRecord(value) || !Array.isArray(value.lines)) return undefined;
  const { endedAt, reason, code, audioMs, onTrust } = value;
  const lines = value.lines.map(lineOf);
  if (!areTexts(endedAt, reason) || typeof audioMs !== 'number' || lines.includes(undefined)) return undefined;
  if (code !== null && typeof code !== 'string') return undefined;
  const file = fileOf(value.file);
  const sentAgain = sentAgainOf(value.sentAgain);
  // Told by a version that knew neither: it is billed anyway.
  const counts = isRecord(value.redactions) && areRedactions(value.redactions) ? { redactions: value.redactions } : {};
  const more = {
    ...(onTrust === true ? { onTrust } : {}),
    ...(file === undefined ? {} : { file }),
    ...sentAgain,
    ...counts,
  };
  return { endedAt, reason, code, audioMs, lines, ...more } as SessionEnd;
}

/** Of an older version nothing; what cannot be read is left out, and the session is billed anyway. */
function sentAgainOf(value: unknown): Pick<SessionEnd, 'sentAgain'> {
  if (!Array.isArray(value)) return {};
  const isReadable = value.every(
    (each) =>
      isRecord(each) &&
      typeof each.model === 'string' &&
      typeof each.own === 'boolean' &&
      SENT_AGAIN_REASONS.some((reason) => reason === each.reason) &&
      [each.legs, each.audioMs, each.connectionMs ?? 0].every((count) => Number.isSafeInteger(count)) &&
      Number(each.legs) > 0 &&
      Number(each.audioMs) >= 0 &&
      Number(each.connectionMs ?? 0) >= 0,
  );
  return isReadable ? { sentAgain: value as SentAgain[] } : {};
}

function fileOf(value: unknown): FileCharge | undefined {
  if (!isRecord(value)) return undefined;
  const { audioMs, channels, audioMsMax, claimedMs } = value;
  const areNumbers = [audioMs, channels, audioMsMax, claimedMs ?? 0].every((each) => typeof each === 'number');
  if (!areNumbers) return undefined;
  return { audioMs, channels, audioMsMax, ...(claimedMs === undefined ? {} : { claimedMs }) } as FileCharge;
}

function lineOf(value: unknown): UsageLine | undefined {
  if (!isRecord(value) || typeof value.model !== 'string') return undefined;
  const { model, own, rate, audioMs, connectionMs } = value;
  const price = priceOf(value.price);
  if (typeof own !== 'boolean' || typeof audioMs !== 'number' || price === undefined) return undefined;
  const line: UsageLine = { model, own, audioMs, price };
  for (const [name, count] of Object.entries({ rate, connectionMs })) {
    if (typeof count === 'number') line[name as 'rate' | 'connectionMs'] = count;
    else if (count !== undefined) return undefined;
  }
  if (own && value.counted === true) line.counted = true;
  return line;
}

function priceOf(value: unknown): LedgerPrice | undefined {
  if (!isRecord(value)) return undefined;
  const { unit, microUsd, minimumMicroUsd } = value;
  const areAmounts = [microUsd, minimumMicroUsd].every((each) => typeof each === 'string' && AMOUNT.test(each));
  if ((unit !== 'minute' && unit !== 'session') || !areAmounts) return undefined;
  return { unit, microUsd: BigInt(microUsd as string), minimumMicroUsd: BigInt(minimumMicroUsd as string) };
}

// The end of the usage stream, at the node that has the database: each session that ended elsewhere is settled, once however often
// it is told. What this ledger will not settle is put aside and told of, and tried once by each that comes after it; the
// rest is tried until it is settled.
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
    if (message === 'foreign') return refused(new Error('A message of the usage stream is not from this gateway.'));
    if (message === 'newer') {
      if (!isNewerTold) onFault('usage newer', new Error('A node with a later version sends usage. Update this node.'));
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

// The ledger, for the reservations of a node without the database: holds are asked of the node that has, and what was used goes
// into the usage stream, from which that node takes it.
export interface StreamedStoreOptions {
  /** Of the node that has the database. */
  accounts: Pick<LedgerStore, 'openSession' | 'renewHold' | 'holdOwn' | 'settleSession' | 'balanceOf'>;
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
      throw new StoreError('unreachable', 'The usage stream did not accept an ended session.');
    }
    return recordOf(head, end);
  };
  return {
    openSession: (head, hold) => accounts.openSession(head, hold),
    renewHold: (...call) => accounts.renewHold(...call),
    holdOwn: (...call) => accounts.holdOwn(...call),
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
