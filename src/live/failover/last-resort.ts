// The operator's last resort (`VOXGATE_LAST_RESORT`): a model of this machine behind the last one that a request names, for the outage that
// takes all others. A request that it cannot serve goes without it, and is not refused for it.
import type { ModelCard } from '../../vendors/kit/provider.ts';
import { type Spoken, speaks } from './vocabulary.ts';

/**
 * Whether the last resort knows what is spoken: every language of the request, or where it names none, one of the first model's. A model of
 * French alone is sent French.
 *
 * @param first the model that the request names first
 */
export function understands(card: ModelCard, first: ModelCard, { language, common }: Spoken): boolean {
  const named = [...(language === undefined ? [] : [language]), ...(common?.languages ?? [])];
  if (named.length > 0) return named.every((each) => speaks(card, each));
  return first.languages.some((each) => each === '*' || speaks(card, each));
}
