// `POST /v1/tokens`: a short-lived client token for browsers and devices.
import { Value } from '@sinclair/typebox/value';
import { apiError, printable } from '../../api/errors.ts';
import { TOKEN_TTL_SECONDS, TokenRequest } from '../../api/tokens.ts';
import { readJson } from '../../http/json-body.ts';
import { json, type RouteContext } from '../../http/router.ts';
import type { Authenticator, Caller } from './authenticate.ts';
import type { KeyLimits } from './limits.ts';

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
    // Tighter than the limit of requests, so it is the one to tell.
    const headers = limits.takeToken(caller.key);
    return json(200, authenticator.mint(caller, body.ttl_seconds ?? TOKEN_TTL_SECONDS.default), headers);
  };

function badBody(body: unknown) {
  const { min, max, default: usual } = TOKEN_TTL_SECONDS;
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (!isObject)
    return apiError('invalid_request', 'The body is a JSON object such as {"ttl_seconds": 60}, or absent.', {});
  const unknown = Object.keys(body).find((name) => name !== 'ttl_seconds');
  if (unknown !== undefined) {
    return apiError(
      'invalid_request',
      `\`${printable(unknown)}\` is not a member of this body; \`ttl_seconds\` is the only one.`,
      { param: printable(unknown) },
    );
  }
  return apiError('invalid_request', `\`ttl_seconds\` is an integer from ${min} to ${max}; ${usual} when absent.`, {
    param: 'ttl_seconds',
  });
}
