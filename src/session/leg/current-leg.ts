// A session's end of its current leg: opens it when it is its turn, hands it audio at its pace, and notices when it has gone
// quiet. How leg and session reach each other is leg-channel.ts; what a report means for turns and failover is the session's.
import type { LegFailure } from '../../../machines/events.ts';
import type { AudioPipeline } from '../../audio/pipeline.ts';
import type { Envelope } from '../../bus/bus.ts';
import { Attempt, circuitOpen } from '../../failover/attempt.ts';
import type { ChainMember } from '../../failover/chain.ts';
import type { LiveTiming } from '../../providers/provider.ts';
import { StallWatch } from '../audio/stall-watch.ts';
import type { SessionDependencies } from '../host.ts';
import type { SessionOpening } from '../session-opening.ts';
import { Finalizer } from '../turns/finalizer.ts';
import type { CurrentLegCalls, LegAttempt } from './current-leg-calls.ts';
import { LegChannel, type Told } from './leg-channel.ts';

/** Audio handed to the leg before others get their turn of the event loop. */
const PUMP_BYTES_MAX = 262_144;
/** Before a provider's limit on a session: time to find the end of a turn, and to connect anew. */
const EXPIRY_MARGIN_MS = 60_000;

export class CurrentLeg {
  readonly #opening: SessionOpening;
  readonly #dependencies: SessionDependencies;
  readonly #pipeline: AudioPipeline;
  readonly #listener: CurrentLegCalls;
  readonly channel: LegChannel;
  readonly #finalizer: Finalizer;
  #member: ChainMember | undefined;
  #timing: LiveTiming | undefined;
  #frames = 0;
  #gateOpen = false;
  #heldBack = false;
  #pumping = false;
  #drainedTold = false;
  #pumpTimer: unknown;
  #stall: StallWatch | undefined;
  #attempt: Attempt | undefined;
  #expiryTimer: unknown;

  constructor(
    opening: SessionOpening,
    dependencies: SessionDependencies,
    pipeline: AudioPipeline,
    listener: CurrentLegCalls,
  ) {
    this.#opening = opening;
    this.#dependencies = dependencies;
    this.#pipeline = pipeline;
    this.#listener = listener;
    this.channel = new LegChannel(opening, dependencies, {
      failed: (generation, failure) => this.#listener.failed(generation, failure),
      room: () => this.pump(),
      waiting: () => this.#member !== undefined && this.#listener.waiting(this.#member.slug),
    });
    this.#finalizer = new Finalizer(pipeline, opening.request.sampleRate);
  }

