// The socket of one session: open at once where the handshake said everything, else as soon as a start message has. What happens
// inside the session is not decided here.
import { type ApiError, apiError } from '../../api/errors.ts';
import { LARGE_BYTES, messageBytesMaxOf, type ServerSocket } from '../../http/server.ts';
import { CodedMessages, type CodedParts } from '../pace/coded-messages.ts';
import type { Excess, OpenPace } from '../pace/socket-pace.ts';
import type { ResumableLine } from '../resume/resumable-line.ts';
import type { Resuming } from '../resume/resumable-sessions.ts';
import { type ClientSession, openSession } from '../session/channel-group.ts';
import type { SessionOpening } from '../session/session-opening.ts';
import { giveBack } from './admission.ts';
import { type Decoded, decodeClientMessage, readStartMessage, START_ADVICE, tell } from './client-message.ts';
import { keepaliveOf, type SocketKeepalive } from './keepalive.ts';
import type { ListenDependencies } from './listen-dependencies.ts';
import type { ProtocolAdapter } from './protocol-session.ts';
import { ProtocolSession, type StepTaker } from './protocol-session.ts';
import { endWith, excessWords, refuseOnSocket, tooBigWords } from './refuse-on-socket.ts';
import { MESSAGE_BYTES, SocketWork, STEP_BYTES, type Steps } from './socket-work.ts';
import { leave, type StartRequest, StartWait, takerOf } from './start-wait.ts';

/** Close codes of a frame over the limit, and of a socket whose session continues with another one. */
const TOO_BIG = 1009;
const TAKEN_OVER = 4000;

export class SessionSocket implements Resuming {
  readonly pace: OpenPace;
  readonly #dependencies: ListenDependencies;
  readonly #opening: SessionOpening | StartRequest;
  readonly #protocolAdapter: ProtocolAdapter | undefined;
  #socket: ServerSocket | undefined;
  #keepalive: SocketKeepalive | undefined;
  #start: StartWait | undefined;
  #session: ClientSession | undefined;
  /** Of a session that outlives its socket. */
  #line: ResumableLine | undefined;
  /** Bytes of binary messages, also of those that wait to be taken. */
  #receivedBytes = 0;
  takenBytes = 0;
  /** Others hear it, whatever becomes of the socket. */
  #isCall = false;
  /** What decodes its audio, where it comes in Opus. */
  #coded: CodedMessages | undefined;
  /** Ended for what its client does: what still waits is not read. */
  #isOver = false;
  readonly #work: SocketWork;
  /** Of what another vendor's client says. */
  readonly #steps: ProtocolSession | undefined;

  /** @param protocolAdapter of a client that speaks as another vendor's do */
  constructor(
    opening: SessionOpening | StartRequest,
    dependencies: ListenDependencies,
    protocolAdapter?: ProtocolAdapter,
  ) {
    this.#opening = opening;
    this.#protocolAdapter = protocolAdapter;
    this.#dependencies = dependencies;
    const { organisationId } = 'asking' in opening ? opening.asking.caller : opening;
    this.pace = dependencies.paces.open(
      organisationId,
      (excess) => this.#exceeded(excess),
      protocolAdapter?.conversation.textBytesMax !== undefined,
    );
    this.#work = new SocketWork(dependencies.waiting, organisationId, (error) => this.#fault(error));
    this.#steps = protocolAdapter && new ProtocolSession(protocolAdapter, this.#stepTaker, dependencies.clock);
  }

