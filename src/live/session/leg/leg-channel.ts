// The transport between a session and one leg, its current or its spare one, on this node or another: asks for the leg, knows it by its address, carries
// commands to it and checks that its reports come whole and in order. What a report means, and which audio goes when, is not known here.

import type { Clock } from '../../../../machines/clock.ts';
import type { DemandedFault, FarReport, LegCommand, LegFailure } from '../../../../machines/events.ts';
import { BYTES_PER_SAMPLE } from '../../../api/audio-formats.ts';
import { providerOf } from '../../../api/slug.ts';
import type { Address, Bus, Detach, Envelope } from '../../../cluster/bus/bus.ts';
import { isOfNode, nodeOf } from '../../../cluster/bus/subjects.ts';
import { IdleTimer } from '../../../runtime/timeouts.ts';
import type { LiveTiming } from '../../../vendors/kit/provider.ts';
import { mayBeOfNode } from '../../failover/blame.ts';
import type { ResolvedCandidate } from '../../failover/chain.ts';
import { isFarReport, needsOf } from '../../upstream/service/leg-messages.ts';
import type { AudioAccount } from '../billing/audio-account.ts';
import type { EventWriter } from '../event-writer.ts';
import type { SessionDependencies, SessionOpening } from '../session-opening.ts';
import type { Signals } from '../signals.ts';
import type { SessionLog } from '../watch/session-log.ts';
import { LegDialer, legLost, legSilent, lostReport, openLegOf } from './leg-dialer.ts';

/** No leg has this generation. */
const NO_LEG = 0;
/** Nodes that dial a provider before the session hears that it cannot be reached. */
const NODES_TRIED_MAX = 3;
/** A client learns that its audio waits for a node when it has waited for this long. */
const WAITING_MS = 2_000;
/** Audio on its way to another node that the leg has not acknowledged. */
const UNACKNOWLEDGED_BYTES_MAX = 262_144;
/** A leg on another node receives a sign of life when it was sent nothing else for this long. */
const ALIVE_MS = 2_000;
/** A leg that sends nothing for two of these is lost. Two: a process that was suspended itself first reads what has arrived. */
const SILENCE_CHECK_MS = 1_500;

/** Why audio waits, as the client is told it. */
const AWAY = 'the part of the gateway that connects to it is away';

/** What the session hears of its leg. */
export type Report = Exclude<FarReport, { type: 'leg.pulse' }>;

/** The model whose provider was told to fail, for as long as the session lasts. */
export interface BrokenModel {
  slug: string | undefined;
  fault: DemandedFault | undefined;
}

export interface LegChannelCalls {
  /** Each report of the leg, once and in order. */
  report(report: Report): void;
  /** The leg is lost, or could not be opened. */
  failed(failure: LegFailure): void;
}

export interface LegChannelParts {
  log: SessionLog;
  account: Pick<AudioAccount, 'isOwed'>;
  events: Pick<EventWriter, 'waiting'>;
  signals: Signals;
}

export class LegChannel {
  readonly #opening: SessionOpening;
  readonly #dependencies: SessionDependencies;
  readonly #log: SessionLog;
  readonly #signals: Signals;
  readonly #calls: LegChannelCalls;
  readonly #broken: BrokenModel;
  readonly #session: Address;
  #current = NO_LEG;
  /** The same on the bus: a spare leg keeps the number that it was opened with. */
  #generation = NO_LEG;
  /** Neither client nor watchers learn of it. */
  #isSpare = false;
  #requestedMs = 0;
  #readyMs = 0;
  #frameBytesMax = 0;
  #reports = 0;
  #asking: LegDialer | undefined;
  /** The leg: the address that the first report of this generation, or the answer to the request, came from. */
  #leg: Address | undefined;
  /** Where that is on another node. */
  #far: FarLeg | undefined;
  /** The node that the leg before was lost on, or asked to leave. */
  #avoid: string | undefined;
  /** Nodes that could not reach the provider for this leg, and what the last of them said. */
  #tried = new Set<string>();
  #lastFailure: LegFailure | undefined;
  #isReady = false;
  /** Its provider has said that it is simulated. */
  #isSimulated = false;
  #member: ResolvedCandidate | undefined;
  readonly #waiting: WaitWatch;
  /** The session hears nothing any more. */
  readonly detach: Detach;

