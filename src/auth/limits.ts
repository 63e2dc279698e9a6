// How much one key may ask for: requests and client tokens a minute, sessions at a time; by its own settings, else by the
// node's. A client token counts for the key that minted it. Limits of addresses and of a whole node are kept elsewhere.
import type { Clock } from '../../machines/clock.ts';
import { type Refusal, refuse } from '../api/errors.ts';
import type { ClusterLimits } from '../cluster/limits.ts';
import { MinuteLimit, type RateLimitHeaders, rateLimitHeaders } from '../runtime/minute-limit.ts';
import type { ApiKey } from '../store/store.ts';

/** A session may end at any time; this is when asking again is worth it. */
const SESSION_RETRY_SECONDS = 5;
const TOKENS_PER_MINUTE_MAX = 60;

/**
 * What of a key is counted by and limited by. The id is what is counted: while a rolled key is still good, the old and the
 * new one count separately, so that a roll can never run into a limit.
 */
export type LimitedKey = Pick<
  ApiKey,
  'id' | 'organisationId' | 'requestsPerMinuteMax' | 'sessionsMax' | 'tokensPerMinuteMax'
>;

export interface KeyLimits {
  /**
   * Counts a request and gives the headers for its answer.
   * Throws a Refusal `rate_limit_exceeded` with `Retry-After` and the same headers.
   */
  takeRequest(key: LimitedKey): RateLimitHeaders;
  /** The same for a client token that is minted. */
  takeToken(key: LimitedKey): RateLimitHeaders;
  /**
   * Counts a session until the returned function is called; calling that twice does no harm. Where other nodes count as well it
   * takes a moment.
   * Throws, or rejects with, a Refusal `too_many_sessions` with `Retry-After` and the headers.
   */
  takeSession(key: LimitedKey): (() => void) | Promise<() => void>;
  /** Keys whose requests or tokens were forgotten too early, because too many keys were active at once. */
  readonly forgottenKeys: number;
}

/** Of a node that knows of all there is by itself. */
export interface NodeKeyLimits extends KeyLimits {
  takeSession(key: LimitedKey): () => void;
}

/** The limits are the node's, for keys without one of their own. */
export interface KeyLimitsOptions {
  requestsPerMinuteMax: number;
  sessionsMax: number;
  /** Of all keys of an organisation together; without a limit when absent. */
  sessionsPerOrganisationMax?: number;
  /** 60 when absent. */
  tokensPerMinuteMax?: number;
  clock: Pick<Clock, 'now'>;
  /** Keys remembered at a time, 10,000 when absent. Past it the key that was idle longest gets a fresh minute. */
  keysMax?: number;
}

export function createKeyLimits(options: KeyLimitsOptions): NodeKeyLimits {
  const takeSession = createSessionLimit('key');
  const takeOfOrganisation = createSessionLimit('organisation');
  return withRates(createRates(options), {
    takeSession: (key) => {
      const leaveKey = takeSession(key.id, key.sessionsMax ?? options.sessionsMax);
      try {
        const max = options.sessionsPerOrganisationMax ?? Number.POSITIVE_INFINITY;
        const leaveOrganisation = takeOfOrganisation(key.organisationId, max);
        return () => {
          leaveKey();
          leaveOrganisation();
        };
      } catch (error) {
        leaveKey();
        throw error;
      }
    },
  });
}

/** The same limits over all nodes of a gateway. */
export function createSharedKeyLimits(options: KeyLimitsOptions, shared: ClusterLimits): KeyLimits {
  const organisationMax = options.sessionsPerOrganisationMax ?? null;
  return withRates(createRates(options, shared), {
    async takeSession({ id: keyId, organisationId, sessionsMax }) {
      const keyMax = sessionsMax ?? options.sessionsMax;
      const taken = await shared.places.take({ keyId, organisationId, keyMax, organisationMax });
      if ('full' in taken) throw tooManySessions(taken.full, taken.max, taken.isShare);
      return taken.leave;
    },
  });
}

type Rates = Pick<KeyLimits, 'takeRequest' | 'takeToken' | 'forgottenKeys'>;

function withRates<Sessions extends Pick<KeyLimits, 'takeSession'>>(
  rates: Rates,
  sessions: Sessions,
): Pick<Sessions, 'takeSession'> & Rates {
  const { takeRequest, takeToken } = rates;
  return {
    ...sessions,
    takeRequest,
    takeToken,
    get forgottenKeys() {
      return rates.forgottenKeys;
    },
  };
}

/** What is counted by the minute, where other nodes count as well with what they take. */
function createRates(options: KeyLimitsOptions, shared?: Pick<ClusterLimits, 'rates' | 'ownOf'>): Rates {
  const { clock, keysMax, tokensPerMinuteMax = TOKENS_PER_MINUTE_MAX } = options;
  const table = { clock, ...(keysMax === undefined ? {} : { namesMax: keysMax }) };
  const counted = { requests: new MinuteLimit(table), tokens: new MinuteLimit(table) };
  shared?.rates.onTaken(([kind, keyId, count, max]) => counted[kind].charge(keyId, count, max));

  function takeOf(kind: keyof typeof counted, key: LimitedKey, max: number): RateLimitHeaders {
    const headers = take(counted[kind], key, shared?.ownOf(max) ?? max, kind);
    shared?.rates.took(kind, key.id, max);
    return headers;
  }

  return {
    takeRequest: (key) => takeOf('requests', key, key.requestsPerMinuteMax ?? options.requestsPerMinuteMax),
    takeToken: (key) => takeOf('tokens', key, key.tokensPerMinuteMax ?? tokensPerMinuteMax),
    get forgottenKeys() {
      return counted.requests.forgotten + counted.tokens.forgotten;
    },
  };
}

const WORDS = { requests: ['make', 'requests'], tokens: ['mint', 'client tokens'] } as const;

function take(limit: MinuteLimit, key: LimitedKey, max: number, kind: keyof typeof WORDS): RateLimitHeaders {
  const { retryAfterSeconds, headers } = limit.take(key.id, max);
  if (retryAfterSeconds === 0) return headers;
  const [verb, what] = WORDS[kind];
  throw refuse(
    'rate_limit_exceeded',
    `This key may ${verb} ${max} ${what} per minute. Try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds, headers },
  );
}

function createSessionLimit(whose: 'key' | 'organisation'): (id: string, sessionsMax: number) => () => void {
  const openById = new Map<string, number>();

  return (id, sessionsMax) => {
    const open = openById.get(id) ?? 0;
    if (open >= sessionsMax) {
      throw tooManySessions(whose, sessionsMax);
    }
    openById.set(id, open + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = openById.get(id)! - 1;
      if (left === 0) openById.delete(id);
      else openById.set(id, left);
    };
  };
}

/** @param isShare whether it is what one node lets in while nobody can count all of them */
function tooManySessions(whose: 'key' | 'organisation', max: number, isShare = false): Refusal {
  const where = isShare ? ' on this node, which cannot ask the others just now' : '';
  return refuse(
    'too_many_sessions',
    `This ${whose} may have ${max} sessions at a time${where}. End one, or try again later.`,
    { retryAfterSeconds: SESSION_RETRY_SECONDS, headers: rateLimitHeaders(max, 0, SESSION_RETRY_SECONDS) },
  );
}
