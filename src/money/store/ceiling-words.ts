// A ceiling on spend in one sentence, as the ledger refuses by it, and read back from there by the node that asked.
import { SPEND_PERIODS, type SpendPercent, type SpendPeriod } from '../../api/spend-ceilings.ts';
import { microUsdOf, usdOf } from '../../config/prices/price.ts';

/** Of the whole gateway. */
export const GATEWAY_SCOPE = 'gateway';

export interface CeilingName {
  /** `gateway`, or the id of an organisation or key. */
  scope: string;
  /** Empty for all providers together. */
  provider: string;
  period: SpendPeriod;
  /** The hour, day or month: the beginning of an ISO 8601 time. */
  span: string;
  limitMicroUsd: bigint;
  /** A minute of the models that may still be used when it is reached. */
  onlyUpToMicroUsd?: bigint;
}

/** A ceiling of which a part is used that was not reported before. */
export interface ReachedCeiling extends CeilingName {
  /** Who is told; null where the gateway has no organisation. */
  organisationId: string | null;
  percent: SpendPercent;
  /** Spent in the period, and held. */
  usedMicroUsd: bigint;
  /** It is kept until it is delivered as an event. */
  isKept?: true;
}

/** The same each time that a part of a ceiling is reached in its period. */
export const reachedName = ({
  scope,
  provider,
  period,
  span,
  limitMicroUsd,
  percent,
}: CeilingName & Pick<ReachedCeiling, 'percent'>) =>
  `${scope} ${provider} ${period} ${span} ${limitMicroUsd} ${percent}`;

/** A daily limit of a key is reached. */
export const dayName = (keyId: string, date: string): string => `${keyId} ${date}`;

export function ceilingSentence({
  scope,
  provider,
  period,
  span,
  limitMicroUsd,
  onlyUpToMicroUsd,
}: CeilingName): string {
  const at = provider === '' ? '' : ` at ${provider}`;
  const rest = onlyUpToMicroUsd === undefined ? '' : ` Models up to ${usdOf(onlyUpToMicroUsd)} USD a minute are left.`;
  return `The ceiling of ${usdOf(limitMicroUsd)} USD for the ${period} ${span} of ${scope}${at} is reached.${rest}`;
}

const SENTENCE = new RegExp(
  `^The ceiling of ([\\d.]+) USD for the (${SPEND_PERIODS.join('|')}) ([\\dT-]+) of ([\\w-]+)(?: at ([a-z0-9-]+))? is reached\\.(?: Models up to ([\\d.]+) USD a minute are left\\.)?$`,
);

/** Undefined for any other sentence. */
export function ceilingIn(sentence: string): CeilingName | undefined {
  const [, usd, period, span, scope, provider = '', onlyUpTo] = SENTENCE.exec(sentence) ?? [];
  if (usd === undefined || span === undefined || scope === undefined) return undefined;
  const name: CeilingName = { scope, provider, period: period as SpendPeriod, span, limitMicroUsd: microUsdOf(usd) };
  if (onlyUpTo !== undefined) name.onlyUpToMicroUsd = microUsdOf(onlyUpTo);
  return name;
}
