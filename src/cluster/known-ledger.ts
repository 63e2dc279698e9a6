// Which ledger is the gateway's: recorded on NATS for the nodes with a database, and in a file on each of the others. Another ledger, or
// an older copy, is refused, unless an operator has put it in force.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../machines/clock.ts';
import { isRecord } from '../runtime/plain-data.ts';
import type { IdentityStore, LedgerIdentity } from '../store/identity.ts';
import type { Records } from './bus/nats/jetstream/records.ts';
import { ClusterError } from './membership/name-lease.ts';

/** The interval of these writes. A copy that lacks less than this cannot be told from a current one. */
const NOTE_MS = 5_000;

interface LedgerRecordOptions {
  records: Records;
  store: Pick<IdentityStore, 'findLedger' | 'noteLedger'>;
  clock: Clock;
  shard: string;
  /** The database's directory, for messages. */
  directory: string;
  /** Called once each time that writing begins to fail. */
  onFault(error: unknown): void;
}

export class LedgerRecord {
  readonly #options: LedgerRecordOptions;
  readonly #name: string;
  #noted: { sequence: number; text: string } | undefined;
  #isFailing = false;
  #isClosed = false;
  #timer: unknown;

  constructor(options: LedgerRecordOptions) {
    this.#options = options;
    this.#name = `ledger.${options.shard}`;
  }

