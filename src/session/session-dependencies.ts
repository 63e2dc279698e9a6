// What every live session of a node is given: the node's parts, the configuration, and who hears of its state and its end.
import type { StateValue } from 'xstate';
import type { Clock } from '../../machines/clock.ts';
import type { WatchedFrame } from '../api/console/watching.ts';
import type { ErrorCode } from '../api/errors.ts';
import type { Latency } from '../api/listen.ts';
import type { Gathering } from '../audio/coalescer.ts';
import type { Spool } from '../audio/tape/spool.ts';
import type { Bus } from '../bus/bus.ts';
import type { Placement } from '../cluster/placement/placement.ts';
import type { Attempts } from '../failover/model-attempt.ts';
import type { ProviderAccess } from '../providers/provider.ts';
import type { SessionOpening, SessionSummary } from './session-opening.ts';
import type { SessionObserver } from './watch/session-observer.ts';

/** The part of the configuration that sessions live by. Milliseconds and bytes. */
export interface SessionSettings {
  idleMs: number;
  /** Without audio for so long, the connection to the provider is let go of until there is some. */
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
  attempts: Attempts;
  onState(sessionId: string, value: StateValue): void;
  /** Who is told of its moments as they come. */
  observe?(opening: SessionOpening): SessionObserver | undefined;
  /** `frames`: what is kept of it, to be looked at. */
  onEnded(opening: SessionOpening, summary: SessionSummary, frames: readonly WatchedFrame[]): void;
  onFault(sessionId: string, name: string, error: unknown): void;
}
