// Ceilings on spend as a schema: what the console's requests, and the settings that are kept, are checked by.
import { Type } from '@sinclair/typebox';
import { USD_FORM } from './request-limits.ts';
import { CEILINGS_MAX, SPEND_PERIODS, type SpendCeiling, type SpendPeriod } from './spend-ceilings.ts';

export const SpendCeilings = Type.Array(
  Type.Unsafe<SpendCeiling>(
    Type.Object(
      {
        usd: Type.String({ pattern: USD_FORM, description: 'USD, decimal.', examples: ['10'] }),
        period: Type.Unsafe<SpendPeriod>(Type.Union(SPEND_PERIODS.map((period) => Type.Literal(period)))),
        provider: Type.Optional(
          Type.String({
            pattern: '^[a-z0-9][a-z0-9-]{0,31}$',
            description: 'The provider that it applies to; all together when absent.',
          }),
        ),
        only_up_to: Type.Optional(
          Type.String({
            pattern: USD_FORM,
            description:
              'USD a minute, decimal. Once the ceiling is reached, models up to this price may still be used; none when absent.',
            examples: ['0.005'],
          }),
        ),
      },
      { additionalProperties: false, description: 'The most that may be spent in each period (UTC).' },
    ),
  ),
  { maxItems: CEILINGS_MAX },
);
