// Somebody who has the gateway's secret, and says what no node says: what is sealed in its own name can still be nonsense.
import { connect } from '@nats-io/transport-node';
import { onTestFinished } from 'vitest';
import type { Address, BusBody } from '../../../src/cluster/bus/bus.ts';
import { decodeFrame, encodeFrame } from '../../../src/cluster/bus/nats/frames.ts';
import { openFrame, readHead, type SealedHead, Sealer } from '../../../src/cluster/bus/sealing/frame-seal.ts';
import { KeyRing } from '../../../src/cluster/bus/sealing/key-ring.ts';
import { SECRETS } from '../../fakes/secrets.ts';

export const INSIDER = 'abcdef';

export interface Insider {
  /** Seals and sends whatever bytes. */
  bytes(subject: string, plain: Uint8Array, reply?: string): void;
  /** Seals and sends a message from that address. */
  say(subject: string, from: string, body: unknown, reply?: string): void;
  flush(): Promise<void>;
}

/**
 * It gives signs of life, as a node does.
 *
 * @param more what it says of itself besides, which an earlier version does not
 */
export async function insiderOn({ url }: { url: string }, secrets = SECRETS, more: object = {}): Promise<Insider> {
  const connection = await connect({ servers: url });
  onTestFinished(() => connection.close());
  const ring = new KeyRing(secrets, 'messages between nodes');
  const sealer = new Sealer(ring, INSIDER);
  const bytes: Insider['bytes'] = (subject, plain, reply = '') =>
    connection.publish(subject, sealer.seal(subject, reply, plain), reply === '' ? {} : { reply });
  const say: Insider['say'] = (subject, from, body, reply) =>
    bytes(subject, encodeFrame(from as Address, body as BusBody) as Uint8Array, reply);
  connection.subscribe(`test.v1.n.${INSIDER}.c.>`, {
    callback: (_, { subject, data }) => {
      const head = readHead(Buffer.from(data)) as SealedHead;
      const [key] = ring.candidates(head.hint) as [Uint8Array];
      const asked = decodeFrame(openFrame(key, head, subject, '', Buffer.from(data)) as Buffer);
      say(`test.v1.n.${head.node}.p.${INSIDER}`, `${INSIDER}/bus`, { ...asked?.body, ...more });
    },
  });
  await connection.flush();
  return { bytes, say, flush: () => connection.flush() };
}
