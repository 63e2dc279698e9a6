// Asks one node for its status.
import { type Bus, BusError } from '../bus/bus.ts';
import type { LeaseValue } from '../bus/leases.ts';
import { NODE_STATUS } from '../bus/subjects.ts';
import { type Heartbeat, readHeartbeat } from './heartbeat.ts';

const ANSWER_MS = 2000;

type Asking = Pick<Bus, 'node' | 'address' | 'requestOf'>;

/** Undefined when it does not answer, or not with a status. `node` is its incarnation. */
export async function askNode(
  bus: Pick<Asking, 'address' | 'requestOf'>,
  node: string,
): Promise<Heartbeat | undefined> {
  try {
    return readHeartbeat(await bus.requestOf(node, NODE_STATUS, bus.address('roll'), { type: NODE_STATUS }, ANSWER_MS));
  } catch (error) {
    if (error instanceof BusError) return undefined;
    throw error;
  }
}

/** Whether the holder in a lease's value is another node that runs and has that name. A lease's value alone proves nothing. */
export async function isCalled(bus: Asking, id: string, { node }: LeaseValue): Promise<boolean> {
  if (typeof node !== 'string' || node === bus.node) return false;
  const status = await askNode(bus, node);
  return status?.node === node && status.id === id;
}