  open(socket: ServerSocket): void {
    this.#attach(socket);
    for (const text of this.#protocolAdapter?.conversation.greeting ?? []) socket.send(text);
    if ('asking' in this.#opening) this.#waitFor(this.#opening, socket);
    else this.#session = this.#begin(this.#opening, socket);
  }

  resume(socket: ServerSocket, after: number): void {
    this.#socket?.close(TAKEN_OVER, 'resumed');
    this.#attach(socket);
    const frameBytesMax = Math.min(this.#dependencies.settings.binaryFrameBytesMax, this.#messageBytesMax);
    this.#line?.attach(socket, after, this.#receivedBytes, frameBytesMax);
    this.#session?.drained();
  }

  #attach(socket: ServerSocket): void {
    const { clock, settings, sockets } = this.#dependencies;
    this.#socket = socket;
    sockets.opened();
    this.#keepalive?.stop();
    this.#keepalive = keepaliveOf(socket, clock, settings, () => this.#line?.pinged() ?? '');
  }

  message(socket: ServerSocket, data: Uint8Array, isBinary: boolean): void {
    // Of a large message that was refused as it came, the pieces may still come from another node.
    if (socket !== this.#socket || this.#isOver) return;
    this.#keepalive?.heard();
    if (this.#isTooBig(data.byteLength, isBinary)) return;
    if (isBinary) this.#receivedBytes += data.byteLength;
    const isLarge = data.byteLength > LARGE_BYTES;
    if (this.#coded !== undefined && isBinary) this.#coded.message(data);
    else if (!isLarge && !this.#work.isBusy) this.#take(data, isBinary);
    else if (isLarge) this.#work.add(data.byteLength + MESSAGE_BYTES, this.#inItsPlace(data, isBinary));
    else this.#work.add(data.byteLength + MESSAGE_BYTES, this.#pieces(new Uint8Array(data), isBinary));
  }

  part(socket: ServerSocket, data: Uint8Array, taken: () => void): void {
    if (socket !== this.#socket || this.#isOver) return;
    this.#keepalive?.heard();
    this.#receivedBytes += data.byteLength;
    if (this.#coded !== undefined) {
      this.#coded.message(data);
      taken();
    } else this.#work.later(this.#pieces(data, true, taken), data.byteLength + MESSAGE_BYTES);
  }

  #take(data: Uint8Array, isBinary: boolean, isPart = false): void {
    if (this.#isOver) return;
    if (isBinary) this.takenBytes += data.byteLength;
    if (this.#steps !== undefined) this.#steps.take(data, isBinary, isPart);
    else if (isBinary) this.#audio(data);
    else if (this.#start?.isFirst === true) {
      const { parameters } = this.#opening as StartRequest;
      this.#start.begin(() => ({ parameters: readStartMessage(data, parameters) }));
    } else this.#message(decodeClientMessage(data));
  }

  get #stepTaker(): StepTaker {
    return {
      audio: (bytes) => this.#audio(bytes),
      message: (decoded) => this.#message(decoded),
      say: (text) => this.#socket?.send(text),
      refuse: (refusal) => this.#start?.refuse(refusal),
      begin: (read) => this.#start?.begin(read),
      read: (message) => this.pace.read(message),
    };
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
    return this.#pieces(data, isBinary, () => this.pace.taken());
  }

  /** Text is taken whole. An empty message may say something as well. `taken` is called whatever becomes of it. */
  *#pieces(data: Uint8Array, isBinary: boolean, taken = () => {}): Generator<number, void> {
    const pieceBytes = isBinary ? STEP_BYTES : Math.max(1, data.byteLength);
    try {
      for (let at = 0; at === 0 || at < data.byteLength; at += pieceBytes) {
        this.#take(data.subarray(at, at + pieceBytes), isBinary, at + pieceBytes < data.byteLength);
        yield pieceBytes + MESSAGE_BYTES;
      }
    } finally {
      taken();
    }
  }

  arriving(socket: ServerSocket, bytes: number, isBinary: boolean): void {
    if (socket !== this.#socket || this.#isOver) return;
    this.#keepalive?.heard();
    this.#isTooBig(bytes, isBinary);
  }

  /** Whether a message is refused for its size, and its session ended. */
  #isTooBig(bytes: number, isBinary: boolean): boolean {
    const { binaryFrameBytesMax, textFrameBytesMax, startMessageBytesMax } = this.#dependencies.settings;
    const textBytesMax =
      this.#protocolAdapter?.conversation.textBytesMax ??
      (this.#start?.isFirst === true ? startMessageBytesMax : textFrameBytesMax);
    const limit = Math.min(isBinary ? binaryFrameBytesMax : textBytesMax, this.#messageBytesMax);
    if (bytes <= limit) return false;
    this.#end('message_too_big', tooBigWords(bytes, limit, isBinary));
    return true;
  }

  get #messageBytesMax(): number {
    return messageBytesMaxOf(this.pace, this.#coded !== undefined, this.#socket);
  }

  /** What comes of a socket in whose place there is another one says nothing of that. */
  pong(socket: ServerSocket, text: string): void {
    if (socket !== this.#socket) return;
    this.#keepalive?.heard();
    this.#line?.ponged(text);
  }

  drained(): void {
    this.#session?.drained();
  }

  exceeded(socket: ServerSocket, excess: Excess): void {
    if (socket === this.#socket) this.#exceeded(excess);
  }

  closed(socket: ServerSocket, code: number): void {
    const { sockets, resumables } = this.#dependencies;
    if (this.#socket !== undefined) sockets.closed();
    if (this.#socket !== undefined && socket !== this.#socket) return;
    if (code === TOO_BIG) this.#end('message_too_big', 'A frame was cut off: it is far larger than this socket takes.');
    this.#keepalive?.stop();
    if (this.#line === undefined || !resumables.waits(this.#line, code)) this.leave();
  }

  tellReceived(): void {
    this.#session?.received(this.takenBytes);
  }

  leave(): void {
    this.pace.release();
    this.#steps?.stop();
    if (this.#session !== undefined) this.#work.add(MESSAGE_BYTES, leave(this.#session, this.#isCall));
    else if (this.#start !== undefined) this.#start.stop();
    else if ('asking' in this.#opening) this.#opening.asking.release();
    else giveBack(this.#opening, this.#dependencies);
  }

  #begin(opening: SessionOpening, socket: ServerSocket): ClientSession {
    const { sessions, authenticator, resumables, wallNow } = this.#dependencies;
    if (opening.request.isResumable === true) this.#line = resumables.open(opening, socket, this);
    const resumeToken = this.#line === undefined ? {} : { resumeToken: this.#line.token };
    const carrier = this.#protocolAdapter?.carrierEnd?.(opening, socket);
    const parts = { ...this.#protocolAdapter?.changes.partsOf(opening), ...(carrier && { encoder: carrier.encoder }) };
    const more = {
      ...parts,
      messageBytesMax: messageBytesMaxOf(this.pace, opening.decoder !== undefined),
      ...resumeToken,
    };
    const session = openSession(sessions, { ...opening, ...more }, carrier?.line ?? this.#line ?? socket, wallNow);
    this.#isCall = carrier !== undefined;
    const { decoder } = opening;
    if (decoder !== undefined) this.#coded = new CodedMessages({ session, decoder, ...this.#codedParts });
    // The key was good when the handshake was judged, and may have been revoked since.
    if (authenticator.isRevoked(opening.keyId)) sessions.revoke(opening.keyId);
    return session;
  }

  get #codedParts(): Omit<CodedParts, 'session' | 'decoder'> {
    const take = (bytes: Uint8Array, isPart: boolean) => this.#take(bytes, true, isPart);
    return { sound: this.pace.sound, work: this.#work, waiting: this.#dependencies.waiting, take };
  }

  #waitFor(request: StartRequest, socket: ServerSocket): void {
    const { onRefused, onFault } = this.#dependencies;
    const { requestId } = request.asking;
    const refused = (refusal: ApiError): void => {
      onRefused(refusal);
      const { conversation } = this.#protocolAdapter ?? {};
      if (conversation === undefined) refuseOnSocket(socket, refusal, requestId, this.#dependencies);
      else endWith(socket, conversation.refused(refusal));
      // Others are told of it behind that: what fails there keeps no socket open, and is nobody else's fault.
      try {
        this.#protocolAdapter?.refused?.(refusal);
      } catch (error) {
        onFault(requestId, error);
      }
    };
    this.#start = new StartWait(request, this.#dependencies, {
      advice: this.#protocolAdapter === undefined ? START_ADVICE : 'Say first what it is to be.',
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
    const steps = this.#start?.handOver(takerOf(session));
    if (steps !== undefined) this.#work.addFirst(this.#coded?.handOver(steps) ?? steps);
  }

  #fault(error: unknown): void {
    if (this.#session !== undefined) this.#session.fault('audio', error);
    else if ('asking' in this.#opening)
      this.#start?.refuse(this.#dependencies.onFault(this.#opening.asking.requestId, error));
  }

  #exceeded(excess: Excess): void {
    this.#end('rate_limit_exceeded', excessWords(excess, this.#dependencies.settings));
  }

  /** Ends it for what the client does. */
  #end(code: 'message_too_big' | 'rate_limit_exceeded', message: string): void {
    this.#isOver = true;
    if (this.#session === undefined) this.#start?.refuse(apiError(code, message));
    else this.#session.abort(code, message);
  }
}
