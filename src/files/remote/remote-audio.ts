// Audio by URL: who may fetch now, from where, and whether it is audio that came. How it is fetched: download.ts.
import type { BlockList } from 'node:net';
import type { Clock } from '../../../machines/clock.ts';
import type { AudioSource } from '../../api/audio-source.ts';
import { decodeSegment } from '../../http/router.ts';
import type { LimitedSignal } from '../../runtime/timeouts.ts';
import { releaseVersion } from '../../runtime/version.ts';
import type { AudioBuckets } from './audio-buckets.ts';
import { checkedUrl, DOWNLOAD_TIMES, Download, type DownloadOptions, type DownloadTarget } from './download.ts';
import { Places } from './places.ts';
import { failed, switchedOff } from './refusals.ts';

/** Of one node. */
export const DOWNLOADS_MAX = 64;
/** Where names are looked up by the system: each takes one of the four threads of the process. */
const LOOKUPS_MAX = 2;
const FILENAME_LENGTH_MAX = 128;
/** A text is known by so much of it. */
const HEAD_BYTES = 64;
const RAW = /^audio\/l16(?:;[\w =;-]{0,100})?$/i;

export interface RemoteAudioOptions extends Partial<Pick<DownloadOptions, 'times' | 'resolve'>> {
  clock: Clock;
  isOn: boolean;
  /** Private ones that may be reached. */
  networks: BlockList | undefined;
  /** Of the operator; none when absent. */
  buckets?: AudioBuckets | undefined;
  bytesMax: number;
}

/** A file that arrives. */
export interface RemoteFile {
  readonly filename: string;
  /** Of headerless samples alone: what others are is seen in them. */
  readonly contentType: string | undefined;
  /** Once. Rejects with an ApiError, or with the reason of the signal. */
  read(): AsyncIterable<Uint8Array>;
  /** Has to be called in the end, any number of times. */
  close(): void;
}

export class RemoteAudio {
  readonly #options: RemoteAudioOptions;
  readonly #download: DownloadOptions;
  readonly #places = new Places(DOWNLOADS_MAX);

  constructor(options: RemoteAudioOptions) {
    this.#options = options;
    this.#download = {
      times: DOWNLOAD_TIMES,
      ...options,
      userAgent: `voxgate/${releaseVersion()}`,
      lookups: new Places(options.networks === undefined ? DOWNLOADS_MAX : LOOKUPS_MAX),
    };
  }

  /** Files that are fetched, and those that wait for it. */
  get size(): number {
    return this.#places.size;
  }

  /** Throws an ApiError for an address that is refused without any connection. */
  check(source: AudioSource, organisationId: string): DownloadTarget {
    const { isOn, networks, buckets } = this.#options;
    const { url, param } = source;
    if (!isOn) throw switchedOff(param);
    if (buckets !== undefined && url.startsWith('s3:')) return buckets.target(source, organisationId);
    return { url: checkedUrl(url, param, networks) };
  }

  /**
   * Waits for its turn, and resolves with the file when its first bytes are here. Rejects with an ApiError, or with the reason of the
   * signal.
   */
  async open(source: AudioSource, organisationId: string, limit: LimitedSignal): Promise<RemoteFile> {
    this.check(source, organisationId);
    const leave = await this.#places.enter(organisationId, limit.signal).catch((error) => {
      throw limit.isTimedOut ? failed(source.param, 'too many other files are being fetched') : error;
    });
    const download = new Download(this.#download, source.param, organisationId, limit);
    const close = () => {
      download.close();
      leave();
    };
    try {
      // Signed now: it may have waited.
      const target = this.check(source, organisationId);
      const type = (await download.open(target))['content-type'];
      const chunks = download.read();
      const head = await headOf(chunks);
      checkHead(head, source.param, type);
      return {
        filename: filenameOf(target),
        contentType: type !== undefined && RAW.test(type) ? type : undefined,
        read: () => whole(head, chunks, close),
        close,
      };
    } catch (error) {
      close();
      throw error;
    }
  }
}

async function headOf(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for (let bytes = 0; bytes < HEAD_BYTES; ) {
    const next = await chunks.next();
    if (next.done === true) break;
    pieces.push(next.value);
    bytes += next.value.length;
  }
  return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
}

async function* whole(
  head: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
  close: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield head;
    yield* rest;
  } finally {
    close();
  }
}

/** Pages that say why there is no file come with any status and type. */
function checkHead(head: Uint8Array, param: string, type: string | undefined): void {
  if (head.length === 0) throw failed(param, 'its server answered with an empty file');
  if (type !== undefined && RAW.test(type)) return;
  if (head.subarray(0, HEAD_BYTES).every(isOfText))
    throw failed(param, 'its server answered with a page or another text, and not with audio');
}

/** Not one of the control characters that every audio file begins with. */
const isOfText = (byte: number): boolean => byte >= 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

/** The end of the path: to be shown. */
export const filenameOf = ({ url: { pathname } }: DownloadTarget): string => {
  const last = pathname.slice(pathname.lastIndexOf('/') + 1);
  return decodeSegment(last)?.slice(-FILENAME_LENGTH_MAX) || 'audio';
};
