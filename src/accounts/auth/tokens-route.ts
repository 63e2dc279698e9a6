// `POST /v1/tokens`: a short-lived client token for browsers and devices.
import { Value } from '@sinclair/typebox/value';
import { apiError, printable } from '../../api/errors.ts';
import { checkedReplacements, type Replacement } from '../../api/replacements.ts';
import { MAX_SECONDS, USD_FORM } from '../../api/request-limits.ts';
import { type Tags, tagsFault } from '../../api/tags.ts';
import { TOKEN_LIST_MAX, TOKEN_REPLACEMENTS_BYTES_MAX, TOKEN_TTL_SECONDS, TokenRequest } from '../../api/tokens.ts';
import { microUsdOf } from '../../config/prices/price.ts';
import { readJson } from '../../http/json-body.ts';
import { json, type RouteContext } from '../../http/router.ts';
import type { Authenticator, Caller } from './authenticate.ts';
import type { KeyLimits } from './limits.ts';
import type { TokenLimits } from './token.ts';

export interface TokensDependencies {
  authenticator: Pick<Authenticator, 'mint'>;
  limits: Pick<KeyLimits, 'takeToken'>;
  jsonBodyBytesMax: number;
}

export const postTokens =
  ({ authenticator, limits, jsonBodyBytesMax }: TokensDependencies) =>
  async ({ request }: RouteContext, caller: Caller) => {
    const parsed = await readJson(request, jsonBodyBytesMax);
    const body = parsed === undefined ? {} : parsed;
    if (!Value.Check(TokenRequest, body)) throw badBody(body);
    const { ttl_seconds: ttlSeconds = TOKEN_TTL_SECONDS.default } = body;
    const limited = limitsOf(body);
    const more = { tags: body.tags && tagsOf(body.tags), replace: body.replace && replacementsOf(body.replace) };
    // Tighter than the limit of requests, so it is the one to tell.
    const headers = limits.takeToken(caller.key);
    return json(200, authenticator.mint(caller, ttlSeconds, limited, undefined, more), headers);
  };

const MEANINGS: Readonly<Record<keyof TokenRequest, string>> = {
  ttl_seconds: `an integer from ${TOKEN_TTL_SECONDS.min} to ${TOKEN_TTL_SECONDS.max}; ${TOKEN_TTL_SECONDS.default} when absent`,
  models: `a list of 1 to ${TOKEN_LIST_MAX} slugs such as deepgram/nova-3, or deepgram/*`,
  max_seconds: `an integer from ${MAX_SECONDS.min} to ${MAX_SECONDS.max}`,
  max_cost: 'an amount in USD such as "0.25", with six decimals at most',
  languages: `a list of 1 to ${TOKEN_LIST_MAX} BCP-47 tags such as en or fr-CA`,
  single_use: 'true or false',
  tags: 'an object of strings, such as {"customer":"acme"}',
  replace: 'a list of rules such as [{"from":"vox gate","to":"Voxgate"}]',
};
const MEMBERS = Object.keys(MEANINGS) as (keyof TokenRequest)[];

/** Throws an ApiError for an amount that is too precise. */
function limitsOf({ models, max_seconds, max_cost, languages, single_use }: TokenRequest): TokenLimits {
  const cost = max_cost === undefined ? undefined : String(max_cost);
  if (cost !== undefined && !new RegExp(USD_FORM).test(cost)) throw badMember('max_cost');
  return {
    models,
    maxSeconds: max_seconds,
    maxMicroUsd: cost === undefined ? undefined : microUsdOf(cost),
    languages,
    isSingleUse: single_use === true ? true : undefined,
  };
}

/** Throws an ApiError for what is wrong with them. */
function tagsOf(tags: Tags): Tags | undefined {
  const fault = tagsFault(tags);
  if (fault !== undefined) throw apiError('invalid_request', `\`tags\` ${fault}`, { param: 'tags' });
  return Object.keys(tags).length === 0 ? undefined : tags;
}

/** Throws an ApiError for what is wrong with them, and for more than a token carries. */
function replacementsOf(value: unknown): readonly Replacement[] | undefined {
  const { rules = [], fault } = { rules: undefined, ...checkedReplacements(value) };
  if (fault !== undefined) throw badReplacements(fault);
  const bytes = Buffer.byteLength(JSON.stringify(rules));
  if (bytes > TOKEN_REPLACEMENTS_BYTES_MAX)
    throw badReplacements(
      `has ${bytes} bytes as JSON; a token carries ${TOKEN_REPLACEMENTS_BYTES_MAX} at most. Set the others on the API key, or send them with the request.`,
    );
  return rules.length === 0 ? undefined : rules;
}

const badReplacements = (fault: string) => apiError('invalid_request', `\`replace\` ${fault}`, { param: 'replace' });

function badBody(body: unknown) {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (!isObject)
    return apiError('invalid_request', 'The body must be a JSON object such as {"ttl_seconds": 60}, or absent.', {});
  const unknown = Object.keys(body).find((name) => !MEMBERS.some((each) => each === name));
  if (unknown !== undefined) {
    return apiError(
      'invalid_request',
      `\`${printable(unknown)}\` is not a member of this body. Known: ${MEMBERS.join(', ')}.`,
      { param: printable(unknown) },
    );
  }
  const { tags, replace } = body as Partial<TokenRequest>;
  if (tags !== undefined) tagsOf(tags);
  if (replace !== undefined) replacementsOf(replace);
  const path = Value.Errors(TokenRequest, body).First()?.path.split('/')[1];
  return badMember(MEMBERS.find((name) => name === path) ?? 'ttl_seconds');
}

const badMember = (name: keyof TokenRequest) =>
  apiError('invalid_request', `\`${name}\` is ${MEANINGS[name]}.`, { param: name });
