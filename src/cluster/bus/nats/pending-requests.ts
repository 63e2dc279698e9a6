// Requests to other nodes that wait for their answer. Each has a number, a deadline and one outcome.
import { type BusBody, BusError, type DeadLetterReason } from '../bus.ts';

/** Beyond it a request is refused: a node with so many open requests gets no answer in time. */
const PENDING_MAX = 16_384;

/** The possible answers to a request. */
export type Answer =
  | { type: 'answer'; body: BusBody }
  | { type: 'failure'; reason: DeadLetterReason; message: string }
  /** This node stopped offering the service a moment ago. */
  | { type: 'left' };

export interface Request extends BusBody {
  type: 'ask';
  timeoutMs: number;
  body: BusBody;
}

interface PendingRequest {
  readonly what: string;
  readonly subject: string;
  readonly noResponders: NoResponders;
  resolve(body: BusBody | undefined): void;
  reject(error: BusError): void;
}

/** The dead-letter reason when NATS reports no responders. */
type NoResponders = 'unknown_actor' | 'unknown_node';

export interface RequestOptions {
  /** Begins the sentence of every error: `The service "x" could not take "y"`. */
  what: string;
  subject: string;
  noResponders: NoResponders;
  timeoutMs: number;
  /** Sends it under its number; returns the reason when it could not be sent. */
  send(id: string): DeadLetterReason | undefined;
}

/** The error of a failed request. */
export const requestError = (reason: DeadLetterReason | 'timeout', what: string, why: string): BusError =>
  new BusError(reason, `${what}: ${why}.`);

/** In the message of the BusError when the NATS user may not send that request. */
export const NOT_PERMITTED = 'the NATS server does not let this node ask for it';

export class PendingRequests {
  readonly #waiting = new Map<string, PendingRequest>();
  readonly #max: number;
  #lastId = 0;

  constructor(max = PENDING_MAX) {
    this.#max = max;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves with the answer, or with undefined when the asked node stopped offering the service a moment ago. Rejects with
   * BusError.
   */
  add({ what, subject, noResponders, timeoutMs, send }: RequestOptions): Promise<BusBody | undefined> {
    if (this.#waiting.size >= this.#max) {
      return Promise.reject(requestError('overflow', what, `${this.#max} others wait for an answer`));
    }
    this.#lastId++;
    const id = this.#lastId.toString(36);
    return new Promise((resolve, reject) => {
      const late = () => this.#fail(id, 'timeout', `there was no answer within ${timeoutMs} ms`);
      const timer = setTimeout(late, timeoutMs);
      this.#waiting.set(id, {
        what,
        subject,
        noResponders,
        resolve(body) {
          clearTimeout(timer);
          resolve(body);
        },
        reject(error) {
          clearTimeout(timer);
          reject(error);
        },
      });
      const refused = send(id);
      if (refused !== undefined) this.#fail(id, refused, WHY_NOT_SENT[refused]);
    });
  }

  /** This and the next ones return whether the request was still open. */
  answer(id: string, body: BusBody): boolean {
    const ask = this.#take(id);
    ask?.resolve(body);
    return ask !== undefined;
  }

  left(id: string): boolean {
    const ask = this.#take(id);
    ask?.resolve(undefined);
    return ask !== undefined;
  }

  noResponders(id: string): boolean {
    const noResponders = this.#waiting.get(id)?.noResponders ?? 'unknown_actor';
    return this.#fail(
      id,
      noResponders,
      noResponders === 'unknown_node' ? 'there is no such node' : 'no node offers it',
    );
  }

  refuse(id: string, error: BusError): boolean {
    const ask = this.#take(id);
    ask?.reject(error);
    return ask !== undefined;
  }

  /** The server refused to publish to that subject, so these requests were not sent. */
  forbidden(subject: string): void {
    const there = [...this.#waiting].filter(([, ask]) => ask.subject === subject);
    for (const [id] of there) this.#fail(id, 'unknown_actor', NOT_PERMITTED);
  }

  failAll(reason: DeadLetterReason, why: string): void {
    for (const id of [...this.#waiting.keys()]) this.#fail(id, reason, why);
  }

  #fail(id: string, reason: DeadLetterReason | 'timeout', why: string): boolean {
    const ask = this.#take(id);
    ask?.reject(requestError(reason, ask.what, why));
    return ask !== undefined;
  }

  #take(id: string): PendingRequest | undefined {
    const ask = this.#waiting.get(id);
    this.#waiting.delete(id);
    return ask;
  }
}

const WHY_NOT_SENT: Readonly<Record<DeadLetterReason, string>> = {
  disconnected: 'NATS is not connected',
  overflow: 'it does not fit into a message, or too much is on its way already',
  unknown_actor: 'nobody can have that name',
  unknown_node: 'no node can have that name',
  handler_failed: 'it could not be sent',
};
