// Files through a provider's HTTP interface: sends what the codec asks for, one request after the other, until it has the
// result or has failed. Where the file comes from, and which model is next, is decided elsewhere.

import type { Clock } from '../../../../machines/clock.ts';
import type { LegFailure } from '../../../../machines/events.ts';
import type {
  BatchRequest,
  BatchResult,
  BatchStep,
  HttpAnswer,
  HttpBatchCodec,
  HttpRequest,
} from '../../../vendors/kit/provider.ts';
import { failureOfStatus } from '../../../vendors/kit/refusals.ts';
import { badAnswer, internalFault, LegFailed, requestLimit } from '../leg-failures.ts';
import { Scrubber } from '../secrets.ts';
import { contentOf, type ExchangeDependencies, exchange, isSuccess, type ReadFile } from './exchange.ts';

/** Requests of one job: at a poll every 3 s more than an hour and a half. */
const REQUESTS_MAX = 2_000;
/** A poll that fails in passing is repeated: the job is not lost, and doing it over would cost the upload. */
const GET_TRIES_MAX = 3;
const GET_PAUSE_MS = 500;
/** The request that ends an abandoned job at the provider. */
const ABANDON_MS = 5_000;

export interface HttpBatchDependencies extends ExchangeDependencies {
  /** What should not have happened, for the log. */
  onFault?(name: string, error: unknown): void;
}

/** A codec’s request, and whose it is: connections to a provider are shared fairly between organisations. */
export interface HttpBatchRequest extends BatchRequest {
  organisationId: string;
}

/**
 * Transcribes a file by HTTP.
 *
 * @param read the file's bytes from the first on; called once for each request that carries the file
 * @throws LegFailed when the provider fails; the signal's reason when aborted; what `read` throws
 */
export async function runHttpBatch(
  codec: HttpBatchCodec,
  request: HttpBatchRequest,
  read: ReadFile,
  signal: AbortSignal,
  dependencies: HttpBatchDependencies,
): Promise<BatchResult> {
  signal.throwIfAborted();
  return new HttpJob(codec, request, read, signal, dependencies).run();
}

class HttpJob {
  readonly #codec: HttpBatchCodec;
  readonly #request: HttpBatchRequest;
  readonly #read: ReadFile;
  readonly #signal: AbortSignal;
  readonly #dependencies: HttpBatchDependencies;
  readonly #scrubber: Scrubber;
  #state: unknown;
  #requests = 0;
  /** The provider has said how it ended: there is nothing to abandon. */
  #settled = false;

  constructor(
    codec: HttpBatchCodec,
    request: HttpBatchRequest,
    read: ReadFile,
    signal: AbortSignal,
    dependencies: HttpBatchDependencies,
  ) {
    this.#codec = codec;
    this.#request = request;
    this.#read = read;
    this.#signal = signal;
    this.#dependencies = dependencies;
    this.#scrubber = new Scrubber(request.access);
  }

  async run(): Promise<BatchResult> {
    let step = this.#begin();
    try {
      while (step.type === 'request') {
        await pause(this.#dependencies.clock, step.afterMs ?? 0, this.#signal);
        step = this.#readAnswer(await this.#send(step.request));
      }
      this.#settled = true;
    } finally {
      if (!this.#settled || this.#codec.removesDone) this.#abandon();
    }
    if (step.type === 'failed') throw this.#failed(step.failure);
    return {
      ...step.result,
      warnings: step.result.warnings.map((warning) => ({ ...warning, message: this.#scrubber.clean(warning.message) })),
    };
  }

  #begin(): BatchStep {
    try {
      const { state, step } = this.#codec.begin(this.#request);
      this.#state = state;
      return step;
    } catch (error) {
      this.#fault('codec.begin', error);
      throw new LegFailed(internalFault);
    }
  }

  /** A request and its answer; one that only asks how far the job is, is repeated when it fails in passing. */
  async #send(request: HttpRequest): Promise<HttpAnswer> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#sendOnce(request);
      } catch (error) {
        const inPassing = error instanceof LegFailed && error.failure.kind === 'retry';
        if (!inPassing || request.method !== 'GET' || tries === GET_TRIES_MAX) throw error;
        await pause(this.#dependencies.clock, GET_PAUSE_MS * tries, this.#signal);
      }
    }
  }

  async #sendOnce(request: HttpRequest): Promise<HttpAnswer> {
    if (this.#requests === REQUESTS_MAX) throw new LegFailed(requestLimit);
    this.#requests++;
    const answer = await this.#exchange(request, this.#codec.answerMs, this.#signal);
    if (isSuccess(answer.status)) return answer;
    const other = this.#instead(answer);
    if (other !== undefined) return this.#sendOnce(other);
    throw this.#failed(this.#refusal(answer));
  }

  #instead(answer: HttpAnswer): HttpRequest | undefined {
    try {
      return this.#codec.instead?.(this.#state, answer);
    } catch (error) {
      this.#fault('codec.instead', error);
      return undefined;
    }
  }

  #refusal(answer: HttpAnswer): LegFailure {
    try {
      return this.#codec.refused?.(this.#state, answer) ?? failureOfStatus(answer);
    } catch (error) {
      this.#fault('codec.refused', error);
      return failureOfStatus(answer);
    }
  }

  /** No provider's interface answers with a page; what its codec throws at cannot be read either. */
  #readAnswer(answer: HttpAnswer): BatchStep {
    if (/^\s*text\/html\b/i.test(answer.headers['content-type'] ?? '')) return { type: 'failed', failure: badAnswer };
    try {
      return this.#codec.read(this.#state, answer);
    } catch (error) {
      this.#fault('codec.read', error);
      return { type: 'failed', failure: badAnswer };
    }
  }

  #exchange(request: HttpRequest, answerMs: number, signal: AbortSignal): Promise<HttpAnswer> {
    const content = contentOf(request, this.#request.file, this.#read);
    const { organisationId } = this.#request;
    return exchange({ ...request, content, organisationId, answerMs }, signal, this.#dependencies);
  }

  /** Tells the provider that the job is abandoned; its answer changes nothing here. */
  #abandon(): void {
    try {
      for (const request of this.#codec.abandon?.(this.#state) ?? []) {
        this.#exchange(request, ABANDON_MS, new AbortController().signal).catch(() => {});
      }
    } catch (error) {
      this.#fault('codec.abandon', error);
    }
  }

  /** A provider may quote the credential it was given. */
  #failed(failure: LegFailure): LegFailed {
    return new LegFailed(this.#scrubber.cleanFailure(failure));
  }

  #fault(name: string, error: unknown): void {
    this.#dependencies.onFault?.(name, this.#scrubber.cleanError(error));
  }
}

/** Resolves after the time; rejects with the signal's reason as soon as it is aborted. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted || ms <= 0) {
      if (signal.aborted) reject(signal.reason);
      else resolve();
      return;
    }
    const abort = () => {
      clock.clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = clock.setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal.addEventListener('abort', abort, { once: true });
  });
}
