// What the bus lends to those who need more of NATS than messages: leases and the usage stream. One connection for all.
import type { NatsConnection } from 'nats';
import type { SigningSecrets } from '../signed.ts';

export interface NatsLink {
  /**
   * Connects again by itself, endlessly. Another object only when the library gave the connection up, which it never should:
   * ask for it each time rather than keep it. Throws BusError `disconnected` before the first connection.
   */
  readonly connection: NatsConnection;
  /** What every subject, stream and bucket of this gateway begins with: small letters, digits and hyphens. */
  readonly prefix: string;
  /** What is kept there is sealed with. */
  readonly secrets: SigningSecrets;
}
