// One piece of work for each idempotency key: the first request does it, those that come meanwhile wait for it here, those that
// come later are given what it was answered. What is the same request, and when work counts as done, is the route's.
import { createHash } from 'node:crypto';
import type { Clock } from '../../machines/clock.ts';
import { type ApiError, apiError } from '../api/errors.ts';
import { keyFor, openBytes, sealBytes } from '../runtime/sealing.ts';
import {
  answerContent,
  IDEMPOTENCY_LIMITS,
  type IdempotencyAnswer,
  type IdempotencyAttempt,
  type IdempotencyStore,
} from '../store/idempotency.ts';
import { findContent, PIECE_BYTES_MAX, type PieceStore, putPieces } from '../store/pieces.ts';
import { StoreError, type StoreErrorReason } from '../store/store-error.ts';
import { type Deferred, deferred } from './deferred.ts';
import type { Field } from './multipart/form-fields.ts';
import type { WholeReply } from './server.ts';

/** A process that was killed keeps its keys for so long. */
const LEASE_MS = 60_000;
const RENEW_MS = 20_000;
const WAIT_MS = 60_000;
const RETRY_SECONDS = 5;
/** Why the store does not keep an answer that it could be given. `invalid`: it is of a version that knows no pieces. */
const NOT_KEPT: readonly StoreErrorReason[] = ['overflow', 'invalid', 'conflict'];
/** In the place of an answer that is not kept. */
const NO_ANSWER = new Uint8Array(0);
/** Requests that wait; each may hold 768 KiB of its body. */
const WAITING_MAX = 128;
const WAITING_PER_KEY_MAX = 8;

type AnswerStore = Pick<
  IdempotencyStore,
  'claimIdempotency' | 'renewIdempotency' | 'finishIdempotency' | 'finishIdempotencyInPieces' | 'releaseIdempotency'
> &
  PieceStore;

export interface IdempotencyOptions {
  store: AnswerStore;
  /** The node's secret: answers are sealed with a key made of it. */
  secret: Uint8Array;
  clock: Clock;
  /** How long a request waits for the one before it; one minute when absent. */
  waitMs?: number;
  /** What should not have happened, for the log. */
  onFault(error: unknown): void;
  /** Only that a request was answered is kept: the answer was too large, or could not be stored. */
  onUnkept?(): void;
}

/** The request does the work, or another one has done it. */
export type Begun = { type: 'work'; work: IdempotentWork } | { type: 'done'; before: EarlierAnswer };

interface Running {
  readonly ended: Deferred<void>;
  waiting: number;
}

export class Idempotency {
  readonly #options: IdempotencyOptions;
  readonly #seal: AnswerSeal;
  /** What is in progress in this process, by organisation and key. */
  readonly #running = new Map<string, Running>();
  #waiting = 0;

  constructor(options: IdempotencyOptions) {
    this.#options = options;
    this.#seal = new AnswerSeal(options.secret);
  }

  /** Requests in progress that have a key. */
  get size(): number {
    return this.#running.size;
  }

  /** Requests that wait for another one. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Waits for the request that holds the key, without reading this one; then the work is this request's, or done.
   *
   * @param signal ends the wait: the client went away
   * @throws ApiError `idempotency_conflict` with Retry-After when the wait is over or too many wait; `overloaded` when the
   *   store does not answer
   */
  async begin(organisationId: string, key: string, attemptId: string, signal: AbortSignal): Promise<Begun> {
    const keyHash = new Uint8Array(createHash('sha256').update(key).digest());
    const attempt: IdempotencyAttempt = { organisationId, keyHash, attemptId };
    const name = `${organisationId} ${Buffer.from(keyHash).toString('hex')}`;
    const { clock, waitMs = WAIT_MS } = this.#options;
    const untilMs = clock.now() + waitMs;
    for (;;) {
      const running = this.#running.get(name);
      if (running === undefined) return this.#claim(name, attempt);
      await this.#wait(running, untilMs - clock.now(), signal);
    }
  }

