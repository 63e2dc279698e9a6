// A connection whose session is not open yet: it waits for the start message, then for the session to be admitted; what the client
// sends meanwhile is held.
import { ApiError, apiError } from '../../api/errors.ts';
import { BLOCK_BYTES } from '../../audio/tape/blocks.ts';
import type { Spool, SpoolShortage } from '../../audio/tape/spool.ts';
import type { Degradation } from '../failover/chain.ts';
import { spoolBacklog } from '../session/audio/intake.ts';
import type { ClientSession } from '../session/channel-group.ts';
import type { SessionOpening } from '../session/session-opening.ts';
import { type Asking, giveBack, openingOf } from './admission.ts';
import { type Decoded, tell } from './client-message.ts';
import type { ListenDependencies } from './listen-dependencies.ts';
import { MESSAGE_BYTES, type Steps } from './socket-work.ts';

/** Who asks, with the place that it has taken, and what its URL says already. */
export interface StartRequest {
  asking: Asking & { release: () => void };
  parameters: ReadonlyMap<string, string>;
}

/** What a message requested. */
export interface StartAsked {
  /** In words of the query. */
  parameters: Map<string, string>;
  /** What of it is not done. */
  warnings?: readonly Degradation[];
}

export interface StartWaitCalls {
  /** What a client is to send in time, in a sentence. */
  advice: string;
  opened(opening: SessionOpening): void;
  refused(refusal: ApiError): void;
}

export class StartWait {
  readonly #request: StartRequest;
  readonly #dependencies: ListenDependencies;
  readonly #calls: StartWaitCalls;
  readonly #held: HeldFrames;
  #state: 'waiting' | 'admitting' | 'over' = 'waiting';
  readonly #timer: unknown;

