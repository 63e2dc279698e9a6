// Messages with Opus in them: a few bytes may be a long sound. Each socket has a share of every turn of the event loop, and so have all
// sockets of an organisation together; what comes beyond
// it waits, and is decoded by steps, so that other sockets are heard in between.

import { apiError } from '../../api/errors.ts';
import { type OpusDecoder, openOpusDecoder } from '../../audio/codecs/opus-decoder.ts';
import { Quota } from '../../runtime/limits/quota.ts';
import type { ClientSession } from '../session/channel-group.ts';
import { type SocketWork, STEP_BYTES, type Steps, type WaitingWork } from '../socket/socket-work.ts';
import type { OpenPace } from './socket-pace.ts';

/** Sound of a socket that is decoded as it comes, at a turn of the event loop; and a message more. */
export const SHARE_MS = 250;
/** Sound decoded at a step. */
const STEP_MS = 1_000;
/** What waits of one socket: of a container a quarter of an hour and more, and of packets minutes. */
export const CODED_BYTES_MAX = 4 * 1024 * 1024;
/** What every message counts besides its bytes. */
export const CODED_MESSAGE_BYTES = 256;
/** While more waits, nothing is read where a server can let the client wait. */
const BEHIND_BYTES = CODED_BYTES_MAX / 4;
const SLOWER = 'Send it more slowly; what was decoded before is transcribed.';
const BACKLOG_WORDS = {
  socket: `More than ${CODED_BYTES_MAX / 1024 / 1024} MiB of Opus, with ${CODED_MESSAGE_BYTES} bytes more for each message, came on this socket before it was decoded. ${SLOWER}`,
  share: `The Opus of all sockets of your organisation that waits to be decoded takes as much memory of this node as one organisation may use. ${SLOWER}`,
  full: `This node has no room left for Opus that waits to be decoded. ${SLOWER}`,
};
/** Continues with what was taken before. */
const NOTHING_MORE = new Uint8Array(0);

export interface CodedParts {
  session: Pick<ClientSession, 'audio' | 'stop' | 'pipeline'>;
  decoder: Pick<OpusDecoder, 'decodedMs'>;
  sound: OpenPace['sound'];
  work: SocketWork;
  waiting: WaitingWork;
  take(bytes: Uint8Array, isPart: boolean): void;
}

interface Queue {
  messages: Uint8Array[];
  /** What is counted of them. */
  bytes: number;
}

/** Of one socket. */
export class CodedMessages {
  readonly #parts: CodedParts;
  /** The last that waits, and the work that takes from it. */
  #queue: Queue = { messages: [], bytes: 0 };
  #steps: Steps | undefined;
  #heldBytes = 0;
  #countedMs = 0;
  #turn = -1;
  #shareMs = 0;

  constructor(parts: CodedParts) {
    this.#parts = parts;
  }

  message(data: Uint8Array): void {
    const { work, session } = this.#parts;
    if (!work.isBusy && data.byteLength <= STEP_BYTES && this.#hasShare) {
      this.#take(data, false);
      if (session.pipeline.isDecoding) this.#goOn();
      return;
    }
    const shortage = work.shortage(data.byteLength + CODED_MESSAGE_BYTES, CODED_BYTES_MAX);
    if (shortage !== undefined) {
      session.stop('error', shortage === 'full' ? 'overloaded' : 'audio_backlog_exceeded', BACKLOG_WORDS[shortage]);
      return;
    }
    const { messages } = this.#goOn();
    // Small ones share their memory.
    messages.push(Buffer.from(data));
    this.#hold(data.byteLength + CODED_MESSAGE_BYTES);
  }

  /** Audio that was held until the session was open: each piece is decoded before the next is handed over. */
  *handOver(steps: Steps): Generator<number, void> {
    for (let step = steps.next(); step.done !== true; step = steps.next()) {
      yield Math.max(step.value, this.#count());
      yield* this.#decodes();
    }
  }

  get #hasShare(): boolean {
    const { turn } = this.#parts.waiting;
    if (turn !== this.#turn) this.#shareMs = SHARE_MS;
    this.#turn = turn;
    return this.#shareMs > 0 && this.#parts.work.mayDecode;
  }

  /** At its turn, behind what waits. */
  #goOn(): Queue {
    const { work } = this.#parts;
    if (this.#steps !== undefined && work.last === this.#steps) return this.#queue;
    this.#queue = { messages: [], bytes: 0 };
    this.#steps = this.#all(this.#queue);
    work.later(this.#steps);
    return this.#queue;
  }

  *#all(queue: Queue): Generator<number, void> {
    try {
      yield* this.#decodes();
      for (let next = queue.messages.splice(0); next.length > 0; next = queue.messages.splice(0))
        for (const message of next) {
          // An empty one may say something as well.
          for (let at = 0; at === 0 || at < message.byteLength; at += STEP_BYTES) {
            yield this.#take(message.subarray(at, at + STEP_BYTES), at + STEP_BYTES < message.byteLength);
            yield* this.#decodes();
          }
          this.#hold(-message.byteLength - CODED_MESSAGE_BYTES, queue);
        }
    } finally {
      this.#hold(-queue.bytes, queue);
    }
  }

  /** Continues with what was taken, until all of it is decoded. */
  *#decodes(): Generator<number, void> {
    const { session } = this.#parts;
    while (session.pipeline.isDecoding) {
      session.audio(NOTHING_MORE);
      yield this.#count();
    }
  }

  #take(data: Uint8Array, isPart: boolean): number {
    this.#parts.take(data, isPart);
    return this.#count();
  }

  /** Counts what was decoded; gives its part of a step. */
  #count(): number {
    const ms = this.#parts.decoder.decodedMs - this.#countedMs;
    this.#countedMs += ms;
    this.#shareMs -= ms;
    this.#parts.sound.decoded(ms);
    this.#parts.work.decoded(ms);
    return Math.max(CODED_MESSAGE_BYTES, (ms / STEP_MS) * STEP_BYTES);
  }

  #hold(bytes: number, queue = this.#queue): void {
    queue.bytes += bytes;
    this.#heldBytes += bytes;
    this.#parts.work.hold(bytes);
    this.#parts.sound.isBehind = this.#heldBytes > BEHIND_BYTES;
  }
}

/** Each takes 90 KiB, and 10 GiB of addresses, of which a process has 128 TiB. */
const DECODERS_MAX = 2_000;
const WORDS = {
  share:
    'Your organisation has as many sessions in Opus on this node as one organisation may have. Close one, or send `encoding=linear16`.',
  full: `This node decodes its limit of ${DECODERS_MAX} sessions in Opus. Try again shortly.`,
};

/** Opus decoders of this process, each of which has a memory of its own. */
export class OpusPlaces {
  readonly #quota: Quota;

  constructor(decodersMax = DECODERS_MAX) {
    this.#quota = new Quota(decodersMax);
  }

  get used(): number {
    return this.#quota.used;
  }

  /** Rejects with an ApiError where there is no place for one more. */
  async open(organisationId: string, sampleRate: number): Promise<OpusDecoder> {
    const shortage = this.#quota.take(organisationId);
    if (shortage !== undefined) {
      const code = shortage === 'full' ? 'overloaded' : 'too_many_sessions';
      throw apiError(code, WORDS[shortage], { retryAfterSeconds: 1 });
    }
    return openOpusDecoder(sampleRate, () => this.#quota.giveBack(organisationId));
  }
}
