// The body of one request as a stream: what arrives is counted, held to one high-water mark and pushed back on the network.
// Both servers feed it; who reads it, and how much it may be, is the handler's decision.
import { Readable } from 'node:stream';
import { type ApiError, apiError } from '../api/errors.ts';
import { BodyTooLarge } from './server.ts';

/** Held for a reader that is not reading; up to 768 KiB with the chunk that reaches it. */
const HELD_BYTES_MAX = 256 * 1024;

/** What waits is joined up to this: the way of each chunk costs more than a copy of so much. */
const JOINED_BYTES_MAX = 384 * 1024;
/**
 * Held for such readers by all bodies of the process. uWebSockets.js heeds a pause only once it has read less than 512 KiB at a time: a
 * client of the same machine fills its buffer faster than that, and 40 to 70 MiB of its body may come behind the pause.
 */
export const HELD_BYTES_OF_ALL_MAX = 512 * 1024 * 1024;

/** A body of which nothing arrives for so long, while it is waited for, is given up. */
export const SILENCE_MS = 10_000;
/** How often a body that is waited for is looked at; well below the 8 s after which uWebSockets.js drops a silent client. */
const LOOK_MS = 3_000;
const silent = `Nothing of the body arrived for ${SILENCE_MS / 1000} s. Send it again over a steadier connection.`;

/** A body of which less arrives, while it is waited for, is given up: a byte a second would hold what is behind it for hours. */
export const SLOWEST_BYTES_PER_SECOND = 1024;
/** Over so long a time. */
export const SLOWNESS_WINDOW_MS = 30_000;
const WINDOW_BYTES_MIN = (SLOWEST_BYTES_PER_SECOND * SLOWNESS_WINDOW_MS) / 1000;

/** Of a body whose answer is out already so much is read and dropped, for its client may read the answer behind all that it sends. */
export const REST_BYTES_MAX = 64 * 1024 * 1024;
/** And for so long. */
export const REST_MS_MAX = 10_000;

const tooSlow = `Less than ${SLOWEST_BYTES_PER_SECOND} bytes a second of the body arrived for ${SLOWNESS_WINDOW_MS / 1000} s. Send it again over a faster connection.`;

/** How a body holds back its sender. */
export interface Flow {
  pause(): void;
  resume(): void;
  /** Called every few seconds while more of the body is waited for. */
  waiting?(): void;
}

/**
 * Made when a request arrives, claimed by `ServerRequest.body`. Errors (too large, client gone, stalled) reach the reader
 * whenever it begins to read; with no reader they are ignored.
 */
export class RequestBody extends Readable {
  static #heldBytesOfAll = 0;
  #heldBytes = 0;
  readonly #flow: Flow;
  /** Content-Length, or undefined when the body is chunked. */
  readonly #declaredBytes: number | undefined;
  #maxBytes = Number.POSITIVE_INFINITY;
  #receivedBytes = 0;
  #claimed = false;
  #paused = false;
  #complete = false;
  #windowFromMs = performance.now();
  #windowBytes = 0;
  #arrivedAtMs = performance.now();
  readonly #look: NodeJS.Timeout | undefined;
  #whole: { pieces: Uint8Array[]; resolve(bytes: Buffer): void; reject(error: Error): void } | undefined;
  #restBytes = 0;
  #restOver: ((isWhole: boolean) => void) | undefined;

  constructor(flow: Flow, declaredBytes: number | undefined) {
    super({ highWaterMark: HELD_BYTES_MAX });
    this.#flow = flow;
    this.#declaredBytes = declaredBytes;
    // A body may fail before it has a listener, or never get one.
    this.on('error', () => {});
    if (declaredBytes !== 0) this.#look = setTimeout(() => this.#lookForMore(), LOOK_MS).unref();
  }

