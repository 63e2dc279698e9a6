// Requests to an S3-compatible service: signed, bounded in time, tried again where that may help, and with a sentence for each refusal.
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '../../runtime/error-code.ts';
import {
  bucketAddress,
  type S3Access,
  type S3BucketAddress,
  signedRequest,
} from '../../runtime/outbound/s3-signing.ts';
import { BackupError } from '../backup-error.ts';

/** Of one attempt; a part is at most 64 MiB. */
const ATTEMPT_MS = 120_000;
/** A download that stops for this long has failed. */
const IDLE_MS = 60_000;
const TRIES_MAX = 4;
const FIRST_PAUSE_MS = 500;
/** The service, a proxy before it, or the network: it may be over in a moment. */
const PASSING = new Set([408, 429, 500, 502, 503, 504]);
const ANSWER_BYTES_MAX = 4 * 2 ** 20;

export interface S3Options extends S3Access {
  bucket: string;
  /** Between attempts; tests do not wait. */
  pause?(ms: number): Promise<unknown>;
}

export interface S3Request {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Of the object; empty for the bucket. */
  key: string;
  query?: Readonly<Record<string, string>>;
  body?: Uint8Array<ArrayBuffer>;
  /** For messages: `list backups`, `write a backup`, … */
  action: string;
}

interface S3Answer {
  headers: Headers;
  text: string;
}

export class S3Requests {
  /** How messages call it. */
  readonly title: string;
  readonly #options: S3Options;
  readonly #address: S3BucketAddress;

  constructor(options: S3Options) {
    const { bucket } = options;
    this.#options = options;
    this.#address = bucketAddress(options, bucket);
    this.title = `s3://${bucket} (${this.#address.base.host})`;
  }

  /** Rejects with BackupError unless the answer is a 2xx. */
  async send(request: S3Request): Promise<S3Answer> {
    return this.#persistently(request, async () => {
      const signal = AbortSignal.timeout(ATTEMPT_MS);
      const response = await this.#fetch(request, signal);
      return { headers: response.headers, text: await textOf(response) };
    });
  }

  /** The bytes of an object as they arrive. Only its beginning is tried again. */
  async *download(key: string): AsyncGenerator<Uint8Array> {
    const request: S3Request = { method: 'GET', key, action: 'read a backup' };
    const abort = new AbortController();
    let idle: NodeJS.Timeout | undefined;
    const wait = () => {
      clearTimeout(idle);
      idle = setTimeout(() => abort.abort(new DOMException('Nothing arrived.', 'TimeoutError')), IDLE_MS);
    };
    try {
      const response = await this.#persistently(request, () => {
        wait();
        return this.#fetch(request, abort.signal);
      });
      for await (const part of response.body ?? []) {
        // However long the reader takes, it is not the service that is slow.
        clearTimeout(idle);
        yield part;
        wait();
      }
    } catch (error) {
      throw error instanceof BackupError ? error : this.#unreachable(request, error);
    } finally {
      clearTimeout(idle);
      abort.abort();
    }
  }

  async #persistently<Result>(request: S3Request, attempt: () => Promise<Result>): Promise<Result> {
    const pause = this.#options.pause ?? delay;
    for (let tries = 1; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        const isPassing = !(error instanceof BackupError) || error instanceof PassingError;
        if (isPassing && tries < TRIES_MAX) await pause(FIRST_PAUSE_MS * 2 ** (tries - 1));
        else throw error instanceof BackupError ? error : this.#unreachable(request, error);
      }
    }
  }

  async #fetch({ method, key, query, body, action }: S3Request, signal: AbortSignal): Promise<Response> {
    const { url, headers } = signedRequest(this.#address, this.#options, { method, key, query, body });
    const response = await fetch(url, {
      method,
      headers,
      signal,
      // A redirect names a bucket of another region, or another service: the signature would not fit, and credentials stay here.
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    });
    if (response.ok) return response;
    throw this.#refusal(action, response, await textOf(response).catch(() => ''));
  }

  #refusal(action: string, { status, headers }: Response, text: string): BackupError {
    const code = valueIn(text, 'Code')?.slice(0, 60);
    const said = `${this.title} refused to ${action} (${status}${code === undefined ? '' : ` ${code}`})`;
    if (PASSING.has(status)) return new PassingError(`${said}, and did so ${TRIES_MAX} times.`);
    if (code === 'NoSuchBucket')
      return new BackupError(
        `${said}: create the bucket ${this.#options.bucket}, or name another one in VOXGATE_BACKUP.`,
      );
    if (code === 'NoSuchKey') return new BackupError(`${said}: the backup was removed.`);
    if (code === 'RequestTimeTooSkewed') return new BackupError(`${said}: the clock of this machine is wrong.`);
    if (code === 'InvalidAccessKeyId' || code === 'SignatureDoesNotMatch' || status === 401) {
      return new BackupError(
        `${said}: set VOXGATE_BACKUP_S3_ACCESS_KEY_ID and VOXGATE_BACKUP_S3_SECRET_ACCESS_KEY to a key of this service.`,
      );
    }
    if (status === 403)
      return new BackupError(`${said}: give the access key the rights to list, read, write and delete there.`);
    const region = headers.get('x-amz-bucket-region') ?? valueIn(text, 'Region');
    if (code === 'AuthorizationHeaderMalformed' || (region != null && region !== this.#options.region)) {
      const right = region != null && /^[a-z0-9-]{1,40}$/.test(region) ? region : 'that of the bucket';
      return new BackupError(`${said}: set VOXGATE_BACKUP_S3_REGION to ${right}.`);
    }
    if (status >= 300 && status < 400) {
      return new BackupError(
        `${said}: it redirects to another address; set VOXGATE_BACKUP_S3_ENDPOINT and VOXGATE_BACKUP_S3_REGION to those of the bucket.`,
      );
    }
    return new BackupError(`${said}.`);
  }

  #unreachable({ action }: S3Request, error: unknown): BackupError {
    const code = codeOf(error);
    const why = code === 'TimeoutError' ? 'it did not answer in time' : `the connection failed (${code})`;
    return new BackupError(`Cannot ${action} in ${this.title}: ${why}.`);
  }
}

/** A refusal that may be over in a moment. */
class PassingError extends BackupError {
  override readonly name = 'PassingError';
}

/** The text of an answer, which is short: lists, errors, ids. */
async function textOf(response: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const part of response.body ?? []) {
    text += decoder.decode(part, { stream: true });
    if (text.length > ANSWER_BYTES_MAX) throw new BackupError('The service gave an answer that is too long.');
  }
  return text;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The text of the first element of that name. */
export function valueIn(xml: string, element: string): string | undefined {
  const [, text] = new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml) ?? [];
  return text?.replaceAll(/&(\w+|#\d+);/g, (whole, name: string) =>
    name.startsWith('#') ? String.fromCodePoint(Number(name.slice(1))) : (ENTITIES[name] ?? whole),
  );
}
