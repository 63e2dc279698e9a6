// What the load of the batch bench sends: forms with a small file, and large files as a form or as the body.
import type { LoadTask } from './load.ts';

export type Task = Omit<LoadTask, 'load'>;

const SMALL_BYTES = 16_000;
export const LARGE_BYTES = 100_000_000;
const BOUNDARY = 'voxgate-bench-boundary';
const FORM_TYPE = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` };
const PATH = '/v1/audio/transcriptions';

/** A form with a file of 16 kB, or of so many bytes. */
export function formTask(
  url: string,
  headers: Record<string, string>,
  fields: Record<string, string>,
  fileBytes = SMALL_BYTES,
): Task {
  const disposition = (name: string) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"`;
  const values = Object.entries(fields).map(([name, value]) => `${disposition(name)}\r\n\r\n${value}\r\n`);
  const file = `${disposition('file')}; filename="audio.wav"\r\nContent-Type: audio/wav\r\n\r\n`;
  return {
    url: `${url}${PATH}`,
    headers: { ...headers, ...FORM_TYPE },
    before: values.join('') + file,
    after: `\r\n--${BOUNDARY}--\r\n`,
    fileBytes,
  };
}

/** A large file as the body, to the simulated provider. */
export const bodyTask = (url: string): Task => ({
  url: `${url}/v1/listen?model=nova-3`,
  headers: { Authorization: 'Token bench', 'Content-Type': 'audio/wav' },
  before: '',
  after: '',
  fileBytes: LARGE_BYTES,
});
