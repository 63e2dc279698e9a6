// One entry of the replicated log: the calls of one group commit, and how it is chained to the entry before it.
import { isRecord, plainOfText, textOfPlain } from '../../runtime/plain-data.ts';

export interface LogCall {
  name: string;
  args: readonly unknown[];
  /** Ids and keys that the operation is given: it draws none itself. */
  drawn?: unknown;
}

/**
 * `claim`: a replica became the owner. `release`: the owner stops, and another replica may claim at once. `leave`: it keeps the accounts
 * alone from now on, and the log ends here until it begins again.
 */
export type LogEntryKind = 'calls' | 'claim' | 'release' | 'leave';

export interface LogEntry {
  kind: LogEntryKind;
  /** Identity of the ledger, `led_…`. */
  ledger: string;
  /** Grows with each claim. */
  epoch: number;
  /** Grows by one with each entry. */
  number: number;
  /** Hash of the entry before; empty in the first one. */
  previous: string;
  /** Outcome of the entry before, as its owner saw it: a replica with another outcome has another database. */
  outcome: string;
  /** The one wall clock of all its calls, in milliseconds. */
  nowMs: number;
  /** Version of the operations that the owner knows. */
  version: number;
  /** The node that wrote it, as its operator calls it. */
  node: string;
  /** Of a `release`: the node that is to claim; any when absent. */
  successor?: string;
  calls: readonly LogCall[];
}

const KINDS: readonly LogEntryKind[] = ['calls', 'claim', 'release', 'leave'];

export const bytesOfEntry = ({ calls, ...head }: LogEntry): Buffer => bytesOfTexts(head, calls.map(textOfPlain));

/** The same, from the texts of the calls: each call is written once, when it is measured. */
export const bytesOfTexts = (head: Omit<LogEntry, 'calls'>, calls: readonly string[]): Buffer =>
  Buffer.from(`${textOfPlain(head).slice(0, -1)},"calls":[${calls.join(',')}]}`);

/** Undefined for anything that `bytesOfEntry` has not made. */
export function entryOfBytes(bytes: Uint8Array): LogEntry | undefined {
  try {
    const found = plainOfText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
    return isEntry(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

function isEntry(value: unknown): value is LogEntry {
  if (!isRecord(value)) return false;
  const { kind, ledger, epoch, number, previous, outcome, nowMs, version, node, calls } = value;
  return (
    KINDS.includes(kind as LogEntryKind) &&
    [ledger, previous, outcome, node].every((each) => typeof each === 'string') &&
    [epoch, number, version].every((each) => Number.isSafeInteger(each)) &&
    Number.isFinite(nowMs) &&
    Array.isArray(calls) &&
    calls.every(isCall)
  );
}

const isCall = (value: unknown): boolean =>
  isRecord(value) && typeof value.name === 'string' && Array.isArray(value.args);
