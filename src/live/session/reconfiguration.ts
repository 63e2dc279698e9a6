// What the client changes while its session continues: asked of the edge, which knows whose session it is; then a chain of its own, behind
// the members that the session had. Where the open leg can be changed to the first of them it is, and else the charts turn to it at
// the end of the turn.
import type { Clock } from '../../../machines/clock.ts';
import { CONFIGURATIONS_MAX } from '../../api/bounds.ts';
import { ApiError, apiError } from '../../api/errors.ts';
import type { Configure, ListenRequest } from '../../api/listen.ts';
import type { AudioPipeline } from '../../audio/pipeline.ts';
import type { ResolvedCandidate } from '../failover/chain.ts';
import { timingOf } from '../failover/chain.ts';
import type { Spending } from './billing/spending.ts';
import type { Charts } from './charts.ts';
import type { EventWriter } from './event-writer.ts';
import type { CurrentLeg } from './leg/current-leg.ts';
import type { LegPump } from './leg/leg-pump.ts';
import type { Recovery } from './recovery.ts';
import type { Configuration, SessionDependencies, SessionOpening } from './session-opening.ts';
import { formattedWaitMsOf, steadyMsOf } from './session-parts.ts';
import type { Signals } from './signals.ts';
import type { TurnChart } from './turns/turn-chart.ts';

/** Between two changes: each makes a connection, where the open one cannot be changed. */
const APART_MS = 1_000;
/** A leg that does not say by then whether it could be changed is released at the end of the turn. */
const ANSWER_MS = 2_000;

export interface ReconfigurationParts {
  charts: Pick<Charts, 'tell' | 'tellFailover' | 'streaming'> & { turn: Pick<TurnChart, 'formattedWaitMs'> };
  recovery: Pick<Recovery, 'configured' | 'became' | 'beginsWithFirst'>;
  leg: Pick<CurrentLeg, 'reconfigure' | 'isAlready'> & { pump: Pick<LegPump, 'flush'> };
  events: Pick<EventWriter, 'error' | 'warn' | 'configuring' | 'switched' | 'unchanged'>;
  spending: Pick<Spending, 'heardBy'>;
  pipeline: Pick<AudioPipeline, 'sentSamples'>;
  signals: Signals;
  /** The chain begins at that place from now on, and the open leg is that of its first member, or another follows. */
  chainBegins(index: number, isInPlace: boolean): void;
  /** The client has switched the fallback on standby on or off. */
  standbyChanged(): void;
  keepModelsReady(chain: readonly ResolvedCandidate[]): void;
  /** Texts are redacted and replaced as the request says by now. */
  configureTexts(request: ListenRequest): void;
}

export class Reconfiguration {
  readonly #opening: SessionOpening;
  readonly #access: SessionDependencies['access'];
  readonly #clock: Clock;
  readonly #parts: ReconfigurationParts;
  #count = 0;
  /** What was requested while another change was in progress. */
  #waiting: Configure | undefined;
  #isBusy = false;
  #isOver = false;
  #timer: unknown;
  /** The open leg was asked whether it can be changed: what its answer is told. */
  #asked: ((isInForce: boolean) => void) | undefined;