  /**
   * Whether the database of this node may keep the accounts: asked before it is claimed.
   *
   * @throws ClusterError when it is another ledger or an older copy; BusError when that cannot be found out now
   */
  async admit(): Promise<void> {
    const { records, store, directory } = this.#options;
    const found = await records.read(this.#name);
    const known = readKnown(found?.value);
    const own = await store.findLedger();
    const judged = judgeLedger(own, known);
    if (judged !== 'right' && known !== undefined) throw new ClusterError(ownSentence(judged, own, known, directory));
    this.#noted = { sequence: found?.sequence ?? 0, text: '' };
    await this.#write(own);
  }

  /** Writes the ledger's progress every few seconds from now on. */
  keep(): void {
    this.#arm();
  }

  /** Writes it once more, so that the next start needs a copy with everything. Never rejects. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.clock.clearTimeout(this.#timer);
    await this.#note();
  }

  #arm(): void {
    if (this.#isClosed) return;
    this.#timer = this.#options.clock.setTimeout(() => void this.#note().then(() => this.#arm()), NOTE_MS);
  }

  async #note(): Promise<void> {
    if (this.#noted === undefined) return;
    try {
      await this.#write(await this.#options.store.noteLedger());
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing && !this.#isClosed) this.#options.onFault(error);
      this.#isFailing = true;
    }
  }

  async #write({ id, generation, sequence }: LedgerIdentity): Promise<void> {
    const { records } = this.#options;
    const value = { id, generation, sequence };
    const text = JSON.stringify(value);
    if (this.#noted === undefined || this.#noted.text === text) return;
    const written = await records.write(this.#name, value, this.#noted.sequence);
    if (written !== undefined) {
      this.#noted = { sequence: written, text };
      return;
    }
    // Either an own write whose answer was lost, or another ledger is in force; that record is not overwritten.
    const found = await records.read(this.#name);
    const isOwn = found !== undefined && readKnown(found.value)?.id === id;
    this.#noted = isOwn ? { sequence: found.sequence, text: '' } : undefined;
  }
}

/** The gateway's ledger; undefined before its first start. Rejects with BusError. */
export async function knownLedgerOf(
  records: Pick<Records, 'read'>,
  shard: string,
): Promise<Pick<LedgerIdentity, 'id' | 'generation'> | undefined> {
  return readKnown((await records.read(`ledger.${shard}`))?.value);
}

export const LEDGER_FILE = 'ledger';

/**
 * A file in which a node without the database keeps the identity of the ledger that it uses. If another ledger answers under the
 * same name, the node refuses it, even when NATS has lost its own record.
 */
export class RememberedLedger {
  readonly #file: string;
  readonly #onFault: (error: unknown) => void;
  #known: KnownLedger | undefined;
  /** This generation of the ledger may lack what this node has told a former one. Absent in files of older versions. */
  #isHistoryDue = false;
  #onHistoryDue: (generation: number) => void = () => {};

  /**
   * @param onFault the file cannot be written: it is remembered until the process ends
   * @throws ClusterError for a file that says nothing of a ledger
   */
  constructor(file: string, onFault: (error: unknown) => void) {
    this.#file = file;
    this.#onFault = onFault;
    const text = textOf(file);
    this.#known = text === undefined ? undefined : knownOf(text);
    this.#isHistoryDue = text !== undefined && isHistoryDueIn(text);
    if (text === undefined || this.#known !== undefined) return;
    throw new ClusterError(`${file} does not say which ledger this node knows: remove it, and the next one is taken.`);
  }

  /**
   * What is wrong with the ledger of the answering node, in a sentence; undefined for the right one, which is then remembered.
   */
  faultOf(found: LedgerIdentity): string | undefined {
    const known = this.#known;
    const judged = judgeLedger(found, known);
    if (judged !== 'right' && known !== undefined) return remoteSentence(judged, found, known, this.#file);
    if (known?.id !== found.id || known.generation !== found.generation) this.#remember(found);
    return undefined;
  }

  /** Called now and later with each generation of the ledger that the usage history of this node was not sent to yet. */
  onHistoryDue(listener: (generation: number) => void): void {
    this.#onHistoryDue = listener;
    if (this.#known !== undefined && this.#isHistoryDue) listener(this.#known.generation);
  }

  /** The history was sent to the ledger of that generation. */
  historySent(generation: number): void {
    if (this.#known?.generation !== generation) return;
    this.#isHistoryDue = false;
    this.#write();
  }

  #remember({ id, generation }: LedgerIdentity): void {
    // The node that has the ledger knows how far it has come.
    this.#known = { id, generation, sequence: 0 };
    this.#isHistoryDue = true;
    this.#write();
    this.#onHistoryDue(generation);
  }

  #write(): void {
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      const draft = `${this.#file}.${process.pid}`;
      const entry = { ...this.#known, ...(this.#isHistoryDue && { isHistoryDue: true }) };
      writeFileSync(draft, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
      renameSync(draft, this.#file);
    } catch (error) {
      this.#onFault(error);
    }
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new ClusterError(`${file} cannot be read: give this user the right to, or remove it.`);
  }
}

function isHistoryDueIn(text: string): boolean {
  try {
    return (JSON.parse(text) as { isHistoryDue?: unknown } | null)?.isHistoryDue === true;
  } catch {
    return false;
  }
}

function knownOf(text: string): KnownLedger | undefined {
  try {
    return readKnown(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The remembered identity of the gateway's ledger. */
type KnownLedger = Pick<LedgerIdentity, 'id' | 'generation' | 'sequence'>;

type Judgement = 'right' | 'other' | 'older';

/** Whether a ledger is the remembered one. Another one, or an older copy, is right only if an operator has put it in force. */
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
function readKnown(value: unknown): KnownLedger | undefined {
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
function ownSentence(judged: 'other' | 'older', own: LedgerIdentity, known: KnownLedger, directory: string): string {
  if (judged === 'other') {
    return `The database in ${directory} holds the ledger ${own.id}, and the one of this gateway is ${known.id}: is a volume not mounted, or VOXGATE_DATA_DIRECTORY another? To let it take the place of the other, run \`voxgate ledger accept ${known.id}\` on it.`;
  }
  return `The database in ${directory} is an older copy of the ledger ${own.id} (it ends at ${own.sequence}, the gateway has seen ${known.sequence}): put the newest one back, or a backup with \`voxgate ledger restore FILE --force\`, which settles again what the usage history has; to go on with it as it is, run \`voxgate ledger accept ${own.id}\` on it.`;
}

/** For the operator of a node that asks another one. */
function remoteSentence(judged: 'other' | 'older', found: LedgerIdentity, known: KnownLedger, file: string): string {
  const what = judged === 'other' ? `the ledger ${found.id}` : `an older copy of the ledger ${found.id}`;
  return `The node that keeps the accounts has ${what}, and this node knows ${known.id}: nothing is asked of it. Start the right one; if this one is right, run \`voxgate ledger accept ${known.id}\` on its data directory, or remove ${file} here.`;
}
