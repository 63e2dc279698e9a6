// One GET at a customer's address. Each hop of it goes through the guard, over a connection that is used for nothing else, and all
// that the other side decides is bounded: redirects, headers, time and bytes. It sends no cookie and no credential.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { BlockList, LookupFunction } from 'node:net';
import type { Clock } from '../../../machines/clock.ts';
import { ApiError } from '../../api/errors.ts';
import { type Resolve, reachableLookup, requireReachable } from '../../runtime/outbound/reachable.ts';
import type { LimitedSignal } from '../../runtime/timeouts.ts';
import type { Places } from './places.ts';
import { connectionFailure, failed, notAllowed, tooLarge, withoutTls } from './refusals.ts';

const REDIRECTS_MAX = 5;
const URL_LENGTH_MAX = 8_192;
const HEADERS_BYTES_MAX = 16 * 1024;
/** Below this, ports are those of other services: mail, names, shells. */
const FREE_PORT_MIN = 1_024;
const WEB_PORTS: readonly string[] = ['', '80', '443'];
const REDIRECTS: readonly (number | undefined)[] = [301, 302, 303, 307, 308];

interface DownloadTimes {
  /** From the lookup to the head of an answer, at each hop. */
  headMs: number;
  /** Without a byte. */
  silenceMs: number;
  /** Of waiting, in which at least so many bytes come. */
  windowMs: number;
  windowBytesMin: number;
}

/** As for uploads. */
export const DOWNLOAD_TIMES: DownloadTimes = {
  headMs: 10_000,
  silenceMs: 10_000,
  windowMs: 30_000,
  windowBytesMin: 30 * 1024,
};

export interface DownloadOptions {
  clock: Clock;
  networks: BlockList | undefined;
  bytesMax: number;
  userAgent: string;
  times: DownloadTimes;
  /** Lookups of names: by the system, each needs one of the process's few threads, which files need as well. */
  lookups: Places;
  /** Behind the guard; as `reachableLookup` says when absent. */
  resolve?: Resolve;
}

export interface DownloadTarget {
  url: URL;
  headers?: Readonly<Record<string, string>>;
  /** Of the operator's own: it may be anywhere, and nothing that it answers leads elsewhere. */
  isTrusted?: boolean;
}

/** The URL of a text. Throws an ApiError for one that is refused without any connection. */
export function checkedUrl(text: string, param: string, networks: BlockList | undefined, base?: URL): URL {
  if (text.length > URL_LENGTH_MAX) throw notAllowed(param, `is longer than ${URL_LENGTH_MAX} characters`);
  if (!URL.canParse(text, base?.href)) throw notAllowed(param, 'is not a URL');
  const url = new URL(text, base);
  const { protocol, username, password, port } = url;
  if (protocol !== 'https:' && protocol !== 'http:') throw notAllowed(param, 'is not an `https` address');
  if (username !== '' || password !== '') throw notAllowed(param, 'has a user name or a password');
  const isTls = protocol === 'https:';
  if (!isTls && networks === undefined) throw withoutTls(param);
  if (!WEB_PORTS.includes(port) && Number(port) < FREE_PORT_MIN)
    throw notAllowed(param, `names the port ${port}, which is that of another service`);
  try {
    requireReachable(url, networks);
  } catch (error) {
    throw connectionFailure(param, error, isTls);
  }
  return url;
}

export class Download {
  readonly #options: DownloadOptions;
  readonly #param: string;
  readonly #organisationId: string;
  readonly #limit: LimitedSignal;
  readonly #end = new AbortController();
  #response: IncomingMessage | undefined;
  /** Of the last connection. */
  #isTls = false;

  /** @param limit ends it, from outside */
  constructor(options: DownloadOptions, param: string, organisationId: string, limit: LimitedSignal) {
    this.#options = options;
    this.#param = param;
    this.#organisationId = organisationId;
    this.#limit = limit;
    if (limit.signal.aborted) this.close();
    else limit.signal.addEventListener('abort', this.close, { once: true });
  }

  /** Resolves with the headers of the answer that has the file. Rejects with an ApiError, or with the reason of the signal. */
  async open(target: DownloadTarget): Promise<IncomingMessage['headers']> {
    try {
      const response = await this.#follow(target);
      this.#response = response;
      this.#checkHead(response);
      return response.headers;
    } catch (error) {
      this.close();
      throw this.#reasonOf(error);
    }
  }

