// One request to a provider and its answer, within bounds: sizes, deadlines by the clock, and an end at once when the job
// ends. What an answer means is the codec's, when to ask again is the job's.
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../machines/clock.ts';
import type { HttpAnswer } from '../providers/provider.ts';
import { LegFailed } from './batch.ts';
import { joinedHeaders } from './headers.ts';
import { answerTimeout, answerTooLarge, networkFailure, poolFull, uploadStalled } from './http-failures.ts';
import type { HttpPools } from './http-pools.ts';

const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** Of the body of a refusal; more is not waited for. */
const REFUSAL_BYTES_MAX = 4_096;
const REFUSAL_MS = 1_000;

export interface ExchangeRequest {
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  body: string | AsyncIterable<Uint8Array> | undefined;
  /** How long the provider may leave the request waiting: to connect, to take more of the body, to answer. */
  answerMs: number;
}

export interface ExchangeDependencies {
  pools: HttpPools;
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
  { method, url, headers, body, answerMs }: ExchangeRequest,
  signal: AbortSignal,
  { pools, clock }: ExchangeDependencies,
): Promise<HttpAnswer> {
  signal.throwIfAborted();
  const { origin, pathname, search } = new URL(url);
  const pool = pools.of(origin);
  if (pool === undefined) throw new LegFailed(poolFull);
  const end = new AbortController();
  const patience = new Patience(clock, answerMs, (failure) => end.abort(new LegFailed(failure)));
  const upload = new Upload(patience);
  const abort = () => end.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  patience.wait(answerTimeout);
  try {
    const answer = pool.request({
      method,
      path: pathname + search,
      headers,
      body: (typeof body === 'object' ? upload.streamOf(body) : body) ?? null,
      signal: end.signal,
    });
    const response = await untilAborted(answer, end.signal);
    upload.stop();
    const text = isSuccess(response.statusCode)
      ? await wholeBody(response.body, patience)
      : await beginningOfBody(response.body, clock);
    end.signal.throwIfAborted();
    return { status: response.statusCode, headers: joinedHeaders(response.headers), body: text };
  } catch (error) {
    if (end.signal.aborted) throw end.signal.reason;
    if (upload.fault !== undefined) throw upload.fault.error;
    throw error instanceof LegFailed ? error : new LegFailed(networkFailure(error));
  } finally {
    upload.stop();
    patience.end();
    signal.removeEventListener('abort', abort);
  }
}

/** What the provider is waited for, and for how long. One thing at a time. */
class Patience {
  private readonly clock: Clock;
  private readonly ms: number;
  private readonly spent: (failure: typeof answerTimeout) => void;
  private timer: unknown;
  private over = false;

  constructor(clock: Clock, ms: number, spent: (failure: typeof answerTimeout) => void) {
    this.clock = clock;
    this.ms = ms;
    this.spent = spent;
  }

  /** The next move is the provider's; without it, this is the failure. */
  wait(failure: typeof answerTimeout): void {
    this.rest();
    if (!this.over) this.timer = this.clock.setTimeout(() => this.spent(failure), this.ms);
  }

  /** The next move is ours, or the client's. */
  rest(): void {
    this.clock.clearTimeout(this.timer);
  }

  end(): void {
    this.over = true;
    this.rest();
  }
}

/** The body on its way: knows whose move it is, and whether it was the body itself that failed. */
class Upload {
  fault: { error: unknown } | undefined;
  private readonly patience: Patience;
  private stopped = false;

  constructor(patience: Patience) {
    this.patience = patience;
  }

  streamOf(chunks: AsyncIterable<Uint8Array>): Readable {
    const stream = Readable.from(this.watched(chunks), { objectMode: false });
    // What goes wrong comes back as the failure of the request.
    return stream.on('error', () => {});
  }

  private async *watched(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of chunks) {
        if (this.stopped) return;
        this.patience.wait(uploadStalled);
        yield chunk;
        if (this.stopped) return;
        this.patience.rest();
      }
      if (!this.stopped) this.patience.wait(answerTimeout);
    } catch (error) {
      this.fault = { error };
      throw error;
    }
  }

  /** The answer has begun, or nobody waits for it: what is left of the body no longer matters. */
  stop(): void {
    this.stopped = true;
  }
}

/** The client takes an abort only once a connection is there; the job is not to wait for that. */
async function untilAborted(
  answer: Promise<Dispatcher.ResponseData>,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([answer, aborted]);
  } catch (error) {
    answer.then(
      ({ body }) => body.on('error', () => {}).destroy(),
      () => {},
    );
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function wholeBody(body: Dispatcher.ResponseData['body'], patience: Patience): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  patience.wait(answerTimeout);
  for await (const piece of body) {
    patience.wait(answerTimeout);
    bytes += (piece as Buffer).byteLength;
    if (bytes > ANSWER_BYTES_MAX) throw new LegFailed(answerTooLarge);
    pieces.push(piece as Buffer);
  }
  return textOf(pieces);
}

/** A refusal tells more than its status; what is not there soon is left out. */
async function beginningOfBody(body: Dispatcher.ResponseData['body'], clock: Clock): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const timer = clock.setTimeout(() => body.destroy(), REFUSAL_MS);
  try {
    for await (const piece of body) {
      pieces.push((piece as Buffer).subarray(0, REFUSAL_BYTES_MAX - bytes));
      bytes += (piece as Buffer).byteLength;
      if (bytes >= REFUSAL_BYTES_MAX) break;
    }
  } catch {
    // Cut off, by us or by the provider: the status says the most important.
  } finally {
    clock.clearTimeout(timer);
  }
  return textOf(pieces);
}

const textOf = (pieces: readonly Buffer[]): string => new TextDecoder().decode(Buffer.concat(pieces));
