// Where legs are best opened, as the members of the gateway are known here: which nodes can, which of them should be left alone
// for now, and how much each has to do. What is made of it is session/leg/leg-dialer.ts and upstream/service/leg-service.ts.
import type { Clock } from '../../../machines/clock.ts';
import type { Bus, Detach } from '../../bus/bus.ts';
import type { Heartbeat } from '../membership/heartbeat.ts';
import type { Membership } from '../membership/membership.ts';
import { AGAINST, chooseNode } from './choose-node.ts';

/** A node that was there before the bus was lost is waited for so long when it is back. */
export const GRACE_MS = 2_000;

/** What a leg needs of its node. */
export interface LegNeeds {
  provider: string;
  /** A customer's own key: any node that knows the provider can open it. */
  ownKey: boolean;
}

export interface LegWish extends LegNeeds {
  /** The session has just left it: any other is better. */
  avoid?: string | undefined;
  /** They were asked already. */
  except: ReadonlySet<string>;
}

/** `anybody`: no node is known that opens legs. `nobody`: of those that are, none can. */
export type Choice = { node: string } | 'anybody' | 'nobody';

export interface Placement {
  choose(wish: LegWish): Choice;
  /** It was chosen, and did not answer. */
  missed(node: string): void;
  /** It could not reach that provider a moment ago. */
  unreachable(node: string, provider: string): void;
  /** Whether a node can open legs of that provider on the service's credential. Where none is known, that is unknown: true. */
  hasService(provider: string): boolean;
  /** Whether another node opens legs, and goes on doing so. */
  hasOther(): boolean;
  /** Legs of each other node that could take such a leg, and that nothing speaks against. */
  others(needs: LegNeeds): number[];
  /** Hears when any of it may be something else than before. */
  onNodes(listener: () => void): Detach;
}

export interface PlacementOptions {
  members: Pick<Membership, 'node' | 'nodes' | 'onNodes'>;
  bus: Pick<Bus, 'isConnected' | 'onConnection'>;
  clock: Clock;
  random?: () => number;
}

/** What is known of a node beside what it says; forgotten with its next heartbeat, which has it in it. */
interface Mark {
  /** Legs that were sent there since. */
  sent: number;
  /** It is from before a loss of the bus, and so is the number of its legs: they were lost with it. */
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
  const against = (beat: Heartbeat, { provider, avoid }: Omit<LegWish, 'except'>): number => {
    const { node, upstream, draining } = beat;
    const mark = marks.get(beat);
    const isFailing = mark?.failing.has(provider) === true || upstream?.failing.includes(provider) === true;
    return (
      (upstream?.shortOf ? AGAINST.short : 0) +
      (isFailing ? AGAINST.failing : 0) +
      (mark?.isSilent ? AGAINST.silent : 0) +
      (node === avoid ? AGAINST.left : 0) +
      // Sessions of this node have their legs here to the last.
      (draining && !isNear(beat) ? AGAINST.draining : 0)
    );
  };
  const candidates = (wish: LegWish) =>
    nodes()
      .filter((beat) => isAble(beat, wish) && !wish.except.has(beat.node))
      .map((beat) => ({
        beat,
        node: beat.node,
        legs: legsOf(beat),
        against: against(beat, wish),
      }));

  return {
    choose(wish) {
      if (nodes().length === 0) return 'anybody';
      const able = candidates(wish);
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
      // After a loss of the bus nodes come back one after the other: whoever is first is not to have everything.
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

/** One that does not say can do everything. */
function isAble({ upstream }: Heartbeat, { provider, ownKey }: LegNeeds): boolean {
  if (upstream === undefined) return true;
  return (ownKey ? upstream.providers : upstream.credentials).includes(provider);
}
