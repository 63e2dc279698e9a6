// What a client is told when there is no credit, or when the ledger cannot be asked.
import type { SessionEndReason } from '../../../machines/events.ts';
import { type ApiError, apiError, type ErrorCode } from '../../api/errors.ts';
import type { StoreError } from '../../store/store-error.ts';

const LEDGER_RETRY_SECONDS = 1;

/** What a client hears when no hold could be had. */
export function apiErrorOf({ reason }: Pick<StoreError, 'reason'>): ApiError {
  if (reason === 'insufficient_credit') return apiError('insufficient_credit', shortageWords.credit);
  if (reason === 'daily_spend') {
    return apiError('rate_limit_exceeded', shortageWords.daily_spend, { retryAfterSeconds: secondsToMidnight() });
  }
  return apiError('ledger_unavailable', shortageWords.ledger, { retryAfterSeconds: LEDGER_RETRY_SECONDS });
}

export const shortageCodes = {
  credit: 'insufficient_credit',
  daily_spend: 'rate_limit_exceeded',
  ledger: 'ledger_unavailable',
} as const satisfies Record<string, ErrorCode>;

/** Why a session ended: a customer without money and a ledger that is away are not the same news for an operator. */
export const shortageReasons = {
  credit: 'credit',
  daily_spend: 'credit',
  ledger: 'ledger',
} as const satisfies Record<string, SessionEndReason>;

export const shortageWords = {
  credit:
    'The credit of this organisation is used up. Add credit, or use a model that costs nothing or your own provider key.',
  daily_spend: 'This key has spent what it may spend in a day. Its limit is there again at midnight UTC.',
  ledger:
    'The ledger does not answer just now, so no credit can be set aside for paid work. Try again in a moment, or use a model that costs nothing or your own provider key.',
} as const;

function secondsToMidnight(): number {
  const dayMs = 86_400_000;
  return Math.ceil((dayMs - (Date.now() % dayMs)) / 1000);
}
