// The end of a relay on the node that the client has reached: hands on what the client says to the node that has the session.
import { Value } from '@sinclair/typebox/value';
import type { Clock } from '../../../../machines/clock.ts';
import type { Address, Bus, BusBody } from '../../../cluster/bus/bus.ts';
import { LARGE_BYTES, type ServerSocket, type SocketHandlers, type SocketPace } from '../../../http/server.ts';
import { Quota } from '../../../runtime/limits/quota.ts';
import type { Excess, OpenPace } from '../../pace/socket-pace.ts';
import type { OpenSockets } from '../../socket/open-sockets.ts';
import type { WaitingWork } from '../../socket/socket-work.ts';
import { PART_BYTES, RelayLink, ToClient, type ToSession, type Unnumbered } from './relay-link.ts';

/** What the client has sent and the session has not taken; the client is not read while there is more. */
const UNTAKEN_BYTES_MAX = 1024 * 1024;
/** How soon it is looked again, then. */
const FULL_MS = 20;
/** A server that cannot let a client wait cuts it off beyond it; the largest message fits, and something more. */
const UNTAKEN_BYTES_BEARABLE = 96 * 1024 * 1024;
/** The node of the socket is shut down; the session continues (RFC 6455, service restart). */
const RESTART = 1012;
/** More waits to be handed on than is kept; the session continues (RFC 6455, try again later). */
const TRY_LATER = 1013;

const NOTHING = (): void => {};

export interface ClientEndOptions {
  bus: Bus;
  actorId: string;
  clock: Clock;
  /** The client is gone when it says nothing for so long after a ping. */
  pongMs: number;
  /** The other node is gone when it says nothing for so long: it pings. */
  silenceMs: number;
  openPace(exceeded: (excess: Excess) => void): OpenPace;
  sockets: OpenSockets;
  waiting: Pick<WaitingWork, 'count'>;
  organisationId: string;
  parts: InFlightChunks;
  /** What the client has sent is not kept; it sends it again. */
  onDrop(): void;
  /** Everything was handed on, or nothing can be. */
  over(end: ClientEnd): void;
}

export class ClientEnd implements SocketHandlers {
  readonly pace: SocketPace;
  readonly #options: ClientEndOptions;
  readonly #link: RelayLink;
  readonly #own: OpenPace;
  readonly #handingOn: RelaySendQueue;
  #socket: ServerSocket | undefined;
  #silence: unknown;
  #pongDue: unknown;
  #isHeard = false;
  /** The session hears nothing more by this way. */
  #isOver = false;
  #isLeaving = false;
  #closeCode: number | undefined;

  constructor(options: ClientEndOptions) {
    this.#options = options;
    const received = (body: BusBody) => this.#receive(body);
    this.#link = new RelayLink(options.bus, options.actorId, { received, broken: () => this.#cut() });
    const send = (message: Unnumbered<ToSession>, bytes: Uint8Array) => this.#link.send(message, bytes);
    this.#handingOn = new RelaySendQueue({ send, ...options });
    this.#own = options.openPace((excess) => this.#tell({ type: 'relay.excess', excess }));
    this.pace = this.#paceOf(this.#own);
  }

  get address(): Address {
    return this.#link.address;
  }

  /** @param session the other end */
  meet(session: Address): this {
    this.#link.meet(session);
    return this;
  }

  /** There is nothing to hand on. */
  dispose(): void {
    this.#link.close();
    this.#handingOn.clear();
    this.#options.clock.clearTimeout(this.#silence);
    this.#own.release();
    this.#options.over(this);
  }

  /** This node is shut down: the client continues with its session on another one. */
  leave(): void {
    this.#isLeaving = true;
    this.#socket?.close(RESTART, 'This node is being shut down; the session goes on.');
  }

