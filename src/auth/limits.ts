// How much one key may ask for: requests and client tokens a minute, sessions at a time; by its own settings, else by the
// node's. A client token counts for the key that minted it. Limits of addresses and of a whole node are kept elsewhere.
import type { Clock } from '../../machines/clock.ts';
import { refuse } from '../api/errors.ts';
import type { ApiKey } from '../store/store.ts';
import { MinuteLimit, type RateLimitHeaders, rateLimitHeaders } from './minute-limit.ts';

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
   * Counts a session until the returned function is called; calling that twice does no harm.
   * Throws a Refusal `too_many_sessions` with `Retry-After` and the headers.
   */
  takeSession(key: LimitedKey): () => void;
  /** Keys whose requests or tokens were forgotten too early, because too many keys were active at once. */
  readonly forgottenKeys: number;
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

export function createKeyLimits(options: KeyLimitsOptions): KeyLimits {
  const { clock, keysMax, tokensPerMinuteMax = TOKENS_PER_MINUTE_MAX } = options;
  const table = { clock, ...(keysMax === undefined ? {} : { namesMax: keysMax }) };
  const requests = new MinuteLimit(table);
  const tokens = new MinuteLimit(table);
  const takeSession = createSessionLimit('key');
  const takeOfOrganisation = createSessionLimit('organisation');
  return {
    takeRequest: (key) =>
      take(requests, key, key.requestsPerMinuteMax ?? options.requestsPerMinuteMax, 'make', 'requests'),
    takeToken: (key) => take(tokens, key, key.tokensPerMinuteMax ?? tokensPerMinuteMax, 'mint', 'client tokens'),
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
    get forgottenKeys() {
      return requests.forgotten + tokens.forgotten;
    },
  };
}

function take(limit: MinuteLimit, key: LimitedKey, max: number, verb: string, what: string): RateLimitHeaders {
  const { retryAfterSeconds, headers } = limit.take(key.id, max);
  if (retryAfterSeconds === 0) return headers;
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
      throw refuse(
        'too_many_sessions',
        `This ${whose} may have ${sessionsMax} sessions at a time. End one, or try again later.`,
        {
          retryAfterSeconds: SESSION_RETRY_SECONDS,
          headers: rateLimitHeaders(sessionsMax, 0, SESSION_RETRY_SECONDS),
        },
      );
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
