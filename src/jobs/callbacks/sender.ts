// At the node that owns the accounts: sends what clients wanted to be told of the end of their jobs. Bounded in all and for each
// organisation, so that a slow receiver delays only its own organisation. What was sent and not recorded, because the node was killed,
// is sent again. What is sent is made of the job each time, so nothing of it is kept longer than the job.

import type { Clock } from '../../../machines/clock.ts';
import { LookLoop } from '../../webhooks/look-loop.ts';
import type { OutgoingRequest, Poster } from '../../webhooks/post.ts';
import { afterAttempt, RETRY_MS } from '../../webhooks/schedule.ts';
import type { AttemptedCallback, CallbackCalls, CallbackToSend, DueCallback } from './calls.ts';

const LOOK_MS = 1_000;
/** While there is no job with a callback, and after a failure of the store. */
const IDLE_LOOK_MS = 5_000;
/** Longer than an attempt: no other process sends what is on its way. What is not recorded by then is sent again. */
const LEASE_MS = 30_000;
/** Callbacks of one look. */
const DUE_MAX = 2_000;
/** Sixteen hours together: the job is there for a day. */
export const CALLBACK_RETRY_MS: readonly number[] = RETRY_MS.slice(0, 9);

export interface CallbackBounds {
  /** Attempts at the same time. */
  max: number;
  perOrganisationMax: number;
  /** Of those with a large transcript, of which an organisation may have one. */
  largeMax: number;
}

const BOUNDS: CallbackBounds = { max: 128, perOrganisationMax: 8, largeMax: 4 };

/** What is sent. */
export interface PreparedCallback {
  request: OutgoingRequest;
  /** The client cannot ask for the job: it goes once it was reported. */
  isForgotten: boolean;
}

type Store = {
  [Name in keyof CallbackCalls]: (...args: Parameters<CallbackCalls[Name]>) => Promise<ReturnType<CallbackCalls[Name]>>;
};

export type CallbackEvent =
  | { type: 'attempt'; outcome: 'delivered' | 'retry' | 'failed' | 'gone' }
  | { type: 'fault'; action: string; error: unknown };

export interface CallbackSenderOptions {
  store: Store;
  /** Undefined where there is nothing to send any more. Rejects when the store does not answer. */
  prepare(callback: CallbackToSend): Promise<PreparedCallback | undefined>;
  send: Poster['send'];
  clock: Clock;
  /** From 0 up to 1. */
  random?(): number;
  bounds?: Partial<CallbackBounds>;
  onEvent(event: CallbackEvent): void;
}

export class CallbackSender {
  readonly #options: CallbackSenderOptions;
  readonly #bounds: CallbackBounds;
  readonly #random: () => number;
  /** By number, of those on their way. */
  readonly #inProgress = new Map<number, DueCallback>();
  /** Where the next look begins, so that every organisation has its turn when more is due than may be in progress. */
  #after = '';
  readonly #loop: LookLoop;

  constructor(options: CallbackSenderOptions) {
    this.#options = options;
    this.#bounds = { ...BOUNDS, ...options.bounds };
    this.#random = options.random ?? Math.random;
    this.#loop = new LookLoop(options.clock, () => this.#lookOnce());
    this.look();
  }

  get inProgress(): number {
    return this.#inProgress.size;
  }

  /** There may be something to send. */
  look(): void {
    this.#loop.look();
  }

  /** Attempts in progress are not recorded any more: the next owner sends them again. */
  close(): void {
    this.#loop.close();
  }

  /** Returns when to look again. */
  async #lookOnce(): Promise<number> {
    const { store, onEvent } = this.#options;
    try {
      // Twice as many as may be in progress, which are among them.
      const { isUsed, due } = await store.readDueCallbacks(this.#after, 2 * this.#bounds.perOrganisationMax, DUE_MAX);
      this.#begin(due);
      return isUsed ? LOOK_MS : IDLE_LOOK_MS;
    } catch (error) {
      if (!this.#loop.isClosed) onEvent({ type: 'fault', action: 'look', error });
      return IDLE_LOOK_MS;
    }
  }

  #begin(due: readonly DueCallback[]): void {
    this.#after = due.length < DUE_MAX ? '' : (due.at(-1)?.organisationId ?? '');
    for (const callback of due) {
      if (this.#loop.isClosed) return;
      if (!this.#hasRoom(callback)) continue;
      this.#inProgress.set(callback.number, callback);
      if (this.#inProgress.size >= this.#bounds.max) this.#after = callback.organisationId;
      void this.#send(callback.number).then((isAnswered) => {
        this.#inProgress.delete(callback.number);
        // A store that does not answer is looked at again when it is time.
        if (isAnswered) this.look();
      });
    }
  }

  #hasRoom({ number, organisationId, isLarge }: DueCallback): boolean {
    const { max, perOrganisationMax, largeMax } = this.#bounds;
    if (this.#inProgress.has(number) || this.#inProgress.size >= max) return false;
    const others = [...this.#inProgress.values()];
    const own = others.filter((each) => each.organisationId === organisationId);
    if (own.length >= perOrganisationMax) return false;
    return !isLarge || (!own.some((each) => each.isLarge) && others.filter((each) => each.isLarge).length < largeMax);
  }

  /** Never rejects. False where the store did not answer. */
  async #send(number: number): Promise<boolean> {
    const { store, prepare, send, onEvent } = this.#options;
    try {
      const callback = await store.takeCallback(number, LEASE_MS);
      if (callback === undefined || this.#loop.isClosed) return true;
      const { attempts, endedAtMs } = callback;
      const ended: AttemptedCallback = { number, endedAtMs, status: null, retryAfterMs: null, isForgotten: false };
      const prepared = await prepare(callback);
      if (prepared === undefined) {
        await store.recordCallback(ended);
        return true;
      }
      const { status } = await send(prepared.request);
      if (this.#loop.isClosed) return true;
      const { outcome, retryAfterMs } = afterAttempt(status, attempts, this.#random(), CALLBACK_RETRY_MS);
      onEvent({ type: 'attempt', outcome });
      await store.recordCallback({ ...ended, status: status ?? null, retryAfterMs, isForgotten: prepared.isForgotten });
      return true;
    } catch (error) {
      if (!this.#loop.isClosed) onEvent({ type: 'fault', action: 'send', error });
      return false;
    }
  }
}
