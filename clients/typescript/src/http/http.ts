// One REST call: sent, timed, tried again where that is safe, and its refusal made an error.

import type { Credentials } from '../credentials.ts';
import { abortReason, ConnectionError, errorOf, TimeoutError, VoxgateError } from '../errors.ts';
import { integerOf, RETRIES, type Settings, TIMEOUT_MS } from '../settings.ts';
import { jitterMs, pause, RETRY_AFTER_SECONDS_MAX, retryAfterSeconds } from './backoff.ts';
import type { UploadBody } from './file-body.ts';

/** Options that every REST call takes. */
export interface CallOptions {
  signal?: AbortSignal;
  /** In place of the client's. */
  timeoutMs?: number;
  /** In place of the client's. */
  retriesMax?: number;
}

/** What is told beside the answer itself. */
export interface Metadata {
  status: number;
  /** `X-Request-Id`. */
  requestId: string | undefined;
  /** The codes of the header `Voxgate-Warning`. */
  warnings: readonly string[];
  /** How often it was sent. */
  attempts: number;
  headers: Headers;
}

export interface Call extends CallOptions {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** Whether a client token may do it. */
  takesTokens?: boolean;
  query?: Readonly<Record<string, string | undefined>>;
  headers?: Readonly<Record<string, string>>;
  /** Makes the body, for each attempt anew; `isStream` where it is sent as it comes. */
  body?: () => UploadBody;
  /** False: the body can be made once only, so nothing is tried again. */
  isRepeatable?: boolean;
  /** True: the answer is read on after the call, and its reader ends the timer. */
  isStreamed?: boolean;
}

/** Reads an answer; `touch` puts off the deadline, for answers that come in pieces. */
export type Read<Answer> = (response: Response, timer: CallTimer) => Promise<Answer>;

export const CALL_OPTIONS: readonly (keyof CallOptions)[] = ['signal', 'timeoutMs', 'retriesMax'];

/** Throws an InvalidRequestError that names the option. */
export function checkCall({ timeoutMs, retriesMax }: CallOptions): void {
  integerOf('timeoutMs', timeoutMs, ...TIMEOUT_MS);
  integerOf('retriesMax', retriesMax, ...RETRIES);
}

/** The deadline and the signal of one attempt. */
export class CallTimer {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #ms: number;
  readonly #stop: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #release = () => {};
  isOver = false;

  constructor(ms: number, outer: AbortSignal | undefined) {
    this.#ms = ms;
    this.#outer = outer;
    this.#stop = () => this.#controller.abort(abortReason(outer as AbortSignal));
    if (outer?.aborted) this.#stop();
    else outer?.addEventListener('abort', this.#stop, { once: true });
    this.touch();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Called when the request is over, whatever came of it. */
  set onEnd(release: () => void) {
    this.#release = release;
  }

  /** Stops the time until the next `touch`: the reader is processing what it got. */
  hold(): void {
    clearTimeout(this.#timer);
  }

  /** Begins the time anew. */
  touch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.isOver = true;
      this.#controller.abort(new DOMException('The time is over', 'TimeoutError'));
    }, this.#ms);
  }

  /** Ends the request, where it is still under way. */
  cancel(): void {
    this.end();
    this.#controller.abort();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#release();
    this.#outer?.removeEventListener('abort', this.#stop);
  }
}

export class Http {
  readonly #settings: Settings;
  readonly #credentials: Credentials;

  constructor(settings: Settings, credentials: Credentials) {
    this.#settings = settings;
    this.#credentials = credentials;
  }

  /** The answer as JSON. */
  async json<Answer>(call: Call): Promise<Answer> {
    const { data } = await this.send(call, readJson<Answer>);
    return data;
  }

  /** Sends a call, again where it failed and may be sent again. Throws a VoxgateError, or the reason of the signal. */
  async send<Answer>(call: Call, read: Read<Answer>): Promise<{ data: Answer; metadata: Metadata }> {
    const retriesMax = call.isRepeatable === false ? 0 : (call.retriesMax ?? this.#settings.retriesMax);
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(call, read, attempt + 1);
      } catch (error) {
        const waitMs = attempt < retriesMax ? retryMs(error, attempt) : undefined;
        if (waitMs === undefined) throw error;
        await pause(waitMs, call.signal);
      }
    }
  }

