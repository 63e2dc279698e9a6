// The line between a session and its leg, on this node or another: asks for the leg, knows it by its address, carries commands
// to it and checks that its reports come whole and in order. What a report means, and which audio goes when, is not known here.
import type { FarReport, LegCommand, LegFailure } from '../../machines/events.ts';
import type { Address, Envelope } from '../bus/bus.ts';
import { isOfNode, nodeOf } from '../bus/subjects.ts';
import type { LiveTiming } from '../providers/provider.ts';
import type { ChainMember } from './chain.ts';
import { FarLeg, frameBytesMax } from './far-leg.ts';
import type { SessionDependencies } from './host.ts';
import { LegDial } from './leg-dial.ts';
import { isFarReport } from './leg-messages.ts';
import { legSilent, lostReport, openLegOf } from './open-leg.ts';
import type { SessionOpening } from './session-opening.ts';

/** No leg has this generation. */
const NO_LEG = 0;

export type Told = Exclude<FarReport, { type: 'leg.pulse' }>;

export interface LegLineCalls {
  failed(generation: number, failure: LegFailure): void;
  /** The leg takes more than it did. */
  room(): void;
}

export class LegLine {
  private readonly opening: SessionOpening;
  private readonly dependencies: SessionDependencies;
  private readonly calls: LegLineCalls;
  private readonly session: Address;
  private current = NO_LEG;
  private frameBytesMax = 0;
  private reports = 0;
  private asking: LegDial | undefined;
  /** Whoever said the first of this generation: its leg. */
  private leg: Address | undefined;
  /** Where that is on another node. */
  private far: FarLeg | undefined;
  /** The node that nothing was heard of any more when the leg before was lost. */
  private silent: string | undefined;

  constructor(opening: SessionOpening, dependencies: SessionDependencies, calls: LegLineCalls) {
    this.opening = opening;
    this.dependencies = dependencies;
    this.calls = calls;
    this.session = dependencies.bus.address(opening.sessionId);
  }

  /** The leg's number in its session. */
  get generation(): number {
    return this.current;
  }

  /** Whether no audio may follow before the leg has acknowledged what is under way. */
  get isFull(): boolean {
    return this.far?.isFull === true;
  }

  /** From now on another leg is meant; nobody is asked for it yet. */
  begin(generation: number): void {
    this.current = generation;
    this.reports = 0;
  }

  /** Asks for it. */
  dial(member: ChainMember, timing: LiveTiming): void {
    const { bus, clock, lively, onFault } = this.dependencies;
    const generation = this.current;
    this.frameBytesMax = frameBytesMax(timing, member.sampleRate);
    const request = openLegOf(this.opening, member, this.session, generation);
    const node = this.silent === undefined ? undefined : lively.other(this.silent, clock.now());
    this.asking = new LegDial(bus, clock, request, node, {
      opened: (leg) => {
        if (this.leg === undefined) this.meet(leg);
        else if (this.leg !== leg) this.dismiss(leg);
      },
      failed: (failure, error) => {
        onFault(this.opening.sessionId, 'openLeg', error);
        if (this.leg === undefined) this.calls.failed(generation, failure);
      },
    });
  }

  command(command: LegCommand, bytes?: Uint8Array): void {
    if (this.far !== undefined) this.far.command(command, bytes);
    else if (this.leg !== undefined) this.dependencies.bus.send(this.leg, this.session, command, bytes);
  }

  /** What arrived on the bus, where it is a report of this leg and the next one. */
  take({ from, body }: Envelope): Told | undefined {
    const { bus, clock, lively, totals } = this.dependencies;
    if (!isOfNode(from, bus.node) && !isFarReport(body)) {
      totals.dropped('bad_report');
      return undefined;
    }
    const report = body as FarReport;
    if (report.generation !== this.current || (this.leg !== undefined && from !== this.leg)) {
      // A retired leg: whatever it still says was, or will be, said by another. It may have been opened too late to hear
      // that it was let go of.
      totals.dropped('late_report');
      this.dismiss(from);
      return undefined;
    }
    if (this.leg === undefined) this.meet(from);
    if (this.far !== undefined) {
      this.far.heard();
      lively.heard(nodeOf(from), clock.now());
    }
    if (report.type === 'leg.pulse') {
      this.far?.pulse(report, this.reports);
      return undefined;
    }
    this.reports++;
    if (report.sequence === this.reports) return report;
    this.calls.failed(report.generation, lostReport);
    return undefined;
  }

  /** The leg works. */
  ready(): void {
    this.silent = undefined;
  }

  /** Lets go of the leg. What it still says is dropped. */
  close(): void {
    this.current = NO_LEG;
    this.asking?.stop();
    this.asking = undefined;
    this.far?.stop();
    this.far = undefined;
    if (this.leg !== undefined) this.dismiss(this.leg);
    this.leg = undefined;
  }

  /** A letter to that address was accepted, and did not arrive. */
  readonly undelivered = (to: Address): void => {
    if (to === this.leg) this.far?.lost();
  };

  /** Another node is gone, and what was there with it. */
  nodeGone(node: string): void {
    if (this.leg !== undefined && isOfNode(this.leg, node)) this.far?.lost();
  }

  /** This is the leg: on this node, or on another, where more can go wrong than with its provider. */
  private meet(leg: Address): void {
    const { bus, clock } = this.dependencies;
    const generation = this.current;
    this.leg = leg;
    if (isOfNode(leg, bus.node)) return;
    this.far = new FarLeg(bus, clock, leg, this.session, this.frameBytesMax, {
      failed: (failure) => {
        if (failure === legSilent) this.silent = nodeOf(leg);
        this.calls.failed(generation, failure);
      },
      room: () => this.calls.room(),
    });
  }

  /** Let go of, or another came first. */
  private dismiss(leg: Address): void {
    this.dependencies.bus.send(leg, this.session, { type: 'leg.close' });
  }
}
