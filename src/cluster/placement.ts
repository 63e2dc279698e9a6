// Where to open a leg, from the heartbeats of the other nodes: which nodes can, which to avoid for now, and their load.
import type { Clock } from '../../machines/clock.ts';
import type { Bus, Detach } from './bus/bus.ts';
import type { Heartbeat } from './membership/heartbeat.ts';
import type { Membership } from './membership/membership.ts';

/** How long to wait, after an outage of the bus, for the nodes that were there before. */
export const GRACE_MS = 2_000;

/** What a leg requires of its node. */
export interface LegNeeds {
  provider: string;
  /** With a customer's own key, any node that knows the provider can open it. */
  ownKey: boolean;
}

export interface PlacementRequest extends LegNeeds {
  /** The node that the session has just left; any other is better. */
  avoid?: string | undefined;
  /** Nodes that were asked already. */
  except: ReadonlySet<string>;
}

/** `anybody`: no node that opens legs is known, so ask the service. `nobody`: such nodes are known, and none of them can. */
type Choice = { node: string } | 'anybody' | 'nobody';

export interface Placement {
  choose(request: PlacementRequest): Choice;
  /** The chosen node did not answer. */
  missed(node: string): void;
  /** The node could not reach that provider a moment ago. */
  unreachable(node: string, provider: string): void;
  /** Whether a node can open legs of that provider with the service's credential. True when no such node is known. */
  hasService(provider: string): boolean;
  /** Whether another node opens legs and does not drain. */
  hasOther(): boolean;
  /** The number of legs of each other node that could take such a leg, without a penalty. */
  others(needs: LegNeeds): number[];
  /** Called when any of these may have changed. */
  onNodes(listener: () => void): Detach;
}

interface PlacementOptions {
  members: Pick<Membership, 'node' | 'nodes' | 'onNodes'>;
  bus: Pick<Bus, 'isConnected' | 'onConnection'>;
  clock: Clock;
  random?: () => number;
}

/** What is known of a node beyond its last heartbeat; its next heartbeat includes it and replaces it. */
interface Mark {
  /** Legs that were sent there since. */
  sent: number;
  /** From before an outage of the bus. Its legs were lost, so its number of legs is out of date. */
  isOld: boolean;
  isSilent: boolean;
  failing: Set<string>;
}

const NOBODY: ReadonlySet<string> = new Set();

export function upstreamPlacement({ members, bus, clock, random = Math.random }: PlacementOptions): Placement {
  const marks = new WeakMap<Heartbeat, Mark>();
  let connectedAtMs = clock.now();
  const nodes = () => members.nodes().filter(({ roles }) => roles.includes('upstream'));
  const find = (node: string) => nodes().find((beat) => beat.node === node);
  const markOf = (beat: Heartbeat): Mark => {
    const mark = marks.get(beat) ?? { sent: 0, isOld: false, isSilent: false, failing: new Set() };
    marks.set(beat, mark);
    return mark;
  };
  bus.onConnection((isConnected) => {
    if (!isConnected) return;
    connectedAtMs = clock.now();
    for (const beat of nodes()) Object.assign(markOf(beat), { sent: 0, isOld: true });
  });
  const legsOf = (beat: Heartbeat): number => {
    const { sent = 0, isOld = false } = marks.get(beat) ?? {};
    return (isOld ? 0 : beat.legs) + sent;
  };
  const isNear = ({ node }: Heartbeat) => node === members.node;
  const against = (beat: Heartbeat, { provider, avoid }: Omit<PlacementRequest, 'except'>): number => {
    const { node, upstream, draining } = beat;
    const mark = marks.get(beat);
    const isFailing = mark?.failing.has(provider) === true || upstream?.failing.includes(provider) === true;
    return (
      (upstream?.shortOf ? AGAINST.short : 0) +
      (isFailing ? AGAINST.failing : 0) +
      (mark?.isSilent ? AGAINST.silent : 0) +
      (node === avoid ? AGAINST.left : 0) +
      // Sessions of this node may open legs here until the end.
      (draining && !isNear(beat) ? AGAINST.draining : 0)
    );
  };
  const candidates = (request: PlacementRequest) =>
    nodes()
      .filter((beat) => isAble(beat, request) && !request.except.has(beat.node))
      .map((beat) => ({
        beat,
        node: beat.node,
        legs: legsOf(beat),
        against: against(beat, request),
      }));

  return {
    choose(request) {
      if (nodes().length === 0) return 'anybody';
      const able = candidates(request);
      const near = able.find(({ beat }) => isNear(beat));
      if (near !== undefined && able.every((each) => each.against >= near.against)) return { node: near.node };
      const node = chooseNode(able, random);
      const chosen = able.find((each) => each.node === node);
      if (chosen === undefined) return 'nobody';
      markOf(chosen.beat).sent++;
      return { node: chosen.node };
    },
    missed(node) {
      const beat = find(node);
      if (beat === undefined || isNear(beat)) return;
      const mark = markOf(beat);
      mark.sent = Math.max(0, mark.sent - 1);
      // After an outage nodes come back one by one; do not send every leg to the first one.
      if (bus.isConnected && clock.now() - connectedAtMs >= GRACE_MS) mark.isSilent = true;
    },
    unreachable(node, provider) {
      const beat = find(node);
      if (beat !== undefined && !isNear(beat)) markOf(beat).failing.add(provider);
    },
    hasService(provider) {
      const known = nodes();
      return known.length === 0 || known.some((beat) => isAble(beat, { provider, ownKey: false }));
    },
    hasOther: () => nodes().some((beat) => !isNear(beat) && !beat.draining),
    others: (needs) =>
      candidates({ ...needs, except: NOBODY }).flatMap(({ beat, legs, against }) =>
        isNear(beat) || against > 0 ? [] : [legs],
      ),
    onNodes: (listener) => members.onNodes(listener),
  };
}

