// What a key or a client token that is known to be genuine is worth now, by the charts of machines/, and the words in which
// one is refused. Whose it is was found out before.

import { initialTransition, transition } from 'xstate';
import { type ClientTokenDecision, clientTokenMachine } from '../../../machines/client-token.ts';
import { type ApiError, apiError } from '../../api/errors.ts';
import { StoreError } from '../../store/store-error.ts';
import type { ApiKey } from '../keys/calls.ts';
import { type ApiKeyDecision, judgeKey as judgeRow } from '../keys/chart.ts';
import { scopeNotAllowed } from './permissions.ts';
import { TOKEN_LENGTH_MAX } from './token.ts';

/**
 * What the api-key chart says when this key is presented now.
 *
 * @param isRevoked whether a revocation was heard of that the row does not show yet
 */
export function judgeKey(key: ApiKey, nowMs: number, isRevoked: boolean): ApiKeyDecision {
  const span = ALLOWED.get(key);
  if (!isRevoked && span !== undefined && nowMs >= span.fromMs && nowMs < span.untilMs) return 'allowed';
  const decision = judgeRow(
    isRevoked ? { ...key, revokedAt: key.revokedAt ?? new Date(nowMs).toISOString() } : key,
    nowMs,
  );
  if (decision === 'allowed') ALLOWED.set(key, { fromMs: nowMs, untilMs: untilMs(key) });
  return decision;
}

/**
 * What the chart allowed, it allows until one of the key's times has come: a row is never changed in place. Asking it at every
 * request of a busy key would cost more than the rest of its authentication.
 */
const ALLOWED = new WeakMap<ApiKey, { fromMs: number; untilMs: number }>();

function untilMs({ expiresAt, graceUntil }: ApiKey): number {
  const times = [expiresAt, graceUntil].filter((time) => time !== null).map((time) => Date.parse(time));
  return times.some(Number.isNaN) ? 0 : Math.min(Number.POSITIVE_INFINITY, ...times);
}

/** What the client-token chart says when a token is presented now whose parent key is worth that. */
export function judgeToken(
  { exp }: { exp: number },
  nowMs: number,
  parent: ApiKeyDecision,
  hasScope: boolean,
): ClientTokenDecision {
  const [valid] = initialTransition(clientTokenMachine, { expiresAtMs: exp });
  const [presented] = transition(clientTokenMachine, valid, {
    type: 'token.present',
    nowMs,
    parent,
    mayListen: hasScope,
  });
  return presented.context.decision ?? 'token_expired';
}

/** The refusal of a decision; undefined for `allowed`. */
export function apiErrorOfDecision(decision: ClientTokenDecision): ApiError | undefined {
  return decision === 'allowed' ? undefined : REFUSALS[decision]();
}

export const REST_PLACE = 'Send an API key in the header `Authorization: Bearer sk_vox_…`.';
export const SOCKET_PLACE =
  'Send an API key or a client token in the header `Authorization: Bearer …`, or, from a browser, as the subprotocols `bearer` and the credential, in this order.';

/** Empty: there is something in its place, in another form. */
export function missingCredential(credential: '' | undefined, place: string): ApiError {
  const found =
    credential === undefined
      ? 'No credential was sent.'
      : 'The credential is empty or in another form. A variable may not be set.';
  return apiError('missing_credential', `${found} ${place}`);
}

export function invalidKey(): ApiError {
  return apiError(
    'invalid_api_key',
    'The API key is mistyped or unknown. A key is `sk_vox_` and 38 letters and digits. Copy it again, or mint a new one.',
  );
}

export function invalidToken(): ApiError {
  return apiError(
    'invalid_token',
    'The client token is malformed or was not signed here. Mint a new one with `POST /v1/tokens`.',
  );
}

export function tokenNotAllowed(): ApiError {
  return apiError(
    'token_not_allowed',
    'A client token can only open `/v1/listen`, and upload files if its key allows it. For other requests, use an API key from a server.',
  );
}

export function tokenTooLong(length: number): ApiError {
  return apiError(
    'invalid_request',
    `The client token would have ${length} characters; ${TOKEN_LENGTH_MAX} is the most. Send fewer models (\`deepgram/*\` is all of a provider), tags or replacement rules.`,
    { param: 'models' },
  );
}

export function tokenUsed(): ApiError {
  return apiError('token_used', 'The single-use client token has been used. Mint a new one with `POST /v1/tokens`.');
}

export function uploadNotAllowed(): ApiError {
  return apiError(
    'token_not_allowed',
    'The key of this client token does not allow its tokens to upload files. Add the scope `tokens_may_upload` to the key, or send the file from a server with an API key.',
  );
}

const REFUSALS: Readonly<Record<Exclude<ClientTokenDecision, 'allowed'>, () => ApiError>> = {
  key_revoked: () =>
    apiError(
      'key_revoked',
      'The API key was revoked, and with it every client token that it minted. Use another key or mint a new one.',
    ),
  key_expired: () =>
    apiError(
      'key_expired',
      'The API key has expired or was replaced by a new one, and its client tokens with it. Use the new key.',
    ),
  account_suspended: () =>
    apiError('account_suspended', 'The organisation of this API key is suspended. Its operator can say why.'),
  token_expired: () =>
    apiError('token_expired', 'The client token has expired. Mint a new one with `POST /v1/tokens`.'),
  scope_not_allowed: () => scopeNotAllowed('listen'),
  token_not_allowed: tokenNotAllowed,
};

const STORE_RETRY_SECONDS = 1;

/** A store that could not answer is not a verdict on the key. The cause is for the log. */
export function unanswered(error: unknown): never {
  if (!(error instanceof StoreError)) throw error;
  const refusal = apiError('overloaded', 'The credential cannot be checked right now. Try again in a moment.', {
    retryAfterSeconds: STORE_RETRY_SECONDS,
  });
  throw Object.assign(refusal, { cause: error });
}
