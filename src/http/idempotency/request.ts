// What makes two requests the same: the idempotency key of the header, and a fingerprint of everything that was sent. What
// happens to a request that comes again is decided by idempotency.ts.
import { createHash } from 'node:crypto';
import { refuse } from '../../api/errors.ts';
import type { Field } from '../multipart/form-fields.ts';

const HEADER = 'idempotency-key';
const KEY_FORM = /^[\x20-\x7e]{1,255}$/;

/** The key of a request; undefined without one. Throws a Refusal for a key that cannot be used. */
export function readIdempotencyKey(headers: ReadonlyMap<string, string>): string | undefined {
  const key = headers.get(HEADER);
  if (key === undefined || KEY_FORM.test(key)) return key;
  throw refuse(
    'invalid_request',
    '`Idempotency-Key` is a text of 1 to 255 printable ASCII characters, such as a UUID. Choose a new one for each file.',
    { param: 'Idempotency-Key' },
  );
}

/** SHA-256 of a form as it streams by. The boundary, the order of fields and the name of the file make no difference. */
export class FormFingerprint {
  readonly #request: readonly [method: string, path: string];
  readonly #file = createHash('sha256');

  constructor(method: string, path: string) {
    this.#request = [method, path];
  }

  /** Takes the next bytes of the file. */
  file(chunk: Uint8Array): void {
    this.#file.update(chunk);
  }

  /** Once, when the form is whole: all its fields, and the content type of the file. */
  digest(fields: readonly Field[], contentType: string | undefined): Uint8Array {
    const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    const parts = [...this.#request, sorted, contentType ?? null, this.#file.digest('hex')];
    return new Uint8Array(createHash('sha256').update(JSON.stringify(parts)).digest());
  }
}
