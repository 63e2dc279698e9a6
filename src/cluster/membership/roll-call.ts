// Who is there, asked from outside: every node that has a name, what it says of itself, and which accounts it keeps. Who asks needs
// no name and no role.
import type { Bus } from '../../bus/bus.ts';
import type { Leases } from '../../bus/leases.ts';
import { OWNER_PREFIX } from '../accounts/ownership.ts';
import { askNode } from './ask-node.ts';
import type { Heartbeat } from './heartbeat.ts';
import { NODE_PREFIX } from './membership.ts';

/** Nodes that are asked at the same time. */
const ASKED_MAX = 64;

export interface NodeAnswer {
  /** How its operator calls it. */
  id: string;
  /** Its incarnation. */
  node: string;
  /** What it says; undefined when it has its name and does not answer: it was killed, or hangs. */
  status: Heartbeat | undefined;
  /** How far its clock is ahead of the one who asks, as far as the time of the answer lets that be known; negative: behind. */
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
  return answers;
}

/** How far it lies outside of the time between asking and being answered. */
function outside(wallMs: number, fromMs: number, toMs: number): number {
  if (wallMs < fromMs) return wallMs - fromMs;
  return Math.max(0, wallMs - toMs);
}