  async #attempt<Answer>(call: Call, read: Read<Answer>, attempts: number) {
    const { baseUrl, timeoutMs } = this.#settings;
    const credential = await this.#credentials.forRequest(call.takesTokens);
    const timer = new CallTimer(call.timeoutMs ?? timeoutMs, call.signal);
    let isRead = false;
    try {
      const { body, isStream = false, headers = {}, release } = call.body?.() ?? {};
      // `fetch` does not cancel a body that it has no use for any more.
      if (release !== undefined) timer.onEnd = release;
      const response = await this.#settings.fetch(`${baseUrl}${call.path}${queryText(call.query)}`, {
        method: call.method,
        headers: { Authorization: `Bearer ${credential}`, ...call.headers, ...headers },
        signal: timer.signal,
        ...(body === undefined ? {} : { body }),
        ...(isStream ? { duplex: 'half' as const } : {}),
      });
      const requestId = response.headers.get('x-request-id') ?? undefined;
      if (!response.ok) throw await refusalOf(response, requestId);
      const warnings = (response.headers.get('voxgate-warning') ?? '')
        .split(',')
        .map((each) => each.split(';')[0]?.trim() ?? '');
      const metadata: Metadata = {
        status: response.status,
        requestId,
        warnings: warnings.filter((code) => code !== ''),
        attempts,
        headers: response.headers,
      };
      const data = await read(response, timer);
      isRead = true;
      return { data, metadata };
    } catch (error) {
      throw failureOf(error, timer, call);
    } finally {
      if (!(isRead && call.isStreamed)) timer.end();
    }
  }
}

/** The answer as JSON. */
export async function readJson<Answer>(response: Response): Promise<Answer> {
  const text = await response.text();
  try {
    return JSON.parse(text) as Answer;
  } catch (cause) {
    throw new ConnectionError('The answer is not JSON: is this URL a Voxgate gateway?', {
      code: 'bad_answer',
      status: response.status,
      cause,
    });
  }
}

async function refusalOf(response: Response, requestId: string | undefined): Promise<VoxgateError> {
  const text = await response.text();
  let body: unknown;
  try {
    body = (JSON.parse(text) as { error?: unknown } | null)?.error;
  } catch {
    // What is no JSON is a proxy's page: the status says what there is to say.
  }
  const origin = { requestId, retryAfterSeconds: retryAfterSeconds(response.headers.get('retry-after')) };
  return errorOf(body, { ...origin, status: response.status });
}

/** What an attempt failed with, as it is thrown. */
export function failureOf(error: unknown, timer: CallTimer, { signal }: { signal?: AbortSignal }): unknown {
  if (signal?.aborted) return abortReason(signal);
  if (timer.isOver)
    return new TimeoutError('No answer came in time. `timeoutMs` says how long to wait.', { code: 'timeout' });
  if (error instanceof VoxgateError) return error;
  return new ConnectionError('The gateway could not be reached, or the connection broke; the cause says why.', {
    code: 'connection_failed',
    cause: error,
  });
}

/** Milliseconds until the next attempt; undefined where there is to be none. */
function retryMs(error: unknown, attempt: number): number | undefined {
  if (!(error instanceof VoxgateError) || !isWorthRepeating(error)) return undefined;
  const { retryAfterSeconds: seconds } = error;
  if (seconds === undefined) return jitterMs(attempt + 1);
  return seconds > RETRY_AFTER_SECONDS_MAX ? undefined : seconds * 1000 + jitterMs(0);
}

/** 409 is worth it only where the gateway says when: then the first request of the key is still worked on. */
function isWorthRepeating({ status, code, retryAfterSeconds: seconds }: VoxgateError): boolean {
  if (status === undefined) return code === 'connection_failed' || code === 'timeout';
  if (status === 409) return seconds !== undefined;
  return status === 408 || status === 429 || status >= 500;
}

function queryText(query: Call['query'] = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
