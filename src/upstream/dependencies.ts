// What the upstream host and its legs are given by the assembly.
import type { Clock } from '../../machines/clock.ts';
import type { Engine, Provider, ProviderAccess } from '../providers/provider.ts';
import type { OpenSocket } from './wire.ts';

export interface UpstreamDependencies {
  providers: ReadonlyMap<string, Provider>;
  engines: Readonly<Record<string, Engine>>;
  /** Base URL and credential of a provider on this node. */
  access(provider: string): ProviderAccess;
  clock: Clock;
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
