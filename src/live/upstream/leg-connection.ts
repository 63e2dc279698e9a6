// What a leg and its connection to the provider are to each other. There are two kinds: a stream (stream-connection.ts), and one
// file for each utterance (segmented/segmented-connection.ts).
import type { DemandedFault, Heard, OpenLeg } from '../../../machines/events.ts';
import type { UpstreamEvent } from '../../../machines/upstream.ts';
import type { DisposerStack } from '../../runtime/disposer-stack.ts';
import type { LiveTiming, ProviderAccess } from '../../vendors/provider.ts';
import type { UpstreamDependencies } from './dependencies.ts';
import type { Scrubber } from './secrets.ts';

export interface LegConnection {
  readonly timing: LiveTiming;
  /** Reaches the provider; `wire.opened` or `wire.failed` follows. */
  connect(access: ProviderAccess): void;
  /** The connection is open. */
  sendHello(): void;
  /** No more audio follows: what is left is to be said. */
  sendFinish(): void;
  /** `wire.alive` follows, if it is. */
  askForSign(): void;
  /** A frame of audio, valid during the call. */
  audio(bytes: Uint8Array): void;
  /** Ends the current turn now. */
  finalize(): void;
  /** The leg is asked for something else from now on, where that can be changed: `reconfigured` is heard. */
  reconfigure(to: OpenLeg): void;
  /** Tells a simulated provider to fail; does nothing where it is none. */
  breakDown(fault: DemandedFault): void;
}

/** The leg, as its connection knows it. */
export interface ConnectionLeg {
  /** What it is asked for, as it was changed last. */
  request: OpenLeg;
  readonly dependencies: UpstreamDependencies;
  /** What the connection holds is let go of with the leg. */
  readonly scope: DisposerStack;
  /** Of the access that the leg was connected with. */
  readonly scrubber: Scrubber;
  /** Whether the leg finished, or was released by its session. */
  readonly endedInOrder: boolean;
  tell(event: UpstreamEvent): void;
  /** The provider has said of itself that it is simulated. */
  simulated(): void;
  /** @param readMs when it was read; absent: now */
  heard(heard: Heard, readMs?: number): void;
  /** Whether the session is to hold audio back. */
  pressed(high: boolean): void;
  /** A fault of our own: it ends the leg. */
  fault(name: string, error: unknown): void;
  /** Runs what may throw; a throw is such a fault. */
  guarded(name: string, work: () => void): void;
}
