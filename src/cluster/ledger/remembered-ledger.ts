// A file in which a node without the database keeps the identity of the ledger that it uses. If another ledger answers under the
// same name, the node refuses it, even when NATS has lost its own record.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { LedgerIdentity } from '../../store/identity.ts';
import { ClusterError } from '../membership/name-lease.ts';
import { judgeLedger, type KnownLedger, readKnown, remoteSentence } from './judgement.ts';

export const LEDGER_FILE = 'ledger';

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
