// One request to a provider and its answer, within bounds: sizes, deadlines by the clock, and an end at once when the job
// ends. What an answer means is the codec's, when to ask again is the job's.
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../../../machines/clock.ts';
import type { HttpAnswer, HttpRequest } from '../../../vendors/provider.ts';
import { LegFailed } from '../leg-failed.ts';
import type { RequestContent } from './body.ts';
import { answerTimeout, answerTooLarge, badAnswer, networkFailure, poolFull, uploadStalled } from './failures.ts';
import { joinedHeaders } from './headers.ts';

const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** Of the body of a refusal; more is not waited for. */
const REFUSAL_BYTES_MAX = 4_096;
const REFUSAL_MS = 1_000;
const STRICT = new TextDecoder('utf-8', { fatal: true });
const LENIENT = new TextDecoder('utf-8');

export interface ExchangeRequest extends Pick<HttpRequest, 'method' | 'url' | 'headers'> {
  content: RequestContent;
  /** How long the provider may leave the request waiting: to connect, to take more of the body, to answer, to end its answer. */
  answerMs: number;
}

export interface ExchangeDependencies {
  pools: { of(origin: string): Pick<Dispatcher, 'dispatch'> | undefined };
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
  { method, url, headers, content, answerMs }: ExchangeRequest,
  signal: AbortSignal,
  { pools, clock }: ExchangeDependencies,
): Promise<HttpAnswer> {
  signal.throwIfAborted();
  const { origin, pathname, search } = new URL(url);
  const pool = pools.of(origin);
  if (pool === undefined) throw new LegFailed(poolFull);
  const answer = new Answer(clock, answerMs);
  const abort = () => answer.fail(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    const { body } = content;
    const isWhole = typeof body !== 'object' || body instanceof Uint8Array;
    const sent = isWhole ? (body ?? null) : answer.upload.streamOf(body);
    pool.dispatch({ method, path: pathname + search, headers: headersOf(headers, content), body: sent }, answer);
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
  readonly #patience: Patience;
  #settle: { resolve(answer: HttpAnswer): void; reject(error: unknown): void } | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  /** Undefined until the answer begins. */
  #status: number | undefined;
  #headers: HttpAnswer['headers'] = {};
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #refusalTimer: unknown;

  constructor(clock: Clock, answerMs: number) {
    this.#clock = clock;
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
      if (this.#bytes > ANSWER_BYTES_MAX) this.fail(new LegFailed(answerTooLarge));
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
