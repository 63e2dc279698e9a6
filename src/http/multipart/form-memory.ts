// What forms hold in memory: their fields, and files that are not on the disk.
import type { FairQuota, Shortage } from '../../runtime/limits/fair-quota.ts';

/** Of all uploads of a node together, half of it of one organisation. */
export const FORM_MEMORY_BYTES_MAX = 512 * 1024 * 1024;

/** What one form has of it. */
export class FormMemory {
  readonly #quota: FairQuota;
  readonly #organisationId: string;
  #fieldBytes = 0;
  #fileBytes = 0;
  #isReleased = false;

  /** @param quota in bytes, of all organisations */
  constructor(quota: FairQuota, organisationId: string) {
    this.#quota = quota;
    this.#organisationId = organisationId;
  }

  /** Takes so much for a field, or says why not. */
  take(bytes: number): Shortage | undefined {
    if (this.#isReleased) return undefined;
    const shortage = this.#quota.take(this.#organisationId, bytes);
    if (shortage === undefined) this.#fieldBytes += bytes;
    return shortage;
  }

  /** Whether there is so much more for the file. */
  takeForFile(bytes: number): boolean {
    if (this.#isReleased || this.#quota.take(this.#organisationId, bytes) !== undefined) return false;
    this.#fileBytes += bytes;
    return true;
  }

  /** The file is on the disk. */
  giveFile(): void {
    this.#quota.giveBack(this.#organisationId, this.#fileBytes);
    this.#fileBytes = 0;
  }

  /** Gives back all that it has, and takes nothing more. Any number of times. */
  release(): void {
    this.giveFile();
    this.#quota.giveBack(this.#organisationId, this.#fieldBytes);
    this.#fieldBytes = 0;
    this.#isReleased = true;
  }
}
