// The fields of a form, in bounded memory: those in front of its file, and those behind it.

import type { Quota, Shortage } from '../../runtime/limits/quota.ts';
import { fieldNotText, fieldTooLong, noMemoryOf, tooManyFields } from './errors.ts';
import type { Part } from './parts.ts';

export type Field = readonly [name: string, value: string];

export interface FieldLimits {
  /** Largest value of a field, and of all fields together. */
  fieldBytesMax: number;
  fieldsBytesMax: number;
  /** Most fields. */
  fieldsMax: number;
}

export class FormFields {
  readonly front: Field[] = [];
  readonly behind: Field[] = [];
  readonly #limits: FieldLimits;
  readonly #memory: Pick<FormMemory, 'take'>;
  #bytes = 0;

  constructor(limits: FieldLimits, memory: Pick<FormMemory, 'take'>) {
    this.#memory = memory;
    this.#limits = limits;
  }

  /** Reads a field to its end. Its place among the others is that of its beginning. Rejects with an ApiError. */
  async read({ name, data }: Part, isBehind: boolean): Promise<void> {
    const { fieldBytesMax, fieldsBytesMax, fieldsMax } = this.#limits;
    if (this.front.length + this.behind.length === fieldsMax) throw tooManyFields(fieldsMax, fieldsBytesMax);
    const fields = isBehind ? this.behind : this.front;
    const place = fields.push([name, '']) - 1;
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of data) {
      bytes += chunk.length;
      this.#bytes += chunk.length;
      if (bytes > fieldBytesMax) throw fieldTooLong(name, fieldBytesMax);
      if (this.#bytes > fieldsBytesMax) throw tooManyFields(fieldsMax, fieldsBytesMax);
      const shortage = this.#memory.take(chunk.length);
      if (shortage !== undefined) throw noMemoryOf(shortage);
      chunks.push(chunk);
    }
    fields[place] = [name, textOf(name, Buffer.concat(chunks))];
  }

  /** The file was read to its end before the fields were requested: all fields are those in front. */
  join(): void {
    this.front.push(...this.behind.splice(0));
  }
}

/** Of all uploads of a node together, half of it of one organisation. */
export const FORM_MEMORY_BYTES_MAX = 512 * 1024 * 1024;

/** What one form has of it. */
export class FormMemory {
  readonly #quota: Quota;
  readonly #organisationId: string;
  #fieldBytes = 0;
  #fileBytes = 0;
  #isReleased = false;

  /** @param quota in bytes, of all organisations */
  constructor(quota: Quota, organisationId: string) {
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

/** The value of a field. Throws an ApiError when it is not UTF-8. */
export function textOf(name: string, bytes: Uint8Array): string {
  try {
    return STRICT.decode(bytes);
  } catch {
    throw fieldNotText(name);
  }
}

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
