// What comes after the failure of a model: the same again, another one of the chain, or the end. Decided here for live sessions,
// whose failover chart asks, and for files (src/files). Members of a chain are known by their place in it.
import type { FailureKind } from '../events.ts';

export interface FailoverLimits {
  /** Retries of one model within an incident. */
  retries: number;
  /** Times the whole chain is begun again within an incident. */
  rounds: number;
  /** How long after its first failure an incident has further rounds, beyond those. */
  retryMs: number;
  /** First pause before a retry. */
  backOffMs: number;
}

/** Where sessions and files differ. */
export interface FailoverPolicy {
  /** Losses inside the gateway that an incident is forgiven: they say nothing of the model. */
  ownLossesMax: number;
  /** A provider that asks for more time than this is not tried again while another is left. */
  retryAfterMsMax: number;
  /** The pause doubles with each failure of an incident, up to this. */
  backOffMsMax: number;
  /** Longest pause that a provider is granted where it asks for one. */
  grantedMsMax: number;
}

/** Losses inside the gateway come in swarms when the bus is ill. A session that pauses for long loses its client. */
export const SESSION_POLICY: FailoverPolicy = {
  ownLossesMax: 30,
  retryAfterMsMax: 1_000,
  backOffMsMax: 2_000,
  grantedMsMax: 10_000,
};
export const FILE_POLICY: FailoverPolicy = {
  ownLossesMax: 0,
  retryAfterMsMax: 5_000,
  backOffMsMax: 250,
  grantedMsMax: 5_000,
};
export const FILE_LIMITS: FailoverLimits = { retries: 1, rounds: 0, retryMs: 0, backOffMs: 250 };

/** A failed attempt at the current member. */
export interface FailedAttempt {
  kind: FailureKind;
  /** Members whose breaker is open now: they are tried only when no other is left. */
  open: number[];
  /** Since the first failure of the incident. */
  elapsedMs: number;
  /** The node's budget has room for another attempt at the same model. */
  mayRetry: boolean;
  /** How long the provider asked to be left alone; 0 where it did not. */
  retryAfterMs: number;
  /** Asking again will not change it. */
  lasting: boolean;
  /** Lost inside the gateway. */
  own: boolean;
  /** It had the audio: the model works, and has lost one connection. */
  wasReady: boolean;
}

/** What has failed since a model worked last. */
export interface Incident extends Omit<FailedAttempt, 'kind'> {
  /** Length of the chain. */
  members: number;
  limits: FailoverLimits;
  /** The member that is tried, or has failed last. */
  index: number;
  kind: FailureKind | null;
  failures: number;
  retriesLeft: number;
  roundsLeft: number;
  ownLosses: number;
  /** Members whose credential was refused: they are not tried again, also not in a later incident. */
  barred: number[];
  /** Members tried in this round. */
  tried: number[];
}

/** What a host says of the node and its breakers, when a pause is over. */
export type Weighed = Pick<FailedAttempt, 'open' | 'mayRetry' | 'elapsedMs'>;

/** `wait`: another round, after a pause, once the node has room for it. */
export type Decision = 'refused' | 'forgiven' | 'retry' | 'next' | 'round' | 'passed_over' | 'wait' | 'exhausted';

/** Nothing has failed yet. `first`: {@link firstCandidate}. */
export function noIncident(members: number, first: number, limits: FailoverLimits): Incident {
  // Member by member: it is made for every file, and V8 gives what is made with spreads a hidden class of its own.
  return {
    kind: null,
    own: false,
    failures: 0,
    ownLosses: 0,
    tried: [],
    retriesLeft: limits.retries,
    roundsLeft: limits.rounds,
    open: [],
    mayRetry: true,
    retryAfterMs: 0,
    elapsedMs: 0,
    lasting: false,
    wasReady: false,
    members,
    limits,
    index: first,
    barred: [],
  };
}

const atRest = ({ retries, rounds }: FailoverLimits) => ({
  kind: null,
  own: false,
  failures: 0,
  ownLosses: 0,
  tried: [],
  retriesLeft: retries,
  roundsLeft: rounds,
});

/** The incident is over: the current member works. */
export const incidentOver = (incident: Incident): Incident => ({ ...incident, ...atRest(incident.limits) });

/** The incident with one more failure of the current member. */
export function withFailure(incident: Incident, failed: FailedAttempt): Incident {
  const { index, failures, tried, barred } = incident;
  return {
    ...incident,
    ...failed,
    failures: failures + 1,
    tried: [...tried, index],
    barred: failed.kind === 'account' ? [...barred, index] : barred,
  };
}