  constructor(
    opening: SessionOpening,
    { access, clock }: Pick<SessionDependencies, 'access' | 'clock'>,
    parts: ReconfigurationParts,
  ) {
    this.#opening = opening;
    this.#access = access;
    this.#clock = clock;
    this.#parts = parts;
    parts.signals.on('legReconfigured', (isInForce) => this.answered(isInForce));
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

  /** The open leg says whether it was changed; one that is released was not. */
  answered(isInForce: boolean): void {
    this.#asked?.(isInForce);
  }

  /** Nothing is changed any more. */
  stop(): void {
    this.#isOver = true;
    this.#clock.clearTimeout(this.#timer);
    this.answered(false);
  }

  /** Never rejects. */
  async #ask(asked: Configure): Promise<void> {
    this.#isBusy = true;
    try {
      if (this.#opening.configure === undefined) throw apiError('invalid_request', NOT_HERE);
      if (this.#count >= CONFIGURATIONS_MAX) throw apiError('rate_limit_exceeded', TOO_OFTEN);
      this.#count++;
      const configuration = await this.#opening.configure(asked);
      if (configuration === undefined || this.#isOver) return;
      if ('standby' in asked) this.#warnOfStandby(configuration);
      if (isOfConnections(asked)) this.#changeConnections(configuration, asked);
      else if (!(await this.#changesLeg(configuration))) this.#apply(configuration, false);
    } catch (error) {
      if (!(error instanceof ApiError)) this.#parts.signals.emit('fault', 'configure', error);
      else if (!this.#isOver) this.#refuse(error);
    } finally {
      if (!this.#isOver) this.#timer = this.#clock.setTimeout(() => this.#next(), APART_MS);
    }
  }

  #next(): void {
    this.#isBusy = false;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) void this.#ask(waiting);
  }

  #refuse(refusal: ApiError): void {
    if (this.#opening.notConfigured?.(refusal) === true) return;
    const { param } = refusal.extras;
    this.#parts.events.error(refusal.code, refusal.message, param === undefined ? {} : { param });
  }

  /** Whether the session returns to its first model, and keeps its fallback connected, is not part of its chain, which continues. */
  #changeConnections({ request }: Configuration, asked: Configure): void {
    this.#opening.request = request;
    this.#parts.events.unchanged(this.#parts.pipeline.sentSamples);
    if ('standby' in asked) this.#parts.standbyChanged();
  }

  #warnOfStandby({ warnings = [] }: Configuration): void {
    for (const warning of warnings) if (warning.param === 'standby') this.#parts.events.warn(warning);
  }

  /** Changes the open leg, where that can be: then no other is needed. Applied at once, before anything else befalls the leg. */
  #changesLeg(configuration: Configuration): boolean | Promise<boolean> {
    const { request, chain } = configuration;
    const { charts, recovery, leg } = this.#parts;
    const member = chain[0] as ResolvedCandidate;
    if (!charts.streaming || !recovery.beginsWithFirst(chain)) return false;
    const timing = timingOf(member, request, this.#access);
    if (leg.isAlready(member, timing)) {
      this.#apply(configuration, true);
      return true;
    }
    return new Promise((resolve, reject) => {
      this.#asked = (isInForce) => {
        this.#asked = undefined;
        this.#clock.clearTimeout(this.#timer);
        try {
          if (isInForce) this.#apply(configuration, true);
          resolve(isInForce);
        } catch (error) {
          reject(error);
        }
      };
      this.#timer = this.#clock.setTimeout(() => this.answered(false), ANSWER_MS);
      if (!leg.reconfigure(member, timing)) this.answered(false);
    });
  }

  #apply({ request, chain, members }: Configuration, isInPlace: boolean): void {
    if (this.#isOver) return;
    const opening = this.#opening;
    const { charts, recovery, events } = this.#parts;
    const before = opening.chain.length;
    opening.request = request;
    this.#parts.configureTexts(request);
    opening.chain = [...opening.chain.map(spent), ...chain];
    opening.meter.add(members);
    this.#parts.keepModelsReady(chain);
    if (isInPlace) recovery.became(before);
    this.#parts.chainBegins(before, isInPlace);
    const next = isInPlace ? before : recovery.configured(before);
    events.configuring(before);
    const timings = chain.map((member) => timingOf(member, request, this.#access));
    charts.turn.formattedWaitMs = formattedWaitMsOf(timings);
    charts.tellFailover({ type: 'chain.replaced', members: opening.chain.length, before, first: next });
    const slugs = opening.chain.map(({ slug }) => slug);
    const configured = { type: 'session.configured', chain: slugs, next, steadyMs: steadyMsOf(timings) } as const;
    charts.tell(isInPlace ? { ...configured, isInPlace } : configured);
    if (isInPlace) this.#goOn(before);
  }

  /** What the open leg is sent from here on is heard by this member of the chain. */
  #goOn(index: number): void {
    const { spending, events, pipeline, leg } = this.#parts;
    spending.heardBy(index);
    events.switched(index, 0, 0, pipeline.sentSamples);
    leg.pump.flush();
  }
}

const OF_CONNECTIONS: readonly string[] = ['return_to_primary', 'standby'];

function isOfConnections({ type: _, ...members }: Configure): boolean {
  const names = Object.keys(members);
  return names.length > 0 && names.every((name) => OF_CONNECTIONS.includes(name));
}

/** A member that is not dialled any more: of what it was asked for nothing is kept. One that is spent already stays as it is. */
const spent = (member: ResolvedCandidate): ResolvedCandidate =>
  member.params === NOTHING ? member : { ...member, params: NOTHING, told: [], degradations: [] };
const NOTHING = {};

const NOT_HERE = 'This session cannot be changed while it goes on. Open another.';
const TOO_OFTEN = `This session was configured ${CONFIGURATIONS_MAX} times, which is the most. Open another.`;
