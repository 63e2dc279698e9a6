// Requests to simulated providers on a network in memory: each way takes its time under the clock, and an answer may never come.
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../../machines/clock.ts';
import type { ExchangeDependencies } from '../../../src/live/upstream/http/exchange.ts';
import type { SimulatedAnswer } from '../../../src/vendors/kit/simulation.ts';
import type { SimulatorStage } from '../../../src/vendors/simulation/stage.ts';

/** How a dial is answered: as the provider does, not at all, or with no listener at the address. */
export type DialFault = 'none' | 'hang' | 'refuse';

export interface RequestsOptions {
  stageOf(host: string): SimulatorStage | undefined;
  clock: Clock;
  /** One way. */
  latencyMs: number;
  onRequest?(url: URL): DialFault | undefined;
}

/** For `http.pools` of the upstream host. */
export const simulatedPools = (options: RequestsOptions): ExchangeDependencies['pools'] => ({
  enter: (origin) => ({
    pool: {
      dispatch: (request, handler) => {
        new Exchange(options, handler).send(origin, request);
        return true;
      },
    },
    free: undefined,
    leave: () => {},
  }),
});

/** Utterances of a session are streamed, as files of the gateway are. */
async function bytesOf(body: Dispatcher.DispatchOptions['body']): Promise<Uint8Array> {
  if (body instanceof Readable) return Buffer.concat(await body.toArray());
  return typeof body === 'string' || body instanceof Uint8Array ? Buffer.from(body) : new Uint8Array();
}

class Exchange implements Dispatcher.DispatchController {
  aborted = false;
  readonly paused = false;
  readonly reason = null;
  readonly rawHeaders = null;
  readonly rawTrailers = null;
  readonly #options: RequestsOptions;
  readonly #handler: Dispatcher.DispatchHandler;

  constructor(options: RequestsOptions, handler: Dispatcher.DispatchHandler) {
    this.#options = options;
    this.#handler = handler;
  }

  abort(): void {
    this.aborted = true;
  }

  pause(): void {}
  resume(): void {}

  send(origin: string, { method, path, headers, body }: Dispatcher.DispatchOptions): void {
    const { stageOf, onRequest } = this.#options;
    const url = new URL(path, origin);
    this.#handler.onRequestStart?.(this, {});
    const fault = onRequest?.(url) ?? 'none';
    this.#after(() => {
      const stage = stageOf(url.host);
      if (fault === 'hang') return;
      if (stage === undefined || fault === 'refuse') this.#after(() => this.#refuse());
      else
        void bytesOf(body)
          .then((bytes) => stage.http({ method, url, headers: headers as Record<string, string>, body: bytes }))
          .then((answer) => {
            if (answer !== undefined) this.#after(() => this.#answer(answer));
          });
    });
  }

  #after(work: () => void): void {
    this.#options.clock.setTimeout(() => {
      if (!this.aborted) work();
    }, this.#options.latencyMs);
  }

  #refuse(): void {
    this.#handler.onResponseError?.(this, Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  }

  #answer({ status, headers = {}, body = '' }: SimulatedAnswer): void {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    this.#handler.onResponseStart?.(this, status, headers);
    this.#handler.onResponseData?.(this, Buffer.from(text));
    this.#handler.onResponseEnd?.(this, {});
  }
}
