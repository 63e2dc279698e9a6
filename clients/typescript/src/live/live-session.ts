// A live session as its user sees it: audio goes in, events come out, and a summary at the end. What happens on the wire, and when
// that breaks, is live-link.ts.
import { abortReason, VoxgateError } from '../errors.ts';
import type { SessionEvent } from '../events.ts';
import { bytesOf, piecesOf } from '../http/file-body.ts';
import type { Transcript } from '../types/events.ts';
import { type ConfigureOptions, configureMessage } from './configure-options.ts';
import { EventQueue } from './event-queue.ts';
import { LiveLink, type LiveLinkOptions } from './live-link.ts';
import type { SessionSummary } from './summary.ts';

/** Audio of a session: bytes, or 16-bit samples. */
export type AudioData = Uint8Array | Int16Array | ArrayBuffer | ArrayBufferView;
/** Audio as it comes: a microphone, a stream, a generator. */
export type AudioSource = AsyncIterable<AudioData> | ReadableStream<AudioData>;

export interface LiveSessionOptions extends Omit<LiveLinkOptions, 'onEvent' | 'onEnd'> {
  eventsMax: number;
  signal: AbortSignal | undefined;
}

export interface PipeOptions {
  /** Ends the pipe. */
  signal?: AbortSignal;
  /** Closes the session when the source has ended. */
  close?: boolean;
}

/**
 * One live session. Iterate it for its events; there is one reader, and leaving the loop does not end the session. A session that
 * fails ends the iteration, `send` and `close` with the same VoxgateError.
 */
export class LiveSession implements AsyncIterable<SessionEvent> {
  readonly #queue: EventQueue;
  readonly #link: LiveLink;
  readonly #ended: Promise<SessionSummary>;
  readonly #pipes = new Set<Interruptible>();
  #failure: { error: unknown } | undefined;
  #isOver = false;

