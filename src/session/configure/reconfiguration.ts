// What the client changes while its session goes on: asked of the edge, which knows whose session it is; then a chain of its own, behind
// the members that the session had, which its charts turn to at the end of the turn.
import type { Clock } from '../../../machines/clock.ts';
import { Refusal, refuse } from '../../api/errors.ts';
import { CONFIGURATIONS_MAX, type Configure } from '../../api/listen/configuring.ts';
import { timingOf } from '../../failover/member-timing.ts';
import type { Charts } from '../charts.ts';
import type { EventWriter } from '../event-writer.ts';
import type { Recovery } from '../recovery.ts';
import type { SessionDependencies } from '../session-dependencies.ts';
import type { Configuration, SessionOpening } from '../session-opening.ts';
import { steadyMsOf } from '../session-parts.ts';

/** Between two changes: each makes a connection. */
const APART_MS = 1_000;

export interface ReconfigurationParts {
  charts: Pick<Charts, 'tell' | 'tellTurn' | 'tellFailover' | 'endError'>;
  recovery: Pick<Recovery, 'configured'>;
  events: Pick<EventWriter, 'error' | 'configuring'>;
  fault(error: unknown): void;
}

export class Reconfiguration {
  readonly #opening: SessionOpening;
  readonly #access: SessionDependencies['access'];
  readonly #clock: Clock;
  readonly #parts: ReconfigurationParts;
  #count = 0;
  /** What was asked for while another change was under way. */
  #waiting: Configure | undefined;
  #isBusy = false;
  #isOver = false;
  #timer: unknown;

  constructor(
    opening: SessionOpening,
    { access, clock }: Pick<SessionDependencies, 'access' | 'clock'>,
    parts: ReconfigurationParts,
  ) {
    this.#opening = opening;
    this.#access = access;
    this.#clock = clock;
    this.#parts = parts;
  }

  ask(asked: Configure): void {
    if (!this.#isBusy) void this.#ask(asked);
    else {
      const { provider_params, ...others } = this.#waiting ?? {};
      // Options of one model are not those of another.
      const own = asked.model === undefined && provider_params !== undefined ? { provider_params } : {};
      this.#waiting = { ...others, ...own, ...asked };
    }
  }

  /** Nothing is changed any more. */
  stop(): void {
    this.#isOver = true;
    this.#clock.clearTimeout(this.#timer);
  }

  /** Never rejects. */
  async #ask(asked: Configure): Promise<void> {
    this.#isBusy = true;
    try {
      if (this.#opening.configure === undefined) throw refuse('invalid_request', NOT_HERE);
      if (this.#count >= CONFIGURATIONS_MAX) throw refuse('rate_limit_exceeded', TOO_OFTEN);
      this.#count++;
      const configuration = await this.#opening.configure(asked);
      if (configuration !== undefined && !this.#isOver) this.#apply(configuration);
    } catch (error) {
      if (!(error instanceof Refusal)) this.#parts.fault(error);
      else if (!this.#isOver) this.#refuse(error);
    }
    if (this.#isOver) return;
    this.#timer = this.#clock.setTimeout(() => {
      this.#isBusy = false;
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (waiting !== undefined) void this.#ask(waiting);
    }, APART_MS);
  }

  #refuse(refusal: Refusal): void {
    if (this.#opening.notConfigured?.(refusal) === true) return;
    const { param } = refusal.extras;
    this.#parts.events.error(refusal.code, refusal.message, param === undefined ? {} : { param });
  }

  #apply({ request, chain, members }: Configuration): void {
    const opening = this.#opening;
    const { charts, recovery, events } = this.#parts;
    const before = opening.chain.length;
    opening.request = request;
    opening.chain = [...opening.chain, ...chain];
    opening.meter.add(members);
    const next = recovery.configured(before);
    events.configuring(before);
    const timings = chain.map((member) => timingOf(member, request, this.#access));
    const formattedWaitMs = Math.max(0, ...timings.map((timing) => timing.formattedWaitMs));
    charts.tellTurn({ type: 'turn.timed', formattedWaitMs });
    charts.tellFailover({ type: 'chain.replaced', members: opening.chain.length, before, first: next });
    const slugs = opening.chain.map(({ slug }) => slug);
    charts.tell({ type: 'session.configured', chain: slugs, next, steadyMs: steadyMsOf(timings) });
  }
}

const NOT_HERE = 'This session cannot be changed while it goes on. Open another.';
const TOO_OFTEN = `This session was configured ${CONFIGURATIONS_MAX} times, which is the most. Open another.`;
