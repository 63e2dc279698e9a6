// All live sessions of this node: knows every session by its id; counts what the metrics show; drains. Who may open a session, and
// how many, is decided before it comes here.
import { fromPromise, type StateValue } from 'xstate';
import type { Clock } from '../../../machines/clock.ts';
import type { LegFailure, SessionEndReason } from '../../../machines/events.ts';
import { failoverMachine } from '../../../machines/failover.ts';
import type { SessionError } from '../../../machines/session/types.ts';
import { sessionMachine } from '../../../machines/session.ts';
import { type Attempt, apiError } from '../../api/errors.ts';
import { guardActions } from '../../runtime/actors.ts';
import { type DialGate, RetryBudget } from '../failover/admission.ts';
import type { Breakers } from '../failover/breakers/breakers.ts';
import type { CallMeasures } from '../failover/model-attempt.ts';
import type { StreamSlots } from '../failover/stream-slots.ts';
import type { LegRecord } from './leg/leg-record.ts';
import type { ClientLine } from './outbox.ts';
import { LiveSession } from './session.ts';
import type { SessionDependencies, SessionOpening } from './session-opening.ts';

/** The last is told so long after the first, at the most. */
const SPREAD_MS_MAX = 15_000;
/** And within this part of the time that each of them has from then on. */
const SPREAD_SHARE = 1 / 4;
const STEP_MS = 100;
/** What somebody is told who comes to a node that is shut down. */
export const DRAINING_WORDS = 'This node is being shut down. Connect again; another node answers.';
/** Beyond the time to drain, which begins for each when it is told: for the last that is told, and for the tails of all. */
export const DRAIN_TAIL_MS = 2 * SPREAD_MS_MAX;
/** Of the link: suspended, too, since nothing is waited for. */
const STREAMING: ReadonlySet<string> = new Set(['streaming', 'expiring', 'suspending', 'suspended']);

/** What a session is doing, in one word, for the gauge of sessions and for watchers. */
export type SessionPhase = 'connecting' | 'streaming' | 'ending' | 'settling';

export interface SessionHostOptions extends Omit<SessionDependencies, 'attempts' | 'onState'> {
  sessionsMax: number;
  breakers: Breakers;
  measures?: CallMeasures;
  slots?: Pick<StreamSlots, 'take'>;
  dials: DialGate;
  /** Of what the process has too little for one more session. */
  shortOf?(): 'time' | 'memory' | undefined;
  onOpened(opening: SessionOpening): void;
}

export class SessionHost {
  readonly #options: SessionHostOptions;
  readonly #sessions = new Map<string, LiveSession>();
  readonly #phases = new Map<string, SessionPhase>();
  readonly #dependencies: SessionDependencies;
  readonly #machine;
  readonly #shedding = new WeakSet<LiveSession>();
  #draining = false;
  #stopTelling = () => {};
  #whenGone: (() => void) | undefined;
  #gone: Promise<void> | undefined;

