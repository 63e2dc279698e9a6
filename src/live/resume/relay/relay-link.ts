// What two nodes send each other while a client of the one continues a session of the other, and one end of such a relay: messages go by the
// bus, which may lose some; one that is missing is noticed by its number.
import { type Static, Type } from '@sinclair/typebox';
import type { Address, Bus, BusBody, Detach } from '../../../cluster/bus/bus.ts';

export interface RelayLinkCalls {
  /** The next message of the other end. `bytes` are valid during the call. */
  received(body: BusBody, bytes: Uint8Array): void;
  /** A message was lost, or the other end is gone. */
  broken(): void;
}

const NO_BYTES = new Uint8Array(0);

export class RelayLink {
  readonly address: Address;
  readonly #bus: Bus;
  readonly #calls: RelayLinkCalls;
  readonly #detach: Detach;
  #other: Address | undefined;
  #sent = 0;
  #received = 0;
  #isOver = false;

  /** @param other the other end; learnt from `meet` when absent */
  constructor(bus: Bus, actorId: string, calls: RelayLinkCalls, other?: Address) {
    this.#bus = bus;
    this.#calls = calls;
    this.#other = other;
    this.address = bus.address(actorId);
    this.#detach = bus.attach(
      actorId,
      ({ from, body, bytes = NO_BYTES }) => {
        if (from !== this.#other || this.#isOver) return;
        this.#received++;
        if ((body as { number?: unknown }).number !== this.#received) this.#break();
        else calls.received(body, bytes);
      },
      () => this.#break(),
    );
  }

  meet(other: Address): void {
    this.#other = other;
  }

  send(body: BusBody, bytes?: Uint8Array): void {
    if (this.#isOver || this.#other === undefined) return;
    this.#sent++;
    const numbered = { ...body, number: this.#sent };
    if (this.#bus.send(this.#other, this.address, numbered, bytes) !== 'accepted') this.#break();
  }

  /** Nothing more is said or heard. */
  close(): void {
    this.#isOver = true;
    this.#detach();
  }

  #break(): void {
    if (this.#isOver) return;
    this.close();
    this.#calls.broken();
  }
}

/** The service of the nodes that serve clients: continues with a session of theirs. */
export const RESUME_SESSION = 'session.resume';

const Name = Type.String({ minLength: 1, maxLength: 200 });

export const ResumeAsk = Type.Object({
  type: Type.Literal('resume.ask'),
  token: Name,
  sessionId: Name,
  organisationId: Name,
  keyId: Name,
  after: Type.Integer({ minimum: 0 }),
  /** The address of the client's end. */
  relay: Name,
});
export type ResumeAsk = Static<typeof ResumeAsk>;

/** The service of the same nodes that tells what is heard of a call. */
export const WATCH_CALL = 'session.call';

export const CallAsk = Type.Object({
  type: Type.Literal('call.ask'),
  /** Of its session, or another by which it is found. */
  name: Name,
  organisationId: Name,
  keyId: Name,
  requestId: Name,
  after: Type.Integer({ minimum: 0 }),
  relay: Name,
});
export type CallAsk = Static<typeof CallAsk>;

/** Why a node does not join a socket with a session: it has none, the event was never said, or too many listen. */
export type NotJoined = 'gone' | 'unsaid' | 'full';

export type RelayAnswer = { type: 'relay.no'; why: NotJoined } | { type: 'relay.found'; relay: string };

/** Each is numbered from 1 in its direction: one that is missing breaks the connection, and the client comes back. */
const numbered = <Type extends string>(type: Type) => ({
  type: Type.Literal(type),
  number: Type.Integer({ minimum: 1 }),
});

export const ToSession = Type.Union([
  /** The client's socket is open; the largest message that its server takes, where there is such a bound. */
  Type.Object({ ...numbered('relay.open'), messageBytesMax: Type.Optional(Type.Integer({ minimum: 1 })) }),
  /** A message of so many bytes is on its way, or begins. */
  Type.Object({ ...numbered('relay.arriving'), bytes: Type.Integer({ minimum: 0 }), isBinary: Type.Boolean() }),
  /** A binary message, in the bytes. */
  Type.Object(numbered('relay.audio')),
  /** A text, in the bytes. */
  Type.Object(numbered('relay.text')),
  /** A part of a larger message, in the bytes. */
  Type.Object({ ...numbered('relay.part'), isBinary: Type.Boolean(), isLast: Type.Boolean() }),
  /** What the client has sent too much of. */
  Type.Object({
    ...numbered('relay.excess'),
    excess: Type.Union([Type.Literal('messages'), Type.Literal('tiny_frames')]),
  }),
  Type.Object({ ...numbered('relay.pong'), text: Type.String() }),
  /** To every ping at once: the node of the socket is there, and judges whether its client is. */
  Type.Object(numbered('relay.here')),
  /** So many characters more were given to the client's socket, and so many bytes of all have not left it. */
  Type.Object({
    ...numbered('relay.sent'),
    count: Type.Integer({ minimum: 0 }),
    unread: Type.Integer({ minimum: 0 }),
  }),
  Type.Object({ ...numbered('relay.closed'), code: Type.Integer() }),
]);
export type ToSession = Static<typeof ToSession>;

export const ToClient = Type.Union([
  Type.Object({ ...numbered('relay.say'), text: Type.String() }),
  Type.Object({ ...numbered('relay.ping'), text: Type.String() }),
  /** So many bytes of whole messages were taken. */
  Type.Object({ ...numbered('relay.taken'), count: Type.Integer({ minimum: 0 }) }),
  /** So many bytes of parts were taken. */
  Type.Object({ ...numbered('relay.part_taken'), count: Type.Integer({ minimum: 0 }) }),
  Type.Object({ ...numbered('relay.close'), code: Type.Integer(), reason: Type.String() }),
  Type.Object(numbered('relay.cut')),
]);
export type ToClient = Static<typeof ToClient>;

/** Without its number. */
export type Unnumbered<Message> = Message extends unknown ? Omit<Message, 'number'> : never;

/** The largest message that is handed on whole, and the largest part. */
export const PART_BYTES = 64 * 1024;
