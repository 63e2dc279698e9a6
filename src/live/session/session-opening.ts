// What a session is opened with: its request, and the parts of its node; and what is known of it when it has ended.

import type { StateValue } from 'xstate';
import type { Clock } from '../../../machines/clock.ts';
import type { SessionEndReason } from '../../../machines/events.ts';
import type { WatchedFrame } from '../../api/console/watching.ts';
import type { ApiError, ErrorCode } from '../../api/errors.ts';
import type { Configure, Latency, ListenRequest } from '../../api/listen.ts';
import type { EventEncoder } from '../../api/listen-events.ts';
import type { RedactionClass } from '../../api/redaction.ts';
import type { DataResidencyRule } from '../../api/residency-rule.ts';
import type { OpusDecoder } from '../../audio/codecs/opus-decoder.ts';
import type { Gathering } from '../../audio/frames.ts';
import type { Spool } from '../../audio/tape/spool.ts';
import type { Bus } from '../../cluster/bus/bus.ts';
import type { Placement } from '../../cluster/placement.ts';
import type { Meter, MeterCandidate } from '../../money/ledger/meter.ts';
import type { VoiceCheckOutcome, VoiceCheckPurpose } from '../../recogniser/voice/scan.ts';
import type { TextAnalyzer } from '../../redaction/analyzer.ts';
import { uuidv7 } from '../../runtime/uuid.ts';
import type { Engine, ProviderAccess } from '../../vendors/kit/provider.ts';
import type { Degradation, ResolvedCandidate } from '../failover/chain.ts';
import type { Attempts } from '../failover/model-attempt.ts';
import type { SessionObserver, TranscriptGatherer } from './watch/session-observer.ts';

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
  /** Where its organisation has what is said posted to it at the end. */
  transcript?: TranscriptGatherer | undefined;
  request: ListenRequest;
  /** Those of the request with those of its credential, as one text. */
  tags?: string | undefined;
  chain: readonly ResolvedCandidate[];
  warnings: readonly Degradation[];
  /** Where its key and organisation let audio go by now: a leg after the first one keeps to that as well. */
  ruleNow?(): Promise<DataResidencyRule>;
  /** In whose words its client is told; the gateway's own when absent. */
  encoder?: EventEncoder | undefined;
  /** What its socket takes at most in one message, where that is less than the settings say. */
  messageBytesMax?: number;
  /** Opens a socket that continues with the session. */
  resumeToken?: string;
  /** The session that is gone, and that this one is opened in place of. */
  continues?: { sessionId: string /** Where the last final ended that the client has. */; seconds: number } | undefined;
  /** Of a client that sends Opus; the session frees it. */
  decoder?: OpusDecoder | undefined;
  /** Of further channels of the same client: the session is that of the first. */
  others?: readonly SessionOpening[];
  /** What its client asks for while it continues; undefined where that changes nothing. Rejects with an ApiError. */
  configure?(asked: Configure): Promise<Configuration | undefined>;
  /** Tells the client that its change is refused; an `error` event does when absent, or where this gives false. */
  notConfigured?(refusal: ApiError): boolean;
  /** What the session may spend. Its members are those of the chain, in the same order. */
  meter: Meter;
  /** Gives back the place that the session takes of its key's and its organisation's; calling it twice does no harm. */
  release(): void;
}

/** What the session is to be, at once or from the end of the turn on. */
export interface Configuration {
  request: ListenRequest;
  chain: readonly ResolvedCandidate[];
  /** The same, as the bill sees it. */
  members: readonly MeterCandidate[];
  /** About the chain. */
  warnings?: readonly Degradation[];
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

/** The part of the configuration that sessions live by. Milliseconds and bytes. */
export interface SessionSettings {
  idleMs: number;
  /** Without audio for so long, the connection to the provider is released until there is some. */
  suspendMs: number;
  /** How audio is gathered where a request and its key say nothing. */
  latency: Latency;
  longestMs: number;
  memoryBytesMax: number;
  replayMs: number;
  replaySpoolMs: number;
  spoolNodeBytesMax: number;
  unreadBytesMax: number;
  unreadEventsMax: number;
  drainMs: number;
  /** Further rounds through the whole chain before a session gives up. */
  upstreamRetries: number;
  /** How long after its first failure a session that no model answers begins further rounds. */
  retryMs: number;
  backOffMs: number;
  settleMs: number;
  /** Whether a session returns to its first model where its request says nothing; and how long between two returns at least. */
  returnToPrimary: 'on' | 'off';
  returnMs: number;
  /** Whether a turn without words is heard again by the next model. */
  hearEmptyAgain: 'on' | 'off';
  /** How long a provider that is alive may take to say what is left when the audio has ended. */
  closeMs: number;
  binaryFrameBytesMax: number;
  textFrameBytesMax: number;
}

/** What is counted for the metrics. */
export interface SessionTotals {
  audioReceived(seconds: number): void;
  audioSent(seconds: number): void;
  dropped(name: string): void;
  refused(code: ErrorCode): void;
  /** Something of that class was redacted, or a text could not be read. */
  redacted(kind: RedactionClass | 'failed'): void;
  /** A voice detector gave a second opinion on what the energy meter took for speech. */
  voiceChecked(purpose: VoiceCheckPurpose, outcome: VoiceCheckOutcome): void;
  /** An attempt of a session to return to its primary has ended so. */
  primaryReturn(outcome: 'returned' | 'failed' | 'unused'): void;
  /** A connection of a fallback on standby was opened, used for a failover or lost, or could not be opened. */
  standby(outcome: 'opened' | 'used' | 'dropped' | 'failed'): void;
}

export interface SessionDependencies {
  bus: Bus;
  clock: Clock;
  wallNow(): Date;
  settings: SessionSettings;
  totals: SessionTotals;
  openSpool(organisationId: string): Spool;
  /** How far frames are gathered for what a client asks for. */
  gathering: Readonly<Record<Latency, Gathering>>;
  access(provider: string): ProviderAccess;
  /** Chooses the node that opens a leg; absent: any node that answers. */
  placement?: Placement | undefined;
  /** Has embedded models of a chain loaded before it is their turn, until the returned function is called. */
  keepReady?(chain: readonly ResolvedCandidate[]): () => void;
  /** The engine that finds voices; absent: the energy meter decides alone. */
  voices?: Engine;
  attempts: Attempts;
  /** Finds names and addresses; absent where the operator has no such service. */
  analyzer?: TextAnalyzer | undefined;
  onState(sessionId: string, value: StateValue): void;
  /** Who is told of its moments as they come. */
  observe?(opening: SessionOpening): SessionObserver | undefined;
  /** `frames`: what is kept of it, to be looked at. */
  onEnded(opening: SessionOpening, summary: SessionSummary, frames: readonly WatchedFrame[]): void;
  onFault(sessionId: string, name: string, error: unknown): void;
}

/**
 * A new session id of this node: `ses_`, the node's incarnation, a UUID version 7 without dashes. Any node can route to one without a
 * directory, and those of one node sort by time.
 */
export function newSessionId(node: string, wallNow: Date): string {
  return `ses_${node}${uuidv7(wallNow.getTime()).replaceAll('-', '')}`;
}

const SESSION_ID = /^ses_([a-z0-9]{6})[0-9a-f]{1,32}$/;

/** The node that holds, or held, the session; undefined of what is no such id. */
export function nodeOfSession(sessionId: string): string | undefined {
  return SESSION_ID.exec(sessionId)?.[1];
}
