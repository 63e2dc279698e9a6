// Joins the upstream host to the bus: answers requests for legs where this node has room, and carries commands and reports by
// address. The upstream host itself knows no bus, so that a file can hold a leg directly.

import type { Clock } from '../../../../machines/clock.ts';
import type { LegCommand, LegOpened, LegRefused, OpenLeg } from '../../../../machines/events.ts';
import type { Address, Bus, BusBody, Detach } from '../../../cluster/bus/bus.ts';
import { isOfNode, legActor, OPEN_LEG } from '../../../cluster/bus/subjects.ts';
import type { ShortOf } from '../../../cluster/membership/heartbeat.ts';
import type { Placement } from '../../../cluster/placement.ts';
import { mayBeOfNode } from '../../failover/blame.ts';
import type { LegOwner } from '../leg.ts';
import type { LegHandle, UpstreamHost } from '../upstream-host.ts';
import { FarSession } from './far-session.ts';
import { LegBalance, LegDrain } from './leg-drain.ts';
import { isOpenLeg, needsOf } from './leg-messages.ts';
import { LegWatch } from './leg-watch.ts';

/** What a node knows of itself and of the others, as far as legs go. */
export interface LegSurroundings {
  /** Absent: there is no other node. */
  placement?: Pick<Placement, 'hasOther' | 'others' | 'onNodes'> | undefined;
  /** Of what this node has too little for one more leg of a session on another node. */
  shortOf?(): ShortOf | undefined;
  /** Hears what came of dials. */
  health?: DialHealth;
}

/** Offers this node's upstream host to every session on the bus, until it is closed; legs that are open stay so. */
export class LegService {
  readonly #bus: Bus;
  readonly #upstream: UpstreamHost;
  readonly #surroundings: LegSurroundings;
  /** Transports to sessions on other nodes, each with what ends its leg. */
  readonly #far = new Map<FarSession, () => void>();
  readonly #balance: LegBalance | undefined;
  readonly #drain: LegDrain | undefined;
  readonly #watch: LegWatch;
  #offer: Detach;

