// A socket that is let in before it has a key: its client says the key in a message. Until that is judged the socket is nobody's,
// and holds little; then it is the socket of a session, and what came meanwhile comes first.
import { Refusal, refuse } from '../api/errors.ts';
import type { DoorSocket, SocketHandlers } from '../http/door.ts';
import { LatePace } from '../live/pace/late-pace.ts';
import type { LatePlace } from '../live/socket/late-sockets.ts';
import type { ListenDependencies } from '../live/socket/listen-dependencies.ts';
import { endWith, excessWords } from '../live/socket/refuse-on-socket.ts';
import type { SessionSocket } from '../live/socket/session-socket.ts';
import { MESSAGE_BYTES } from '../live/socket/socket-work.ts';
import type { DeferredAuthEndpoint } from '../vendors/compat/dialect.ts';

/** Of texts that come before the key and with it. */
const UNNAMED_BYTES_MAX = 64 * 1024;
/** Of these and of what comes while the key is judged. */
const JUDGED_BYTES_MAX = 1024 * 1024;

/** Whatever is no UTF-8 becomes text that says nothing. */
const UTF8 = new TextDecoder();

export interface LateAsking {
  door: DeferredAuthEndpoint;
  requestId: string;
  remoteAddress: string;
  /** Judges the credential. Rejects with a Refusal. */
  judge(credential: string | undefined): Promise<SessionSocket>;
}

export class LateSocket implements SocketHandlers {
  readonly pace: LatePace;
  readonly #asking: LateAsking;
  readonly #dependencies: ListenDependencies;
  /** Among the sockets without a key. */
  readonly #place: LatePlace;
  #state: 'waiting' | 'judging' | 'over' = 'waiting';
  #socket: DoorSocket | undefined;
  #refusal: Refusal | undefined;
  #session: SessionSocket | undefined;
  #held: { data: Uint8Array; isBinary: boolean }[] = [];
  #heldBytes = 0;
  #timer: unknown;

  /** Throws a Refusal where too many sockets wait already. */
  constructor(asking: LateAsking, dependencies: ListenDependencies) {
    this.#asking = asking;
    this.#dependencies = dependencies;
    this.#place = dependencies.late.enter(asking.remoteAddress, () => this.#refuse(crowded()));
    const { paces, settings } = dependencies;
    this.pace = new LatePace(
      paces.refused((excess) => this.#refuse(refuse('rate_limit_exceeded', excessWords(excess, settings)))),
    );
  }

  open(socket: DoorSocket): void {
    const { clock, settings } = this.#dependencies;
    const { handshakeTimeoutMs } = settings;
    this.#socket = socket;
    if (this.#refusal !== undefined) {
      endWith(socket, this.#asking.door.refused(this.#refusal));
      return;
    }
    const words = `No credential came within ${handshakeTimeoutMs / 1000} s. Send it in the first message.`;
    this.#timer = clock.setTimeout(() => this.#refuse(refuse('request_timeout', words)), handshakeTimeoutMs);
  }

  message(socket: DoorSocket, data: Uint8Array, isBinary: boolean): void {
    if (this.#session !== undefined) this.#session.message(socket, data, isBinary);
    else if (this.#state === 'judging') this.#hold(data, isBinary, JUDGED_BYTES_MAX);
    else if (this.#state === 'waiting') this.#read(data, isBinary);
  }

  arriving(socket: DoorSocket, bytes: number, isBinary: boolean): void {
    if (this.#session !== undefined) this.#session.arriving(socket, bytes, isBinary);
    else if (this.#state !== 'over') this.#refuse(tooMuch(this.#bytesMax));
  }

  pong(socket: DoorSocket, text: string): void {
    this.#session?.pong(socket, text);
  }

  drained(): void {
    this.#session?.drained();
  }

  closed(socket: DoorSocket, code: number): void {
    this.#finish();
    this.pace.release();
    this.#session?.closed(socket, code);
  }

  get #bytesMax(): number {
    return this.#state === 'waiting' ? UNNAMED_BYTES_MAX : JUDGED_BYTES_MAX;
  }

  #read(data: Uint8Array, isBinary: boolean): void {
    if (isBinary) {
      this.#refuse(
        refuse('missing_credential', 'Audio came before the credential. Send that first, in a text message.'),
      );
      return;
    }
    if (!this.#hold(data, isBinary, UNNAMED_BYTES_MAX)) return;
    const said = this.#saidIn(UTF8.decode(data));
    if (said === undefined) return;
    this.#state = 'judging';
    this.#place.said();
    this.#dependencies.clock.clearTimeout(this.#timer);
    void this.#judge(said.credential);
  }

  /** Whatever is said: what its protocol cannot make anything of says no key. */
  #saidIn(text: string): ReturnType<DeferredAuthEndpoint['late']> {
    try {
      return this.#asking.door.late(text);
    } catch {
      return undefined;
    }
  }

  /** Keeps a message until there is a session for it. False: it is refused. */
  #hold(data: Uint8Array, isBinary: boolean, bytesMax: number): boolean {
    const bytes = data.byteLength + MESSAGE_BYTES;
    if (this.#heldBytes + bytes > bytesMax) this.#refuse(tooMuch(bytesMax));
    else if (!this.#dependencies.late.hold(bytes)) this.#refuse(refuse('overloaded', FULL, { retryAfterSeconds: 1 }));
    else {
      this.#heldBytes += bytes;
      // A door lends its bytes for the time of the call.
      this.#held.push({ data: new Uint8Array(data), isBinary });
      return true;
    }
    return false;
  }

  async #judge(credential: string | undefined): Promise<void> {
    const socket = this.#socket as DoorSocket;
    let session: SessionSocket;
    try {
      session = await this.#asking.judge(credential);
    } catch (error) {
      this.#refuse(error instanceof Refusal ? error : this.#dependencies.onFault(this.#asking.requestId, error));
      return;
    }
    if (this.#state === 'over') {
      session.closed(socket, GONE);
      return;
    }
    try {
      this.#begin(session, socket);
    } catch (error) {
      const { code, closeCode } = this.#dependencies.onFault(this.#asking.requestId, error);
      socket.close(closeCode, code);
    }
  }

  #begin(session: SessionSocket, socket: DoorSocket): void {
    const held = this.#held;
    this.#session = session;
    this.pace.become(session.pace);
    session.open(socket);
    this.#finish();
    for (const { data, isBinary } of held) session.message(socket, data, isBinary);
  }

  #refuse(refusal: Refusal): void {
    if (this.#state === 'over') return;
    this.#finish();
    this.#dependencies.onRefused(refusal);
    this.#refusal = refusal;
    if (this.#socket !== undefined) endWith(this.#socket, this.#asking.door.refused(refusal));
  }

  /** It is somebody's, or refused, or gone. */
  #finish(): void {
    this.#state = 'over';
    this.#dependencies.clock.clearTimeout(this.#timer);
    this.#dependencies.late.giveBack(this.#heldBytes);
    this.#heldBytes = 0;
    this.#held = [];
    this.#place.leave();
  }
}

const GONE = 1006;

const tooMuch = (bytesMax: number): Refusal =>
  refuse(
    'message_too_big',
    `More than ${bytesMax / 1024} KiB came before the credential was checked, with 1 KiB counted for each message. Send the credential first, and audio at the pace of speech.`,
  );

const crowded = (): Refusal =>
  refuse('overloaded', 'Too many sockets have said no credential yet. Send it as soon as the socket is open.', {
    retryAfterSeconds: 1,
  });

const FULL = 'Too much audio waits for credentials to be checked. Try again in a moment.';
