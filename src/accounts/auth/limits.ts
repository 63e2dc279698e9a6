// How much one key may ask for: requests and client tokens a minute, sessions and files at a time; by its own settings, else by
// the node's. A client token counts for the key that minted it. Limits of addresses and of a whole node are kept elsewhere.
import type { Clock } from '../../../machines/clock.ts';
import { type ApiError, apiError } from '../../api/errors.ts';
import type { ClusterLimits } from '../../cluster/limits/limits.ts';
import { MinuteLimit, type RateLimitHeaders, rateLimitHeaders } from '../../runtime/limits/minute-limit.ts';
import { Quota } from '../../runtime/limits/quota.ts';
import type { ApiKey } from '../keys/calls.ts';

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
   * Throws an ApiError `rate_limit_exceeded` with `Retry-After` and the same headers.
   */
  takeRequest(key: LimitedKey): RateLimitHeaders;
  /** The same for a client token that is minted. */
  takeToken(key: LimitedKey): RateLimitHeaders;
  /**
   * Counts a session until the returned function is called; calling that twice does no harm. Where other nodes count as well it
   * takes a moment.
   * Throws, or rejects with, an ApiError `too_many_sessions` with `Retry-After` and the headers.
   */
  takeSession(key: LimitedKey): (() => void) | Promise<() => void>;
  /** The same for a file that is being transcribed. Files and sessions are counted separately; a key's own limit holds for both. */
  takeFile(key: LimitedKey): (() => void) | Promise<() => void>;
  /** Keys whose requests or tokens were forgotten too early, because too many keys were active at once. */
  readonly forgottenKeys: number;
}

/** Of a node that knows of all there is on its own. */
export interface NodeKeyLimits extends KeyLimits {
  takeSession(key: LimitedKey): () => void;
  takeFile(key: LimitedKey): () => void;
}

/** The limits are the node's, for keys without one of their own. */
export interface KeyLimitsOptions {
  requestsPerMinutePerKeyMax: number;
  sessionsPerKeyMax: number;
  /** Of all keys of an organisation together; without a limit when absent. */
  sessionsPerOrganisationMax?: number;
  /** The same for files; as many as sessions when absent. */
  filesPerKeyMax?: number;
  filesPerOrganisationMax?: number;
  /** 60 when absent. */
  tokensPerMinutePerKeyMax?: number;
  clock: Pick<Clock, 'now'>;
  /** Keys remembered at a time, 10,000 when absent. Past it the key that was idle longest gets a fresh minute. */
  keysMax?: number;
}

export function createKeyLimits(options: KeyLimitsOptions): NodeKeyLimits {
  const take = (what: Counted) => {
    const takeOfKey = createPlaceLimit(what, 'key');
    const takeOfOrganisation = createPlaceLimit(what, 'organisation');
    return (key: LimitedKey) => {
      const { keyMax, organisationMax } = maxOf(what, key, options);
      const leaveKey = takeOfKey(key.id, keyMax);
      try {
        const leaveOrganisation = takeOfOrganisation(key.organisationId, organisationMax ?? Number.POSITIVE_INFINITY);
        return () => {
          leaveKey();
          leaveOrganisation();
        };
      } catch (error) {
        leaveKey();
        throw error;
      }
    };
  };
  return withRates(createRates(options), { takeSession: take('sessions'), takeFile: take('files') });
}

/** The same limits over all nodes of a gateway. */
export function createSharedKeyLimits(options: KeyLimitsOptions, shared: ClusterLimits): KeyLimits {
  const take = (what: Counted) => async (key: LimitedKey) => {
    // Of another name, files are counted separately.
    const name = (id: string) => (what === 'sessions' ? id : `${what} ${id}`);
    const taken = await shared.places.take({
      keyId: name(key.id),
      organisationId: name(key.organisationId),
      ...maxOf(what, key, options),
    });
    if ('full' in taken) throw tooMany(what, taken.full, taken.max, taken.isShare);
    return taken.leave;
  };
  return withRates(createRates(options, shared), { takeSession: take('sessions'), takeFile: take('files') });
}

