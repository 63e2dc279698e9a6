// What a node tells the ledger of a session that has ended, on its way through the usage stream: how it is written, and what of
// it is believed when it is read. Ranges are the ledger's own business.

import type { BusBody } from '../../cluster/bus/bus.ts';
import { type SigningKeys, type SigningSecrets, signed, signingKeys, unsigned } from '../../cluster/bus/signed.ts';
import { isRecord } from '../../runtime/record.ts';
import type { FileCharge, LedgerPrice, SessionEnd, SessionHead, UsageLine } from '../store/calls.ts';

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
  const { id, organisationId, keyId, mode, model, openedAt } = value;
  if (!areTexts(id, organisationId, keyId, mode, model, openedAt)) return undefined;
  return { id, organisationId, keyId, mode, model, openedAt } as SessionHead;
}

function endOf(value: unknown): SessionEnd | undefined {
  if (!isRecord(value) || !Array.isArray(value.lines)) return undefined;
  const { endedAt, reason, code, audioMs, onTrust } = value;
  const lines = value.lines.map(lineOf);
  if (!areTexts(endedAt, reason) || typeof audioMs !== 'number' || lines.includes(undefined)) return undefined;
  if (code !== null && typeof code !== 'string') return undefined;
  const file = fileOf(value.file);
  // Told by a version that knew neither: it is billed all the same.
  const more = { ...(onTrust === true ? { onTrust } : {}), ...(file === undefined ? {} : { file }) };
  return { endedAt, reason, code, audioMs, lines, ...more } as SessionEnd;
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
  return line;
}

function priceOf(value: unknown): LedgerPrice | undefined {
  if (!isRecord(value)) return undefined;
  const { unit, microUsd, minimumMicroUsd } = value;
  const areAmounts = [microUsd, minimumMicroUsd].every((each) => typeof each === 'string' && AMOUNT.test(each));
  if ((unit !== 'minute' && unit !== 'session') || !areAmounts) return undefined;
  return { unit, microUsd: BigInt(microUsd as string), minimumMicroUsd: BigInt(minimumMicroUsd as string) };
}
