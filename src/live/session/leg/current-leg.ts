// The session's current leg: opened when it is its turn, handed audio at its pace, and noticed when it has gone quiet. How leg and
// session reach each other is leg-channel.ts; what the end of a leg means for its session, leg-outcomes.ts.

import { isDeepStrictEqual } from 'node:util';
import type { LegFailure } from '../../../../machines/events.ts';
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import { type OpenVoiceScan, VoiceScan } from '../../../recogniser/voice/scan.ts';
import { memberWithin } from '../../../vendors/kit/place-rules.ts';
import type { LiveTiming } from '../../../vendors/kit/provider.ts';
import type { Ticket } from '../../failover/admission.ts';
import type { ResolvedCandidate } from '../../failover/chain.ts';
import { ModelAttempt } from '../../failover/model-attempt.ts';
import { type LongestAnswer, StallWatch } from '../audio/stall-watch.ts';
import type { Spending } from '../billing/spending.ts';
import type { SessionDependencies, SessionOpening } from '../session-opening.ts';
import { gatheringOf } from '../session-parts.ts';
import type { Signals } from '../signals.ts';
import type { Turns } from '../turns/turns.ts';
import { type BrokenModel, LegChannel, type LegChannelParts, type Report } from './leg-channel.ts';
import { LegPump, type LegPumpParts } from './leg-pump.ts';
import { SpareLeg } from './spare-leg.ts';

/** How long before the longest time of a connection its end is sought: time to find the end of a turn and to connect again. */
const EXPIRY_MARGIN_MS = 60_000;

/** Follows the session's id where a spare leg reports to it. */
const SPARE_ACTOR = '.spare';

/** The parts of the session that its leg works with. */
export interface CurrentLegParts extends LegPumpParts, LegChannelParts {
  turns: Pick<Turns, 'hear'>;
  spending: Pick<Spending, 'sent' | 'starved' | 'openedAhead'>;
}

/** What is to be known of an attempt before it is made. */
interface LegAttempt {
  /** Its share of the retry budget, where it is a second one. */
  retry: Ticket | undefined;
  /** Whether another member of the chain could be tried instead. */
  hasOther(): boolean;
}

export class CurrentLeg {
  readonly #opening: SessionOpening;
  readonly #dependencies: SessionDependencies;
  readonly #parts: CurrentLegParts;
  readonly #pipeline: AudioPipeline;
  readonly #signals: Signals;
  readonly #broken: BrokenModel = { slug: undefined, fault: undefined };
  #channel: LegChannel;
  /** Made with the first that is opened: few sessions have one. */
  #spare: SpareLeg | undefined;
  readonly pump: LegPump;
  #member: ResolvedCandidate | undefined;
  #timing: LiveTiming | undefined;
  #stall: StallWatch | undefined;
  readonly #longestAnswer: LongestAnswer = { ms: 0 };
  #hasOther: () => boolean = () => false;
  #attempt: ModelAttempt | undefined;
  #hasDialled = false;
  #expiry: unknown;

