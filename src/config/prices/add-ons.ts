// What a request asks for beyond the price of a minute, where the provider charges it by itself: then it is charged here as well.
import type { AddOn } from '../../api/models.ts';
import type { ListedPrice } from './price-list.ts';

/** What decides about add-ons: the request's own members, and the options that the model is sent. */
export interface AskedOf {
  language: string | undefined;
  diarization: boolean;
  params: Readonly<Record<string, unknown>>;
}

/** Whether it is asked for by any of its names: members of the request, of which one may name its value, or options. */
function isAsked({ asked_by: names }: Pick<AddOn, 'asked_by'>, { language, diarization, params }: AskedOf): boolean {
  const members: Readonly<Record<string, unknown>> = { diarization, [`language=${language}`]: true };
  return names.some((name) => {
    const option = name.startsWith(OPTION) ? params[name.slice(OPTION.length)] : members[name];
    return Array.isArray(option) ? option.length > 0 : option !== undefined && option !== false && option !== '';
  });
}

const OPTION = 'provider_params.';

/**
 * The price of a minute with all that is asked for; a price of the session, and what is free, holds everything. A minimum is so many
 * seconds at the price, so it grows with it.
 */
export function priceWith({ addOns = [], ...price }: ListedPrice, asked: AskedOf): Omit<ListedPrice, 'addOns'> {
  const microUsd = addOns
    .filter((addOn) => isAsked(addOn, asked))
    .reduce((sum, addOn) => sum + addOn.microUsd, price.microUsd);
  if (microUsd === price.microUsd) return price;
  return {
    ...price,
    microUsd,
    minimumMicroUsd: (price.minimumMicroUsd * microUsd + price.microUsd - 1n) / price.microUsd,
  };
}
