// A connection whose session is not open yet: it waits for the start message, then for the session to be admitted; what the client
// sends meanwhile is held.
import { Refusal, refuse } from '../../api/errors.ts';
import type { SpoolShortage } from '../../audio/tape/spool.ts';
import type { Degradation } from '../failover/chain.ts';
import { spoolBacklog } from '../session/audio/intake.ts';
import type { ClientSession } from '../session/channel-group.ts';
import type { SessionOpening } from '../session/session-opening.ts';
import { type Asking, giveBack, openingOf } from './admission.ts';
import { type Decoded, tell } from './client-message.ts';
import { type FrameTaker, HELD_BYTES_MAX, HELD_TEXTS_MAX, HeldFrames } from './held-frames.ts';
import type { ListenDependencies } from './listen-dependencies.ts';
import { MESSAGE_BYTES, type Steps } from './socket-work.ts';

/** Who asks, with the place that it has taken, and what its URL says already. */
export interface StartWish {
  asking: Asking & { release: () => void };
  parameters: ReadonlyMap<string, string>;
}

/** What a message asked for. */
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
  refused(refusal: Refusal): void;
}

export class StartWait {
  readonly #wish: StartWish;
  readonly #dependencies: ListenDependencies;
  readonly #calls: StartWaitCalls;
  readonly #held: HeldFrames;
  #state: 'waiting' | 'admitting' | 'over' = 'waiting';
  readonly #timer: unknown;

  constructor(wish: StartWish, dependencies: ListenDependencies, calls: StartWaitCalls) {
    this.#wish = wish;
    this.#dependencies = dependencies;
    this.#calls = calls;
    this.#held = new HeldFrames(() => dependencies.openSpool(wish.asking.caller.key.organisationId));
    const { handshakeTimeoutMs } = dependencies.settings;
    this.#timer = dependencies.clock.setTimeout(
      () =>
        this.refuse(
          refuse(
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
      refuse(
        'rate_limit_exceeded',
        `More than ${HELD_TEXTS_MAX} messages came before \`session_started\`. Wait for it.`,
      ),
    );
  }

  /** @param read may throw a Refusal */
  begin(read: () => StartAsked): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'admitting';
    this.#dependencies.clock.clearTimeout(this.#timer);
    this.#admit(read).catch((error: unknown) => {
      if (this.#state === 'over') return;
      const { requestId } = this.#wish.asking;
      this.refuse(error instanceof Refusal ? error : this.#dependencies.onFault(requestId, error));
    });
  }

  /** Hands over what was held. Throws when audio cannot be read back. */
  handOver(to: FrameTaker): Steps {
    return this.#held.handOver(to);
  }

  refuse(refusal: Refusal): void {
    if (this.#state === 'over') return;
    this.stop();
    this.#calls.refused(refusal);
  }

  /** The connection is over, or the session could not be made. */
  stop(): void {
    this.#state = 'over';
    this.#dependencies.clock.clearTimeout(this.#timer);
    this.#held.dispose();
    this.#wish.asking.release();
  }

  async #admit(read: () => StartAsked): Promise<void> {
    const { parameters, warnings = [] } = read();
    const { asking } = this.#wish;
    const told = { ...asking, warnings: [...asking.warnings, ...warnings] };
    const opening = await openingOf(parameters, told, this.#dependencies);
    if (this.#state === 'over') {
      giveBack(opening, this.#dependencies);
      return;
    }
    // What is held is one stream of bytes: where a packet of Opus ends is not known any more.
    if (this.#held.hasAudio && opening.request.encoding === 'opus') {
      giveBack(opening, this.#dependencies);
      throw refuse('invalid_request', EARLY_OPUS, { param: 'encoding' });
    }
    this.#state = 'over';
    this.#calls.opened(opening);
  }
}

function tooMuchAudio(shortage: SpoolShortage | undefined): Refusal {
  if (shortage === undefined) {
    const most = `${HELD_BYTES_MAX / 1024 / 1024} MiB`;
    const message = `More than ${most} of audio came before \`session_started\`. Wait for that event.`;
    return refuse('audio_backlog_exceeded', message);
  }
  const { code, message } = spoolBacklog(shortage);
  return refuse(code, message);
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
