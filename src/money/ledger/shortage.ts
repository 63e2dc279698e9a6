// What a client is told when there is no credit, or when the ledger cannot be asked.
import type { SessionEndReason } from '../../../machines/events.ts';
import { type ApiError, apiError, type ErrorCode } from '../../api/errors.ts';
import type { SpendPeriod } from '../../api/spend-ceilings.ts';
import { usdOf } from '../../config/prices/price.ts';
import type { StoreError } from '../../store/store-error.ts';
import { ceilingIn } from '../store/ceiling-words.ts';

const LEDGER_RETRY_SECONDS = 1;

/** What a client hears when no hold could be had. */
export function apiErrorOf({ reason, message = '' }: Pick<StoreError, 'reason'> & { message?: string }): ApiError {
  if (reason === 'spend_ceiling') return ceilingReached(message);
  if (reason === 'insufficient_credit') return apiError('insufficient_credit', shortageWords.credit);
  if (reason === 'daily_spend') {
    return apiError('rate_limit_exceeded', shortageWords.daily_spend, { retryAfterSeconds: secondsToMidnight() });
  }
  return apiError('ledger_unavailable', shortageWords.ledger, { retryAfterSeconds: LEDGER_RETRY_SECONDS });
}

function ceilingReached(sentence: string): ApiError {
  const ceiling = ceilingIn(sentence);
  if (ceiling === undefined) return apiError('spend_ceiling_reached', shortageWords.ceiling);
  const { scope, provider, period, limitMicroUsd, onlyUpToMicroUsd } = ceiling;
  const at = provider === '' ? '' : ` at ${provider}`;
  // What the operator may spend is not the customer's business.
  const whose =
    scope === 'gateway'
      ? `The gateway's spend ceiling for the ${period}${at}`
      : `The spend ceiling of this ${scope.startsWith('key_') ? 'key' : 'organisation'}, ${usdOf(limitMicroUsd)} USD a ${period}${at},`;
  const cheaper =
    onlyUpToMicroUsd === undefined ? '' : ` Models up to ${usdOf(onlyUpToMicroUsd)} USD a minute may still be used.`;
  return apiError('spend_ceiling_reached', `${whose} is reached.${cheaper} Try again in the next ${period} (UTC).`, {
    retryAfterSeconds: secondsTo(period),
  });
}

/** A second of the model costs more than `max_cost` leaves. */
export const tooDear = (slug: string, roomMicroUsd: bigint): ApiError =>
  apiError(
    'max_cost_reached',
    `\`max_cost\` leaves ${usdOf(roomMicroUsd)} USD, and a second of ${slug} costs more. Raise \`max_cost\`, or use a cheaper model.`,
    { param: 'max_cost' },
  );

export const shortageCodes = {
  credit: 'insufficient_credit',
  daily_spend: 'rate_limit_exceeded',
  ceiling: 'spend_ceiling_reached',
  max_cost: 'max_cost_reached',
  ledger: 'ledger_unavailable',
} as const satisfies Record<string, ErrorCode>;

/** Why a session ended: a customer without money and a ledger that is away are not the same news for an operator. */
export const shortageReasons = {
  credit: 'credit',
  daily_spend: 'credit',
  ceiling: 'credit',
  max_cost: 'credit',
  ledger: 'ledger',
} as const satisfies Record<string, SessionEndReason>;

export const shortageWords = {
  credit: 'The credit of this organisation is used up. Add credit, or use a free model or your own provider key.',
  daily_spend: 'This key has reached its limit of daily spend. It can spend again from midnight UTC.',
  ceiling:
    'A ceiling on the spend of this key, its organisation or the gateway is reached. Try again in the next hour, day or month (UTC).',
  max_cost: 'The session reached its `max_cost`. Open a new one to continue.',
  ledger:
    'The ledger does not answer right now, so it cannot reserve credit for paid work. Try again in a moment, or use a free model or your own provider key.',
} as const;

const secondsToMidnight = (): number => secondsTo('day');

/** Until the next period begins, by UTC. */
function secondsTo(period: SpendPeriod): number {
  const now = Date.now();
  const lengthMs = period === 'hour' ? 3_600_000 : 86_400_000;
  const date = new Date(now);
  const leftMs =
    period === 'month' ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - now : lengthMs - (now % lengthMs);
  return Math.ceil(leftMs / 1000);
}
