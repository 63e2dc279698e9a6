// A leg that is opened ahead of time, while another one serves: nothing is sent to it, and its session learns only whether it is ready.
// When its member is next, it becomes the session's current leg without a dial.
import type { LegFailure } from '../../../../machines/events.ts';
import { memberWithin } from '../../../vendors/kit/place-rules.ts';
import type { LiveTiming } from '../../../vendors/kit/provider.ts';
import type { Ticket } from '../../failover/admission.ts';
import type { ResolvedCandidate } from '../../failover/chain.ts';
import { ModelAttempt } from '../../failover/model-attempt.ts';
import type { SessionDependencies, SessionOpening } from '../session-opening.ts';
import type { LegChannel, Report } from './leg-channel.ts';
import { legLost, unopened } from './leg-dialer.ts';

/** Their numbers in a session begin here: more than a session can have of other legs. */
const GENERATIONS_FROM = 1_000_000;

export interface SpareLegCalls {
  /** What it is opened for. */
  reason: 'standby' | 'probe';
  ready(): void;
  /** It is closed, and came to nothing. */
  failed(failure: LegFailure): void;
}

/** A leg that was ready has become the current one, or is closed: for how long it was open without audio. */
type SpareEnded = (index: number, reason: SpareLegCalls['reason'], connectionMs: number) => void;

interface OpenSpare {
  readonly member: ResolvedCandidate;
  /** Its place in the chain: members that a chain had before are others by the time at which it is closed. */
  readonly index: number;
  readonly calls: SpareLegCalls;
  attempt: ModelAttempt | undefined;
  readyMs: number | undefined;
}

export class SpareLeg {
  readonly #opening: SessionOpening;
  readonly #dependencies: SessionDependencies;
  readonly #ended: SpareEnded;
  #channel: LegChannel;
  #count = 0;
  #leg: OpenSpare | undefined;

  constructor(opening: SessionOpening, dependencies: SessionDependencies, channel: LegChannel, ended: SpareEnded) {
    this.#ended = ended;
    this.#opening = opening;
    this.#dependencies = dependencies;
    this.#channel = channel;
  }

  get channel(): LegChannel {
    return this.#channel;
  }

  get state(): 'none' | 'opening' | 'ready' {
    if (this.#leg === undefined) return 'none';
    return this.#leg.readyMs === undefined ? 'opening' : 'ready';
  }

  isReadyFor(member: ResolvedCandidate): boolean {
    return this.#leg?.member === member && this.#leg.readyMs !== undefined;
  }

  /** @param retry its share of the node's second attempts */
  open(member: ResolvedCandidate, timing: LiveTiming, retry: Ticket | undefined, calls: SpareLegCalls): void {
    this.close();
    this.#count++;
    this.#channel.beginSpare(member, GENERATIONS_FROM + this.#count);
    const index = this.#opening.chain.indexOf(member);
    const leg: OpenSpare = { member, index, calls, attempt: undefined, readyMs: undefined };
    this.#leg = leg;
    // In a microtask: who opens it is in the middle of something.
    const later = (work: () => void) => () =>
      queueMicrotask(() => {
        if (this.#leg !== leg) return;
        try {
          work();
        } catch {
          // The session itself has a leg.
          this.failed(unopened);
        }
      });
    leg.attempt = new ModelAttempt(member, this.#dependencies.attempts, retry, {
      dial: later(() => this.#dial(leg, timing)),
      passOver: (failure) => later(() => this.failed(failure))(),
      hasOther: () => true,
    });
  }

  #dial(leg: OpenSpare, timing: LiveTiming): void {
    const { ruleNow } = this.#opening;
    if (ruleNow === undefined) this.#channel.dial(leg.member, timing);
    else
      ruleNow()
        .then((now) => {
          if (this.#leg === leg) this.#channel.dial(memberWithin(leg.member, now), timing);
        })
        .catch(() => {
          if (this.#leg === leg) this.failed(unopened);
        });
  }

  hear(report: Report): void {
    const leg = this.#leg;
    if (leg === undefined) return;
    if (report.type === 'leg.ready') {
      leg.readyMs = this.#dependencies.clock.now();
      leg.attempt?.ready();
      this.#channel.ready();
      leg.calls.ready();
    } else if (report.type === 'leg.simulated') this.#channel.simulated();
    else if (report.type === 'leg.failed') this.failed(report.failure);
    // Its node goes away, or its time is up.
    else if (report.type === 'leg.expiring' || report.type === 'leg.finished') this.failed(legLost);
  }

  failed(failure: LegFailure): void {
    const leg = this.#leg;
    if (leg === undefined) return;
    if (!this.#channel.isBroken) leg.attempt?.failed(failure);
    this.close();
    leg.calls.failed(failure);
  }

  /** Hands over the leg, which is ready, and uses the other channel from now on. */
  exchange(channel: LegChannel): { channel: LegChannel; attempt: ModelAttempt | undefined; readyMs: number } {
    const { attempt, readyMs = 0 } = this.#leg ?? {};
    const taken = { channel: this.#channel, attempt, readyMs };
    this.#tell(this.#leg);
    this.#leg = undefined;
    this.#channel = channel;
    return taken;
  }

  /** The member is dialled in the ordinary way, so not twice. */
  closeFor(member: ResolvedCandidate): void {
    if (this.#leg?.member === member) this.close();
  }

  /** It is not wanted any more: nothing is reported. */
  close(): void {
    const leg = this.#leg;
    if (leg === undefined) return;
    this.#leg = undefined;
    leg.attempt?.end();
    this.#channel.close();
    this.#tell(leg);
  }

  #tell(leg: OpenSpare | undefined): void {
    if (leg?.readyMs === undefined) return;
    this.#ended(leg.index, leg.calls.reason, this.#dependencies.clock.now() - leg.readyMs);
  }
}
