import type { Refusal } from '../../api/errors.ts';
import type { EventEncoder } from '../../api/listen-events.ts';
import type { ClientRequest, Conversation } from '../../vendors/compat/dialect.ts';
import type { AskedChanges } from '../configure/asked-changes.ts';
import type { ClientLine } from '../session/outbox.ts';
import type { SessionOpening } from '../session/session-opening.ts';
import type { StartAsked } from './start-wait.ts';

/** Another vendor's client: how it speaks, and what its request is in words of the query. */
export interface Interpreter {
  conversation: Conversation;
  /** In its words the events of a session are told. */
  changes: AskedChanges;
  /** What a message asked for. Throws a Refusal. */
  asked(clientRequest: ClientRequest): StartAsked;
  /** The connection is over. Called at most once. */
  left?(): void;
  /** Of a call, whose events go to others. Undefined where the request was of none. */
  carrierEnd?(opening: SessionOpening, socket: ClientLine): { encoder: EventEncoder; line: ClientLine } | undefined;
  /** The session was not opened: called beside the conversation's own. */
  refused?(refusal: Refusal): void;
}
