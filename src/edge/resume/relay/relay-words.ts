// What two nodes say to each other while a client of the one goes on with a session of the other.
import { type Static, Type } from '@sinclair/typebox';

/** The service of the nodes that serve clients: goes on with a session of theirs. */
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

export type ResumeAnswer =
  | { type: 'resume.gone' }
  | { type: 'resume.unsaid' }
  | { type: 'resume.found'; relay: string };

/** Each is numbered from 1 in its direction: one that is missing breaks the connection, and the client comes back. */
const numbered = <Type extends string>(type: Type) => ({
  type: Type.Literal(type),
  number: Type.Integer({ minimum: 1 }),
});

export const ToSession = Type.Union([
  Type.Object(numbered('relay.open')),
  /** A piece of a binary message, in the bytes. */
  Type.Object(numbered('relay.audio')),
  Type.Object({ ...numbered('relay.text'), text: Type.String() }),
  Type.Object(numbered('relay.pong')),
  /** So many characters have left for the client. */
  Type.Object({ ...numbered('relay.sent'), count: Type.Integer({ minimum: 0 }) }),
  Type.Object({ ...numbered('relay.closed'), code: Type.Integer() }),
]);
export type ToSession = Static<typeof ToSession>;

export const ToClient = Type.Union([
  Type.Object({ ...numbered('relay.say'), text: Type.String() }),
  Type.Object(numbered('relay.ping')),
  /** So many bytes of audio were taken. */
  Type.Object({ ...numbered('relay.taken'), count: Type.Integer({ minimum: 0 }) }),
  Type.Object({ ...numbered('relay.close'), code: Type.Integer(), reason: Type.String() }),
  Type.Object(numbered('relay.cut')),
]);
export type ToClient = Static<typeof ToClient>;

/** Without its number. */
export type Unnumbered<Message> = Message extends unknown ? Omit<Message, 'number'> : never;

/** The largest piece of a message on the bus. */
export const PIECE_BYTES = 256 * 1024;
