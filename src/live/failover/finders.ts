// Who finds the names and addresses that a request, its key or its organisation has redacted.
import { apiError } from '../../api/errors.ts';
import { isServiceClass, type RedactionClass, withServiceClasses } from '../../api/redaction.ts';
import type { Common } from '../../api/vocabulary.ts';
import type { ChainDependencies, ResolvedCandidate } from './chain.ts';

type Finders = Pick<ChainDependencies, 'analyzer'>;

/** What the gateway redacts: with a service, names and addresses as well, also as a part of `pii`; without one, neither of them. */
export function redactedWith(
  { analyzer }: Finders,
  classes: readonly RedactionClass[] | undefined,
  common: Common | undefined,
): readonly RedactionClass[] | undefined {
  if (analyzer !== undefined) return withServiceClasses(classes, common?.redact);
  if (classes?.some(isServiceClass) !== true) return classes;
  const own = classes.filter((each) => !isServiceClass(each));
  return own.length === 0 ? undefined : own;
}

/**
 * Throws an ApiError if no service finds these classes and a model of the chain does not redact personal data as requested with `pii`.
 */
export function requireFinders(
  { analyzer }: Finders,
  classes: readonly RedactionClass[] | undefined,
  members: readonly Pick<ResolvedCandidate, 'slug' | 'told'>[],
): void {
  if (classes === undefined || analyzer !== undefined) return;
  const named = classes.filter(isServiceClass);
  const without = members.find((member) => !redactsPersonalData(member));
  if (named.length === 0 || without === undefined) return;
  throw apiError(
    'redaction_unavailable',
    `This gateway has no service that finds \`${named.join('` and `')}\`, and ${without.slug} does not redact it for this request. The operator can set VOXGATE_REDACTION_URL. Otherwise add \`pii\` and request only models that redact it.`,
    { param: 'redact' },
  );
}

const redactsPersonalData = ({ told }: Pick<ResolvedCandidate, 'told'>): boolean =>
  told.some(
    ({ param, outcome, taken }) => param === 'redact' && outcome !== 'dropped' && taken?.includes('pii') === true,
  );
