// The socket of one session: open at once where the handshake said everything, else as soon as a start message has. What happens
// inside the session is not decided here.
import { type Refusal, refuse } from '../../api/errors.ts';
import { isCoded } from '../../api/listen.ts';
import type { Conversation, Step, Wish } from '../../dialects/dialect.ts';
import { type ClientSession, openSession } from '../../session/channels/channel-group.ts';
import type { SessionOpening } from '../../session/session-opening.ts';
import type { DoorSocket, SocketHandlers } from '../door.ts';
import { LARGE_BYTES } from '../pace/large-messages.ts';
import type { OpenPace } from '../pace/socket-pace.ts';
import { giveBack } from './admission.ts';
import { type Decoded, decodeClientMessage } from './client-message.ts';
import { SocketKeepalive } from './keepalive.ts';
import type { ListenDependencies } from './listen-dependencies.ts';
import { endWith, excessWords, refuseOnSocket } from './refuse-on-socket.ts';
import {
  BACKLOG_WORDS,
  CODED_BYTES_MAX,
  MESSAGE_BYTES,
  NOTHING_MORE,
  SocketWork,
  STEP_BYTES,
  type Steps,
} from './socket-work.ts';
import { readStartMessage, START_ADVICE } from './start-message.ts';
import { StartWait, type StartWish } from './start-wait.ts';

/** Close code of a frame over the limit. */
const TOO_BIG = 1009;

/** Whatever is no UTF-8 becomes text that says nothing. */
const UTF8 = new TextDecoder();

/** Another vendor's client: how it speaks, and what its wish is in words of the query. */
export interface Interpreter {
  conversation: Conversation;
  /** Throws a Refusal. */
  parametersOf(wish: Wish): Map<string, string>;
}

export class SessionSocket implements SocketHandlers {
  readonly pace: OpenPace;
  readonly #dependencies: ListenDependencies;
  readonly #wish: SessionOpening | StartWish;
  readonly #interpreter: Interpreter | undefined;
  #socket: DoorSocket | undefined;
  #keepalive: SocketKeepalive | undefined;
  #start: StartWait | undefined;
  #session: ClientSession | undefined;
  /** Its audio has to be decoded, which is done by steps as well. */
  #isCoded = false;
  readonly #work: SocketWork;
  /** Of what the conversation has asked for later. */
  #later: unknown;

  /** @param interpreter of a client that speaks as another vendor's do */
  constructor(wish: SessionOpening | StartWish, dependencies: ListenDependencies, interpreter?: Interpreter) {
    this.#wish = wish;
    this.#interpreter = interpreter;
    this.#dependencies = dependencies;
    const { organisationId } = 'asking' in wish ? wish.asking.caller : wish;
    this.pace = dependencies.paces.open(
      organisationId,
      (excess) => this.#end('rate_limit_exceeded', excessWords(excess, dependencies.settings)),
      interpreter?.conversation.textBytesMax !== undefined,
    );
    this.#work = new SocketWork(dependencies.waiting, (error) => this.#fault(error));
  }