  open(socket: ServerSocket): void {
    this.#socket = socket;
    this.#options.sockets.opened();
    if (this.#isOver) socket.terminate();
    else if (this.#isLeaving) this.leave();
    else {
      this.#heardOfSession();
      const { messageBytesMax } = this.#own;
      this.#tell({ type: 'relay.open', ...(Number.isFinite(messageBytesMax) ? { messageBytesMax } : {}) });
    }
  }

  message(socket: ServerSocket, data: Uint8Array, isBinary: boolean): void {
    this.#isHeard = true;
    const isLarge = data.byteLength > LARGE_BYTES;
    // It has the place in which it was gathered until it is handed on.
    if (isLarge) this.#own.taking();
    const gone = isLarge ? () => this.#own.taken() : NOTHING;
    // The session judges its size, and hears of parts only.
    if (data.byteLength > PART_BYTES) this.arriving(socket, data.byteLength, isBinary);
    if (this.#handingOn.add(data, isBinary, gone) && this.#handingOn.bytes <= UNTAKEN_BYTES_BEARABLE) return;
    // The client sends it again: it knows how much was taken.
    this.#handingOn.clear();
    this.#options.onDrop();
    socket.close(TRY_LATER, 'More waits than is kept; the session goes on.');
  }

  arriving(_: ServerSocket, bytes: number, isBinary: boolean): void {
    this.#isHeard = true;
    this.#tell({ type: 'relay.arriving', bytes, isBinary });
  }

  pong(_: ServerSocket, text: string): void {
    this.#isHeard = true;
    this.#tell({ type: 'relay.pong', text });
  }

  drained(): void {
    this.#tell({ type: 'relay.sent', count: 0, unread: 0 });
  }

  /** What the client has sent before is handed on before that is told. */
  closed(_: ServerSocket, code: number): void {
    this.#options.clock.clearTimeout(this.#pongDue);
    if (this.#socket !== undefined) this.#options.sockets.closed();
    this.#closeCode = code;
    this.#closeBehindAll();
  }

  #closeBehindAll(): void {
    if (this.#closeCode === undefined || (this.#handingOn.isWaiting && !this.#isOver)) return;
    this.#tell({ type: 'relay.closed', code: this.#closeCode });
    this.dispose();
  }

  #tell(message: Unnumbered<ToSession>): void {
    this.#link.send(message);
  }

  #receive(body: BusBody): void {
    const socket = this.#socket;
    if (socket === undefined || !Value.Check(ToClient, body)) {
      this.#cut();
      return;
    }
    this.#heardOfSession();
    if (body.type === 'relay.say') this.#say(socket, body.text);
    else if (body.type === 'relay.ping') this.#ping(socket, body.text);
    else if (body.type === 'relay.taken') this.#handingOn.taken(body.count);
    else if (body.type === 'relay.part_taken') this.#handingOn.partTaken(body.count);
    else if (body.type === 'relay.close') {
      this.#isOver = true;
      socket.close(body.code, body.reason);
    } else this.#cut();
    this.#closeBehindAll();
  }

  #say(socket: ServerSocket, text: string): void {
    socket.send(text);
    this.#tell({ type: 'relay.sent', count: text.length, unread: socket.bufferedBytes });
  }

  /** Only this node knows whether its client can be heard: it answers for it, and releases one that is silent. */
  #ping(socket: ServerSocket, text: string): void {
    const { clock, pongMs } = this.#options;
    this.#isHeard = false;
    this.#tell({ type: 'relay.here' });
    socket.ping(text);
    clock.clearTimeout(this.#pongDue);
    this.#pongDue = clock.setTimeout(() => {
      if (!this.#isHeard && !socket.heldBack && !socket.watchesSilence) socket.terminate();
    }, pongMs);
  }

  #heardOfSession(): void {
    const { clock, silenceMs } = this.#options;
    clock.clearTimeout(this.#silence);
    this.#silence = clock.setTimeout(() => this.#cut(), silenceMs);
  }

  /** The session cannot be reached by this way any more. */
  #cut(): void {
    this.#isOver = true;
    if (this.#closeCode !== undefined) this.dispose();
    else this.#socket?.terminate();
  }

  /** The client's own pace, and none at all while too much is not taken. */
  #paceOf(pace: OpenPace): SocketPace {
    const room = (owedMs: number) => (this.#handingOn.bytes > UNTAKEN_BYTES_MAX ? Math.max(owedMs, FULL_MS) : owedMs);
    return {
      take: (bytes, isAudio, canWait) => {
        const owedMs = pace.take(bytes, isAudio, canWait);
        return canWait ? room(owedMs) : owedMs;
      },
      fragments: (count) => pace.fragments(count),
      owedMs: () => room(pace.owedMs()),
      exceeded: () => pace.exceeded(),
      enter: (granted) => pace.enter(granted),
      leave: () => pace.leave(),
      mayBeLarge: () => pace.mayBeLarge(),
    };
  }
}

/** What may be in flight from one client without an acknowledgement. */
const UNDER_WAY_BYTES_MAX = 256 * 1024;

interface Message {
  data: Uint8Array;
  isBinary: boolean;
  /** Where the next part begins. */
  at: number;
  /** The last part has left. */
  gone(): void;
}

export interface RelaySendQueueOptions {
  send(message: Unnumbered<ToSession>, bytes: Uint8Array): void;
  /** What the messages of all sockets hold of memory. */
  waiting: Pick<WaitingWork, 'count'>;
  organisationId: string;
  parts: InFlightChunks;
}

/**
 * What a client has sent, on its way to the node of its session: in its order, what is large in parts, and no faster than that
 * node takes it.
 */
export class RelaySendQueue {
  readonly #options: RelaySendQueueOptions;
  readonly #messages: Message[] = [];
  #waitingBytes = 0;
  #underWayBytes = 0;
  #partBytes = 0;

  constructor(options: RelaySendQueueOptions) {
    this.#options = options;
  }