  /** @param actor the session as its leg knows it */
  constructor(
    opening: SessionOpening,
    dependencies: SessionDependencies,
    { log, account, events, signals }: LegChannelParts,
    calls: LegChannelCalls,
    broken: BrokenModel,
    actor: string,
  ) {
    this.#log = log;
    this.#opening = opening;
    this.#dependencies = dependencies;
    this.#signals = signals;
    this.#calls = calls;
    this.#broken = broken;
    this.#session = dependencies.bus.address(actor);
    this.#waiting = new WaitWatch(
      dependencies.clock,
      () => account.isOwed && this.#member !== undefined && events.waiting(this.#member.slug, AWAY),
    );
    this.detach = dependencies.bus.attach(
      actor,
      (envelope) => this.#receive(envelope),
      (to) => this.#undelivered(to),
    );
  }

  /** The leg's number in its session. */
  get generation(): number {
    return this.#current;
  }

  /** Whether no audio may follow before the leg has acknowledged what is in flight. */
  get isFull(): boolean {
    return this.#far?.isFull === true;
  }

  /** Whether it is on another node. */
  get isFar(): boolean {
    return this.#far !== undefined;
  }

  /** From now on another leg is meant; it is not asked for yet. */
  begin(member: ResolvedCandidate, generation: number): void {
    this.#log.legs.begin(member.slug, generation);
    this.#isSpare = false;
    this.#begin(member, generation);
  }

  /** The same of a leg that is opened ahead of time. */
  beginSpare(member: ResolvedCandidate, generation: number): void {
    this.#isSpare = true;
    this.#begin(member, generation);
  }

  /** The spare leg, which is ready, is the session's current one from now on, under that number. */
  becomeCurrent(generation: number): void {
    const { legs } = this.#log;
    this.#isSpare = false;
    this.#current = generation;
    if (this.#member === undefined || this.#leg === undefined) return;
    legs.begin(this.#member.slug, this.#generation);
    legs.requested(this.#requestedMs);
    legs.opened(this.#leg);
    if (this.#isSimulated) legs.simulated();
    legs.ready(this.#readyMs);
    this.#log.placing = 'placed';
  }

  #begin(member: ResolvedCandidate, generation: number): void {
    this.#member = member;
    this.#current = generation;
    this.#generation = generation;
    this.#reports = 0;
    this.#isReady = false;
    this.#isSimulated = false;
    this.#tried = new Set();
    this.#lastFailure = undefined;
  }

  /** Asks for it. */
  dial(member: ResolvedCandidate, timing: LiveTiming): void {
    this.#member = member;
    this.#requestedMs = this.#dependencies.clock.now();
    this.#frameBytesMax = frameBytesMax(timing, member.sampleRate);
    if (!this.#isSpare) {
      this.#log.legs.requested(this.#requestedMs);
      this.#waiting.begin();
    }
    this.#ask(member);
  }

  #ask(member: ResolvedCandidate): void {
    const { bus, clock, placement, onFault } = this.#dependencies;
    const isWatched = this.#log.reader !== undefined;
    const request = openLegOf(this.#opening, member, this.#session, this.#generation, isWatched);
    const placementRequest = { ...needsOf(request), avoid: this.#avoid, except: this.#tried };
    this.#asking = new LegDialer(
      { bus, clock, request, placementRequest, placement },
      {
        stands: (state) => {
          if (this.#leg === undefined && !this.#isSpare) this.#log.placing = state;
        },
        opened: (leg) => {
          if (this.#leg === undefined) this.#meet(leg);
          else if (this.#leg !== leg) this.#dismiss(leg);
        },
        failed: (failure, error) => {
          if (this.#lastFailure === undefined && !this.#isSpare) onFault(this.#opening.sessionId, 'openLeg', error);
          if (this.#leg === undefined) this.#calls.failed(this.#lastFailure ?? failure);
        },
      },
    );
  }

  command(command: LegCommand, bytes?: Uint8Array): void {
    if (this.#far !== undefined) this.#far.command(command, bytes);
    else if (this.#leg !== undefined) this.#dependencies.bus.send(this.#leg, this.#session, command, bytes);
  }

  /** Tells a simulated provider to fail, and again when it is tried again; a real one is told nothing. Gives whether it was told. */
  breakDown(fault: DemandedFault): boolean {
    if (!this.#isSimulated || this.#leg === undefined) return false;
    this.#broken.slug = this.#member?.slug;
    this.#broken.fault = fault;
    this.command({ type: 'leg.break', fault });
    return true;
  }

  /** Whether the leg fails because it was told to. */
  get isBroken(): boolean {
    return this.#broken.fault !== undefined && this.#broken.slug === this.#member?.slug;
  }

  #receive(envelope: Envelope): void {
    try {
      const report = this.#take(envelope);
      if (report !== undefined) this.#calls.report(report);
    } catch (error) {
      this.#signals.emit('fault', 'report', error);
    }
  }

  /** What arrived on the bus, where it is a report of this leg and the next one. */
  #take({ from, body }: Envelope): Report | undefined {
    const { bus, totals } = this.#dependencies;
    if (!isOfNode(from, bus.node) && !isFarReport(body)) {
      totals.dropped('bad_report');
      return undefined;
    }
    const report = body as FarReport;
    const isOther = this.#leg === undefined ? this.#tried.has(nodeOf(from)) : from !== this.#leg;
    if (report.generation !== this.#generation || isOther) {
      // A retired leg: whatever it still says was, or will be, said by another. It may have been opened too late to hear
      // that it was released.
      totals.dropped('late_report');
      this.#dismiss(from);
      return undefined;
    }
    if (this.#leg === undefined) this.#meet(from);
    this.#far?.heard();
    if (report.type === 'leg.pulse') {
      this.#far?.pulse(report, this.#reports);
      return undefined;
    }
    this.#reports++;
    if (report.sequence !== this.#reports) {
      this.#calls.failed(lostReport);
      return undefined;
    }
    if (report.type === 'leg.failed' && !this.#isReady) return this.#unreached(report, nodeOf(from));
    if (report.type === 'leg.expiring') this.#avoid = nodeOf(from);
    return report;
  }

  /** Its provider has said that it is simulated. */
  simulated(): void {
    if (!this.#isSpare) this.#log.legs.simulated();
    this.#isSimulated = true;
    if (this.#isReady) this.#breakAgain();
  }

  /** The model that is broken for this session stays so, where there is another one to continue with. */
  #breakAgain(): void {
    if (this.isBroken && this.#opening.chain.length > 1)
      this.breakDown(this.#broken.fault === 'error' ? 'error' : 'drop');
  }

  /** The leg works. */
  ready(): void {
    this.#isReady = true;
    this.#breakAgain();
    this.#avoid = undefined;
    this.#readyMs = this.#dependencies.clock.now();
    if (this.#isSpare) return;
    this.#log.legs.ready(this.#readyMs);
    this.#waiting.over();
  }

  /** What may be that node's own failure is tried on another one, and the session hears of it when there is none. */
  #unreached(report: Extract<Report, { type: 'leg.failed' }>, node: string): Report | undefined {
    const member = this.#member;
    const { placement } = this.#dependencies;
    if (member === undefined || !mayBeOfNode(report.failure, member.own)) return report;
    this.#tried.add(node);
    const failure: LegFailure = this.#tried.size > 1 ? { ...report.failure, confirmed: true } : report.failure;
    if (placement === undefined || this.#tried.size === NODES_TRIED_MAX) return { ...report, failure };
    placement.unreachable(node, providerOf(member.slug));
    this.#lastFailure = failure;
    if (!this.#isSpare) this.#log.legs.moved();
    this.#release();
    this.#reports = 0;
    this.#ask(member);
    return undefined;
  }

  /** Releases the leg. What it still says is dropped. */
  close(): void {
    this.#current = NO_LEG;
    this.#generation = NO_LEG;
    const leg = this.#leg;
    if (!this.#isSpare) {
      this.#log.placing = 'none';
      this.#waiting.pause();
      this.#log.legs.closed();
    }
    this.#release();
    if (leg !== undefined) this.#dismiss(leg);
  }

  #release(): void {
    this.#asking?.stop();
    this.#asking = undefined;
    this.#far?.stop();
    this.#far = undefined;
    this.#leg = undefined;
  }

  /** A message to that address was accepted, and did not arrive. */
  #undelivered(to: Address): void {
    if (to === this.#leg) this.#far?.lost();
  }

  /** Another node is gone, and what was there with it. */
  nodeGone(node: string): void {
    if (this.#leg !== undefined && isOfNode(this.#leg, node)) this.#far?.lost();
  }

  /** This is the leg: on this node, or on another, where more can go wrong than with its provider. */
  #meet(leg: Address): void {
    const { bus, clock } = this.#dependencies;
    this.#leg = leg;
    if (!this.#isSpare) {
      this.#log.placing = 'placed';
      this.#log.legs.opened(leg);
      this.#waiting.opened();
    }
    if (isOfNode(leg, bus.node)) return;
    this.#far = new FarLeg(bus, clock, leg, this.#session, this.#frameBytesMax, {
      failed: (failure) => {
        // Where the bus is away, that says nothing of the node.
        if (bus.isConnected) this.#avoid = nodeOf(leg);
        if (failure === legSilent) this.#dependencies.placement?.missed(nodeOf(leg));
        this.#calls.failed(failure);
      },
      room: () => this.#signals.emit('audioAllowed'),
    });
  }

  /** Let go of, or another came first. */
  #dismiss(leg: Address): void {
    this.#dependencies.bus.send(leg, this.#session, { type: 'leg.close' });
  }
}

/** The largest frame of audio that such a leg is sent. */
const frameBytesMax = ({ frame }: LiveTiming, sampleRate: number): number =>
  Math.ceil((frame.maxMs * sampleRate) / 1000) * BYTES_PER_SAMPLE;

interface FarLegCalls {
  failed(failure: LegFailure): void;
  /** Audio was acknowledged: more may go. */
  room(): void;
}

/**
 * The transport to a leg on another node: numbers the commands, bounds the audio on its way, sends signs of life, and notices when the
 * leg sends none. The bus may lose, repeat and reorder messages; each of these ends the leg, and no sample is lost.
 */
class FarLeg {
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #leg: Address;
  readonly #session: Address;
  readonly #calls: FarLegCalls;
  /** The next frame may be as large as this. */
  readonly #frameBytesMax: number;
  #commands = 0;
  #sentBytes = 0;
  #takenBytes = 0;
  #alive: IdleTimer | undefined;
  #look: IdleTimer | undefined;
  #looks = 0;
  #over = false;

  constructor(bus: Bus, clock: Clock, leg: Address, session: Address, frameBytesMax: number, calls: FarLegCalls) {
    this.#bus = bus;
    this.#clock = clock;
    this.#leg = leg;
    this.#session = session;
    this.#frameBytesMax = frameBytesMax;
    this.#calls = calls;
    this.#stayAlive();
    this.#watch();
  }

  /** Whether no frame may follow before audio is acknowledged. */
  get isFull(): boolean {
    const underWay = this.#sentBytes - this.#takenBytes;
    return underWay > 0 && underWay + this.#frameBytesMax > UNACKNOWLEDGED_BYTES_MAX;
  }

  command(command: LegCommand | { type: 'leg.alive' }, bytes?: Uint8Array): void {
    if (this.#over) return;
    this.#commands++;
    this.#sentBytes += bytes?.byteLength ?? 0;
    this.#alive?.touch();
    const numbered = { ...command, number: this.#commands };
    if (this.#bus.send(this.#leg, this.#session, numbered, bytes) !== 'accepted') this.#fail(legLost);
  }

  /** The leg said something. */
  heard(): void {
    this.#looks = 0;
    this.#look?.touch();
  }

  /** The leg is there, and has taken so much. `reports` is how many others of its reports have come. */
  pulse({ sequence, audioBytes }: Extract<FarReport, { type: 'leg.pulse' }>, reports: number): void {
    const isPossible = audioBytes >= this.#takenBytes && audioBytes <= this.#sentBytes;
    if (sequence !== reports || !isPossible) {
      this.#fail(lostReport);
      return;
    }
    if (audioBytes === this.#takenBytes) return;
    this.#takenBytes = audioBytes;
    this.#calls.room();
  }

  /** The leg's node is gone, or a message to it did not arrive. */
  lost(): void {
    this.#fail(legLost);
  }

  /** Says nothing any more, and notices nothing. */
  stop(): void {
    this.#over = true;
    this.#alive?.stop();
    this.#look?.stop();
  }

  #fail(failure: LegFailure): void {
    if (this.#over) return;
    this.stop();
    this.#calls.failed(failure);
  }

  #stayAlive(): void {
    this.#alive = new IdleTimer(this.#clock, ALIVE_MS, () => {
      this.#stayAlive();
      this.command({ type: 'leg.alive' });
    });
  }

  #watch(): void {
    this.#look = new IdleTimer(this.#clock, SILENCE_CHECK_MS, () => {
      this.#looks++;
      if (this.#looks === 2) this.#fail(legSilent);
      else this.#watch();
    });
  }
}

/** When a client learns that its audio waits because no node can be asked for a leg: once in each wait, and only while audio waits. */
class WaitWatch {
  readonly #clock: Clock;
  readonly #tell: () => boolean;
  #timer: unknown;
  #sinceMs: number | undefined;
  #told = false;

  /** @param tell gives whether there was anything to tell of */
  constructor(clock: Clock, tell: () => boolean) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** A node is asked for a leg. */
  begin(): void {
    if (this.#told) return;
    const nowMs = this.#clock.now();
    this.#sinceMs ??= nowMs;
    this.#timer ??= this.#clock.setTimeout(
      () => {
        this.#timer = undefined;
        this.#sinceMs = undefined;
        this.#told = this.#tell();
        this.begin();
      },
      Math.max(0, this.#sinceMs + WAITING_MS - nowMs),
    );
  }

  /** No node is being asked now; the next request continues the same wait. */
  pause(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** A node has opened one: what is waited for from now on is its provider. */
  opened(): void {
    this.pause();
    this.#sinceMs = undefined;
  }

  /** The leg works: the next wait is another. */
  over(): void {
    this.#told = false;
  }
}
