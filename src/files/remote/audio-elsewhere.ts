// A request whose audio is at an address: found where a file was expected, with all that is requested of it.
import type { AudioSource } from '../../api/audio-source.ts';
import type { Field } from '../../http/multipart/form-fields.ts';

export class AudioElsewhere extends Error {
  override readonly name = 'AudioElsewhere';
  readonly source: AudioSource;
  /** Without the address. */
  readonly fields: readonly Field[];

  constructor(source: AudioSource, fields: readonly Field[]) {
    super('The audio is at an address.');
    this.source = source;
    this.fields = fields;
  }
}

/** What the Python libraries of some vendors send for nothing. */
const NOTHING: readonly string[] = ['', 'null'];

/**
 * Throws AudioElsewhere where one of the fields is an address.
 *
 * @param names of such fields
 */
export function requireNoAddress(fields: readonly Field[], names: readonly string[]): void {
  const [param, url] = fields.find(([name, value]) => names.includes(name) && !NOTHING.includes(value)) ?? [];
  if (param === undefined || url === undefined) return;
  const others = fields.filter(([name]) => !names.includes(name));
  throw new AudioElsewhere({ url, param }, others);
}
