// What a session is opened with, and what is known of it when it has ended.
import type { SessionEndReason } from '../../machines/events.ts';
import type { Refusal } from '../api/errors.ts';
import type { Configure } from '../api/listen/configuring.ts';
import type { EventEncoder } from '../api/listen/event-encoder.ts';
import type { ListenRequest } from '../api/listen.ts';
import type { PlaceRule } from '../api/places/place-rule.ts';
import type { OpusDecoder } from '../audio/opus/opus-decoders.ts';
import type { ChainMember, Degradation } from '../failover/chain.ts';
import type { Meter, MeterMember } from '../ledger/meter.ts';

/** What a session is opened with, checked. */
export interface SessionOpening {
  sessionId: string;
  requestId: string;
  organisationId: string;
  keyId: string;
  /** Of the client token that it was opened with, where it was one. */
  tokenId?: string;
  /** What the client says its own trace is: a claim, and nothing but a trace follows from it. */
  traceparent?: string | undefined;
  /** Its organisation shows its members the text of finals while they watch a session. */
  showsTranscripts?: boolean;
  request: ListenRequest;
  chain: readonly ChainMember[];
  warnings: readonly Degradation[];
  /** Where its key and organisation let audio go by now: a leg after the first one keeps to that as well. */
  ruleNow?(): Promise<PlaceRule>;
  /** In whose words its client is told; the gateway's own when absent. */
  encoder?: EventEncoder | undefined;
  /** What its socket takes at most in one message, where that is less than the settings say. */
  messageBytesMax?: number;
  /** Opens a socket that goes on with the session. */
  resumeToken?: string;
  /** The session that is gone, and that this one is opened in place of. */
  continues?: { sessionId: string /** Where the last final ended that the client has. */; seconds: number } | undefined;
  /** Of a client that sends Opus; the session frees it. */
  decoder?: OpusDecoder | undefined;
  /** Of further channels of the same client: the session is that of the first. */
  others?: readonly SessionOpening[];
  /** What its client asks for while it goes on; undefined where that changes nothing. Rejects with a Refusal. */
  configure?(asked: Configure): Promise<Configuration | undefined>;
  /** Tells the client that its change is refused; an `error` event does when absent, or where this gives false. */
  notConfigured?(refusal: Refusal): boolean;
  /** What the session may spend. Its members are those of the chain, in the same order. */
  meter: Meter;
  /** Gives back the place that the session takes of its key's and its organisation's; calling it twice does no harm. */
  release(): void;
}

/** What the session is to be, at once or from the end of the turn on. */
export interface Configuration {
  request: ListenRequest;
  chain: readonly ChainMember[];
  /** The same, as the bill sees it. */
  members: readonly MeterMember[];
}

/** What is known of a session when it has ended: one line of the log. */
export interface SessionSummary {
  reason: SessionEndReason;
  code: string | null;
  seconds: number;
  turns: number;
  failovers: number;
  undeliveredFinals: number;
}
