// A session's end of its current leg: opens it over the bus, hands it audio at its pace, numbers what goes, checks what
// comes, and notices when it has gone quiet. What a report means for turns and failover is the session's business.
import type { Heard, LegCommand, LegFailure, LegOpened, LegReport } from '../../machines/events.ts';
import type { AudioPipeline } from '../audio/pipeline.ts';
import type { Address, Envelope } from '../bus/bus.ts';
import { legActor, OPEN_LEG } from '../bus/subjects.ts';
import type { LiveTiming } from '../providers/provider.ts';
import type { Ticket } from './admission.ts';
import { Attempt, circuitOpen } from './attempt.ts';
import type { ChainMember } from './chain.ts';
import { Endpointer } from './endpointer.ts';
import type { SessionDependencies } from './host.ts';
import { lostReport, openLegOf, unopened } from './open-leg.ts';
import type { SessionOpening } from './session-opening.ts';
import { StallWatch } from './stall-watch.ts';
import { TurnEnds } from './turn-ends.ts';

/** Audio handed to the leg before others get their turn of the event loop. */
const PUMP_BYTES_MAX = 262_144;
const OPEN_LEG_TIMEOUT_MS = 5_000;
/** Before a provider's limit on a session: time to find the end of a turn, and to connect anew. */
const EXPIRY_MARGIN_MS = 60_000;
/** No leg has this generation. */
const NO_LEG = 0;

/** What the session hears of its leg. */
export interface LegLinkListener {
  ready(generation: number): void;
  heard(heard: Heard): void;
  failed(generation: number, failure: LegFailure): void;
  finished(generation: number): void;
  /** The provider's limit on the leg's duration is near. */
  expiring(generation: number): void;
  /** The audio has ended and the leg was given all of it. Once for each leg. */
  drained(): void;
  /** Audio was given to the leg. */
  sent(): void;
  /** Audio is there, and may go no further for want of money. */
  starved(): void;
  /** Audio could not be read back. */
  fault(error: unknown): void;
}

/** What is to be known of an attempt before it is made. */
export interface LegAttempt {
  /** Its share of the retry budget, where it is a second one. */
  retry: Ticket | undefined;
  /** Whether another member of the chain could be tried instead. */
  hasOther(): boolean;
}

export class LegLink {
  private readonly opening: SessionOpening;
  private readonly dependencies: SessionDependencies;
  private readonly pipeline: AudioPipeline;
  private readonly listener: LegLinkListener;
  private readonly address: Address;
  private member: ChainMember | undefined;
  private timing: LiveTiming | undefined;
  private generation = NO_LEG;
  private legAddress: Address | undefined;
  private reports = 0;
  private frames = 0;
  private gateOpen = false;
  private heldBack = false;
  private pumping = false;
  private drainedTold = false;
  private readonly turnEnds = new TurnEnds();
  private pumpTimer: unknown;
  private stall: StallWatch | undefined;
  private attempt: Attempt | undefined;
  private endpointer: Endpointer | undefined;
  private expiryTimer: unknown;

  constructor(
    opening: SessionOpening,
    dependencies: SessionDependencies,
    pipeline: AudioPipeline,
    listener: LegLinkListener,
  ) {
    this.opening = opening;
    this.dependencies = dependencies;
    this.pipeline = pipeline;
    this.listener = listener;
    this.address = dependencies.bus.address(opening.sessionId);
  }

  /** Asks for a leg, when it is its turn; `ready` or `failed` follows. */
  open(member: ChainMember, timing: LiveTiming, generation: number, attempt: LegAttempt): void {
    this.member = member;
    this.timing = timing;
    this.generation = generation;
    this.reports = 0;
    this.heldBack = false;
    this.legAddress = undefined;
    // Later: whoever gave its place back is in the middle of something, and this session may be let go of before long.
    const later = (work: () => void) => () =>
      queueMicrotask(() => {
        if (generation === this.generation) work();
      });
    this.attempt = new Attempt(member, this.dependencies.attempts, attempt.retry, {
      dial: later(() => this.dial(member, generation)),
      passOver: later(() => this.listener.failed(generation, circuitOpen)),
      hasOther: attempt.hasOther,
    });
  }

  private dial(member: ChainMember, generation: number): void {
    const { sessionId } = this.opening;
    const { bus } = this.dependencies;
    // Near legs live under a known name; the first report of a far one brings its address.
    this.legAddress = bus.address(legActor(sessionId, generation));
    const body = openLegOf(this.opening, member, this.address, generation);
    bus.request(OPEN_LEG, this.address, body, OPEN_LEG_TIMEOUT_MS).then(
      (opened) => {
        // Let go of while it was opened: it may never say anything that it could be told so for.
        if (generation !== this.generation)
          bus.send((opened as unknown as LegOpened).leg as Address, this.address, { type: 'leg.close' });
      },
      (error: unknown) => {
        this.dependencies.onFault(sessionId, 'openLeg', error);
        if (generation === this.generation && this.reports === 0) this.listener.failed(generation, unopened);
      },
    );
  }

  /** The leg has proved itself: it gave a final, or held for a while. */
  held(): void {
    this.attempt?.held();
  }

  /** The session has lost its leg, and goes on without it. */
  lost(failure: LegFailure): void {
    this.attempt?.failed(failure);
  }

  private isReady(generation: number): void {
    this.attempt?.ready();
    const { sessionMaxMs } = this.timing as LiveTiming;
    if (sessionMaxMs !== undefined) {
      const afterMs = Math.max(sessionMaxMs / 2, sessionMaxMs - EXPIRY_MARGIN_MS);
      this.expiryTimer = this.dependencies.clock.setTimeout(() => this.listener.expiring(generation), afterMs);
    }
    this.listener.ready(generation);
  }

