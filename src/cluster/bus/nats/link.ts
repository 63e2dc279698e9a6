// The NATS connection of the bus, shared with leases and the usage stream.
import type { NatsConnection } from '@nats-io/transport-node';
import type { SigningSecrets } from '../signed.ts';

export interface NatsLink {
  /**
   * Reconnects by itself without end. Do not keep it: the object changes if the library gives a connection up. Throws BusError
   * `disconnected` before the first connection.
   */
  readonly connection: NatsConnection;
  /** The prefix of every subject, stream and bucket of this gateway: lower-case letters, digits and hyphens. */
  readonly prefix: string;
  /** Seals what is stored on the servers. */
  readonly secrets: SigningSecrets;
}
