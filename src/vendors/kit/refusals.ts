// What HTTP statuses mean where a provider says nothing better, how `Retry-After` is read, and what of a provider's own
// words a client may see.
import type { FailureKind, LegFailure } from '../../../machines/events.ts';
import type { ProviderRefusal } from './provider.ts';

/** Statuses that blame what was requested. */
const CALLERS = [400, 413, 414, 415, 422, 431];
/** Longest text of a provider that is passed on. */
const WORDS_MAX = 300;

/**
 * The failure of a refused upgrade or request by its status: 401, 402 and 403 are the credential's, 400, 413, 414, 415, 422 and
 * 431 the caller's. Words about a credential may quote it, and are not passed on.
 *
 * @param known what it is, where the provider's rows say so
 */
export function failureOfStatus(refusal: ProviderRefusal, words = '', known?: FailureKind): LegFailure {
  const { status } = refusal;
  const byStatus = kindOfStatus(status);
  const { reason, lasting } = byStatus;
  const kind = known ?? byStatus.kind;
  const said = words === '' || kind === 'account' ? '' : `: ${providerWords(words)}`;
  const retryAfterMs = retryAfterOf(refusal);
  return {
    kind,
    reason,
    code: `http_${status}`,
    message: `The provider answered with HTTP ${status}${said === '' ? '.' : said}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(lasting === true && kind === byStatus.kind ? { lasting } : {}),
  };
}

function kindOfStatus(status: number): Pick<LegFailure, 'kind' | 'reason' | 'lasting'> {
  if (status === 401 || status === 402 || status === 403) return { kind: 'account', reason: 'connect_failed' };
  if (status === 408 || status === 425 || status === 429) return { kind: 'next', reason: 'connect_failed' };
  if (status >= 500) return { kind: 'retry', reason: 'connect_failed' };
  if (CALLERS.includes(status)) return { kind: 'caller', reason: 'upstream_error', lasting: true };
  // A redirect, or a path or method that is not there: the deployment is wrong, not the request.
  return { kind: 'next', reason: 'connect_failed', lasting: true };
}

/** Milliseconds of `Retry-After` given in seconds; dates are left out, since only the gateway's clock is trusted. */
export function retryAfterOf({ headers }: Pick<ProviderRefusal, 'headers'>): number | undefined {
  const text = headers['retry-after']?.trim();
  if (text === undefined || !/^\d{1,9}(\.\d+)?$/.test(text)) return undefined;
  return Math.round(Number(text) * 1000);
}

/** A credential with its middle left out, as OpenAI quotes it; its ends are nobody else's business either. */
const MASKED = /\S*\*{3}\S*/g;

/** A provider's words on one line, without control characters and credentials, cut to a sensible length. */
export function providerWords(text: string): string {
  return text
    .slice(0, 2 * WORDS_MAX)
    .replace(/\p{C}+/gu, ' ')
    .replace(MASKED, '[hidden]')
    .slice(0, WORDS_MAX)
    .trim();
}