  /** The file, once. Rejects as `open` does. */
  async *read(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#chunks(this.#response as IncomingMessage);
    } catch (error) {
      throw this.#reasonOf(error);
    } finally {
      this.close();
    }
  }

  /** Drops the connection. Any number of times. */
  readonly close = (): void => {
    this.#limit.signal.removeEventListener('abort', this.close);
    this.#end.abort();
    this.#response?.destroy();
  };

  async #follow(target: DownloadTarget): Promise<IncomingMessage> {
    if (target.isTrusted === true) return this.#get(target);
    let { url } = target;
    for (let redirects = 0; ; redirects++) {
      const response = await this.#get({ url });
      const { statusCode, headers } = response;
      if (!REDIRECTS.includes(statusCode) || headers.location === undefined) return response;
      response.destroy();
      if (redirects === REDIRECTS_MAX) throw failed(this.#param, `it redirects more than ${REDIRECTS_MAX} times`);
      url = checkedUrl(headers.location, this.#param, this.#options.networks, url);
    }
  }

  #get({ url, headers, isTrusted = false }: DownloadTarget): Promise<IncomingMessage> {
    const { clock, userAgent, times } = this.#options;
    const isTls = url.protocol === 'https:';
    this.#isTls = isTls;
    return new Promise((resolve, reject) => {
      const request = (isTls ? httpsRequest : httpRequest)(url, {
        // A connection of another request might lead elsewhere than this name does now.
        agent: false,
        ...(isTrusted ? {} : { lookup: this.#lookupFor(isTls) }),
        headers: { Accept: '*/*', 'Accept-Encoding': 'identity', 'User-Agent': userAgent, ...headers },
        maxHeaderSize: HEADERS_BYTES_MAX,
        signal: this.#end.signal,
      });
      const silent = failed(this.#param, `its server did not answer within ${times.headMs / 1000} s`);
      const late = () => request.destroy(silent);
      const timer = clock.setTimeout(late, times.headMs);
      const answered = (response: IncomingMessage) => {
        clock.clearTimeout(timer);
        resolve(response);
      };
      const ended = (error?: Error) => {
        clock.clearTimeout(timer);
        reject(error ?? failed(this.#param, 'the connection broke off'));
      };
      request.on('response', answered).on('error', ended);
      // A server that changes the protocol is left without an error.
      request.on('upgrade', (_, socket) => {
        socket.destroy();
        ended();
      });
      request.end();
    });
  }

  #lookupFor(isTls: boolean): LookupFunction {
    const { networks, lookups, resolve } = this.#options;
    const find = reachableLookup(networks, isTls, resolve);
    return (hostname, options, callback) => {
      lookups.enter(this.#organisationId, this.#end.signal).then(
        (leave) =>
          find(hostname, options, (...found) => {
            leave();
            callback(...found);
          }),
        (error: NodeJS.ErrnoException) => callback(error, []),
      );
    };
  }

  #checkHead({ statusCode, headers }: IncomingMessage): void {
    const param = this.#param;
    const { bytesMax } = this.#options;
    if (statusCode !== 200 && statusCode !== 203) throw failed(param, `its server answered with status ${statusCode}`);
    const encodings = [headers['content-encoding'], headers['transfer-encoding']?.replace(/\bchunked\b/i, '')];
    if (encodings.some((each) => !/^(?:\s|identity)*$/i.test(each ?? '')))
      throw failed(param, 'its server compressed the answer, although it was asked not to');
    if (Number(headers['content-length'] ?? 0) > bytesMax) throw tooLarge(param, bytesMax);
  }

  async *#chunks(response: IncomingMessage): AsyncGenerator<Uint8Array> {
    const { clock, bytesMax, times } = this.#options;
    const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    const silent = failed(this.#param, `nothing of it arrived for ${times.silenceMs / 1000} s`);
    let bytes = 0;
    let waitedMs = 0;
    let windowBytes = 0;
    for (;;) {
      // However long the reader of the file takes, it is not the server that is slow.
      const fromMs = clock.now();
      const timer = clock.setTimeout(() => response.destroy(silent), times.silenceMs);
      const next = await chunks.next().finally(() => clock.clearTimeout(timer));
      if (next.done === true) return;
      bytes += next.value.length;
      if (bytes > bytesMax) throw tooLarge(this.#param, bytesMax);
      windowBytes += next.value.length;
      waitedMs += clock.now() - fromMs;
      if (waitedMs >= times.windowMs) {
        if (windowBytes < times.windowBytesMin) throw failed(this.#param, 'it arrives too slowly');
        waitedMs = 0;
        windowBytes = 0;
      }
      yield next.value;
    }
  }

  #reasonOf(error: unknown): unknown {
    if (error instanceof ApiError) return error;
    const { signal, isTimedOut } = this.#limit;
    if (isTimedOut) return failed(this.#param, 'it did not arrive in the time that a file may take');
    return signal.aborted ? signal.reason : connectionFailure(this.#param, error, this.#isTls);
  }
}