  constructor(request: StartRequest, dependencies: ListenDependencies, calls: StartWaitCalls) {
    this.#request = request;
    this.#dependencies = dependencies;
    this.#calls = calls;
    this.#held = new HeldFrames(() => dependencies.openSpool(request.asking.caller.key.organisationId));
    const { handshakeTimeoutMs } = dependencies.settings;
    this.#timer = dependencies.clock.setTimeout(
      () =>
        this.refuse(
          apiError(
            'request_timeout',
            `Nothing that begins the session came within ${handshakeTimeoutMs / 1000} s. ${calls.advice}`,
          ),
        ),
      handshakeTimeoutMs,
    );
  }

  /** What is asked for has not come yet. */
  get isFirst(): boolean {
    return this.#state === 'waiting';
  }

  audio(bytes: Uint8Array): void {
    if (this.#state === 'over' || this.#held.audio(bytes)) return;
    this.refuse(tooMuchAudio(this.#held.shortage));
  }

  text(decoded: Decoded): void {
    if (this.#state === 'over' || this.#held.text(decoded)) return;
    this.refuse(
      apiError(
        'rate_limit_exceeded',
        `More than ${HELD_TEXTS_MAX} messages came before \`session_started\`. Wait for it.`,
      ),
    );
  }

  /** @param read may throw an ApiError */
  begin(read: () => StartAsked): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'admitting';
    this.#dependencies.clock.clearTimeout(this.#timer);
    this.#admit(read).catch((error: unknown) => {
      if (this.#state === 'over') return;
      const { requestId } = this.#request.asking;
      this.refuse(error instanceof ApiError ? error : this.#dependencies.onFault(requestId, error));
    });
  }

  /** Hands over what was held. Throws when audio cannot be read back. */
  handOver(to: FrameTaker): Steps {
    return this.#held.handOver(to);
  }

  refuse(refusal: ApiError): void {
    if (this.#state === 'over') return;
    this.stop();
    this.#calls.refused(refusal);
  }

  /** The connection is over, or the session could not be made. */
  stop(): void {
    this.#state = 'over';
    this.#dependencies.clock.clearTimeout(this.#timer);
    this.#held.dispose();
    this.#request.asking.release();
  }

  async #admit(read: () => StartAsked): Promise<void> {
    const { parameters, warnings = [] } = read();
    const { asking } = this.#request;
    const told = { ...asking, warnings: [...asking.warnings, ...warnings] };
    const opening = await openingOf(parameters, told, this.#dependencies);
    if (this.#state === 'over') {
      giveBack(opening, this.#dependencies);
      return;
    }
    // What is held is one stream of bytes: where a packet of Opus ends is not known any more.
    if (this.#held.hasAudio && opening.request.encoding === 'opus') {
      giveBack(opening, this.#dependencies);
      throw apiError('invalid_request', EARLY_OPUS, { param: 'encoding' });
    }
    this.#state = 'over';
    this.#calls.opened(opening);
  }
}

function tooMuchAudio(shortage: SpoolShortage | undefined): ApiError {
  if (shortage === undefined) {
    const most = `${HELD_BYTES_MAX / 1024 / 1024} MiB`;
    const message = `More than ${most} of audio came before \`session_started\`. Wait for that event.`;
    return apiError('audio_backlog_exceeded', message);
  }
  const { code, message } = spoolBacklog(shortage);
  return apiError(code, message);
}

const EARLY_OPUS =
  'Audio came before `session_started`, and packets of Opus are not kept until then. With `start=message` wait for that event, or leave `start` out of the URL.';

export const takerOf = (session: ClientSession): FrameTaker => ({
  audio: (bytes) => session.audio(bytes),
  text: (decoded) => tell(session, decoded),
});

/** Its client is gone: what was taken before is the session's. One that others hear goes on to its last final. */
export function* leave(session: ClientSession, isCall: boolean): Steps {
  if (isCall) session.control({ type: 'close' });
  else session.gone();
  yield MESSAGE_BYTES;
}

/** As much as the longest message of a client may be. */
export const HELD_BYTES_MAX = 64 * 1024 * 1024;
export const HELD_TEXTS_MAX = 100;

export interface FrameTaker {
  audio(bytes: Uint8Array): void;
  text(decoded: Decoded): void;
}

export class HeldFrames {
  readonly #openSpool: () => Spool;
  #spool: Spool | undefined;
  /** The audio that fills no block yet. */
  #block: Uint8Array | undefined;
  #bytes = 0;
  readonly #texts: { at: number; decoded: Decoded }[] = [];

  constructor(openSpool: () => Spool) {
    this.#openSpool = openSpool;
  }

  get hasAudio(): boolean {
    return this.#bytes > 0;
  }

  /** Why the last audio was refused; undefined where it is more than `HELD_BYTES_MAX`. */
  get shortage(): SpoolShortage | undefined {
    return this.#spool?.shortage;
  }

  /** False when there is no room for it: then some of it may be kept, and the whole is of no use. */
  audio(bytes: Uint8Array): boolean {
    if (this.#bytes + bytes.byteLength > HELD_BYTES_MAX) return false;
    for (let at = 0; at < bytes.byteLength; ) {
      this.#block ??= new Uint8Array(BLOCK_BYTES);
      const filled = this.#bytes % BLOCK_BYTES;
      const piece = bytes.subarray(at, at + BLOCK_BYTES - filled);
      this.#block.set(piece, filled);
      at += piece.byteLength;
      this.#bytes += piece.byteLength;
      if (this.#bytes % BLOCK_BYTES > 0) continue;
      this.#spool ??= this.#openSpool();
      if (!this.#spool.put(this.#block)) return false;
    }
    return true;
  }

  /** False when there are too many. */
  text(decoded: Decoded): boolean {
    return this.#texts.length < HELD_TEXTS_MAX && this.#texts.push({ at: this.#bytes, decoded }) > 0;
  }

  /** Hands everything over, once, a piece of audio at each step. Throws when audio cannot be read back. */
  *handOver(to: FrameTaker): Steps {
    try {
      const tail = this.#block?.slice(0, this.#bytes % BLOCK_BYTES);
      let at = 0;
      for (let left = this.#spool?.length ?? 0; left > 0; left--) {
        this.#spool?.take(this.#block as Uint8Array);
        at = yield* this.#handOverPiece(to, this.#block as Uint8Array, at);
      }
      yield* this.#handOverPiece(to, tail ?? new Uint8Array(0), at);
      for (const { decoded } of this.#texts.splice(0)) to.text(decoded);
    } finally {
      this.dispose();
    }
  }

  /** Forgets everything. */
  dispose(): void {
    this.#spool?.close();
    this.#spool = undefined;
    this.#block = undefined;
    this.#bytes = 0;
    this.#texts.length = 0;
  }

  /** The audio from that place on, with the messages that came before its end. Gives where it ends. */
  *#handOverPiece(to: FrameTaker, piece: Uint8Array, at: number): Generator<number, number> {
    const handed = (from: number, until: number): number => {
      to.audio(piece.subarray(from, until));
      return until - from;
    };
    let done = 0;
    for (let next = this.#texts[0]; next !== undefined && next.at < at + piece.byteLength; next = this.#texts[0]) {
      if (next.at > at + done) yield handed(done, next.at - at);
      done = next.at - at;
      to.text(next.decoded);
      this.#texts.shift();
    }
    if (done < piece.byteLength) yield handed(done, piece.byteLength);
    return at + piece.byteLength;
  }
}