  constructor(options: SessionHostOptions) {
    this.#options = options;
    const { breakers, measures, slots, dials } = options;
    this.#dependencies = {
      ...options,
      attempts: { breakers, measures, slots, dials, retries: new RetryBudget(() => this.#sessions.size) },
      onState: (sessionId, value) => this.#phases.set(sessionId, phaseOf(value)),
      onEnded: (...ended) => this.#ended(...ended),
    };
    this.#machine = provideSessionMachine((sessionId) => this.#sessions.get(sessionId));
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Sessions by what they are doing. */
  countByPhase(): Record<SessionPhase, number> {
    const counts: Record<SessionPhase, number> = { connecting: 0, streaming: 0, ending: 0, settling: 0 };
    for (const phase of this.#phases.values()) counts[phase]++;
    return counts;
  }

  /** A session of this node, to be looked at. */
  find(sessionId: string): Pick<LiveSession, 'opening' | 'charts' | 'log' | 'figures' | 'breakProvider'> | undefined {
    return this.#sessions.get(sessionId);
  }

  /** A session of this node: what it is doing, and its legs so far. */
  describe(sessionId: string): { state: SessionPhase; legs: readonly LegRecord[] } | undefined {
    const session = this.#sessions.get(sessionId);
    const state = this.#phases.get(sessionId);
    return session === undefined || state === undefined ? undefined : { state, legs: session.log.legs.all };
  }

  /** Throws when this node takes no more sessions. Asked before the handshake is accepted. */
  admit(): void {
    if (this.#draining) throw apiError('node_draining', DRAINING_WORDS);
    if (this.#sessions.size >= this.#options.sessionsMax) {
      throw apiError(
        'overloaded',
        `This node holds its limit of ${this.#options.sessionsMax} sessions. Try again shortly.`,
        { retryAfterSeconds: 1 },
      );
    }
    const short = this.#options.shortOf?.();
    if (short !== undefined) {
      throw apiError('overloaded', `This node is short of ${short} for another session. Try again shortly.`, {
        retryAfterSeconds: 1,
      });
    }
  }

  /** Asks the newest session that was not asked yet to end at its next turn boundary: those that came first stay. */
  shed(): void {
    const newest = [...this.#sessions.values()].findLast((session) => !this.#shedding.has(session));
    if (newest === undefined) return;
    this.#shedding.add(newest);
    newest.drain();
  }

  open(opening: SessionOpening, line: ClientLine): LiveSession {
    const session = new LiveSession(opening, line, this.#dependencies);
    this.#sessions.set(opening.sessionId, session);
    this.#phases.set(opening.sessionId, 'connecting');
    this.#options.onOpened(opening);
    try {
      session.start(this.#machine);
    } catch (error) {
      session.fault('start', error);
    }
    // It was admitted before the drain began, and its handshake took until now.
    if (this.#draining) session.drain();
    return session;
  }

  /** All sessions of this node, newest first. */
  all(): Pick<LiveSession, 'opening' | 'openedMs'>[] {
    return [...this.#sessions.values()].reverse();
  }

  /** Whose sessions are open here; the same key may come more than once. */
  *keysInUse(): Iterable<{ organisationId: string; keyId: string }> {
    for (const { opening } of this.#sessions.values()) yield opening;
  }

  /** Sessions of a key end at once: it was revoked, and nothing more is done for it. */
  revoke(keyId: string): void {
    for (const session of [...this.#sessions.values()]) {
      if (session.opening.keyId === keyId) session.abort('key_revoked', 'The API key of this session was revoked.');
    }
  }

  /** Sessions of an organisation end at once: it was suspended. */
  suspend(organisationId: string): void {
    for (const session of [...this.#sessions.values()]) {
      if (session.opening.organisationId === organisationId)
        session.abort('account_suspended', 'The organisation of this session was suspended.');
    }
  }

  /** Another node is gone: sessions that had their legs there continue elsewhere. */
  nodeGone(node: string): void {
    for (const session of [...this.#sessions.values()]) session.leg.nodeGone(node);
  }

  /** No new sessions; live ones are told in turn, and end at their next turn boundary. Resolves when none is left. */
  async drain(): Promise<void> {
    this.#draining = true;
    if (this.#sessions.size === 0) return;
    this.#gone ??= new Promise<void>((resolve) => {
      this.#whenGone = resolve;
      const { clock, settings } = this.#options;
      this.#stopTelling = tellInTurn([...this.#sessions.keys()], settings.drainMs, clock, (sessionId) =>
        this.#sessions.get(sessionId)?.drain(),
      );
    });
    await this.#gone;
  }

  /** Ends what is left, at once. */
  close(): void {
    this.#draining = true;
    this.#stopTelling();
    for (const session of [...this.#sessions.values()]) session.cutOff();
  }

  #ended(...ended: Parameters<SessionDependencies['onEnded']>): void {
    const [opening] = ended;
    this.#sessions.delete(opening.sessionId);
    this.#phases.delete(opening.sessionId);
    // Not when the client leaves: what it sent is worked off first, and takes a connection to a provider as long as that lasts.
    opening.release();
    this.#options.onEnded(...ended);
    if (this.#sessions.size === 0) this.#whenGone?.();
  }
}

/** By the state of its chart. */
function phaseOf(value: StateValue): SessionPhase {
  if (typeof value === 'string') return 'settling';
  const live = value.live as { link: StateValue; client: StateValue } | undefined;
  if (live?.client === 'ending') return 'ending';
  return STREAMING.has(String(live?.link)) ? 'streaming' : 'connecting';
}

/**
 * Tells a fifteenth of them a second, or ten of them where that is more.
 *
 * @returns stops telling
 */
export function tellInTurn<Session>(
  sessions: readonly Session[],
  drainMs: number,
  clock: Clock,
  tell: (session: Session) => void,
): () => void {
  const steps = Math.max(1, Math.floor(Math.min(SPREAD_MS_MAX, drainMs * SPREAD_SHARE) / STEP_MS));
  const atOnce = Math.max(1, Math.ceil(sessions.length / steps));
  let told = 0;
  let timer: unknown;
  const step = () => {
    for (const session of sessions.slice(told, told + atOnce)) tell(session);
    told += atOnce;
    if (told < sessions.length) timer = clock.setTimeout(step, STEP_MS);
  };
  step();
  return () => clock.clearTimeout(timer);
}

// The charts of a session with their actions: each finds its session by the id in its context. Provided once for all sessions of a
// node, since `provide` costs 0.2 ms and 25 kB.
interface FailoverArgs {
  context: { ownerId: string; index: number };
}

interface SessionArgs {
  context: {
    sessionId: string;
    index: number;
    generation: number;
    failure: LegFailure | null;
    reason: SessionEndReason | null;
    error: SessionError | null;
    attempts: Attempt[];
  };
}

/** @param find a session that has not ended */
export function provideSessionMachine(find: (sessionId: string) => LiveSession | undefined): typeof sessionMachine {
  const session = ({ context }: SessionArgs) => find(context.sessionId);
  const onFault = (name: string, args: SessionArgs, error: unknown) => session(args)?.fault(name, error);
  const failover = failoverMachine.provide({
    actions: guardActions(
      {
        tellChosen: ({ context: { ownerId, index } }: FailoverArgs) =>
          find(ownerId)?.charts.tell({ type: 'failover.chosen', index }),
        askAgain: ({ context: { ownerId } }: FailoverArgs) => find(ownerId)?.recovery.weigh(),
      },
      (name, { context }, error) => find(context.ownerId)?.fault(name, error),
    ),
  });
  const settle = fromPromise<void, { sessionId: string }>(async ({ input }) => find(input.sessionId)?.outbox.flushed());
  return sessionMachine.provide({
    actors: { failover, settle },
    actions: guardActions(
      {
        openLeg: (args: SessionArgs) => session(args)?.recovery.openLeg(args.context.index, args.context.generation),
        closeLeg: (args: SessionArgs) => session(args)?.closeLeg(),
        openGate: (args: SessionArgs) => session(args)?.openGate(args.context.index, args.context.attempts.length),
        closeGate: (args: SessionArgs) => session(args)?.leg.pump.hold(),
        endTurn: (args: SessionArgs) => session(args)?.leg.pump.endTurn(),
        finishLeg: (args: SessionArgs) => session(args)?.finishLeg(),
        rest: (args: SessionArgs) => session(args)?.rest(),
        endAudio: (args: SessionArgs) => session(args)?.endAudio(),
        endTurns: (args: SessionArgs) => session(args)?.charts.turn.stop(),
        decide: (args: SessionArgs) => session(args)?.recovery.decide(args.context.index, args.context.failure),
        tellHeld: (args: SessionArgs) => session(args)?.recovery.steady(),
        announceExpiry: (args: SessionArgs) => session(args)?.settleBetweenTurns(),
        announceDrain: (args: SessionArgs) => session(args)?.announceDrain(),
        announceEnd: (args: SessionArgs) => {
          const { reason, error, attempts } = args.context;
          session(args)?.ending.announce(reason ?? 'error', error, attempts);
        },
      },
      onFault,
    ),
  });
}
