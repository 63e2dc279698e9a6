import { usd, usdParts } from '../../data/format.ts';

/** An amount in USD, exact: what is smaller than a cent stands quiet behind the cents, so that decimal points of a column are below each other. */
export function Money({ amount }: { amount: string }) {
  const { cents, rest } = usdParts(amount);
  return (
    <span class="money" title={usd(amount)}>
      {cents}
      <span class="rest">{rest}</span>
    </span>
  );
}
