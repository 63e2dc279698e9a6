// One request to a provider and its answer, within bounds: sizes, deadlines by the clock, and an end at once when the job
// ends. What an answer means is the codec's, when to ask again is the job's.

import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../../../machines/clock.ts';
import { limitedSignal } from '../../../runtime/timeouts.ts';
import type { BatchFile, HttpAnswer, HttpRequest, PlainRequest } from '../../../vendors/kit/provider.ts';
import {
  answerTimeout,
  answerTooLarge,
  badAnswer,
  LegFailed,
  networkFailure,
  poolFull,
  uploadStalled,
} from '../leg-failures.ts';
import type { PoolPlace } from './pools.ts';

const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** Of the body of a refusal; more is not waited for. */
const REFUSAL_BYTES_MAX = 4_096;
const REFUSAL_MS = 1_000;
const STRICT = new TextDecoder('utf-8', { fatal: true });
const LENIENT = new TextDecoder('utf-8');

export interface ExchangeRequest extends Pick<HttpRequest, 'method' | 'url' | 'headers'> {
  content: RequestContent;
  /** Connections to a provider are shared fairly between these. */
  organisationId: string;
  /** How long the provider may leave the request waiting: to connect, to take more of the body, to answer, to end its answer. */
  answerMs: number;
  /** The largest answer that is read; 64 MiB when absent. */
  answerBytesMax?: number;
}

export interface ExchangeDependencies {
  pools: { enter(origin: string, organisationId: string): PoolPlace | undefined };
  clock: Clock;
}

/** Whether an answer is a success. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/**
 * Sends a request. Redirects are answers like any other. The body of a success is read whole, of anything else 4 KiB.
 *
 * @throws LegFailed when there is no answer; the signal's reason when aborted; what the body throws
 */
export async function exchange(
  request: ExchangeRequest,
  signal: AbortSignal,
  { pools, clock }: ExchangeDependencies,
): Promise<HttpAnswer> {
  signal.throwIfAborted();
  const url = new URL(request.url);
  const place = pools.enter(url.origin, request.organisationId);
  if (place === undefined) throw new LegFailed(poolFull);
  try {
    if (place.free !== undefined) await inTime(place.free, request.answerMs, signal, clock);
    return await sent(request, url, place, signal, clock);
  } finally {
    place.leave();
  }
}

/** @throws LegFailed when no connection is free in time; the signal's reason when aborted */
async function inTime(free: Promise<void>, timeoutMs: number, parent: AbortSignal, clock: Clock): Promise<void> {
  const limit = limitedSignal(clock, timeoutMs, parent);
  const { signal } = limit;
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(limit.isTimedOut ? new LegFailed(poolFull) : signal.reason), {
        once: true,
      });
      free.then(resolve);
    });
  } finally {
    limit.release();
  }
}

