// Files that clients of other vendors have put here before they ask for a transcript. Each lies in the spool, is its key's alone,
// and goes when its time is over; a job that works on it keeps it until it has ended. One that a job was made of gives way to others
// where there is no room.
import type { Clock } from '../../machines/clock.ts';
import { type ApiError, apiError } from '../api/errors.ts';
import { noRoomOf } from '../http/multipart/errors.ts';
import type { Form } from '../http/multipart/form.ts';
import { SpoolBudget } from '../http/multipart/spool-file.ts';
import { Quota, type Shortage } from '../runtime/limits/quota.ts';
import { newestFirst, type ShownFile } from '../vendors/compat/jobs.ts';
import { newFileId } from './file-ids.ts';
import { isSame, noFile, type Owner } from './owner.ts';

/** Of one key, with those that only a job still needs; and of one organisation. */
export const KEPT_FILES_MAX = 100;
export const ORGANISATION_FILES_MAX = 1_000;
/** Of what uploads may have on disk. The rest is for files that are waited for. */
export const KEPT_SHARE = 1 / 2;
export const FILE_KEPT_MS = 3_600_000;

export interface KeptFile extends ShownFile {
  readonly form: Form;
  audio?: NonNullable<ShownFile['audio']>;
}

interface Record {
  readonly file: KeptFile;
  readonly owner: Owner;
  timer: unknown;
  holders: number;
  /** A job that was requested later has worked on it. */
  isUsed: boolean;
}

/** What an organisation may have on disk. */
class Share extends SpoolBudget {
  readonly #giveWay: () => boolean;

  /** @param giveWay takes a file away that is needed least; false where there is none */
  constructor(kept: Quota, organisationId: string, uploads: Quota, giveWay: () => boolean) {
    super(kept, organisationId, new SpoolBudget(uploads, organisationId), fullDisk);
    this.#giveWay = giveWay;
  }

  override take(bytes: number): void {
    try {
      super.take(bytes);
    } catch (error) {
      if (!this.#giveWay()) throw error;
      this.take(bytes);
    }
  }
}

export interface KeptFilesOptions {
  /** Incarnation of this node. */
  node: string;
  clock: Clock;
  wallNow(): Date;
  /** Bytes that all uploads of the node may have on disk. */
  spoolQuota: Quota;
}

export class KeptFiles {
  readonly #options: KeptFilesOptions;
  readonly #quota: Quota;
  readonly #files = new Map<string, Record>();
  /** Files, with those that are arriving. */
  readonly #keys = new Quota();
  readonly #organisations = new Quota();
  #isClosed = false;

  constructor(options: KeptFilesOptions) {
    this.#options = options;
    this.#quota = new Quota(Math.floor(options.spoolQuota.max * KEPT_SHARE));
  }

  /** Files that can be requested. */
  get size(): number {
    return this.#files.size;
  }

  /**
   * Keeps what is read, for its time; held once already, for who is going to work on it. Rejects with an ApiError: of the reading,
   * or `too_many_sessions` where the key or its organisation has no room left.
   *
   * @param read takes the file into this budget
   */
  async keep(owner: Owner, read: (budget: SpoolBudget) => Promise<Form>): Promise<{ file: KeptFile; leave(): void }> {
    const { clock, wallNow } = this.#options;
    const form = await read(this.#begin(owner)).catch((error) => {
      this.#gone(owner);
      throw error;
    });
    const { filename, size = 0 } = form.file;
    const fields = new Map(form.fields);
    const file: KeptFile = {
      id: newFileId(this.#options.node),
      filename,
      bytes: size,
      createdAt: wallNow(),
      fields,
      form,
    };
    const record: Record = { file, owner, timer: undefined, holders: 1, isUsed: false };
    record.timer = clock.setTimeout(() => this.#drop(record), FILE_KEPT_MS);
    this.#files.set(file.id, record);
    if (this.#isClosed) this.#drop(record);
    return { file, leave: this.#leaving(record) };
  }

  /** Throws an ApiError `not_found`. */
  find(owner: Owner, id: string): KeptFile {
    return this.#recordOf(owner, id).file;
  }

  /** The same, and keeps it until `leave` is called, any number of times. */
  hold(owner: Owner, id: string): { file: KeptFile; leave(): void } {
    const record = this.#recordOf(owner, id);
    record.holders++;
    const leave = this.#leaving(record);
    return {
      file: record.file,
      leave: () => {
        record.isUsed = true;
        leave();
      },
    };
  }

  /** Newest first. */
  of(owner: Owner): KeptFile[] {
    const own = [...this.#files.values()].filter((record) => isSame(record.owner, owner));
    return own.map(({ file }) => file).sort(newestFirst);
  }

  /** It cannot be asked for any more. Throws an ApiError `not_found`. */
  remove(owner: Owner, id: string): KeptFile {
    const record = this.#recordOf(owner, id);
    this.#drop(record);
    return record.file;
  }

  close(): void {
    this.#isClosed = true;
    for (const record of [...this.#files.values()]) this.#drop(record);
  }

  #recordOf(owner: Owner, id: string): Record {
    const record = this.#files.get(id);
    if (record === undefined || !isSame(record.owner, owner)) throw noFile(FILE_KEPT_MS);
    return record;
  }

  /** Counts one more. Throws an ApiError. */
  #begin({ organisationId, keyId }: Owner): Share {
    const { spoolQuota } = this.#options;
    const isFull = () =>
      this.#keys.shortage(keyId, 1, KEPT_FILES_MAX) !== undefined ||
      this.#organisations.shortage(organisationId, 1, ORGANISATION_FILES_MAX) !== undefined;
    if (isFull()) this.#giveWay((owner) => owner.organisationId === organisationId && owner.keyId === keyId);
    if (isFull()) throw tooMany();
    this.#keys.count(keyId, 1);
    this.#organisations.count(organisationId, 1);
    return new Share(this.#quota, organisationId, spoolQuota, () =>
      this.#giveWay((owner) => owner.organisationId === organisationId),
    );
  }

  /** The oldest of these that a job was made of goes. False where there is none. */
  #giveWay(isMeant: (owner: Owner) => boolean): boolean {
    for (const record of this.#files.values()) {
      if (!record.isUsed || record.holders > 0 || !isMeant(record.owner)) continue;
      this.#drop(record);
      return true;
    }
    return false;
  }

  /** What arrived is released by whoever works on it last. */
  #drop(record: Record): void {
    this.#options.clock.clearTimeout(record.timer);
    if (!this.#files.delete(record.file.id) || record.holders > 0) return;
    this.#dispose(record);
  }

  #leaving(record: Record): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      record.holders--;
      if (record.holders === 0 && !this.#files.has(record.file.id)) this.#dispose(record);
    };
  }

  #dispose({ file, owner }: Record): void {
    file.form.dispose();
    this.#gone(owner);
  }

  #gone({ organisationId, keyId }: Owner): void {
    this.#keys.giveBack(keyId);
    this.#organisations.giveBack(organisationId);
  }
}

const full = (who: string): ApiError =>
  apiError('too_many_sessions', `${who}. Delete some, or wait until their jobs have ended.`, { retryAfterSeconds: 30 });

const tooMany = () =>
  full(`A key may keep ${KEPT_FILES_MAX} files here, and its organisation ${ORGANISATION_FILES_MAX}`);

const fullDisk = (shortage: Shortage) =>
  shortage === 'full'
    ? noRoomOf(shortage)
    : full(
        'The files that your organisation keeps here take as much of the disk of this node as one organisation may use',
      );
