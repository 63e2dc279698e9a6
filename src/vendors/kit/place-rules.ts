// The rules of organisation, key and request about where audio goes, held against a member of a chain. A model that does not keep to
// them is refused by its name: nobody's audio is sent elsewhere, and nobody's fallback is dropped in silence.
import { type ApiError, apiError } from '../../api/errors.ts';
import { type DataResidencyRule, FREE_RULE, isFree, strictest } from '../../api/residency-rule.ts';
import { isCustom, ownerOf } from '../../api/slug.ts';
import { type Dial, placed, placesOf } from './places.ts';

/** A rule, and whose it is: `the request`, `the API key` or `the organisation`. */
export interface AskedRule extends DataResidencyRule {
  by: string;
}

/**
 * The options with which a model keeps to all of the rules, and the endpoint that was chosen by them, where that is not the credential's
 * own. Throws an ApiError that names it.
 */
export function paramsWithin(
  slug: string,
  param: string,
  dial: Dial,
  rules: readonly AskedRule[],
): { params: Dial['params']; rule?: DataResidencyRule; endpoint?: string } {
  const rule = strictest(rules);
  if (isFree(rule)) return { params: dial.params };
  const found = placed(dial, rule);
  if (found === undefined) throw notWithin(slug, param, dial, rules, rule);
  const endpoint = found.access.fields?.region;
  const isOwn = endpoint === undefined || endpoint === dial.access.fields?.region;
  return { params: found.params, rule, ...(isOwn ? {} : { endpoint }) };
}

/** A member whose own rule became as strict as one that came later. */
export function memberWithin<Member extends { rule?: DataResidencyRule }>(
  member: Member,
  later: DataResidencyRule,
): Member {
  const rule = strictest([member.rule ?? FREE_RULE, later]);
  return isFree(rule) ? member : { ...member, rule };
}

function notWithin(
  slug: string,
  param: string,
  dial: Dial,
  rules: readonly AskedRule[],
  rule: DataResidencyRule,
): ApiError {
  const asked = rules.filter((each) => !isFree(each)).map((each) => `${each.by} asks for ${wordsOf(each)}`);
  const places = placesOf(dial);
  const isOfRegion = rule.regions === null || placed(dial, { regions: rule.regions, retention: null }) !== undefined;
  const others = placed({ ...dial, params: {} }, rule);
  const wanted = Object.entries(others?.params ?? {}).map(([name, value]) => `\`${name}\`: ${JSON.stringify(value)}`);
  const goes = [...new Set(places.map(({ region, retention }) => `${region} (retention ${retention})`))];
  const where = goes.length === 0 ? 'where its audio goes is not known' : `its audio goes to ${goes.join(', ')}`;
  const settings = isCustom(slug)
    ? '`region` and `retention` of its entry'
    : `VOXGATE_${ownerOf(slug).toUpperCase()}_REGION and …_RETENTION`;
  const own =
    dial.access.baseUrl === undefined
      ? ''
      : `, an address of the gateway’s configuration, of which ${settings} say that`;
  const advice =
    wanted.length > 0
      ? `It would with ${wanted.join(', ')} in its \`provider_params\`.`
      : 'Name another model: GET /v1/models?region=…&retention=… lists those that keep to a rule.';
  return apiError(
    isOfRegion ? 'retention_not_allowed' : 'region_not_allowed',
    `${slug} cannot be used: ${asked.join(', ')}, and here ${where}${own}. ${advice}`,
    { param },
  );
}

function wordsOf({ regions, retention }: DataResidencyRule): string {
  const region = regions === null ? [] : [`region ${regions.join(' or ') || 'none'}`];
  return [...region, ...(retention === null ? [] : [`retention ${retention}`])].join(' and ');
}