async function sent(
  { method, headers, content, answerMs, answerBytesMax = ANSWER_BYTES_MAX }: ExchangeRequest,
  { pathname, search }: URL,
  { pool }: PoolPlace,
  signal: AbortSignal,
  clock: Clock,
): Promise<HttpAnswer> {
  const answer = new Answer(clock, answerMs, answerBytesMax);
  const abort = () => answer.fail(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    const { body } = content;
    const isWhole = typeof body !== 'object' || body instanceof Uint8Array;
    const bytes = isWhole ? (body ?? null) : answer.upload.streamOf(body);
    pool.dispatch({ method, path: pathname + search, headers: headersOf(headers, content), body: bytes }, answer);
    return await answer.received;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** What a request says of itself wins. */
function headersOf(own: Record<string, string>, content: RequestContent): Record<string, string> {
  const lower = Object.entries(own).map(([name, value]) => [name.toLowerCase(), value]);
  return { 'user-agent': 'voxgate', ...content.headers, ...Object.fromEntries(lower) };
}

/** What the provider is waited for, and for how long. One thing at a time. */
class Patience {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #spent: (failure: typeof answerTimeout) => void;
  #timer: unknown;
  #over = false;

  constructor(clock: Clock, ms: number, spent: (failure: typeof answerTimeout) => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#spent = spent;
  }

  /** The next move is the provider's; without it, this is the failure. */
  wait(failure: typeof answerTimeout): void {
    this.rest();
    if (!this.#over) this.#timer = this.#clock.setTimeout(() => this.#spent(failure), this.#ms);
  }

  /** The next move is ours, or the client's. */
  rest(): void {
    this.#clock.clearTimeout(this.#timer);
  }

  end(): void {
    this.#over = true;
    this.rest();
  }
}

/** A body that is read while it is sent: knows whose move it is, and whether it was the body itself that failed. */
class Upload {
  fault: { error: unknown } | undefined;
  readonly #patience: Patience;
  #stopped = false;

  constructor(patience: Patience) {
    this.#patience = patience;
  }

  streamOf(chunks: AsyncIterable<Uint8Array>): Readable {
    const stream = Readable.from(this.#watched(chunks), { objectMode: false });
    // What goes wrong comes back as the failure of the request.
    return stream.on('error', () => {});
  }

  async *#watched(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of chunks) {
        if (this.#stopped) return;
        this.#patience.wait(uploadStalled);
        yield chunk;
        if (this.#stopped) return;
        this.#patience.rest();
      }
      if (!this.#stopped) this.#patience.wait(answerTimeout);
    } catch (error) {
      this.fault = { error };
      throw error;
    }
  }

  /** The answer has begun, or is not wanted any more: what is left of the body no longer matters. */
  stop(): void {
    this.#stopped = true;
  }
}

/** The answer as it arrives. Settles once; what the connection reports after that is ignored. */
class Answer implements Dispatcher.DispatchHandler {
  readonly received: Promise<HttpAnswer>;
  readonly upload: Upload;
  readonly #clock: Clock;
  readonly #bytesMax: number;
  readonly #patience: Patience;
  #settle: { resolve(answer: HttpAnswer): void; reject(error: unknown): void } | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  /** Undefined until the answer begins. */
  #status: number | undefined;
  #headers: HttpAnswer['headers'] = {};
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #refusalTimer: unknown;

  constructor(clock: Clock, answerMs: number, bytesMax: number) {
    this.#clock = clock;
    this.#bytesMax = bytesMax;
    this.#patience = new Patience(clock, answerMs, (failure) => this.fail(new LegFailed(failure)));
    this.upload = new Upload(this.#patience);
    this.received = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.#patience.wait(answerTimeout);
  }

  /** Aborted: a connection that is made after that is closed at once. */
  fail(error: unknown): void {
    const settle = this.#settle;
    if (settle === undefined) return;
    this.#end();
    settle.reject(error);
    this.#controller?.abort(error instanceof Error ? error : new Error('The request was given up.'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settle === undefined) controller.abort(new Error('The request was given up.'));
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Others announce an answer that is still to come.
    if (status < 200 || this.#settle === undefined) return;
    this.upload.stop();
    this.#status = status;
    this.#headers = joinedHeaders(headers);
    if (isSuccess(status)) {
      this.#patience.wait(answerTimeout);
      return;
    }
    this.#patience.end();
    // A refusal tells more than its status; what is not there soon is left out.
    this.#refusalTimer = this.#clock.setTimeout(() => this.#cutOff(), REFUSAL_MS);
  }

  onResponseData(_: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#settle === undefined || this.#status === undefined) return;
    this.#bytes += piece.byteLength;
    if (isSuccess(this.#status)) {
      if (this.#bytes > this.#bytesMax) this.fail(new LegFailed(answerTooLarge));
      else this.#pieces.push(piece);
      return;
    }
    this.#pieces.push(piece.subarray(0, Math.max(0, REFUSAL_BYTES_MAX - this.#bytes + piece.byteLength)));
    if (this.#bytes >= REFUSAL_BYTES_MAX) this.#cutOff();
  }

  onResponseEnd(): void {
    this.#finish();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    // A refusal that was cut off: its status says the most important.
    if (this.#status !== undefined && !isSuccess(this.#status)) this.#finish();
    else if (this.upload.fault !== undefined) this.fail(this.upload.fault.error);
    else this.fail(error instanceof LegFailed ? error : new LegFailed(networkFailure(error)));
  }

  #cutOff(): void {
    this.#finish();
    this.#controller?.abort(new Error('The rest of a refusal is not read.'));
  }

  #finish(): void {
    const settle = this.#settle;
    const status = this.#status;
    if (settle === undefined || status === undefined) return;
    this.#end();
    const bytes = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces);
    try {
      // JSON is UTF-8: in another coding it would come out as other words. Of a refusal the words hardly matter.
      const body = (isSuccess(status) ? STRICT : LENIENT).decode(bytes);
      settle.resolve({ status, headers: this.#headers, body });
    } catch {
      settle.reject(new LegFailed(badAnswer));
    }
  }

  #end(): void {
    this.#settle = undefined;
    this.upload.stop();
    this.#patience.end();
    this.#clock.clearTimeout(this.#refusalTimer);
  }
}

/** A file's bytes, each chunk a buffer of its own that is not changed afterwards; a list where all of them are in memory. */
export type ReadFile = () => FileBytes;
type FileBytes = AsyncIterable<Uint8Array> | readonly Uint8Array[];

/** What is sent after a request's head. Header names in lower case. */
export interface RequestContent {
  headers: Record<string, string>;
  body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

/** The content of a request; what the codec says in its headers wins. Reads nothing yet. */
export function contentOf({ body }: HttpRequest, file: BatchFile, read: ReadFile): RequestContent {
  switch (body.kind) {
    case 'none':
    case 'json':
      return plainContentOf(body);
    case 'file':
      return { headers: { 'content-type': file.contentType, ...lengthOf(file.bytes) }, body: bodyOf(read()) };
    case 'json-file':
      return jsonWithFile(body.json, body.fileMember, file, read);
    case 'multipart':
      return formOf(body.fields, body.fileField, file, read);
  }
}

/** The content of a request that carries no file. */
export function plainContentOf(body: PlainRequest['body']): RequestContent {
  if (body.kind === 'none') return { headers: {}, body: undefined };
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body.json) };
}

function formOf(
  fields: readonly (readonly [string, string])[],
  fileField: string,
  file: BatchFile,
  read: ReadFile,
): RequestContent {
  const boundary = `voxgate-${randomUUID()}`;
  const disposition = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`;
  const front = fields.map(([name, value]) => `${disposition(name)}\r\n\r\n${value}\r\n`).join('');
  const head = `${disposition(fileField)}; filename="${escaped(file.name)}"\r\nContent-Type: ${file.contentType}\r\n\r\n`;
  const before = Buffer.from(front + head);
  const after = Buffer.from(`\r\n--${boundary}--\r\n`);
  const bytes = file.bytes === undefined ? undefined : before.length + file.bytes + after.length;
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, ...lengthOf(bytes) },
    body: bodyOf(read(), [before], [after]),
  };
}

function jsonWithFile(
  json: Readonly<Record<string, unknown>>,
  member: string,
  file: BatchFile,
  read: ReadFile,
): RequestContent {
  const [before, after] = JSON.stringify({ ...json, [member]: '' }).split(/(?<=")(?="}$)/) as [string, string];
  const [head, tail] = [Buffer.from(before), Buffer.from(after)];
  const length = file.bytes === undefined ? undefined : head.length + 4 * Math.ceil(file.bytes / 3) + tail.length;
  const bytes = read();
  return {
    headers: { 'content-type': 'application/json', ...lengthOf(length) },
    body: isInMemory(bytes)
      ? bodyOf([Buffer.from(Buffer.concat(bytes).toString('base64'))], [head], [tail])
      : framed([head], inBase64(bytes), [tail]),
  };
}

async function* inBase64(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const all = Buffer.concat([rest, chunk]);
    const whole = all.length - (all.length % 3);
    rest = all.subarray(whole);
    yield Buffer.from(all.subarray(0, whole).toString('base64'));
  }
  yield Buffer.from(rest.toString('base64'));
}

/** What is in memory goes out in one piece: a stream would cost more than a small file's way to the provider. */
function bodyOf(
  bytes: FileBytes,
  before: readonly Uint8Array[] = [],
  after: readonly Uint8Array[] = [],
): Uint8Array | AsyncIterable<Uint8Array> {
  return isInMemory(bytes) ? Buffer.concat([...before, ...bytes, ...after]) : framed(before, bytes, after);
}

const isInMemory = (bytes: FileBytes): bytes is readonly Uint8Array[] => Array.isArray(bytes);

async function* framed(
  before: readonly Uint8Array[],
  bytes: AsyncIterable<Uint8Array>,
  after: readonly Uint8Array[],
): AsyncGenerator<Uint8Array> {
  yield* before;
  yield* bytes;
  yield* after;
}

const lengthOf = (bytes: number | undefined): Record<string, string> =>
  bytes === undefined ? {} : { 'content-length': String(bytes) };

/** As browsers write names of fields. */
const escaped = (name: string): string =>
  name.replace(/["\r\n]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

/** Headers as codecs read them: one text for each name, whichever library brought them. */
export const joinedHeaders = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