type Counted = 'sessions' | 'files';

/** `organisationMax`: null without a limit. */
function maxOf(what: Counted, key: LimitedKey, options: KeyLimitsOptions) {
  const { sessionsPerKeyMax, filesPerKeyMax = sessionsPerKeyMax } = options;
  const { sessionsPerOrganisationMax, filesPerOrganisationMax } = options;
  const [keyMax, organisationMax] =
    what === 'sessions' ? [sessionsPerKeyMax, sessionsPerOrganisationMax] : [filesPerKeyMax, filesPerOrganisationMax];
  return { keyMax: key.sessionsMax ?? keyMax, organisationMax: organisationMax ?? null };
}

type Rates = Pick<KeyLimits, 'takeRequest' | 'takeToken' | 'forgottenKeys'>;

function withRates<Places extends Pick<KeyLimits, 'takeSession' | 'takeFile'>>(
  rates: Rates,
  places: Places,
): Pick<Places, 'takeSession' | 'takeFile'> & Rates {
  const { takeRequest, takeToken } = rates;
  return {
    ...places,
    takeRequest,
    takeToken,
    get forgottenKeys() {
      return rates.forgottenKeys;
    },
  };
}

/** What is counted by the minute, where other nodes count as well with what they take. */
function createRates(options: KeyLimitsOptions, shared?: Pick<ClusterLimits, 'rates' | 'ownOf'>): Rates {
  const { clock, keysMax, tokensPerMinutePerKeyMax = TOKENS_PER_MINUTE_MAX } = options;
  const table = { clock, ...(keysMax === undefined ? {} : { namesMax: keysMax }) };
  const counted = { requests: new MinuteLimit(table), tokens: new MinuteLimit(table) };
  shared?.rates.serve({
    charge: ([kind, keyId, count, max], used) => counted[kind].charge(keyId, count, max, used),
    missingMs: (kind, keyId) => counted[kind].missingMs(keyId),
  });

  function takeOf(kind: keyof typeof counted, key: LimitedKey, max: number): RateLimitHeaders {
    const headers = take(counted[kind], key, shared?.ownOf(max) ?? max, kind);
    shared?.rates.took(kind, key.id, max);
    return headers;
  }

  return {
    takeRequest: (key) => takeOf('requests', key, key.requestsPerMinuteMax ?? options.requestsPerMinutePerKeyMax),
    takeToken: (key) => takeOf('tokens', key, key.tokensPerMinuteMax ?? tokensPerMinutePerKeyMax),
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
  throw apiError(
    'rate_limit_exceeded',
    `This key may ${verb} ${max} ${what} per minute. Try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds, headers },
  );
}

function createPlaceLimit(what: Counted, whose: 'key' | 'organisation'): (id: string, max: number) => () => void {
  const quota = new Quota();

  return (id, max) => {
    const held = quota.hold(id, max);
    if (typeof held === 'string') throw tooMany(what, whose, max);
    return held;
  };
}

const TOO_MANY = { sessions: ['sessions', 'End one'], files: ['files in progress', 'Wait for an answer'] } as const;

/** @param isShare whether it is one node's share, applied while the sessions of all nodes cannot be counted */
function tooMany(what: Counted, whose: 'key' | 'organisation', max: number, isShare = false): ApiError {
  const where = isShare ? ' on this node, which cannot reach the others right now' : '';
  const [things, advice] = TOO_MANY[what];
  return apiError(
    'too_many_sessions',
    `This ${whose} may have ${max} ${things} at a time${where}. ${advice}, or try again later.`,
    { retryAfterSeconds: SESSION_RETRY_SECONDS, headers: rateLimitHeaders(max, 0, SESSION_RETRY_SECONDS) },
  );
}