  constructor({ eventsMax, signal, ...link }: LiveSessionOptions) {
    this.#queue = new EventQueue(eventsMax);
    let settle: LiveLinkOptions['onEnd'] = () => {};
    this.#ended = new Promise((resolve, reject) => {
      settle = (outcome) => ('summary' in outcome ? resolve(outcome.summary) : reject(outcome.error));
    });
    // The iteration reports the failure.
    this.#ended.catch(() => {});
    const stop = () => this.#link.terminate({ error: abortReason(signal as AbortSignal) });
    this.#link = new LiveLink({
      ...link,
      onEvent: (event) => this.#push(event),
      onEnd: (outcome) => {
        signal?.removeEventListener('abort', stop);
        this.#isOver = true;
        if ('error' in outcome) this.#failure = outcome;
        this.#queue.end(this.#failure);
        settle(outcome);
        for (const pipe of this.#pipes) pipe.interrupt();
      },
    });
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  }

  /**
   * Sends audio. Resolves when there is room for more: await it, and memory stays bounded. The bytes are copied. A failure is told
   * by every call, so none has to be awaited.
   */
  send(audio: AudioData): Promise<void> {
    const sent = this.#send(audio);
    sent.catch(() => {});
    return sent;
  }

  async #send(audio: AudioData): Promise<void> {
    const bytes = bytesOf(audio);
    this.#requireOpen();
    try {
      await this.#link.audio.write(bytes);
    } catch (error) {
      if (error instanceof VoxgateError && error.code === 'send_queue_full') this.#link.terminate({ error });
      throw error;
    }
  }

  /**
   * Sends a source to its end, as fast as it comes and the gateway takes it, and resolves with the bytes sent; the session stays
   * open. Resolves as well when the session is closed or over: its own failure is told by the iteration and by `close`. Rejects
   * with what the source threw, or with the reason of the signal; the source is ended in every case.
   *
   * `close: true` closes the session behind the source, and nothing has to be awaited: what the source threw ends the session and
   * is told by the iteration too.
   */
  pipe(source: AudioSource, { signal, close = false }: PipeOptions = {}): Promise<number> {
    const piped = this.#pipe(source, signal);
    if (!close) return piped;
    piped.then(
      () => this.#closeQuietly(),
      (error) => {
        if (signal?.aborted) this.#closeQuietly();
        else this.#link.terminate({ error });
      },
    );
    return piped;
  }

  async #pipe(source: AudioSource, signal: AbortSignal | undefined): Promise<number> {
    const pieces = piecesOf(source as AsyncIterable<Uint8Array>);
    const waiting = new Interruptible();
    const stop = () => waiting.interrupt({ error: abortReason(signal as AbortSignal) });
    const isDone = () => this.#isOver;
    this.#pipes.add(waiting);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    let bytes = 0;
    try {
      for (;;) {
        const next = await waiting.for(pieces.next());
        if (next === undefined || next.done || isDone() || this.#link.audio.isClosed) return bytes;
        bytes += next.value.length;
        await waiting.for(this.send(next.value));
      }
    } catch (error) {
      if (isDone() && !signal?.aborted) return bytes;
      throw error;
    } finally {
      this.#pipes.delete(waiting);
      signal?.removeEventListener('abort', stop);
      // A source that is just waiting ends when it has something to say.
      void pieces.return(undefined).catch(() => {});
    }
  }

  /** Ends the current turn now. */
  finalize(): void {
    this.#requireOpen();
    this.#link.audio.mark();
  }

  /**
   * Changes model, fallbacks or words for the audio that follows. In force at once, or from the end of the turn on:
   * `configured` says from where. What the gateway refuses is an `error` event, and the session goes on as it was. A session that has to begin anew after
   * a broken connection is changed in the same way.
   */
  configure(changes: ConfigureOptions): void {
    const message = configureMessage(changes);
    this.#requireOpen();
    this.#link.audio.change(message);
  }

  /** Says that the session is still wanted, while no audio is sent. */
  keepalive(): void {
    this.#requireOpen();
    this.#link.audio.keepalive();
  }

  /** No more audio. Resolves when every final is there and the session has ended; rejects where it fails. */
  close(): Promise<SessionSummary> {
    if (!this.#isOver) this.#link.audio.close();
    return this.#ended;
  }

  /** Ends the session at once, without its last finals. */
  terminate(): void {
    this.#link.terminate();
  }

  /** The events. Every call goes on with the same ones. */
  [Symbol.asyncIterator](): AsyncIterableIterator<SessionEvent> {
    const iterator: AsyncIterableIterator<SessionEvent> = {
      next: () => this.#queue.next(),
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  /** The finals alone: one for each turn. Takes the place of the iteration over all events. */
  async *finals(): AsyncGenerator<Transcript, void, void> {
    for await (const event of this) if (event.type === 'transcript' && event.is_final) yield event;
  }

  /** A failure is told by the iteration. */
  #closeQuietly(): void {
    this.close().catch(() => {});
  }

  #push(event: SessionEvent): void {
    if (this.#queue.push(event)) return;
    const error = new VoxgateError(
      `${this.#queue.size} events wait, and nobody reads them. Iterate the session while you send, or raise \`eventsMax\`.`,
      { code: 'event_queue_full' },
    );
    this.#link.terminate({ error });
  }

  #requireOpen(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (!this.#isOver && !this.#link.audio.isClosed) return;
    throw new VoxgateError('The session is closed: no more audio can be sent.', { code: 'session_over' });
  }
}

/** Waits for one promise after the other, and can be called away. Nothing piles up at a promise that lives long. */
class Interruptible {
  #interruption: { error?: unknown } | undefined;
  #wake = () => {};

  /** What the promise gives; undefined, or the error of the interruption, when that comes first. */
  for<Value>(promise: Promise<Value>): Promise<Value | undefined> {
    return new Promise((resolve, reject) => {
      this.#wake = () => {
        if (this.#interruption === undefined) return;
        if ('error' in this.#interruption) reject(this.#interruption.error);
        else resolve(undefined);
      };
      promise.then(resolve, reject);
      this.#wake();
    });
  }

  interrupt(by: { error?: unknown } = {}): void {
    this.#interruption ??= by;
    this.#wake();
  }
}