/** Whether an attempt that was decided on waits before it begins. */
export const hasPause = (decision: Decision): boolean => ['forgiven', 'retry', 'round', 'wait'].includes(decision);

/** What comes after the last failure. */
export function decide(incident: Incident, policy: FailoverPolicy): Decision {
  const { kind, own, ownLosses, retriesLeft, roundsLeft, mayRetry } = incident;
  if (kind === 'caller') return 'refused';
  if (kind === 'empty') return nextOf(incident) >= 0 ? 'next' : 'exhausted';
  if (own && kind === 'retry' && ownLosses < policy.ownLossesMax) return 'forgiven';
  if (retriesLeft > 0 && mayRetry && mayPass(incident, policy)) return 'retry';
  if (nextOf(incident) >= 0) return 'next';
  if (roundsLeft > 0 && roundOf(incident) >= 0) return 'round';
  if (passedOver(incident) >= 0) return 'passed_over';
  return hasTime(incident, policy) && roundOf(incident) >= 0 ? 'wait' : 'exhausted';
}

/** Whether another round could still begin in time, and what failed last may have passed by then. */
const hasTime = (incident: Incident, policy: FailoverPolicy): boolean =>
  !incident.lasting && incident.elapsedMs + pauseMs(incident, policy) <= incident.limits.retryMs;

/** Whether a failure may have passed by the time that the same model is asked again. */
export const mayPass = (
  { kind, index, open, retryAfterMs }: Pick<Incident, 'kind' | 'index' | 'open' | 'retryAfterMs'>,
  { retryAfterMsMax }: FailoverPolicy,
): boolean => kind === 'retry' && !open.includes(index) && retryAfterMs <= retryAfterMsMax;

/** The incident when a decision is carried out: `index` is tried next. */
export function carriedOut(incident: Incident, decision: Decision): Incident {
  const { limits, tried, ownLosses, retriesLeft, roundsLeft } = incident;
  switch (decision) {
    case 'forgiven':
      // It was not an attempt at the model.
      return { ...incident, ownLosses: ownLosses + 1, tried: tried.slice(0, -1) };
    case 'retry':
      return { ...incident, retriesLeft: retriesLeft - 1 };
    case 'next':
      return { ...incident, index: nextOf(incident), retriesLeft: limits.retries };
    case 'round':
    case 'wait':
      return {
        ...incident,
        index: roundOf(incident),
        retriesLeft: limits.retries,
        roundsLeft: Math.max(0, roundsLeft - 1),
        tried: [],
      };
    case 'passed_over':
      return { ...incident, index: passedOver(incident), retriesLeft: limits.retries };
    default:
      return incident;
  }
}

/** How long an attempt waits that is decided on with a pause: not at all where a model that works has lost a connection. */
export function pauseMs(
  { limits: { backOffMs }, failures, retryAfterMs, own, wasReady }: Incident,
  { backOffMsMax, grantedMsMax }: FailoverPolicy,
): number {
  if (wasReady && !own && failures === 1 && retryAfterMs === 0) return 0;
  const backOff = Math.min(backOffMsMax, backOffMs * 2 ** Math.max(0, failures - 1));
  return Math.max(backOff, Math.min(grantedMsMax, retryAfterMs));
}

/** The member to begin with. A breaker never refuses the last candidate: with all of them open it is the first. */
export const firstCandidate = (members: number, open: readonly number[]): number =>
  Math.max(0, candidate(members, open));

/** The next member behind the current one, or -1. One with an open breaker is left out as long as any other is left. */
const nextOf = ({ members, index, barred, tried, open }: Incident): number =>
  candidate(members, [...barred, ...tried, ...open], index + 1);

/** Where a further round begins, or -1. */
const roundOf = ({ members, barred, open }: Incident): number => closedFirst(members, barred, open);

/** A member that this round has left out because of its breaker alone, or -1. */
const passedOver = ({ members, barred, tried, open }: Incident): number =>
  closedFirst(members, [...barred, ...tried], open);

/** The first member that is not excluded, if possible one whose breaker is closed; or -1. */
function closedFirst(members: number, excluded: readonly number[], open: readonly number[]): number {
  const closed = candidate(members, [...excluded, ...open]);
  return closed >= 0 ? closed : candidate(members, excluded);
}

/** The first member from `from` on that is not excluded, or -1. */
function candidate(members: number, excluded: readonly number[], from = 0): number {
  for (let index = from; index < members; index++) if (!excluded.includes(index)) return index;
  return -1;
}
