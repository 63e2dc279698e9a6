// One connection to the recogniser: the engine's contract in front of a stream of a thread. Bounds what waits.
// Nothing is said inside `connect`, `send` or `close`.
import type { EngineConnection, EngineListener, Outgoing } from '../vendors/provider.ts';
import { COMMAND_BYTES, isCommand, PIECE_BYTES, type StreamErrorCode, type StreamMessage } from './protocol.ts';
import type { Thread, ThreadStream } from './threads/thread.ts';

/** Two seconds of audio: when so little of the queue is left, the sender is told to go on. */
const LOW_BYTES = 65_536;
/** The close code of a stream that could not be served now (RFC 6455's registry: try again later). */
const TRY_AGAIN_LATER = 1013;

/** Told of what the pool adds up. */
export interface ConnectionOptions {
  queueBytesMax: number;
  /** The queue grew by so many bytes, or shrank. */
  onQueue: (bytes: number) => void;
  onSlowed: () => void;
  onClosed: () => void;
}

export class PoolConnection implements EngineConnection, ThreadStream {
  readonly #listener: EngineListener;
  readonly #options: ConnectionOptions;
  /** Where its stream is; undefined when it has none, or no longer. */
  #place: { thread: Thread; id: number } | undefined;
  #bufferedBytes = 0;
  #over = false;

  constructor(listener: EngineListener, options: ConnectionOptions) {
    this.#listener = listener;
    this.#options = options;
  }

  /** Audio and commands taken and not yet worked on. */
  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  /** Joins it to its stream. */
  attach(thread: Thread, id: number): void {
    this.#place = { thread, id };
    this.#later(() => this.#listener.open());
  }

  /** Says why there is no stream, and closes. */
  refuse(code: StreamErrorCode, message: string): void {
    this.#later(() => {
      this.#listener.open();
      this.#failNow(code, message);
    });
  }

  /** Takes audio bytes and `StreamCommand`s; anything else is no frame of this engine and is left out. */
  send(frame: Outgoing): void {
    if (this.#over || this.#place === undefined) return;
    const { thread, id } = this.#place;
    if (frame instanceof Uint8Array) {
      if (!this.#takes(frame.byteLength)) return;
      for (let at = 0; at < frame.byteLength; at += PIECE_BYTES) {
        // A copy: the frame is the sender's again once this returns.
        thread.audio(id, new Uint8Array(frame.subarray(at, at + PIECE_BYTES)));
      }
    } else if (isCommand(frame)) {
      if (this.#takes(COMMAND_BYTES)) thread.command(id, frame);
    }
  }

  close(): void {
    this.#leave();
    this.#later(() => this.end(1000, ''));
  }

  terminate(): void {
    if (this.#over) return;
    this.#leave();
    this.#finish();
  }

  say(message: StreamMessage): void {
    if (!this.#over) this.#listener.message(message);
  }

  worked(bytes: number): void {
    const before = this.#bufferedBytes;
    this.#queue(-bytes);
    // Also at nothing: a sender may wait at a mark of its own, below this one.
    const isLow = (before > LOW_BYTES && this.#bufferedBytes <= LOW_BYTES) || (bytes > 0 && this.#bufferedBytes === 0);
    if (isLow && !this.#over) this.#listener.drained();
  }

  slowed(): void {
    this.#options.onSlowed();
    const message =
      'This organisation has used its time of the embedded recogniser for now: what comes faster than it is spoken is heard at the pace of speech.';
    // It is found out while others are given their turn.
    this.#later(() => this.say({ type: 'warning', code: 'recogniser_slowed', message }));
  }

  end(code: number, reason: string): void {
    if (this.#over) return;
    this.#finish();
    this.#listener.closed(code, reason);
  }

  /** Puts so many bytes into the queue, or ends the stream where there is no room. */
  #takes(bytes: number): boolean {
    if (this.#bufferedBytes + bytes <= this.#options.queueBytesMax) {
      this.#queue(bytes);
      return true;
    }
    this.#leave();
    const message = 'Audio came faster than the recogniser could decode it. Send it more slowly.';
    this.#later(() => this.#failNow('recogniser_queue_full', message));
    return false;
  }

  #failNow(code: StreamErrorCode, message: string): void {
    this.say({ type: 'error', code, message });
    this.end(TRY_AGAIN_LATER, code);
  }

  /** Calls back once the caller has returned, unless the connection is over by then. */
  #later(work: () => void): void {
    queueMicrotask(() => {
      if (!this.#over) work();
    });
  }

  #leave(): void {
    const place = this.#place;
    this.#place = undefined;
    place?.thread.drop(place.id);
  }

  #queue(bytes: number): void {
    this.#bufferedBytes += bytes;
    this.#options.onQueue(bytes);
  }

  #finish(): void {
    this.#over = true;
    this.#place = undefined;
    this.#queue(-this.#bufferedBytes);
    this.#options.onClosed();
  }
}
