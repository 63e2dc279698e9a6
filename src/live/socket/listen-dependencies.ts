// What the live endpoint is given: who may ask, what it costs, and who carries the session.
import type { Clock } from '../../../machines/clock.ts';
import type { Authenticator } from '../../accounts/auth/authenticate.ts';
import type { KeyLimits } from '../../accounts/auth/limits.ts';
import type { ApiError } from '../../api/errors.ts';
import type { Spool } from '../../audio/tape/spool.ts';
import type { WholeReply } from '../../http/server.ts';
import type { Reservations } from '../../money/ledger/reservations.ts';
import type { Calls } from '../calls/calls.ts';
import type { ChainDependencies } from '../failover/chain.ts';
import type { OpusPlaces } from '../pace/coded-messages.ts';
import type { PaceSettings, SocketPaces } from '../pace/socket-pace.ts';
import type { ResumeAsk } from '../resume/relay/relay-link.ts';
import type { Relays } from '../resume/relay/relays.ts';
import type { ResumableSessions } from '../resume/resumable-sessions.ts';
import type { SessionHost } from '../session/host.ts';
import type { TranscriptGatherer } from '../session/watch/session-observer.ts';
import type { OpenSockets, UnauthenticatedSockets } from './open-sockets.ts';
import type { WaitingWork } from './socket-work.ts';

export interface ListenSettings extends PaceSettings {
  pingMs: number;
  pongMs: number;
  binaryFrameBytesMax: number;
  textFrameBytesMax: number;
  startMessageBytesMax: number;
  /** Whether a credential in the URL is taken. */
  queryCredentials: 'on' | 'off';
  /** Time for a start message to come, as for a handshake. */
  handshakeTimeoutMs: number;
  /** Sockets that may wait for their credentials at a time, in all and of one address. */
  handshakesMax: number;
  handshakesPerAddressMax: number;
  /** How long a session waits for its client when the socket breaks. */
  resumeMs: number;
  /** Private networks that the events of calls may be posted to. */
  webhookNetworks: string | undefined;
}

export interface ListenDependencies extends ChainDependencies {
  node: string;
  clock: Clock;
  wallNow(): Date;
  authenticator: Authenticator;
  limits: KeyLimits;
  sessions: SessionHost;
  reservations: Reservations;
  settings: ListenSettings;
  /** Where audio waits that comes before its session is open. */
  openSpool(organisationId: string): Spool;
  /** How fast clients may send. */
  paces: SocketPaces;
  /** What their large messages still ask for. */
  waiting: WaitingWork;
  /** What decodes Opus. */
  opus: OpusPlaces;
  /** Sockets that have said no credential yet. */
  late: UnauthenticatedSockets;
  /** Gathers what is said in a session, for the organisation's own receivers; undefined where none wants it. */
  gatherTranscript?(organisationId: string, sessionId: string): TranscriptGatherer | undefined;
  /** The refusal as an HTTP answer. */
  reply(refusal: ApiError, requestId: string): WholeReply;
  onRefused(refusal: ApiError): void;
  /** A credential came in a URL. */
  onQueryCredential(): void;
  /** A socket was opened that may not send large messages. */
  onSmallSocket(): void;
  /** The sessions that outlive their sockets. */
  resumables: ResumableSessions;
  /** Those of other nodes. */
  relays: Relays<ResumeAsk>;
  /** The telephone calls of this node. */
  calls: Calls;
  /** What an ended session had left to say to a client whose socket broke is released before its time. */
  onResumableEvicted(): void;
  /** An event of a call was not posted, or what an ended one has said is released before its time. */
  onCallDrop(name: 'webhook_event' | 'ended_call'): void;
  /** The sockets that are open. */
  sockets: OpenSockets;
  /** Logs what should not have happened, and says what the client may know of it. */
  onFault(requestId: string, error: unknown): ApiError;
}
