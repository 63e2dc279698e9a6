// What the upstream host and its legs are given by the assembly, and what it gives to those who open one.
import type { Clock } from '../../../machines/clock.ts';
import type { LegCommand } from '../../../machines/events.ts';
import type { Engine, Provider, ProviderAccess } from '../../vendors/provider.ts';
import type { HttpBatchDependencies } from './http/batch-codec.ts';
import type { OpenSocket } from './wire.ts';

export interface UpstreamDependencies {
  providers: ReadonlyMap<string, Provider>;
  engines: Readonly<Record<string, Engine>>;
  /**
   * Base URL and credential of a provider, asked for at the dial. `credentialId` is `service`, whose access comes at once, or
   * the id of an organisation's own key, which is opened for it. Rejects when the key cannot be used.
   */
  access(provider: string, credentialId: string, organisationId: string): ProviderAccess | Promise<ProviderAccess>;
  clock: Clock;
  /** For models that hear files only; without it they have no legs. */
  http?: HttpBatchDependencies;
  /** Opens the connections to WebSocket endpoints; absent: real ones. */
  openSocket?: OpenSocket;
  /** Send pauses above the first number of unsent bytes and goes on at the second; the third ends the leg. */
  pressureBytes?: { high: number; max: number };
  onEvent?(
    event:
      | { type: 'leg.ended'; slug: string; outcome: string }
      /** A message of a provider that its codec made nothing of. */
      | { type: 'unread'; slug: string }
      | { type: 'fault'; name: string; error: unknown },
  ): void;
}

/** What the opener of a leg holds. */
export interface LegHandle {
  /** Takes a command; `bytes` is the audio of `leg.audio`, valid during the call. Harmless after the leg's end. */
  command(command: LegCommand, bytes?: Uint8Array): void;
  dispose(): void;
}
