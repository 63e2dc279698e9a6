// `price`: what the price of a model decides in the chain of a request. Prices are those that the gateway charges, with all that the
// request adds to them: models on own provider keys are free.
import type { PriceRule } from '../../../api/choice.ts';
import { usdOf } from '../../../config/prices/price.ts';
import type { Degradation, ResolvedCandidate } from '../chain.ts';
import { perMinute } from './choose.ts';

interface Chain {
  members: ResolvedCandidate[];
  warnings: Degradation[];
}

/** The chain by the rule; without one, as it is. */
export function chainByPrice({ members, warnings }: Chain, rule: PriceRule | undefined): Chain {
  if (rule === undefined || members.length === 0) return { members, warnings };
  if (rule === 'cheapest') return { members: cheapestFirst(members), warnings };
  const [first, ...others] = members as [ResolvedCandidate, ...ResolvedCandidate[]];
  const most = perMinute(first);
  const dearer = others.filter((each) => perMinute(each) > most);
  if (dearer.length === 0) return { members, warnings };
  return {
    members: [first, ...others.filter((each) => !dearer.includes(each))],
    warnings: [...warnings, ...dearer.map((each) => leftOut(each, first))],
  };
}

/** Of equal prices, in the order of the request. The operator's last resort stays the last. */
function cheapestFirst(members: readonly ResolvedCandidate[]): ResolvedCandidate[] {
  const last = members.filter(({ isLastResort }) => isLastResort === true);
  const named = members.filter(({ isLastResort }) => isLastResort !== true);
  return [...named.sort((one, other) => perMinute(one) - perMinute(other)), ...last];
}

const leftOut = (dearer: ResolvedCandidate, first: ResolvedCandidate): Degradation => ({
  code: 'model_left_out',
  message: `${dearer.slug} is left out: with \`price=never_dearer\`, ${priceOf(dearer)} is more than the ${priceOf(first)} of ${first.slug}.`,
  param: 'price',
});

const priceOf = ({ price: { unit, microUsd } }: ResolvedCandidate): string => `${usdOf(microUsd)} USD a ${unit}`;
