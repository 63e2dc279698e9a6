// `@voxgate/client/node`: what only Node can do. No browser ever loads this file.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { FileSource } from './http/file-body.ts';

/**
 * A file for `client.transcribe`, read from disk as it is sent, and again where a request has to be sent again.
 * Rejects with Node's error when there is no such file.
 */
export async function fileFromPath(path: string): Promise<FileSource> {
  if (!(await stat(path)).isFile()) throw new Error(`${path} is no file.`);
  return { name: basename(path), stream: () => createReadStream(path) };
}
