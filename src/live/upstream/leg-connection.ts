// What a leg and its connection to the provider are to each other. There are two kinds: a stream (stream-connection.ts), and one
// file for each utterance (segmented-connection.ts).

import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../machines/clock.ts';
import type { DemandedFault, Heard, LegCommand, OpenLeg } from '../../../machines/events.ts';
import type { UpstreamEvent } from '../../../machines/upstream.ts';
import type { DataResidencyRule } from '../../api/residency-rule.ts';
import { modelOf, providerOf } from '../../api/slug.ts';
import type { VoiceCheckOutcome } from '../../recogniser/voice/scan.ts';
import type { DisposerStack } from '../../runtime/disposer-stack.ts';
import { keepsTo } from '../../vendors/kit/places.ts';
import type { Engine, LegRequest, LiveTiming, Provider, ProviderAccess } from '../../vendors/kit/provider.ts';
import type { HttpBatchDependencies } from './http/batch-codec.ts';
import type { Scrubber } from './secrets.ts';
import type { GateOutcome } from './speech-gate.ts';
import type { OpenSocket } from './wire/open-wire.ts';

export interface LegConnection {
  readonly timing: LiveTiming;
  /** Reaches the provider; `wire.opened` or `wire.failed` follows. */
  connect(access: ProviderAccess): void;
  /** The connection is open. */
  sendHello(): void;
  /** No more audio follows: what is left is to be said. */
  sendFinish(): void;
  /** `wire.alive` follows, if it is. */
  ping(): void;
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
  /** What is requested of it, as it was changed last. */
  request: OpenLeg;
  readonly dependencies: UpstreamDependencies;
  /** What the connection holds is released with the leg. */
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

export interface UpstreamDependencies {
  providers: ReadonlyMap<string, Provider>;
  engines: Readonly<Record<string, Engine>>;
  /**
   * The engine that finds voices, for legs with a speech gate and for utterances; absent: text passes unmarked, and loudness alone
   * decides what is an utterance.
   */
  voices?: Engine;
  /**
   * Base URL and credential of a provider, requested at the dial. `credentialId` is `service`, whose access comes at once, or
   * the id of an organisation's own key, which is opened for it. Rejects when the key cannot be used.
   */
  access(provider: string, credentialId: string, organisationId: string): ProviderAccess | Promise<ProviderAccess>;
  clock: Clock;
  /** For models that hear files only; without it they have no legs. */
  http?: HttpBatchDependencies;
  /** Opens the connections to WebSocket endpoints; absent: real ones. */
  openSocket?: OpenSocket;
  /** Send pauses above the first number of unsent bytes and continues at the second; the third ends the leg. */
  pressureBytes?: { high: number; max: number };
  onEvent?(
    event:
      | { type: 'leg.ended'; slug: string; outcome: string }
      /** A message of a provider that its codec made nothing of. */
      | { type: 'unread'; slug: string }
      /** What the speech gate made of the text of a turn. */
      | { type: 'gated'; outcome: GateOutcome }
      /** Whether somebody speaks in an utterance that is loud enough. */
      | { type: 'voice.checked'; outcome: VoiceCheckOutcome }
      | { type: 'fault'; name: string; error: unknown },
  ): void;
}

/** What the opener of a leg holds. */
export interface LegHandle {
  /** Takes a command; `bytes` is the audio of `leg.audio`, valid during the call. Harmless after the leg's end. */
  command(command: LegCommand, bytes?: Uint8Array): void;
  dispose(): void;
}

/** Before the dial nothing of the access is known, and nothing of it is needed. */
export const NO_ACCESS: ProviderAccess = { baseUrl: undefined, credential: undefined };

export function legRequestOf(request: OpenLeg, access: ProviderAccess): LegRequest {
  return {
    model: modelOf(request.slug),
    sampleRate: request.sampleRate,
    language: request.language ?? undefined,
    interimResults: request.interimResults,
    diarization: request.diarization,
    turnEvents: request.turnEvents === true,
    params: request.params,
    access,
    connection: { id: randomUUID().replaceAll('-', ''), wallMs: Date.now() },
  };
}

/** The access, at the endpoint that the leg's rule asks for; undefined where it does not keep to that, or may not. */
export function accessWithin(
  { slug, params, rule }: Pick<OpenLeg, 'slug' | 'params' | 'rule'>,
  access: ProviderAccess,
  providers: ReadonlyMap<string, Provider>,
): ProviderAccess | undefined {
  if (rule === undefined) return access;
  const provider = providers.get(providerOf(slug));
  const card = provider?.models.find(({ id }) => id === slug);
  if (provider === undefined || card === undefined) return undefined;
  return keepsTo({ provider, card, mode: 'live', params, access }, rule as DataResidencyRule);
}
