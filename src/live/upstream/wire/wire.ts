// What a leg's connection is to whoever holds it, whatever carries it.
import type { DemandedFault } from '../../../../machines/events.ts';
import type { Incoming, Outgoing, ProviderRefusal } from '../../../vendors/kit/provider.ts';

/**
 * What happens on a wire. After `closed`, `refused` or `unreachable` nothing follows; exactly one of them comes unless
 * `terminate` did.
 */
export interface WireListener {
  opened(): void;
  /** The other end has said of itself that it simulates a provider. */
  simulated?(): void;
  message(message: Incoming): void;
  /** The sign of life that was requested, whatever it was. */
  alive(): void;
  /** `bufferedBytes` has fallen low again. */
  drained(): void;
  closed(code: number, reason: string): void;
  /** The upgrade, or the call, was answered with something else. */
  refused(refusal: ProviderRefusal): void;
  /** The connection was never open. `isReached`: the provider accepted it and received the request to open it. */
  unreachable(message: string, isReached?: boolean): void;
}

/** One connection. Every method is safe at any time; none throws. */
export interface Wire {
  send(frame: Outgoing): void;
  readonly bufferedBytes: number;
  /** Tells the other end to fail; does nothing unless it has said that it simulates a provider. */
  breakDown(fault: DemandedFault): void;
  /** `alive` follows, if the other end is. */
  ping(): void;
  close(): void;
  terminate(): void;
}

/** Largest message of a provider. */
export const MESSAGE_BYTES_MAX = 1_048_576;
/** A close that is not answered in so long is no longer waited for. */
export const CLOSE_MS = 2_000;
