// The fields of a form, in bounded memory: those in front of its file, and those behind it.

import type { FormMemory } from './form-memory.ts';
import type { Part } from './parts.ts';
import { fieldTooLong, noMemoryOf, tooManyFields } from './refusals.ts';
import { textOf } from './streams.ts';

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

  /** Reads a field to its end. Its place among the others is that of its beginning. Rejects with a Refusal. */
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

  /** The file was read to its end before the fields were asked for: all fields are those in front. */
  join(): void {
    this.front.push(...this.behind.splice(0));
  }
}
