// Lists all nodes from outside the cluster, for the command line: each node that holds a name, its status, and the accounts that
// it keeps; and nodes that the others do not hear any more. The caller needs neither a name nor a role.

import { type Bus, BusError } from '../bus/bus.ts';
import { type Leases, type LeaseValue, NODE_PREFIX, OWNER_PREFIX } from '../bus/leases.ts';
import { NODE_STATUS } from '../bus/subjects.ts';
import { type Heartbeat, type MissingNode, readHeartbeat } from './heartbeat.ts';

/** Nodes that are asked in parallel. */
const ASKED_MAX = 64;

export interface NodeAnswer {
  /** The name that its operator gave it. */
  id: string;
  /** Its incarnation. */
  node: string;
  /** Undefined when it does not answer: it was killed, or hangs. */
  status: Heartbeat | undefined;
  /** What another node knows of one that does not answer. */
  missing?: Pick<MissingNode, 'roles' | 'heardMsAgo'>;
  /** How far its clock is ahead of the caller's (negative: behind), as exactly as the time of the answer allows. */
  skewMs: number;
  /** Shards whose accounts it keeps. */
  accounts: string[];
}

/** All nodes by their id. Rejects with BusError when NATS does not answer. */
export async function callRoll(
  bus: Pick<Bus, 'address' | 'requestOf'>,
  leases: Pick<Leases, 'list'>,
  wallMs: () => number = Date.now,
): Promise<NodeAnswer[]> {
  const [names, owners] = await Promise.all([leases.list(NODE_PREFIX), leases.list(OWNER_PREFIX)]);
  const nodes = names.flatMap(({ name, value }) => {
    const { node } = value;
    return typeof node === 'string' ? [{ id: name.slice(NODE_PREFIX.length), node }] : [];
  });
  const answers: NodeAnswer[] = [];
  for (let first = 0; first < nodes.length; first += ASKED_MAX) {
    const some = nodes.slice(first, first + ASKED_MAX).map(async ({ id, node }): Promise<NodeAnswer> => {
      const askedMs = wallMs();
      const status = await askNode(bus, node);
      const skewMs = status === undefined ? 0 : outside(status.wallMs, askedMs, wallMs());
      const accounts = owners
        .filter(({ value }) => value.node === node)
        .map(({ name }) => name.slice(OWNER_PREFIX.length));
      return { id, node, status, skewMs, accounts };
    });
    answers.push(...(await Promise.all(some)));
  }
  return withMissing(answers);
}

/** Each silent node once, by the node that heard it last. */
function withMissing(answers: readonly NodeAnswer[]): NodeAnswer[] {
  const missing = new Map<string, MissingNode>();
  for (const each of answers.flatMap(({ status }) => status?.missing ?? [])) {
    const known = missing.get(each.id);
    if (known === undefined || each.heardMsAgo < known.heardMsAgo) missing.set(each.id, each);
  }
  const named = answers.map((answer): NodeAnswer => {
    const known = missing.get(answer.id);
    missing.delete(answer.id);
    return answer.status === undefined && known?.node === answer.node ? { ...answer, missing: known } : answer;
  });
  const nameless = [...missing.values()].map(
    (known): NodeAnswer => ({
      id: known.id,
      node: known.node,
      status: undefined,
      missing: known,
      skewMs: 0,
      accounts: [],
    }),
  );
  return [...named, ...nameless].sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** How far the clock lies outside of the time between question and answer. */
function outside(wallMs: number, fromMs: number, toMs: number): number {
  if (wallMs < fromMs) return wallMs - fromMs;
  return Math.max(0, wallMs - toMs);
}

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
