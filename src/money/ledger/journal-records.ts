// What stands in a usage journal, line by line: a checksum, then JSON. A line that was not written whole is told by its
// checksum, and what follows it is not believed.
import { crc32 } from 'node:zlib';
import type { ProcessIdentity } from '../../runtime/process-identity.ts';
import type { LedgerPrice, SessionEnd, SessionHead, UsageLine } from '../store/calls.ts';

export type JournalRecord =
  | { type: 'begun'; version: 1; process: ProcessIdentity }
  /** All that is known of a session's usage; it takes the place of what was known before. */
  | { type: 'used'; head: SessionHead; at: string; audioMs: number; lines: UsageLine[] }
  /** The session has ended, and the ledger does not know yet. */
  | { type: 'ended'; head: SessionHead; end: SessionEnd }
  /** The ledger knows. */
  | { type: 'settled'; sessionId: string };

export function lineOf(record: JournalRecord): string {
  const json = JSON.stringify(record, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
  return `${checksum(json)} ${json}\n`;
}

/** The records of a journal, up to the first line that was not written whole. */
export function recordsOf(text: string): { records: JournalRecord[]; torn: boolean } {
  const records: JournalRecord[] = [];
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    const record = end === -1 ? undefined : recordOf(text.slice(at, end));
    if (record === undefined) return { records, torn: true };
    records.push(record);
    at = end + 1;
  }
  return { records, torn: false };
}

/**
 * The records of a file whose lines stand each for itself, as in a history: lines that were not written whole are left out and
 * counted. Empty ones only keep others apart.
 */
export function readableRecordsOf(text: string): { records: JournalRecord[]; unreadable: number } {
  const records: JournalRecord[] = [];
  let unreadable = 0;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const record = recordOf(line);
    if (record === undefined) unreadable++;
    else records.push(record);
  }
  return { records, unreadable };
}

function recordOf(line: string): JournalRecord | undefined {
  const json = line.slice(9);
  if (line[8] !== ' ' || line.slice(0, 8) !== checksum(json)) return undefined;
  const record = JSON.parse(json) as JournalRecord;
  if (record.type === 'used') return { ...record, lines: record.lines.map(readLine) };
  if (record.type === 'ended') return { ...record, end: { ...record.end, lines: record.end.lines.map(readLine) } };
  return record;
}

function readLine(line: UsageLine): UsageLine {
  const { unit, microUsd, minimumMicroUsd }: LedgerPrice = line.price;
  return { ...line, price: { unit, microUsd: BigInt(microUsd), minimumMicroUsd: BigInt(minimumMicroUsd) } };
}

const checksum = (json: string): string => crc32(json).toString(16).padStart(8, '0');