  /** Whether the next move is the client's: the body is not whole, and nothing here holds it back. */
  get #waiting(): boolean {
    return !this.#complete && !this.#paused;
  }

  get isComplete(): boolean {
    return this.#complete;
  }

  claim(maxBytes: number): this {
    if (this.#claimed) throw new Error('The body of a request can be read once.');
    this.#claimed = true;
    this.#maxBytes = maxBytes;
    if (Math.max(this.#receivedBytes, this.#declaredBytes ?? 0) > maxBytes) this.#refuse();
    return this;
  }

  /**
   * Reads the whole body at once. Undefined where its declared length is missing or too large: then it is to be read as a stream.
   * Rejects with the error that the stream would have.
   *
   * @param takeMemory whether there is memory for what it says
   */
  whole(bytesMax: number, takeMemory: (bytes: number) => boolean): Promise<Buffer> | undefined {
    const bytes = this.#declaredBytes;
    if (bytes === undefined || bytes > bytesMax || this.destroyed || !takeMemory(bytes)) return undefined;
    const pieces: Uint8Array[] = [];
    for (let piece = this.read(); piece !== null; piece = this.read()) pieces.push(piece as Buffer);
    if (this.#complete) return Promise.resolve(joined(pieces));
    return new Promise((resolve, reject) => {
      this.#whole = { pieces, resolve, reject };
    });
  }

  /** Takes over a chunk, which must not be changed afterwards. */
  arrived(chunk: Uint8Array): void {
    if (this.#restOver !== undefined) this.#passOver(chunk.byteLength, this.#restOver);
    if (this.destroyed || chunk.byteLength === 0) return;
    this.#receivedBytes += chunk.byteLength;
    this.#arrivedAtMs = performance.now();
    if (this.#receivedBytes > this.#maxBytes) this.#refuse();
    else if (this.#isTooSlow(chunk.byteLength)) this.destroy(apiError('request_timeout', tooSlow));
    else if (this.#whole !== undefined) this.#whole.pieces.push(chunk);
    else {
      if (!this.push(chunk)) this.#pause();
      this.#countHeld(this.readableLength);
      if (RequestBody.#heldBytesOfAll > HELD_BYTES_OF_ALL_MAX) this.destroy(noMemory());
    }
  }

  /** The last byte was given to `arrived`. */
  finished(): void {
    this.#complete = true;
    clearTimeout(this.#look);
    this.#restOver?.(true);
    if (this.destroyed) return;
    this.#whole?.resolve(joined(this.#whole.pieces));
    this.push(null);
  }

  /** The client went away. */
  aborted(): void {
    if (!this.#complete)
      this.destroy(new DOMException('The client went away before its request was whole.', 'AbortError'));
  }

  /** Discards the rest of the body, so that the connection stays usable. */
  discard(): void {
    this.destroy();
    this.#resume();
  }

  /**
   * Once the answer is out: tells when the rest of the body has come, or that more of it would than is read for the answer's sake.
   * Gives back what ends the wait.
   */
  afterRest(then: (isWhole: boolean) => void): () => void {
    this.discard();
    const end = () => {
      clearTimeout(timer);
      this.#restOver = undefined;
    };
    const over = (isWhole: boolean) => {
      end();
      then(isWhole);
    };
    const timer = setTimeout(() => over(false), REST_MS_MAX).unref();
    this.#restOver = over;
    if (this.#complete) over(true);
    return end;
  }

  override read(bytes?: number): Buffer | null {
    const length = this.readableLength;
    const isJoined = bytes === undefined && length > 0 && length <= JOINED_BYTES_MAX;
    const chunk = super.read(isJoined ? length : bytes) as Buffer | null;
    if (!this.destroyed) this.#countHeld(this.readableLength);
    return chunk;
  }

  #countHeld(bytes: number): void {
    RequestBody.#heldBytesOfAll += bytes - this.#heldBytes;
    this.#heldBytes = bytes;
  }

  override _read(): void {
    this.#resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearTimeout(this.#look);
    this.#countHeld(0);
    this.#resume();
    if (error !== null) this.#whole?.reject(error);
    callback(error);
  }

  #lookForMore(): void {
    const isSilent = this.#waiting && performance.now() - this.#arrivedAtMs >= SILENCE_MS;
    if (isSilent) return void this.destroy(apiError('request_timeout', silent));
    if (this.#waiting) this.#flow.waiting?.();
    // uWebSockets.js forgets a pause that began while it delivered a piece, and would close the connection after 30 s.
    else if (this.#paused) this.#flow.pause();
    this.#look?.refresh();
  }

  /** Judged by what arrives. */
  #isTooSlow(bytes: number): boolean {
    this.#windowBytes += bytes;
    const nowMs = performance.now();
    if (nowMs - this.#windowFromMs < SLOWNESS_WINDOW_MS) return false;
    const isSlow = this.#windowBytes < WINDOW_BYTES_MIN;
    this.#beginWindow(nowMs);
    return isSlow;
  }

  #beginWindow(nowMs: number): void {
    this.#windowFromMs = nowMs;
    this.#windowBytes = 0;
  }

  #passOver(bytes: number, over: (isWhole: boolean) => void): void {
    this.#restBytes += bytes;
    if (this.#restBytes > REST_BYTES_MAX) over(false);
  }

  #refuse(): void {
    this.destroy(new BodyTooLarge(`The body is larger than ${this.#maxBytes} bytes.`));
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#flow.pause();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#arrivedAtMs = performance.now();
    this.#beginWindow(this.#arrivedAtMs);
    this.#flow.resume();
  }
}

const noMemory = (): ApiError =>
  apiError(
    'overloaded',
    'This node has no memory left for bodies that arrive faster than they are read. Send it again later.',
    {
      retryAfterSeconds: 5,
    },
  );

const joined = (pieces: readonly Uint8Array[]): Buffer =>
  pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);

/** The body of a request that has none. */
export function emptyBody(): RequestBody {
  const body = new RequestBody({ pause: () => {}, resume: () => {} }, 0);
  body.finished();
  return body;
}
