// Joins the upstream host to the bus: answers requests for legs where this node has room, and carries commands and reports by
// address. The upstream host itself knows no bus, so that a batch job can hold a leg directly.
import type { LegCommand, LegOpened, LegRefused, LegReport, OpenLeg } from '../../../machines/events.ts';
import type { Address, Bus, BusBody, Detach } from '../../bus/bus.ts';
import { isOfNode, legActor, OPEN_LEG } from '../../bus/subjects.ts';
import type { Placement } from '../../cluster/placement/placement.ts';
import type { ShortOf } from '../../cluster/placement/upstream-state.ts';
import { mayBeOfNode } from '../../failover/node-failure.ts';
import type { LegHandle, UpstreamHost } from '../upstream-host.ts';
import type { DialHealth } from './dial-health.ts';
import { FarSession } from './far-session.ts';
import { LegBalance } from './leg-balance.ts';
import { isOpenLeg } from './leg-messages.ts';
import { needsOf } from './leg-needs.ts';

/** A session whose leg has ended asks for the next one within this time, and a node that is alone is still there for it. */
const LINGER_MS = 3_000;

/** What a node knows of itself and of the others, as far as legs go. */
export interface LegSurroundings {
  /** Absent: there is no other node. */
  placement?: Pick<Placement, 'hasOther' | 'others' | 'onNodes'> | undefined;
  /** Of what this node has too little for one more leg of a session on another node. */
  shortOf?(): ShortOf | undefined;
  /** Hears what came of dials. */
  health?: DialHealth;
}

/** Called as a function it takes the offer back; legs that are open stay so. */
export interface LegService extends Detach {
  /**
   * The node is going away: as soon as there is another that opens legs, this one opens none for sessions on other nodes any
   * more, and asks them to have theirs there, at the end of a turn. Until then they have nobody else. Resolves when none of
   * theirs is left. Its own sessions have their legs here to the last. Without a placement there is nobody else: nothing is done.
   */
  drain(): Promise<void>;
  /** Another node is gone, and its sessions with it. */
  nodeGone(node: string): void;
  /** The process is about to run out of memory: the newest leg that can have another place is asked to go there. */
  shed(): void;
  /** Legs of sessions on other nodes. */
  farLegs(): number;
}