  /** Asks for a leg, when it is its turn; `ready` or `failed` follows. */
  open(member: ChainMember, timing: LiveTiming, generation: number, attempt: LegAttempt): void {
    this.#member = member;
    this.#timing = timing;
    this.channel.begin(generation);
    this.#heldBack = false;
    // Later: whoever gave its place back is in the middle of something, and this session may be let go of before long.
    const later = (work: () => void) => () =>
      queueMicrotask(() => {
        if (generation === this.channel.generation) work();
      });
    this.#attempt = new Attempt(member, this.#dependencies.attempts, attempt.retry, {
      dial: later(() => this.channel.dial(member, timing)),
      passOver: later(() => this.#listener.failed(generation, circuitOpen)),
      hasOther: attempt.hasOther,
    });
  }

  /** The leg has proved itself: it gave a final, or held for a while. */
  held(): void {
    this.#attempt?.held();
  }

  /** The session has lost its leg, and goes on without it. */
  lost(failure: LegFailure): void {
    this.channel.lost(failure);
    this.#attempt?.failed(failure);
  }

  #isReady(generation: number): void {
    this.#attempt?.ready();
    this.channel.ready();
    const { sessionMaxMs } = this.#timing as LiveTiming;
    if (sessionMaxMs !== undefined) {
      const afterMs = Math.max(sessionMaxMs / 2, sessionMaxMs - EXPIRY_MARGIN_MS);
      this.#expiryTimer = this.#dependencies.clock.setTimeout(() => this.#listener.expiring(generation), afterMs);
    }
    this.#listener.ready(generation);
  }

  /** Lets audio through, from the end of the last final on. */
  openGate(): ReturnType<AudioPipeline['openLane']> {
    const timing = this.#timing as LiveTiming;
    const lane = this.#pipeline.openLane(
      {
        frame: timing.frame,
        sampleRate: (this.#member as ChainMember).sampleRate,
        speedMax: timing.speedMax,
        burstMs: timing.burstMs,
      },
      this.#dependencies.clock.now(),
    );
    this.#finalizer.begin(timing.endpointing, lane.originSample);
    this.#frames = 0;
    this.#drainedTold = false;
    this.#gateOpen = true;
    this.#stall?.stop();
    this.#stall = new StallWatch(
      this.#dependencies.clock,
      this.#pipeline,
      this.#opening.request.sampleRate,
      timing.stallMs,
      () => this.channel.command({ type: 'leg.stalled' }),
    );
    return lane;
  }

  closeGate(): void {
    this.#gateOpen = false;
  }

  /** Ends the current turn once the audio received so far has left. */
  finalize(): void {
    if (!this.#finalizer.ask()) this.#dependencies.totals.dropped('finalize');
    this.pump();
  }

  finish(): void {
    this.channel.command({ type: 'leg.finish' });
  }

  /** Lets go of the leg. What it still says is dropped. */
  close(): void {
    this.#gateOpen = false;
    this.#stall?.stop();
    this.#dependencies.clock.clearTimeout(this.#pumpTimer);
    this.#pumpTimer = undefined;
    this.#dependencies.clock.clearTimeout(this.#expiryTimer);
    this.#attempt?.end();
    this.#attempt = undefined;
    this.#pipeline.closeLane();
    this.channel.close();
  }

  /** Takes what arrived on the bus for the session. */
  receive(envelope: Envelope): void {
    const report = this.channel.take(envelope);
    if (report !== undefined) this.#hear(report);
  }

  #hear(report: Told): void {
    const { generation } = report;
    if (report.type !== 'leg.pressure') this.#stall?.heard();
    if (report.type === 'leg.ready') this.#isReady(generation);
    else if (report.type === 'leg.heard') this.#listener.heard(report.heard);
    else if (report.type === 'leg.failed') this.#listener.failed(generation, report.failure);
    else if (report.type === 'leg.finished') this.#listener.finished(generation);
    else if (report.type === 'leg.expiring') this.#listener.expiring(generation);
    else {
      this.#heldBack = report.high;
      this.pump();
    }
  }

  /** Whether the leg takes nothing now; it says when that is over. */
  get #isHeld(): boolean {
    return this.#heldBack || this.channel.isFull;
  }

  /** Hands the leg what may leave now, and comes back when the pace, the loop or the leg allows more. */
  pump(): void {
    if (!this.#gateOpen || this.#isHeld || this.#pumping) return;
    this.#pumping = true;
    try {
      this.#handOver();
    } catch (error) {
      this.#listener.fault(error);
      return;
    } finally {
      this.#pumping = false;
    }
    if (this.#gateOpen) this.#listener.sent();
    if (this.#gateOpen) this.#afterPump();
  }

  #handOver(): void {
    const { clock, totals } = this.#dependencies;
    const now = clock.now();
    const finalize = () => this.channel.command({ type: 'leg.finalize' });
    let budget = PUMP_BYTES_MAX;
    while (this.#gateOpen && !this.#isHeld && budget > 0) {
      this.#finalizer.tellDue(now, finalize);
      const frame = this.#pipeline.next(now);
      if (frame === undefined) return;
      this.#frames++;
      budget -= frame.bytes.byteLength;
      totals.audioSent(frame.samples / this.#opening.request.sampleRate);
      this.channel.command({ type: 'leg.audio', sequence: this.#frames }, frame.bytes);
    }
  }

  #afterPump(): void {
    if (this.#pipeline.drained) {
      if (this.#drainedTold) return;
      this.#drainedTold = true;
      this.#listener.drained();
      return;
    }
    if (this.#pipeline.starved) {
      this.#listener.starved();
      return;
    }
    if (this.#isHeld || this.#pumpTimer !== undefined) return;
    const { clock } = this.#dependencies;
    const waitMs = this.#pipeline.waitMs(clock.now());
    if (waitMs === Number.POSITIVE_INFINITY) return;
    this.#pumpTimer = clock.setTimeout(() => {
      this.#pumpTimer = undefined;
      this.pump();
    }, Math.ceil(waitMs));
  }
}