  /** Lets audio through, from the end of the last final on. */
  openGate(): ReturnType<AudioPipeline['openLane']> {
    const timing = this.timing as LiveTiming;
    const lane = this.pipeline.openLane(
      {
        frame: timing.frame,
        sampleRate: (this.member as ChainMember).sampleRate,
        speedMax: timing.speedMax,
        burstMs: timing.burstMs,
      },
      this.dependencies.clock.now(),
    );
    const { endpointing } = timing;
    const { sampleRate } = this.opening.request;
    this.endpointer =
      endpointing === undefined ? undefined : new Endpointer(endpointing, sampleRate, lane.originSample);
    this.frames = 0;
    this.drainedTold = false;
    this.gateOpen = true;
    // Turns that were to end did not: the leg before failed, and this one hears them again.
    this.turnEnds.covered(this.pipeline.coveredSamples);
    this.turnEnds.rewind();
    this.stall?.stop();
    this.stall = new StallWatch(this.dependencies.clock, this.pipeline, sampleRate, timing.stallMs, () =>
      this.command({ type: 'leg.stalled' }),
    );
    return lane;
  }

  closeGate(): void {
    this.gateOpen = false;
  }

  /** Ends the current turn once the audio received so far has left. */
  finalize(): void {
    this.pipeline.flush();
    this.turnEnds.covered(this.pipeline.coveredSamples);
    if (!this.turnEnds.ask(this.pipeline.receivedSamples)) this.dependencies.totals.dropped('finalize');
    this.pump();
  }

  finish(): void {
    this.command({ type: 'leg.finish' });
  }

  /** Lets go of the leg. What it still says is dropped. */
  close(): void {
    this.gateOpen = false;
    this.stall?.stop();
    this.dependencies.clock.clearTimeout(this.pumpTimer);
    this.pumpTimer = undefined;
    this.dependencies.clock.clearTimeout(this.expiryTimer);
    this.attempt?.end();
    this.attempt = undefined;
    this.pipeline.closeLane();
    if (this.generation === NO_LEG) return;
    this.generation = NO_LEG;
    this.command({ type: 'leg.close' });
  }

  /** Takes what arrived on the bus for the session. */
  receive({ from, body }: Envelope): void {
    const report = body as LegReport;
    if (report.generation !== this.generation) {
      // A retired leg: whatever it still says was, or will be, said by another. It may have been opened too late to hear
      // that it was let go of.
      this.dependencies.totals.dropped('late_report');
      this.dependencies.bus.send(from, this.address, { type: 'leg.close' });
      return;
    }
    this.legAddress = from;
    this.reports++;
    if (report.type !== 'leg.pressure') this.stall?.heard();
    if (report.sequence !== this.reports) this.listener.failed(report.generation, lostReport);
    else if (report.type === 'leg.ready') this.isReady(report.generation);
    else if (report.type === 'leg.heard') this.listener.heard(report.heard);
    else if (report.type === 'leg.failed') this.listener.failed(report.generation, report.failure);
    else if (report.type === 'leg.finished') this.listener.finished(report.generation);
    else {
      this.heldBack = report.high;
      this.pump();
    }
  }

  /** Hands the leg what may leave now, and comes back when the pace, the loop or the leg allows more. */
  pump(): void {
    if (!this.gateOpen || this.heldBack || this.pumping) return;
    this.pumping = true;
    try {
      this.handOver();
    } catch (error) {
      this.listener.fault(error);
      return;
    } finally {
      this.pumping = false;
    }
    if (this.gateOpen) this.listener.sent();
    if (this.gateOpen) this.afterPump();
  }

  private handOver(): void {
    const { clock, totals } = this.dependencies;
    const now = clock.now();
    let budget = PUMP_BYTES_MAX;
    while (this.gateOpen && !this.heldBack && budget > 0) {
      this.finalizeWhenDue(now);
      const frame = this.pipeline.next(now);
      if (frame === undefined) return;
      this.frames++;
      budget -= frame.bytes.byteLength;
      totals.audioSent(frame.samples / this.opening.request.sampleRate);
      this.command({ type: 'leg.audio', sequence: this.frames }, frame.bytes);
    }
  }

  /** The leg hears of the end of the turn behind the turn's audio, as far as that may leave at all. */
  private finalizeWhenDue(nowMs: number): void {
    const { pipeline } = this;
    while (this.turnEnds.due(pipeline.sentSamples, () => pipeline.waitMs(nowMs) === Number.POSITIVE_INFINITY)) {
      this.endpointer?.ended(pipeline.sentSamples);
      this.command({ type: 'leg.finalize' });
    }
    if (this.endpointer?.due(pipeline) === true) this.command({ type: 'leg.finalize' });
  }

  private afterPump(): void {
    if (this.pipeline.drained) {
      if (this.drainedTold) return;
      this.drainedTold = true;
      this.listener.drained();
      return;
    }
    if (this.pipeline.starved) {
      this.listener.starved();
      return;
    }
    if (this.heldBack || this.pumpTimer !== undefined) return;
    const { clock } = this.dependencies;
    const waitMs = this.pipeline.waitMs(clock.now());
    if (waitMs === Number.POSITIVE_INFINITY) return;
    this.pumpTimer = clock.setTimeout(() => {
      this.pumpTimer = undefined;
      this.pump();
    }, Math.ceil(waitMs));
  }

  private command(command: LegCommand, bytes?: Uint8Array): void {
    if (this.legAddress !== undefined) this.dependencies.bus.send(this.legAddress, this.address, command, bytes);
  }
}