  get organisationId(): string {
    return this.#options.organisationId;
  }

  /** What is not taken. */
  get bytes(): number {
    return this.#waitingBytes + this.#underWayBytes;
  }

  /** Something has not left yet. */
  get isWaiting(): boolean {
    return this.#messages.length > 0;
  }

  /**
   * Whether there was room for what has to wait.
   *
   * @param data the server's again after the call, but of a message over 1 MiB
   */
  add(data: Uint8Array, isBinary: boolean, gone: () => void): boolean {
    const message = { data, isBinary, at: 0, gone };
    this.#messages.push(message);
    this.#waitingBytes += data.byteLength;
    const { waiting, organisationId } = this.#options;
    const hasRoom = waiting.count(data.byteLength, organisationId);
    this.goOn();
    if (!this.isWaiting) return true;
    if (data.byteLength <= LARGE_BYTES) message.data = new Uint8Array(data);
    return hasRoom;
  }

  /** The session has taken so many bytes of whole messages. */
  taken(bytes: number): void {
    this.#underWayBytes -= bytes;
    this.goOn();
  }

  /** The session has taken so many bytes of parts. */
  partTaken(bytes: number): void {
    this.#underWayBytes -= bytes;
    this.#partBytes -= bytes;
    this.goOn();
    this.#options.parts.giveBack(bytes, this);
  }

  /** Nothing more is handed on. */
  clear(): void {
    const { waiting, parts, organisationId } = this.#options;
    waiting.count(-this.#waitingBytes, organisationId);
    this.#waitingBytes = 0;
    this.#messages.length = 0;
    parts.leave(this);
    parts.giveBack(this.#partBytes, this);
    this.#partBytes = 0;
  }

  /** Hands on what may be in flight. */
  goOn(): void {
    while (this.#underWayBytes < UNDER_WAY_BYTES_MAX) {
      const message = this.#messages[0];
      if (message === undefined || !this.#next(message)) return;
    }
  }

  /** Whether it could be handed on. */
  #next(message: Message): boolean {
    const { send, waiting, parts, organisationId } = this.#options;
    const { data, at, isBinary } = message;
    const isWhole = data.byteLength <= PART_BYTES;
    const bytes = isWhole ? data : data.subarray(at, at + PART_BYTES);
    const { byteLength } = bytes;
    if (!isWhole && !parts.take(byteLength, this)) return false;
    message.at += byteLength;
    const isLast = message.at === data.byteLength;
    if (isLast) this.#messages.shift();
    this.#waitingBytes -= byteLength;
    this.#underWayBytes += byteLength;
    if (!isWhole) this.#partBytes += byteLength;
    waiting.count(-byteLength, organisationId);
    if (isWhole) send({ type: isBinary ? 'relay.audio' : 'relay.text' }, bytes);
    else send({ type: 'relay.part', isBinary, isLast }, bytes);
    if (isLast) message.gone();
    return true;
  }
}

const IN_FLIGHT_BYTES_MAX = 4 * 1024 * 1024;

export interface PartsSender {
  readonly organisationId: string;
  /** There may be room. */
  goOn(): void;
}

/**
 * Parts of large messages on their way to other nodes, of all clients of this one: nodes have a window of 8 MiB for everything
 * that they say, and what does not fit into it is lost. An organisation whose sessions take nothing leaves room for others.
 */
export class InFlightChunks {
  readonly #quota = new Quota(IN_FLIGHT_BYTES_MAX);
  /** By organisation, in the order in which they wait. */
  readonly #waiting = new Map<string, Set<PartsSender>>();

  /** Bytes that are in flight. */
  get bytes(): number {
    return this.#quota.used;
  }

  /** Whether so many bytes more may be in flight; else the sender hears when there may be room. */
  take(bytes: number, sender: PartsSender): boolean {
    const { organisationId } = sender;
    if (this.#quota.take(organisationId, bytes) === undefined) return true;
    const waiting = this.#waiting.get(organisationId);
    if (waiting === undefined) this.#waiting.set(organisationId, new Set([sender]));
    else waiting.add(sender);
    return false;
  }

  giveBack(bytes: number, { organisationId }: PartsSender): void {
    this.#quota.giveBack(organisationId, bytes);
    for (const [waitingId, senders] of [...this.#waiting]) this.#wake(waitingId, senders);
  }

  /** It has nothing more to send. */
  leave(sender: PartsSender): void {
    const senders = this.#waiting.get(sender.organisationId);
    senders?.delete(sender);
    if (senders?.size === 0) this.#waiting.delete(sender.organisationId);
  }

  #wake(organisationId: string, senders: Set<PartsSender>): void {
    for (const sender of senders) {
      // Its next part may not fit: it keeps its turn.
      if (this.#quota.shortage(organisationId, PART_BYTES) !== undefined) return;
      this.leave(sender);
      sender.goOn();
    }
  }
}
