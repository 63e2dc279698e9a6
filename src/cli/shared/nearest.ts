// What a mistyped name may have meant.
import { nearestSlugs } from '../../api/slug.ts';

/** ` Did you mean deepgram?`; empty where nothing is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const [nearest] = nearestSlugs(name, known, 1);
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`;
}
