// A file that is fetched, as the file of a form: read in the same way as an upload, and handed on while it arrives.
import type { AudioSource } from '../../api/audio-source.ts';
import { composedForm, type PartOf } from '../../http/multipart/composed-form.ts';
import { type Form, type FormLimits, readForm } from '../../http/multipart/form.ts';
import type { Field } from '../../http/multipart/form-fields.ts';
import type { LimitedSignal } from '../../runtime/timeouts.ts';
import type { RemoteAudio, RemoteFile } from './remote-audio.ts';

const NAME_LENGTH_MAX = 1_000;

/**
 * Rejects with an ApiError, or with the reason of the signal.
 *
 * @param limitsFor of the form, whose body may be destroyed
 */
export async function fetchForm(
  { source, fields }: { source: AudioSource; fields: readonly Field[] },
  limit: LimitedSignal,
  remoteAudio: Pick<RemoteAudio, 'open'>,
  organisationId: string,
  limitsFor: (body: { destroy(error: Error): unknown }) => FormLimits,
): Promise<Form> {
  const file = await remoteAudio.open(source, organisationId, limit);
  try {
    const composed = composedForm();
    const body = composed.body((part) => partsOf(fields, file, part));
    const form = await readForm(body, composed.contentType, limitsFor(body));
    const { dispose } = form;
    // The connection ends with the form, also while a byte of it is waited for.
    return Object.assign(form, {
      dispose: () => {
        dispose();
        file.close();
      },
    });
  } catch (error) {
    file.close();
    throw error;
  }
}

async function* partsOf(fields: readonly Field[], file: RemoteFile, part: PartOf): AsyncGenerator<Uint8Array> {
  const before = fields.map(([name, value]) => part(`name="${quoted(name)}"`, `${value}\r\n`));
  const type = file.contentType === undefined ? '' : `\r\nContent-Type: ${file.contentType}`;
  yield Buffer.concat([...before, part(`name="file"; filename="${quoted(file.filename)}"${type}`, '')]);
  yield* file.read();
}

const quoted = (name: string): string =>
  name
    .slice(-NAME_LENGTH_MAX)
    .replace(/\p{Cc}/gu, '_')
    .replace(/["\\]/g, '\\$&');