/** A node that does not say can open legs of all providers. */
function isAble({ upstream }: Heartbeat, { provider, ownKey }: LegNeeds): boolean {
  if (upstream === undefined) return true;
  return (ownKey ? upstream.providers : upstream.credentials).includes(provider);
}

interface CandidateNode {
  node: string;
  /** Legs in its last heartbeat, and those that were sent there since. */
  legs: number;
  /** A node is only asked when no other has a smaller penalty. */
  against: number;
}

/** Penalties of a node; each outweighs all smaller ones together. */
export const AGAINST = {
  /** It has no room and would refuse. */
  short: 1,
  /** It failed to reach the provider lately. */
  failing: 2,
  /** It did not answer the last request. */
  silent: 4,
  /** The session has just left it, or lost its leg there. */
  left: 8,
  /** It drains. */
  draining: 16,
} as const;

/**
 * Of the nodes with the smallest penalty, two are drawn at random and the one with fewer legs wins (power of two choices).
 * Always taking the least loaded one would overload it until its next heartbeat.
 */
export function chooseNode(candidates: readonly CandidateNode[], random: () => number): string | undefined {
  const least = Math.min(...candidates.map(({ against }) => against));
  const best = candidates.filter(({ against }) => against === least);
  const first = Math.floor(random() * best.length);
  const one = best[first];
  const other = best[(first + 1 + Math.floor(random() * (best.length - 1))) % best.length];
  return one !== undefined && other !== undefined && other.legs < one.legs ? other.node : one?.node;
}

/** A node is overloaded with this many times the mean, and at least this many more. */
const CLEARLY = 1.25;
const CLEARLY_MORE = 4;
/** The part of the excess that moves at a time, and its maximum; the next round sees the effect. */
const PART = 1 / 4;
const MOVED_MAX = 20;

/**
 * How many legs a node asks to move away when it has clearly more than its share.
 *
 * @param own legs here that were not asked to move
 * @param leaving those that were, and are still here
 * @param others legs of each other node that takes more
 */
export function legsToMove(own: number, leaving: number, others: readonly number[]): number {
  const mean = others.reduce((sum, legs) => sum + legs, own + leaving) / (others.length + 1);
  const surplus = own - mean;
  if (surplus < CLEARLY_MORE || own < mean * CLEARLY) return 0;
  return Math.min(MOVED_MAX, Math.ceil(surplus * PART));
}
