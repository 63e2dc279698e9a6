// Model slugs `<provider>/<model>`: their form, and the nearest known ones for a mistyped slug. Knows no model itself.

const SLUG = /^[a-z0-9][a-z0-9-]{0,31}\/[A-Za-z0-9][A-Za-z0-9._:-]{0,95}$/;

/** Longest slug that is looked at; anything longer is refused before it is compared with anything. */
export const SLUG_LENGTH_MAX = 128;

/** Whether a string has the form of a slug. */
export function isSlug(text: string): boolean {
  return text.length <= SLUG_LENGTH_MAX && SLUG.test(text);
}

/** Whose the models are that an operator has on servers of its own. */
export const CUSTOM = 'custom';

/** Whose model it is: the part of a slug before the slash. */
export function ownerOf(slug: string): string {
  return slug.slice(0, slug.indexOf('/'));
}

/** Whether a slug, or the name of a provider, is that of a model on an operator's own server. */
export const isCustom = (name: string): boolean => name.startsWith(`${CUSTOM}/`);

/** By what name the provider of a slug is known: its owner, or the slug itself of a model on an operator's own server. */
export function providerOf(slug: string): string {
  return isCustom(slug) ? slug : ownerOf(slug);
}

/** The part of a slug after the provider. */
export function modelOf(slug: string): string {
  return slug.slice(slug.indexOf('/') + 1);
}

/**
 * The known slugs nearest to a mistyped one, best first, at most `count`.
 * Distance is Levenshtein over the whole slug, or its model where no provider was named; candidates further than half the length
 * are offered only where they are of the provider that was named.
 */
export function nearestSlugs(wanted: string, known: readonly string[], count = 3): string[] {
  const bounded = wanted.slice(0, SLUG_LENGTH_MAX).toLowerCase();
  const owner = bounded.includes('/') ? `${ownerOf(bounded)}/` : undefined;
  return known
    .map((slug) => {
      const written = slug.toLowerCase();
      const compared = owner !== undefined ? written : modelOf(written);
      return { slug, compared, distance: editDistance(bounded, compared) };
    })
    .filter(
      ({ compared, distance }) =>
        distance <= Math.max(3, compared.length / 2) || (owner !== undefined && compared.startsWith(owner)),
    )
    .sort((a, b) => a.distance - b.distance || (a.slug < b.slug ? -1 : 1))
    .slice(0, count)
    .map(({ slug }) => slug);
}

/** Levenshtein's, of two texts or two lists of words. */
export function editDistance(a: ArrayLike<string>, b: ArrayLike<string>): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(previous[j]! + 1, current[j - 1]! + 1, substitution));
    }
    previous = current;
  }
  return previous[b.length]!;
}