  async #claim(name: string, attempt: IdempotencyAttempt): Promise<Begun> {
    const { store } = this.#options;
    const running: Running = { ended: deferred<void>(), waiting: 0 };
    this.#running.set(name, running);
    const end = () => {
      this.#running.delete(name);
      running.ended.resolve();
    };
    try {
      const claim = await store.claimIdempotency(attempt, LEASE_MS);
      if (claim.state === 'claimed') {
        const work = new IdempotentWork(attempt, claim.chargeId, name, this.#seal, this.#options, end);
        return { type: 'work', work };
      }
      end();
      // The end of another process's work is not announced.
      if (claim.state === 'running') throw stillRunning();
      return {
        type: 'done',
        before: new EarlierAnswer(claim, { organisationId: attempt.organisationId, name }, this.#seal, store),
      };
    } catch (error) {
      end();
      throw unanswered(error);
    }
  }

  /** Resolves when the work has ended, one way or the other. */
  async #wait(running: Running, leftMs: number, signal: AbortSignal): Promise<void> {
    if (leftMs <= 0 || this.#waiting >= WAITING_MAX || running.waiting >= WAITING_PER_KEY_MAX) throw stillRunning();
    signal.throwIfAborted();
    const { clock } = this.#options;
    const over = deferred<void>();
    const timer = clock.setTimeout(() => over.reject(stillRunning()), leftMs);
    const abort = () => over.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    running.waiting++;
    this.#waiting++;
    try {
      await Promise.race([running.ended.promise, over.promise]);
    } finally {
      running.waiting--;
      this.#waiting--;
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }
}

/** The work under a key. Ends with `finish`, `release` or `abandon`, and is this request's until then. */
export class IdempotentWork {
  /** To charge under: the same for every attempt that may have been charged already. */
  readonly chargeId: string;
  readonly #attempt: IdempotencyAttempt;
  readonly #name: string;
  readonly #seal: AnswerSeal;
  readonly #options: IdempotencyOptions;
  readonly #end: () => void;
  #timer: unknown;
  #ended = false;

  constructor(
    attempt: IdempotencyAttempt,
    chargeId: string,
    name: string,
    seal: AnswerSeal,
    options: IdempotencyOptions,
    end: () => void,
  ) {
    this.#attempt = attempt;
    this.chargeId = chargeId;
    this.#name = name;
    this.#seal = seal;
    this.#options = options;
    this.#end = end;
    this.#arm();
  }

  /**
   * Keeps the answer for those that ask again. Never rejects: what is done is done.
   *
   * @param redacted classes that are redacted in it
   */
  async finish(fingerprint: Uint8Array, reply: WholeReply, redacted?: readonly string[]): Promise<void> {
    const { store, onUnkept } = this.#options;
    const sealed = this.#seal.seal({ ...reply, redacted }, this.#name);
    await this.#close(async () => {
      try {
        if (await this.#keep(fingerprint, sealed)) return;
      } catch (error) {
        if (!(error instanceof StoreError && NOT_KEPT.includes(error.reason))) throw error;
      }
      onUnkept?.();
      // That it was answered is written down anyway: else the next file under the key, whatever it is, would count as charged already.
      await store.finishIdempotency(this.#attempt, fingerprint, NO_ANSWER);
    });
  }

  /** False for an answer that is too large to be kept. */
  async #keep(fingerprint: Uint8Array, sealed: Uint8Array): Promise<boolean> {
    const { store } = this.#options;
    if (sealed.length > IDEMPOTENCY_LIMITS.answerBytesMax) return false;
    if (sealed.length <= PIECE_BYTES_MAX) {
      await store.finishIdempotency(this.#attempt, fingerprint, sealed);
      return true;
    }
    const { organisationId, attemptId } = this.#attempt;
    const pieces = await putPieces(store, organisationId, answerContent(attemptId), sealed);
    await store.finishIdempotencyInPieces(this.#attempt, fingerprint, pieces);
    return true;
  }

  /** Nothing came of it: the next request under the key begins again. Never rejects. */
  async release(): Promise<void> {
    await this.#close(() => this.#options.store.releaseIdempotency(this.#attempt));
  }

  /** The outcome is not known: the key stays taken until its lease expires. */
  async abandon(): Promise<void> {
    await this.#close(() => Promise.resolve());
  }

  async #close(last: () => Promise<unknown>): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.clock.clearTimeout(this.#timer);
    try {
      await last();
    } catch (error) {
      this.#options.onFault(error);
    } finally {
      this.#end();
    }
  }

  #arm(): void {
    this.#timer = this.#options.clock.setTimeout(() => void this.#renew(), RENEW_MS);
  }

  async #renew(): Promise<void> {
    const { store, onFault } = this.#options;
    try {
      if (!(await store.renewIdempotency(this.#attempt, LEASE_MS))) return;
    } catch (error) {
      onFault(error);
    }
    if (!this.#ended) this.#arm();
  }
}

/** What an earlier request under the key was answered. */
export class EarlierAnswer {
  readonly #answer: IdempotencyAnswer;
  readonly #of: { organisationId: string; name: string };
  readonly #seal: AnswerSeal;
  readonly #store: Pick<PieceStore, 'findPiece'>;

  constructor(
    answer: IdempotencyAnswer,
    of: { organisationId: string; name: string },
    seal: AnswerSeal,
    store: Pick<PieceStore, 'findPiece'>,
  ) {
    this.#answer = answer;
    this.#of = of;
    this.#seal = seal;
    this.#store = store;
  }

  /**
   * The same answer for the same request. Rejects with the ApiError `idempotency_conflict` for another one, or `overloaded` when the
   * store does not answer.
   *
   * @param demanded classes that have to be redacted by now: an answer from before the rule is not sent
   */
  async replyTo(fingerprint: Uint8Array, demanded: readonly string[] = []): Promise<WholeReply> {
    const { attemptId } = this.#answer;
    if (Buffer.compare(this.#answer.fingerprint, fingerprint) !== 0) {
      throw conflict('was used with another request within the last 24 hours. Choose a new key for a new file.');
    }
    const sealed = await this.#sealed();
    const kept = sealed === undefined ? undefined : this.#seal.open(sealed, this.#of.name);
    if (kept !== undefined && !demanded.every((each) => kept.redacted?.includes(each))) {
      throw conflict(
        `belongs to the request ${attemptId}, whose answer was kept before its key or organisation had a rule to redact ${demanded.join(', ')}. To have the file transcribed again, choose a new key.`,
      );
    }
    const { redacted: _, ...reply } = kept ?? {};
    if (kept !== undefined)
      return { ...(reply as WholeReply), headers: { ...kept.headers, 'Idempotency-Replayed': 'true' } };
    throw conflict(
      `belongs to the request ${attemptId}, which was answered and charged; its answer is not kept any more. To have the file transcribed again, choose a new key.`,
    );
  }

  async #sealed(): Promise<Uint8Array | undefined> {
    const { sealed, attemptId, pieces = 0 } = this.#answer;
    if (pieces === 0) return sealed ?? undefined;
    try {
      return await findContent(this.#store, this.#of.organisationId, answerContent(attemptId), pieces);
    } catch (error) {
      throw unanswered(error);
    }
  }
}

const conflict = (what: string, retryAfterSeconds?: number): ApiError =>
  apiError('idempotency_conflict', `The \`Idempotency-Key\` ${what}`, {
    param: 'Idempotency-Key',
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });

const stillRunning = (): ApiError =>
  conflict(
    'belongs to a request that is still being worked on. Send the same request again in a while.',
    RETRY_SECONDS,
  );

function unanswered(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  const refusal = apiError('overloaded', 'The idempotency key could not be checked just now. Try again in a moment.', {
    retryAfterSeconds: 1,
  });
  return Object.assign(refusal, { cause: error });
}

const HEADER = 'idempotency-key';
const KEY_FORM = /^[\x20-\x7e]{1,255}$/;

/** The key of a request; undefined without one. Throws an ApiError for a key that cannot be used. */
export function readIdempotencyKey(headers: ReadonlyMap<string, string>): string | undefined {
  const key = headers.get(HEADER);
  if (key === undefined || KEY_FORM.test(key)) return key;
  throw apiError(
    'invalid_request',
    '`Idempotency-Key` is a text of 1 to 255 printable ASCII characters, such as a UUID. Choose a new one for each file.',
    { param: 'Idempotency-Key' },
  );
}

/** SHA-256 of a form as it streams by. The boundary, the order of fields and the name of the file make no difference. */
export class FormFingerprint {
  readonly #request: readonly [method: string, path: string];
  readonly #file = createHash('sha256');

  constructor(method: string, path: string) {
    this.#request = [method, path];
  }

  /** Takes the next bytes of the file. */
  file(chunk: Uint8Array): void {
    this.#file.update(chunk);
  }

  /** Once, when the form is whole: all its fields, and the content type of the file. */
  digest(fields: readonly Field[], contentType: string | undefined): Uint8Array {
    const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    const parts = [...this.#request, sorted, contentType ?? null, this.#file.digest('hex')];
    return new Uint8Array(createHash('sha256').update(JSON.stringify(parts)).digest());
  }
}

interface KeptReply extends WholeReply {
  /** Classes that are redacted in it; absent for none. */
  redacted?: readonly string[] | undefined;
}

const PURPOSE = 'voxgate idempotent answers v1';

/**
 * Answers at rest: encrypted, so that the file of the database holds no transcript, and bound to the key they belong to, so that none
 * can be put in another's place.
 */
export class AnswerSeal {
  readonly #key: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#key = keyFor(PURPOSE, secret);
  }

  /** @param about what the answer belongs to; the same is needed to open it */
  seal({ status, headers = {}, body = '', redacted }: KeptReply, about: string): Uint8Array {
    const head = Buffer.from(JSON.stringify({ status, headers, isText: typeof body === 'string', redacted }));
    const headBytes = Buffer.alloc(4);
    headBytes.writeUInt32LE(head.length);
    return new Uint8Array(sealBytes(this.#key, about, headBytes, head, Buffer.from(body as string)));
  }

  /** Undefined for what was sealed with another secret, for something else, or not at all. */
  open(sealed: Uint8Array, about: string): KeptReply | undefined {
    const plain = openBytes(this.#key, about, sealed);
    if (plain === undefined) return undefined;
    const headEnd = 4 + plain.readUInt32LE(0);
    const head = JSON.parse(plain.toString('utf8', 4, headEnd)) as Omit<KeptReply, 'body'> & { isText: boolean };
    const body = plain.subarray(headEnd);
    const { status, headers = {}, isText, redacted } = head;
    const reply = { status, headers, body: isText ? body.toString('utf8') : body };
    return redacted === undefined ? reply : { ...reply, redacted };
  }
}