  constructor(bus: Bus, upstream: UpstreamHost, surroundings: LegSurroundings = {}) {
    this.#bus = bus;
    this.#upstream = upstream;
    this.#surroundings = surroundings;
    const { placement } = surroundings;
    if (placement !== undefined) {
      this.#balance = new LegBalance(upstream.clock, placement, () => ({
        all: upstream.size,
        movable: [...this.#far.keys()],
      }));
      this.#drain = new LegDrain(upstream.clock, placement, {
        legs: () => this.#far.size,
        serveLocallyOnly: (isLocalOnly) => this.#serveLocallyOnly(isLocalOnly),
      });
    }
    this.#watch = new LegWatch(bus, upstream);
    this.#offer = bus.serve(OPEN_LEG, this.#answer);
  }

  /** Legs of sessions on other nodes. */
  get farLegs(): number {
    return this.#far.size;
  }

  /** The node is going away: see {@link LegDrain}. Without a placement there is no other node, and nothing is done. */
  async drain(): Promise<void> {
    await this.#drain?.begin();
  }

  /** Another node is gone, and its sessions with it. */
  nodeGone(node: string): void {
    for (const [session, lost] of [...this.#far]) if (session.node === node) lost();
  }

  /** The process is about to run out of memory: the newest leg that can have another place is asked to go there. */
  shed(): void {
    if (this.#surroundings.placement?.hasOther() === true)
      [...this.#far.keys()].findLast(({ isExpiring }) => !isExpiring)?.expire();
  }

  close(): void {
    this.#drain?.stop();
    this.#balance?.stop();
    this.#watch.close();
    this.#offer();
  }

  readonly #answer = (body: BusBody, from: Address): LegOpened | LegRefused => {
    if (!isOpenLeg(body)) throw new Error(`No leg can be opened for what was asked: "${body.type}".`);
    if (!this.#upstream.knows(body.slug)) return { type: 'leg.refused', shortOf: 'model' };
    if (isOfNode(body.session, this.#bus.node)) {
      if (from !== body.session) throw new Error('A session of this node asks for its legs itself.');
      return this.#openNear(body);
    }
    const shortOf = this.#surroundings.shortOf?.();
    return shortOf === undefined ? this.#openFar(body) : { type: 'leg.refused', shortOf };
  };

  #openNear(request: OpenLeg): LegOpened {
    const bus = this.#bus;
    const legId = legActor(request.sessionId, request.generation);
    const address = bus.address(legId);
    const session = request.session as Address;
    let leg: LegHandle | undefined;
    // Attached before it is opened: a command may follow the first report at once.
    const detach = bus.attach(legId, ({ from, body, bytes }) => {
      // Every actor of the gateway may send to this address: commands are taken of the leg's own session only.
      if (from === session) leg?.command(body as LegCommand, bytes);
    });
    leg = this.#open(legId, request, {
      report: (report) => {
        const outcome = bus.send(session, address, report);
        // The session has ended, and its leg with it.
        if (outcome === 'unknown_actor' || outcome === 'unknown_node') leg?.dispose();
      },
      gone: detach,
    });
    return { type: 'leg.opened', leg: address };
  }

  #openFar(request: OpenLeg): LegOpened {
    const bus = this.#bus;
    const legId = legActor(request.sessionId, request.generation);
    const address = bus.address(legId);
    let leg: LegHandle | undefined;
    let isLost = false;
    const lost = () => {
      isLost = true;
      leg?.dispose();
    };
    // Attached before it is opened: a command may follow the first report at once.
    const detach = bus.attach(legId, (envelope) => session.take(envelope), lost);
    const session = new FarSession(bus, this.#upstream.clock, address, request, {
      command: (command, bytes) => leg?.command(command, bytes),
      lost,
    });
    this.#far.set(session, lost);
    this.#balance?.start();
    if (this.#drain?.isLocalOnly === true) session.expire();
    leg = this.#open(legId, request, {
      report: (report) => session.report(report),
      gone: () => {
        session.stop();
        detach();
        this.#far.delete(session);
        if (this.#far.size === 0) this.#balance?.stop();
        this.#drain?.legEnded();
      },
    });
    if (isLost) leg.dispose();
    return { type: 'leg.opened', leg: address };
  }

  #open(legId: string, request: OpenLeg, { report, gone }: Pick<LegOwner, 'report' | 'gone'>): LegHandle {
    const { health } = this.#surroundings;
    const { provider, ownKey } = needsOf(request);
    try {
      return this.#upstream.open(legId, request, report, {
        gone,
        starting: (leg, chart) => {
          const { sessionId, generation, slug } = request;
          if (request.watched === true) this.#watch.begin(legId, { sessionId, generation, model: slug }, leg, chart);
        },
        // Whether the provider could be reached is news of this node.
        dialled: (failure) => {
          if (failure === undefined) health?.worked(provider);
          else if (mayBeOfNode(failure, ownKey)) health?.failed(provider);
        },
      });
    } catch (error) {
      gone();
      throw error;
    }
  }

  /** Sessions of this node are served in any case: no other node is nearer to them. */
  #serveLocallyOnly(isLocalOnly: boolean): void {
    const before = this.#offer;
    this.#offer = isLocalOnly ? this.#bus.serveLocal(OPEN_LEG, this.#answer) : this.#bus.serve(OPEN_LEG, this.#answer);
    before();
    if (isLocalOnly) for (const session of [...this.#far.keys()]) session.expire();
  }
}

/** Dials in a row. */
const FAILURES_MIN = 2;
/**
 * Which providers this node could not reach recently, for reasons that may be its own: it tells the others, and they have their
 * legs elsewhere for a while. One dial that fails is chance.
 */
const FAILING_MS = 30_000;

/** By provider: they are a closed set, and so is this. */
export class DialHealth {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #known = new Map<string, { failures: number; untilMs: number }>();

  /** @param onChange a provider could be reached before, and cannot now, or the other way round */
  constructor(clock: Clock, onChange: () => void = () => {}) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  failed(provider: string): void {
    const wasFailing = this.#isFailing(provider);
    const failures = (this.#known.get(provider)?.failures ?? 0) + 1;
    this.#known.set(provider, { failures, untilMs: this.#clock.now() + FAILING_MS });
    if (this.#isFailing(provider) !== wasFailing) this.#onChange();
  }

  worked(provider: string): void {
    const wasFailing = this.#isFailing(provider);
    this.#known.delete(provider);
    if (wasFailing) this.#onChange();
  }

  failing(): string[] {
    return [...this.#known.keys()].filter((provider) => this.#isFailing(provider));
  }

  #isFailing(provider: string): boolean {
    const { failures = 0, untilMs = 0 } = this.#known.get(provider) ?? {};
    return failures >= FAILURES_MIN && this.#clock.now() < untilMs;
  }
}