  open(socket: DoorSocket): void {
    const { clock, settings, sockets } = this.#dependencies;
    this.#socket = socket;
    sockets.opened();
    this.#keepalive = new SocketKeepalive(clock, settings, {
      ping: () => socket.ping(),
      isDeaf: () => socket.heldBack || socket.watchesSilence,
      dead: () => socket.terminate(),
    });
    for (const text of this.#interpreter?.conversation.greeting ?? []) socket.send(text);
    if ('asking' in this.#wish) this.#waitFor(this.#wish, socket);
    else this.#session = this.#begin(this.#wish, socket);
  }

  message(_: DoorSocket, data: Uint8Array, isBinary: boolean): void {
    this.#keepalive?.heard();
    if (this.#isTooBig(data.byteLength, isBinary)) return;
    const isLarge = data.byteLength > LARGE_BYTES;
    if (this.#isCoded && isBinary) this.#decode(data);
    else if (!isLarge && !this.#work.isBusy) this.#take(data, isBinary);
    else if (isLarge) this.#work.add(data.byteLength + MESSAGE_BYTES, this.#inItsPlace(data, isBinary));
    else this.#work.add(data.byteLength + MESSAGE_BYTES, this.#pieces(new Uint8Array(data), isBinary));
  }

  /** Of Opus. What may not wait ends the session: decoded at once, it would keep other sockets from being heard. */
  #decode(data: Uint8Array): void {
    const bytes = data.byteLength + MESSAGE_BYTES;
    const isWhole = !this.#work.isBusy && data.byteLength <= STEP_BYTES;
    if (isWhole) this.#take(data, true);
    if (isWhole && !this.#isDecoding) return;
    if (!this.#work.hasRoomFor(bytes, CODED_BYTES_MAX)) {
      this.#session?.stop('error', 'audio_backlog_exceeded', BACKLOG_WORDS);
    } else if (isWhole) this.#work.add(MESSAGE_BYTES, this.#decodes());
    else this.#work.add(bytes, this.#pieces(new Uint8Array(data), true));
  }

  get #isDecoding(): boolean {
    return this.#isCoded && this.#session?.pipeline.isDecoding === true;
  }

  /** Goes on with what was taken, until all of it is decoded. */
  *#decodes(): Generator<number, void> {
    for (; this.#isDecoding; yield STEP_BYTES) this.#session?.audio(NOTHING_MORE);
  }

  #take(data: Uint8Array, isBinary: boolean, isPart = false): void {
    const conversation = this.#interpreter?.conversation;
    if (conversation !== undefined) {
      const steps = isBinary ? conversation.binary(data, isPart) : conversation.text(UTF8.decode(data));
      for (const step of steps) this.#follow(step);
    } else if (isBinary) this.#audio(data);
    else if (this.#start?.isFirst === true) this.#readStart(this.#start, data);
    else this.#message(decodeClientMessage(data));
  }

  #readStart(start: StartWait, data: Uint8Array): void {
    const wish = this.#wish as StartWish;
    start.begin(() => readStartMessage(data, wish.parameters));
  }

  #follow(step: Step): void {
    if (step.type === 'audio') this.#audio(step.bytes);
    else if (step.type === 'tell') this.#message({ message: step.message });
    else if (step.type === 'fault') {
      const { message: fault, param } = step;
      this.#message(param === undefined ? { fault } : { fault, param });
    } else if (step.type === 'say') this.#socket?.send(step.text);
    else if (step.type === 'refuse') this.#start?.refuse(step.refusal);
    else if (step.type === 'later') this.#later = this.#followLater(step);
    else this.#start?.begin(() => (this.#interpreter as Interpreter).parametersOf(step.wish));
  }

  #followLater({ afterMs, steps }: Extract<Step, { type: 'later' }>): unknown {
    return this.#dependencies.clock.setTimeout(() => {
      for (const each of steps()) this.#follow(each);
    }, afterMs);
  }

  #audio(bytes: Uint8Array): void {
    if (this.#session === undefined) this.#start?.audio(bytes);
    else this.#session.audio(bytes);
  }

  #message(decoded: Decoded): void {
    if (this.#session === undefined) this.#start?.text(decoded);
    else tell(this.#session, decoded);
  }

  /** The place in which it was gathered is free when all of it is taken. */
  #inItsPlace(data: Uint8Array, isBinary: boolean): Steps {
    this.pace.taking();
    const { pace } = this;
    const pieces = this.#pieces(data, isBinary);
    return (function* () {
      try {
        yield* pieces;
      } finally {
        pace.taken();
      }
    })();
  }

  /** Text is taken whole. */
  *#pieces(data: Uint8Array, isBinary: boolean): Generator<number, void> {
    const pieceBytes = isBinary ? STEP_BYTES : data.byteLength;
    for (let at = 0; at < data.byteLength; at += pieceBytes) {
      this.#take(data.subarray(at, at + pieceBytes), isBinary, at + pieceBytes < data.byteLength);
      yield pieceBytes;
      yield* this.#decodes();
    }
  }

  arriving(_: DoorSocket, bytes: number, isBinary: boolean): void {
    this.#keepalive?.heard();
    this.#isTooBig(bytes, isBinary);
  }

  /** Whether a message is refused for its size, and its session ended. */
  #isTooBig(bytes: number, isBinary: boolean): boolean {
    const { binaryFrameBytesMax, textFrameBytesMax, startMessageBytesMax } = this.#dependencies.settings;
    const textBytesMax =
      this.#interpreter?.conversation.textBytesMax ??
      (this.#start?.isFirst === true ? startMessageBytesMax : textFrameBytesMax);
    const limit = Math.min(isBinary ? binaryFrameBytesMax : textBytesMax, this.#messageBytesMax);
    if (bytes <= limit) return false;
    this.#end(
      'message_too_big',
      `A ${isBinary ? 'binary' : 'text'} frame has ${bytes} bytes; at most ${limit} are taken. Send smaller frames.`,
    );
    return true;
  }

  /** What is coded comes in small messages: a long one could be hours of sound. */
  get #messageBytesMax(): number {
    return Math.min(this.#isCoded ? LARGE_BYTES : Number.POSITIVE_INFINITY, this.pace.messageBytesMax);
  }

  pong(): void {
    this.#keepalive?.heard();
  }

  drained(): void {
    this.#session?.drained();
  }

  closed(_: DoorSocket, code: number): void {
    if (code === TOO_BIG) this.#end('message_too_big', 'A frame was cut off: it is far larger than this socket takes.');
    this.pace.release();
    if (this.#socket !== undefined) this.#dependencies.sockets.closed();
    this.#keepalive?.stop();
    this.#dependencies.clock.clearTimeout(this.#later);
    if (this.#session !== undefined) this.#work.add(MESSAGE_BYTES, leave(this.#session));
    else if (this.#start !== undefined) this.#start.stop();
    else if ('asking' in this.#wish) this.#wish.asking.release();
    else giveBack(this.#wish, this.#dependencies);
  }

  #begin(opening: SessionOpening, socket: DoorSocket): ClientSession {
    const { sessions, authenticator, wallNow } = this.#dependencies;
    this.#isCoded = isCoded(opening.request.encoding);
    const more = { encoder: this.#interpreter?.conversation, messageBytesMax: this.#messageBytesMax };
    const session = openSession(sessions, { ...opening, ...more }, socket, wallNow);
    // The key was good when the handshake was judged, and may have been revoked since.
    if (authenticator.isRevoked(opening.keyId)) sessions.revoke(opening.keyId);
    return session;
  }

  #waitFor(wish: StartWish, socket: DoorSocket): void {
    const { onRefused, onFault } = this.#dependencies;
    const { requestId } = wish.asking;
    const refused = (refusal: Refusal): void => {
      onRefused(refusal);
      const { conversation } = this.#interpreter ?? {};
      if (conversation === undefined) refuseOnSocket(socket, refusal, requestId, this.#dependencies);
      else endWith(socket, conversation.refused(refusal));
    };
    this.#start = new StartWait(wish, this.#dependencies, {
      advice: this.#interpreter === undefined ? START_ADVICE : 'Say first what it is to be.',
      refused,
      opened: (opening) => {
        try {
          this.#session = this.#begin(opening, socket);
        } catch (error) {
          giveBack(opening, this.#dependencies);
          refused(onFault(requestId, error));
          return;
        }
        this.#handOver(this.#session);
      },
    });
  }

  /** What the client has sent meanwhile comes before what it sends from now on. */
  #handOver(session: ClientSession): void {
    const to = {
      audio: (bytes: Uint8Array) => session.audio(bytes),
      text: (decoded: Decoded) => tell(session, decoded),
    };
    if (this.#start !== undefined) this.#work.addFirst(this.#start.handOver(to));
  }

  #fault(error: unknown): void {
    if (this.#session !== undefined) this.#session.fault('audio', error);
    else if ('asking' in this.#wish)
      this.#start?.refuse(this.#dependencies.onFault(this.#wish.asking.requestId, error));
  }

  /** Ends it for what the client does. */
  #end(code: 'message_too_big' | 'rate_limit_exceeded', message: string): void {
    if (this.#session === undefined) this.#start?.refuse(refuse(code, message));
    else this.#session.abort(code, message);
  }
}

/** What was taken before is the session's. */
function* leave(session: ClientSession): Steps {
  session.gone();
  yield MESSAGE_BYTES;
}

function tell(session: ClientSession, decoded: Decoded): void {
  if ('message' in decoded) session.control(decoded.message);
  else session.misunderstood(decoded.fault, decoded.param);
}
