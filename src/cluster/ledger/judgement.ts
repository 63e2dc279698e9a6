// Whether a ledger is the one of this gateway, compared with what is remembered. Another ledger, or an older copy, is refused,
// unless an operator has put it in force.
import { isRecord } from '../../runtime/record.ts';
import type { LedgerIdentity } from '../../store/identity.ts';

/** The remembered identity of the gateway's ledger. */
export type KnownLedger = Pick<LedgerIdentity, 'id' | 'generation' | 'sequence'>;

export type Judgement = 'right' | 'other' | 'older';

export function judgeLedger(found: LedgerIdentity, known: KnownLedger | undefined): Judgement {
  if (known === undefined) return 'right';
  const isPutInForce = found.generation > known.generation;
  if (found.id !== known.id) return found.replaces === known.id && isPutInForce ? 'right' : 'other';
  if (isPutInForce) return 'right';
  return found.generation === known.generation && found.sequence >= known.sequence ? 'right' : 'older';
}

const LEDGER = /^led_[0-9a-f]{24}$/;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Undefined when it is not such an identity. Ignores fields of later versions. */
export function readKnown(value: unknown): KnownLedger | undefined {
  if (!isRecord(value)) return undefined;
  const { id, generation, sequence } = value;
  if (typeof id !== 'string' || !LEDGER.test(id) || !isCount(generation) || !isCount(sequence)) return undefined;
  return { id, generation, sequence };
}

/** The same with what makes it an identity. */
export function readIdentity(value: unknown): LedgerIdentity | undefined {
  const known = readKnown(value);
  const replaces = isRecord(value) ? value.replaces : undefined;
  if (known === undefined || (replaces !== null && typeof replaces !== 'string')) return undefined;
  return { ...known, replaces };
}

/** For the operator of the node that has the database. */
export function ownSentence(
  judged: 'other' | 'older',
  own: LedgerIdentity,
  known: KnownLedger,
  directory: string,
): string {
  if (judged === 'other') {
    return `The database in ${directory} holds the ledger ${own.id}, and the one of this gateway is ${known.id}: is a volume not mounted, or VOXGATE_DATA_DIRECTORY another? To let it take the place of the other, run \`voxgate ledger accept ${known.id}\` on it.`;
  }
  return `The database in ${directory} is an older copy of the ledger ${own.id} (it ends at ${own.sequence}, the gateway has seen ${known.sequence}): put the newest one back, or a backup with \`voxgate ledger restore FILE --force\`, which settles again what the usage history has; to go on with it as it is, run \`voxgate ledger accept ${own.id}\` on it.`;
}

/** For the operator of a node that asks another one. */
export function remoteSentence(
  judged: 'other' | 'older',
  found: LedgerIdentity,
  known: KnownLedger,
  file: string,
): string {
  const what = judged === 'other' ? `the ledger ${found.id}` : `an older copy of the ledger ${found.id}`;
  return `The node that keeps the accounts has ${what}, and this node knows ${known.id}: nothing is asked of it. Start the right one; if this one is right, run \`voxgate ledger accept ${known.id}\` on its data directory, or remove ${file} here.`;
}
