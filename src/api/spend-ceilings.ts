// Ceilings on spend: of a key, an organisation and the whole gateway, for each hour, day and month by UTC, over all providers or for one.

export const SPEND_PERIODS = ['hour', 'day', 'month'] as const;
export type SpendPeriod = (typeof SPEND_PERIODS)[number];

/** Parts of a ceiling that are reported when they are used: in percent. */
export const SPEND_PERCENTS = [50, 80, 100] as const;
export type SpendPercent = (typeof SPEND_PERCENTS)[number];

/** Of one key or organisation, or of the gateway. */
export const CEILINGS_MAX = 20;

export interface SpendCeiling {
  /** Decimal. */
  usd: string;
  period: SpendPeriod;
  /** The provider that it applies to; all together when absent. */
  provider?: string | undefined;
  /** USD a minute, decimal. Once the ceiling is reached, models up to this price may still be used; none when absent. */
  only_up_to?: string | undefined;
}

const USD = '\\d{1,9}(?:\\.\\d{1,6})?';
const WRITTEN = new RegExp(
  `^(?:([a-z0-9][a-z0-9-]{0,31}):)?(${USD})/(${SPEND_PERIODS.join('|')})(?::only_up_to=(${USD}))?$`,
);

/** What an operator writes: `100/day`, `deepgram:20.50/month` or `100/day:only_up_to=0.005`. Undefined for anything else. */
export function ceilingIn(text: string): SpendCeiling | undefined {
  const [, provider, usd, period, onlyUpTo] = WRITTEN.exec(text) ?? [];
  if (usd === undefined) return undefined;
  const ceiling: SpendCeiling = { usd, period: period as SpendPeriod };
  if (provider !== undefined) ceiling.provider = provider;
  if (onlyUpTo !== undefined) ceiling.only_up_to = onlyUpTo;
  return ceiling;
}

/** Several, separated by commas, or `none`; undefined for anything else. */
export function ceilingsIn(text: string): SpendCeiling[] | undefined {
  if (text.trim() === 'none') return [];
  const ceilings = text.split(',').flatMap((each) => (each.trim() === '' ? [] : [ceilingIn(each.trim())]));
  const good = ceilings.filter((each) => each !== undefined);
  const names = good.map(ceilingName);
  return good.length === ceilings.length && good.length <= CEILINGS_MAX && new Set(names).size === names.length
    ? good
    : undefined;
}

/** As `ceilingIn` reads it. */
export const textOfCeiling = ({ usd, period, provider, only_up_to: onlyUpTo }: SpendCeiling): string =>
  `${provider === undefined ? '' : `${provider}:`}${usd}/${period}${onlyUpTo === undefined ? '' : `:only_up_to=${onlyUpTo}`}`;

/** What only some versions know. */
export const hasOnlyUpTo = (ceilings: readonly SpendCeiling[] | null | undefined): boolean =>
  ceilings?.some(({ only_up_to }) => only_up_to !== undefined) === true;

/** Each provider has one ceiling for a period, and all together have one. */
export const ceilingName = ({ period, provider = '' }: Pick<SpendCeiling, 'period' | 'provider'>): string =>
  `${provider}/${period}`;