/** Offers this node's upstream host to every session on the bus. */
export function serveLegs(bus: Bus, upstream: UpstreamHost, surroundings: LegSurroundings = {}): LegService {
  const { placement, shortOf, health } = surroundings;
  /** Transports to sessions on other nodes, each with what ends its leg. */
  const far = new Map<FarSession, () => void>();
  let drained: Promise<void> | undefined;
  /** Whether sessions on other nodes are to have their legs elsewhere. */
  let hasRetreated = false;
  let isWithdrawn = false;
  let unlisten: Detach = () => {};
  let wake = () => {};
  /** When the last leg of a session on another node has ended. */
  let endedAtMs = Number.NEGATIVE_INFINITY;
  const balance =
    placement && new LegBalance(upstream.clock, placement, () => ({ all: upstream.size, movable: [...far.keys()] }));

  const openFar = (request: OpenLeg): LegOpened => {
    const legId = legActor(request.sessionId, request.generation);
    const address = bus.address(legId);
    let leg: LegHandle | undefined;
    let isLost = false;
    const lost = () => {
      isLost = true;
      leg?.dispose();
    };
    // Attached before it is opened: a command may follow the first report at once.
    const leave = bus.attach(legId, (envelope) => session.take(envelope), lost);
    const session = new FarSession(bus, upstream.clock, address, request, {
      command: (command, bytes) => leg?.command(command, bytes),
      lost,
    });
    const gone = () => {
      session.stop();
      leave();
      far.delete(session);
      endedAtMs = upstream.clock.now();
      if (far.size > 0) return;
      balance?.stop();
      wake();
    };
    far.set(session, lost);
    balance?.start();
    if (hasRetreated) session.expire();
    const report = watched(health, request, (report) => session.report(report));
    leg = opened(() => upstream.open(legId, request, report, gone), gone);
    if (isLost) leg.dispose();
    return { type: 'leg.opened', leg: address };
  };

  const answer = (body: BusBody, from: Address): LegOpened | LegRefused => {
    if (!isOpenLeg(body)) throw new Error(`No leg can be opened for what was asked: "${body.type}".`);
    if (isOfNode(body.session, bus.node)) {
      if (from !== body.session) throw new Error('A session of this node asks for its legs itself.');
      return openNear(bus, upstream, body, health);
    }
    const short = shortOf?.();
    return short === undefined ? openFar(body) : refusalFor(short);
  };
  let offer = bus.serve(OPEN_LEG, answer);

  /** Its own sessions have nobody nearer, so they are served all the same. */
  const serveNearOnly = (isNearOnly: boolean) => {
    if (hasRetreated === isNearOnly || isWithdrawn) return;
    hasRetreated = isNearOnly;
    const before = offer;
    offer = isNearOnly ? bus.serveNear(OPEN_LEG, answer) : bus.serve(OPEN_LEG, answer);
    before();
    if (!isNearOnly) return;
    for (const session of [...far.keys()]) session.expire();
    if (far.size === 0) wake();
  };

  /** Resolves when the last leg has gone, or another node has come, or that time has passed. */
  const change = (withinMs: number | undefined) =>
    new Promise<void>((resolve) => {
      const timer = withinMs === undefined ? undefined : upstream.clock.setTimeout(resolve, withinMs);
      wake = () => {
        upstream.clock.clearTimeout(timer);
        resolve();
      };
    });

  const leave = async ({ hasOther, onNodes }: Pick<Placement, 'hasOther' | 'onNodes'>): Promise<void> => {
    // The others may go away as well, at the same moment.
    const look = () => serveNearOnly(hasOther());
    unlisten = onNodes(look);
    look();
    while (!isWithdrawn) {
      const restMs = hasRetreated ? 0 : endedAtMs + LINGER_MS - upstream.clock.now();
      if (far.size === 0 && restMs <= 0) break;
      await change(far.size === 0 ? restMs : undefined);
    }
    unlisten();
    serveNearOnly(true);
  };
  const detach = () => {
    isWithdrawn = true;
    unlisten();
    balance?.stop();
    wake();
    offer();
  };

  return Object.assign(detach, {
    drain: () => {
      drained ??= placement === undefined ? Promise.resolve() : leave(placement);
      return drained;
    },
    nodeGone: (node: string) => {
      for (const [session, lost] of [...far]) if (session.node === node) lost();
    },
    shed: () => {
      if (placement?.hasOther() === true) [...far.keys()].findLast(({ isExpiring }) => !isExpiring)?.expire();
    },
    farLegs: () => far.size,
  });
}

function openNear(bus: Bus, upstream: UpstreamHost, request: OpenLeg, health: DialHealth | undefined): LegOpened {
  const legId = legActor(request.sessionId, request.generation);
  const address = bus.address(legId);
  const session = request.session as Address;
  let leg: LegHandle | undefined;
  // Attached before it is opened: a command may follow the first report at once.
  const detach = bus.attach(legId, ({ from, body, bytes }) => {
    // Anybody may write here, from anywhere: the session alone has something to say, and it is near.
    if (from === session) leg?.command(body as LegCommand, bytes);
  });
  const report = watched(health, request, (message) => {
    const outcome = bus.send(session, address, message);
    // Nobody is there to hear it any more: the session has ended, and its leg with it.
    if (outcome === 'unknown_actor' || outcome === 'unknown_node') leg?.dispose();
  });
  leg = opened(() => upstream.open(legId, request, report, detach), detach);
  return { type: 'leg.opened', leg: address };
}

function opened(open: () => LegHandle, close: () => void): LegHandle {
  try {
    return open();
  } catch (error) {
    close();
    throw error;
  }
}

/** Whether the provider could be reached is news of this node, until the leg is ready. */
function watched(
  health: DialHealth | undefined,
  request: OpenLeg,
  report: (report: LegReport) => void,
): (report: LegReport) => void {
  if (health === undefined) return report;
  const { provider, ownKey } = needsOf(request);
  let isReady = false;
  return (message) => {
    if (message.type === 'leg.ready') {
      isReady = true;
      health.worked(provider);
    } else if (message.type === 'leg.failed' && !isReady && mayBeOfNode(message.failure, ownKey))
      health.failed(provider);
    report(message);
  };
}

const refusalFor = (shortOf: ShortOf): LegRefused => ({ type: 'leg.refused', shortOf });
