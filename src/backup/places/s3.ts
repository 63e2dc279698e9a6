// Backups in a bucket of an S3-compatible service. A copy that fits into one part is one request; a larger one is uploaded in parts, of which
// one at a time is in memory, and becomes an object when all are there.
import { BackupError } from '../backup-error.ts';
import type { BackupPlace, StoredFile } from './place.ts';
import { type S3Options, type S3Request, S3Requests, valueIn } from './s3-requests.ts';

const MIB = 2 ** 20;
/** Parts but the last have at least 5 MiB. */
const PART_BYTES_MIN = 8 * MIB;
const PART_BYTES_MAX = 64 * MIB;
const PARTS_MAX = 10_000;
/** 1,000 files each. */
const PAGES_MAX = 100;

export interface S3PlaceOptions extends S3Options {
  /** Before the names: empty, or with a slash at its end. */
  prefix: string;
  /** Of a part, for tests. */
  partBytes?: number;
}

export class S3Place implements BackupPlace {
  readonly title: string;
  readonly #requests: S3Requests;
  readonly #prefix: string;
  readonly #partBytes: number | undefined;

  constructor(options: S3PlaceOptions) {
    this.#requests = new S3Requests(options);
    this.#prefix = options.prefix;
    this.#partBytes = options.partBytes;
    this.title = this.#requests.title;
  }

  async list(start: string): Promise<StoredFile[]> {
    const files: StoredFile[] = [];
    let token: string | undefined;
    for (let page = 1; ; page++) {
      const { text } = await this.#requests.send({
        method: 'GET',
        key: '',
        query: {
          'list-type': '2',
          prefix: `${this.#prefix}${start}`,
          'encoding-type': 'url',
          ...(token === undefined ? {} : { 'continuation-token': token }),
        },
        action: 'list backups',
      });
      files.push(...this.#filesIn(text));
      token = valueIn(text, 'IsTruncated') === 'true' ? valueIn(text, 'NextContinuationToken') : undefined;
      if (token === undefined) return files;
      if (page === PAGES_MAX) {
        throw new BackupError(`${this.title} has more than ${PAGES_MAX * 1000} files at the prefix of the backups.`);
      }
    }
  }

  /** Those directly at the prefix. */
  #filesIn(text: string): StoredFile[] {
    if (!text.includes('<ListBucketResult')) {
      throw new BackupError(
        `${this.title} does not answer as an S3-compatible service: check VOXGATE_BACKUP_S3_ENDPOINT.`,
      );
    }
    return [...text.matchAll(/<Contents>(.*?)<\/Contents>/gs)].flatMap(([, entry = '']) => {
      const key = decoded(valueIn(entry, 'Key') ?? '');
      const name = key.slice(this.#prefix.length);
      return key.startsWith(this.#prefix) && !name.includes('/')
        ? { name, byteLength: Number(valueIn(entry, 'Size')) }
        : [];
    });
  }

  async write(name: string, bytes: AsyncIterable<Uint8Array>, byteLengthMax: number): Promise<void> {
    const key = this.#prefix + name;
    const parts = inParts(bytes, this.#partBytes ?? partBytesFor(byteLengthMax));
    const first = await parts.next();
    if (first.done === true) throw new BackupError('A backup without content cannot be stored.');
    if (first.value.isLast) {
      await this.#requests.send({ method: 'PUT', key, body: first.value.bytes, action: 'write a backup' });
      return;
    }
    await this.#writeParts(key, first.value.bytes, parts);
  }

  async #writeParts(key: string, first: Part['bytes'], others: AsyncIterable<Part>): Promise<void> {
    const post = (query: Record<string, string>, more: Partial<S3Request> = {}) =>
      this.#requests.send({ method: 'POST', key, query, action: 'write a backup', ...more });
    const uploadId = valueIn((await post({ uploads: '' })).text, 'UploadId');
    if (uploadId === undefined) throw new BackupError(`${this.title} began no upload in parts.`);
    try {
      const tags = [await this.#writePart(key, uploadId, 1, first)];
      for await (const { bytes } of others) {
        if (tags.length === PARTS_MAX)
          throw new BackupError(`A backup in ${this.title} has at most ${PARTS_MAX} parts.`);
        tags.push(await this.#writePart(key, uploadId, tags.length + 1, bytes));
      }
      const list = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
      const body = Buffer.from(`<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`);
      const { text } = await post({ uploadId }, { body });
      // The answer begins before the service knows the outcome, so an error also comes with 200.
      if (text.includes('<Error>'))
        throw new BackupError(`${this.title} could not join the parts (${valueIn(text, 'Code')}).`);
    } catch (error) {
      await this.#requests
        .send({ method: 'DELETE', key, query: { uploadId }, action: 'remove a backup' })
        .catch(() => {});
      throw error;
    }
  }

  async #writePart(key: string, uploadId: string, number: number, body: Part['bytes']): Promise<string> {
    const query = { partNumber: String(number), uploadId };
    const { headers } = await this.#requests.send({ method: 'PUT', key, query, body, action: 'write a backup' });
    const tag = headers.get('etag');
    if (tag === null || /[<&]/.test(tag)) throw new BackupError(`${this.title} did not confirm a part of the backup.`);
    return tag;
  }

  read(name: string): AsyncIterable<Uint8Array> {
    return this.#requests.download(this.#prefix + name);
  }

  async remove(name: string): Promise<void> {
    await this.#requests.send({ method: 'DELETE', key: this.#prefix + name, action: 'remove a backup' });
  }
}

interface Part {
  bytes: Uint8Array<ArrayBuffer>;
  isLast: boolean;
}

function partBytesFor(byteLength: number): number {
  const needed = Math.ceil(byteLength / (PARTS_MAX - 1));
  if (needed > PART_BYTES_MAX) throw new BackupError(`A backup of ${byteLength} bytes is too large for a bucket.`);
  return Math.max(PART_BYTES_MIN, needed);
}

/** Parts of that size in one buffer, which is used again for the next; the last one is as long as the rest. */
async function* inParts(source: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Part> {
  const buffer = new Uint8Array(size);
  let length = 0;
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; ) {
      if (length === size) {
        yield { bytes: buffer, isLast: false };
        length = 0;
      }
      const taken = chunk.subarray(at, at + size - length);
      buffer.set(taken, length);
      length += taken.length;
      at += taken.length;
    }
  }
  if (length > 0) yield { bytes: buffer.subarray(0, length), isLast: true };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