  constructor(opening: SessionOpening, dependencies: SessionDependencies, parts: CurrentLegParts) {
    this.#opening = opening;
    this.#dependencies = dependencies;
    this.#parts = parts;
    this.#pipeline = parts.pipeline;
    this.#signals = parts.signals;
    this.#channel = this.#channelAt(opening.sessionId);
    this.pump = new LegPump(dependencies, parts, opening.request.sampleRate, this.#channel, this.#scan);
  }

  get channel(): LegChannel {
    return this.#channel;
  }

  /** What its channel reports is of the current leg, or of the spare one. */
  #channelAt(actor: string): LegChannel {
    const channel: LegChannel = new LegChannel(
      this.#opening,
      this.#dependencies,
      this.#parts,
      {
        report: (report) => (channel === this.#channel ? this.#hear(report) : this.#spare?.hear(report)),
        failed: (failure) => (channel === this.#channel ? this.fail(failure) : this.#spare?.failed(failure)),
      },
      this.#broken,
      actor,
    );
    return channel;
  }

  /** A leg that is opened ahead of time. */
  get spare(): SpareLeg {
    this.#spare ??= new SpareLeg(
      this.#opening,
      this.#dependencies,
      this.#channelAt(`${this.#opening.sessionId}${SPARE_ACTOR}`),
      (index, reason, ms) => this.#parts.spending.openedAhead(index, reason, ms),
    );
    return this.#spare;
  }

  get spareState(): SpareLeg['state'] {
    return this.#spare?.state ?? 'none';
  }

  /** Whether a leg of that member is ready, so that it needs no dial. */
  hasSpareFor(member: ResolvedCandidate | undefined): boolean {
    return member !== undefined && this.#spare?.isReadyFor(member) === true;
  }

  closeSpare(): void {
    this.#spare?.close();
  }

  /** Another node is gone. */
  nodeGone(node: string): void {
    this.#channel.nodeGone(node);
    this.#spare?.channel.nodeGone(node);
  }

  /** Asks for a leg, when it is its turn; `ready` or `failed` follows. */
  open(member: ResolvedCandidate, timing: LiveTiming, generation: number, attempt: LegAttempt): void {
    this.#member = member;
    this.#timing = timing;
    this.#hasOther = attempt.hasOther;
    this.pump.isHeldBack = false;
    const spare = this.#spare;
    if (spare?.isReadyFor(member)) {
      this.#take(spare, generation, attempt);
      return;
    }
    spare?.closeFor(member);
    this.channel.begin(member, generation);
    // In a microtask: the session that gave its place back is in the middle of a call, and this one may be closed before it is over.
    this.#parts.log.placing = 'queued';
    const later = (work: () => void) => () =>
      queueMicrotask(() => {
        if (generation === this.channel.generation) this.#guarded(work);
      });
    this.#attempt = new ModelAttempt(member, this.#dependencies.attempts, attempt.retry, {
      dial: later(() => this.#dial(member, timing, generation)),
      passOver: (failure) => later(() => this.#signals.emit('legFailed', generation, failure))(),
      hasOther: attempt.hasOther,
    });
  }

  /** The leg is open already. */
  #take(spare: SpareLeg, generation: number, { retry }: LegAttempt): void {
    retry?.release();
    this.#hasDialled = true;
    const { channel, attempt, readyMs } = spare.exchange(this.#channel);
    this.#channel = channel;
    this.#attempt = attempt;
    this.pump.use(channel);
    channel.becomeCurrent(generation);
    queueMicrotask(() => {
      if (generation === this.#channel.generation) this.#guarded(() => this.#works(generation, readyMs));
    });
  }

  /** Work of a microtask: what it throws would end the process. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#signals.emit('fault', 'leg', error);
    }
  }

  /** The rules may have become stricter since the session was admitted: whoever dials keeps to those of now. */
  #dial(member: ResolvedCandidate, timing: LiveTiming, generation: number): void {
    const { ruleNow } = this.#opening;
    if (ruleNow === undefined || !this.#hasDialled) {
      this.#hasDialled = true;
      this.channel.dial(member, timing);
      return;
    }
    ruleNow().then(
      (now) =>
        generation === this.channel.generation &&
        this.#guarded(() => this.channel.dial(memberWithin(member, now), timing)),
      (error: unknown) => this.#signals.emit('fault', 'report', error),
    );
  }

  /**
   * Asks the open leg to become that of another member, where the two have but their options apart; `reconfigured` follows. False
   * where they are further apart.
   */
  reconfigure(member: ResolvedCandidate, timing: LiveTiming): boolean {
    const { language = null, diarization, params } = member;
    if (this.#member === undefined || !isSameLeg(this.#member, member)) return false;
    if (!isSameWay(this.#timing as LiveTiming, timing)) return false;
    this.channel.command({ type: 'leg.reconfigure', language, diarization, params: { ...params } });
    return true;
  }

  /** Whether nothing of what the leg is asked for differs: rules for texts are not the model's. */
  isAlready(member: ResolvedCandidate, timing: LiveTiming): boolean {
    if (this.#member === undefined || !isSameLeg(this.#member, member)) return false;
    return isDeepStrictEqual(this.#timing, timing) && isSameRequest(this.#member, member);
  }

  /** It is that of the other member now. */
  became(member: ResolvedCandidate, timing: LiveTiming): void {
    this.#member = member;
    this.#timing = timing;
    this.#pipeline.turnPause(timing.turnPauseMs);
    this.#stall?.turnPause(timing.turnPauseMs);
  }

  /** The leg has proved itself: it gave a final, or held for a while. */
  held(): void {
    this.#attempt?.held();
  }

  /** What the leg says is not enough: the session takes it for failed. */
  fail(failure: LegFailure): void {
    this.#signals.emit('legFailed', this.channel.generation, failure);
  }

  /** The session has lost its leg, and continues without it. */
  lost(failure: LegFailure): void {
    this.#parts.log.legs.failed(failure);
    // What was asked for says nothing of the model.
    if (!this.channel.isBroken) this.#attempt?.failed(failure);
  }

  #ready(generation: number): void {
    this.#attempt?.ready();
    this.channel.ready();
    this.#works(generation, this.#dependencies.clock.now());
  }

  /** @param readyMs since when it has been ready */
  #works(generation: number, readyMs: number): void {
    const { clock } = this.#dependencies;
    const { sessionMaxMs } = this.#timing as LiveTiming;
    if (sessionMaxMs !== undefined) {
      const expiring = () => this.#expiring(generation);
      const afterMs = readyMs + Math.max(sessionMaxMs / 2, sessionMaxMs - EXPIRY_MARGIN_MS) - clock.now();
      this.#expiry = clock.setTimeout(expiring, Math.max(0, afterMs));
    }
    this.#signals.emit('legReady', generation);
  }

  /** Lets audio through, from the end of the last final on. */
  openGate(): ReturnType<AudioPipeline['openLane']> {
    const timing = this.#timing as LiveTiming;
    const lane = this.#pipeline.openLane(
      {
        frame: timing.frame,
        sampleRate: (this.#member as ResolvedCandidate).sampleRate,
        speedMax: timing.speedMax,
        burstMs: timing.burstMs,
        turnPauseMs: timing.turnPauseMs,
        gathering: gatheringOf(this.#opening, this.#dependencies),
      },
      this.#dependencies.clock.now(),
    );
    this.pump.open((this.#member as ResolvedCandidate).slug, timing, lane.originSample);
    this.#stall?.stop();
    this.#stall = new StallWatch(
      this.#dependencies.clock,
      this.#pipeline,
      this.#opening.request.sampleRate,
      timing,
      this.#longestAnswer,
      {
        stalled: () => this.stalled(),
        hasOther: this.#hasOther,
        scan: this.#scan,
        checked: (outcome) => this.#dependencies.totals.voiceChecked('stall', outcome),
      },
    );
    return lane;
  }

  /** On this node, because it has the audio: the leg may be on another. */
  readonly #scan: OpenVoiceScan = (from, changed) =>
    new VoiceScan({
      engine: this.#dependencies.voices,
      organisationId: this.#opening.organisationId,
      sampleRate: this.#opening.request.sampleRate,
      from,
      read: (position, samplesMax) => this.#pipeline.copyOfSent(position, samplesMax),
      ...(changed === undefined ? {} : { changed }),
    });

  /** No more audio comes. With a time, a leg that is alive is waited for so long. */
  finish(waitMs: number | undefined): void {
    this.channel.command({ type: 'leg.finish', ...(waitMs === undefined ? {} : { waitMs }) });
  }

  /** It is waited for no longer: it fails. */
  stalled(): void {
    this.channel.command({ type: 'leg.stalled' });
  }

  /** Releases the leg. What it still says is dropped. */
  close(): void {
    this.pump.close();
    this.#stall?.stop();
    this.#dependencies.clock.clearTimeout(this.#expiry);
    this.#attempt?.end();
    this.#attempt = undefined;
    this.#pipeline.closeLane();
    this.channel.close();
  }

  dispose(): void {
    this.#spare?.channel.detach();
    this.#spare?.close();
    this.channel.detach();
    this.close();
  }

  #hear(report: Report): void {
    const { generation } = this.#channel;
    if (report.type !== 'leg.pressure') this.#stall?.heard();
    if (report.type !== 'leg.heard') this.#parts.log.reader?.reported(report.generation, report.sequence);
    if (report.type === 'leg.heard' && report.heard.type === 'reconfigured')
      this.#signals.emit('legReconfigured', report.heard.isInForce);
    else if (report.type === 'leg.heard') this.#parts.turns.hear(report.heard, this.#readMsOf(report));
    else if (report.type === 'leg.ready') this.#ready(generation);
    else if (report.type === 'leg.simulated') this.channel.simulated();
    else if (report.type === 'leg.failed') this.#signals.emit('legFailed', generation, report.failure);
    else if (report.type === 'leg.finished') this.#signals.emit('legFinished', generation);
    else if (report.type === 'leg.overdue') this.#signals.emit('legOverdue', generation);
    else if (report.type === 'leg.expiring') this.#expiring(generation);
    else {
      this.pump.isHeldBack = report.high;
      this.pump.flush();
    }
  }

  /** When it was read from its provider's socket. Clocks of two nodes cannot be compared: of a leg on another one, when it came here. */
  #readMsOf({ readMs }: { readMs: number }): number {
    return this.channel.isFar ? this.#dependencies.clock.now() : readMs;
  }

  /** Its time is nearly up, or its node goes away. */
  #expiring(generation: number): void {
    this.#parts.charts.tell({ type: 'upstream.expiring', generation });
  }
}

/** Whether an open leg may become that of another member: a turn that has begun is billed at the price it began with. */
function isSameLeg(one: ResolvedCandidate, other: ResolvedCandidate): boolean {
  const partOf = ({ slug, credentialId, sampleRate, endpoint, rule, barred, price }: ResolvedCandidate) => [
    ...[slug, credentialId, sampleRate, endpoint, rule, barred, price],
  ];
  return isDeepStrictEqual(partOf(one), partOf(other));
}

const isSameRequest = (one: ResolvedCandidate, other: ResolvedCandidate): boolean =>
  one.language === other.language &&
  one.diarization === other.diarization &&
  isDeepStrictEqual(one.params, other.params);

/** All that audio and deadlines of an open leg go by, except for what ends a turn. */
function isSameWay(one: LiveTiming, other: LiveTiming): boolean {
  const { turnPauseMs, formattedWaitMs } = one;
  return isDeepStrictEqual(one, { ...other, turnPauseMs, formattedWaitMs });
}
