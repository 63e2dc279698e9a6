// Usage that the ledger refused, for an operator: read, and removed once it is dealt with.
import { Subjects } from '../subjects.ts';
import { isMissingStream, jetStreamOf, type LinkedBus, whileConnected } from './common.ts';

export interface RefusedUsage {
  /** Its number in the stream. */
  number: number;
  /** When it was put aside. ISO 8601 UTC. */
  at: string;
  data: Uint8Array;
}

/** The oldest first. Rejects with BusError. */
export function refusedUsage(bus: LinkedBus, shard: string): Promise<RefusedUsage[]> {
  const { stream, subject } = namesOf(bus, shard);
  return whileConnected(bus, 'reading usage that was refused', async () => {
    const { manager } = await jetStreamOf(bus);
    const refused: RefusedUsage[] = [];
    const { state } = await manager.streams.info(stream);
    for (let number = state.first_seq; state.messages > 0 && number <= state.last_seq; number++) {
      const message = await manager.streams.getMessage(stream, { seq: number });
      if (message?.subject !== subject) continue;
      refused.push({ number, at: message.time.toISOString(), data: message.data });
    }
    return refused;
  }).catch((error: unknown) => {
    // Nothing was ever refused.
    if (isMissingStream(error)) return [];
    throw error;
  });
}

/** Resolves with false when there is no such message of that shard. Rejects with BusError. */
export function removeRefusedUsage(bus: LinkedBus, shard: string, number: number): Promise<boolean> {
  const { stream, subject } = namesOf(bus, shard);
  return whileConnected(bus, 'removing usage that was refused', async () => {
    const { manager } = await jetStreamOf(bus);
    const message = await manager.streams.getMessage(stream, { seq: number });
    return message?.subject === subject && (await manager.streams.deleteMessage(stream, number));
  });
}

const namesOf = ({ link: { prefix } }: LinkedBus, shard: string) => ({
  stream: `${prefix}-usage-refused`,
  subject: new Subjects(prefix).refusedUsage(shard),
});
