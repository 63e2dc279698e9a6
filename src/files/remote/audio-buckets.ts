// Audio in the operator's buckets: `s3://bucket/key`, read with the operator's credentials.
import type { AudioSource } from '../../api/audio-source.ts';
import { bucketAddress, type S3Access, signedRequest } from '../../runtime/outbound/s3-signing.ts';
import type { DownloadTarget } from './download.ts';
import { notAllowed } from './refusals.ts';

const KEY_LENGTH_MAX = 1_024;
/** In the place of the id of the organisation that asks. */
const ORGANISATION = '{organisation}';

interface Folder {
  bucket: string;
  /** Empty, or with a slash at its end. */
  prefix: string;
}

export class AudioBuckets {
  readonly #access: S3Access;
  readonly #folders: readonly Folder[];

  /** @param folders such as `recordings, archive/{organisation}` */
  constructor(access: S3Access, folders: string) {
    this.#access = access;
    this.#folders = folders.split(',').map((each) => {
      const [bucket = '', ...names] = each.trim().replace(/\/$/, '').split('/');
      return { bucket, prefix: names.map((name) => `${name}/`).join('') };
    });
  }

  /** The request for an object, good for some minutes. Throws an ApiError. */
  target({ url, param }: AudioSource, organisationId: string): DownloadTarget {
    const [, bucket = '', key = ''] = /^s3:\/\/([^/]*)\/(.*)$/s.exec(url) ?? [];
    const names = key.split('/');
    if (key === '' || key.length > KEY_LENGTH_MAX || /[\p{Cc}\p{Cs}]/u.test(key))
      throw notAllowed(param, 'is not the address of an object such as `s3://bucket/key`');
    // Servers take some paths for others: `a/../b` is not within `a`.
    const isPlain = !names.includes('.') && !names.includes('..');
    const isOurs = this.#folders.some(
      (folder) => folder.bucket === bucket && key.startsWith(folder.prefix.replaceAll(ORGANISATION, organisationId)),
    );
    if (!isPlain || !isOurs) throw notAllowed(param, 'names a bucket or a folder that this gateway does not read');
    const request = signedRequest(bucketAddress(this.#access, bucket), this.#access, { method: 'GET', key });
    return { url: new URL(request.url), headers: request.headers, isTrusted: true };
  }
}
