// The one catalogue of refusals: code, HTTP status, WebSocket close code, error type and what a client may do about it.
// Errors are made with `apiError` of errors.ts; the wording of a single case is left to the place that refuses.

/** The closed set of `error.type` values. */
export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'billing_error'
  | 'rate_limit_error'
  | 'upstream_error'
  | 'server_error';

/** What a client should do: the range of the close code says the same (40xx stop, 41xx back off, 42xx reconnect). */
export type Advice = 'stop' | 'back_off' | 'reconnect';

interface CatalogueRow {
  readonly type: ErrorType;
  /** HTTP status, or null where the refusal exists on the WebSocket only. */
  readonly status: number | null;
  /** WebSocket close code, or null where the refusal exists on HTTP only. */
  readonly close: number | null;
  readonly advice: Advice;
  readonly when: string;
}

const row = (
  type: ErrorType,
  status: number | null,
  close: number | null,
  advice: Advice,
  when: string,
): CatalogueRow => ({
  type,
  status,
  close,
  advice,
  when,
});

/** Every error code the gateway can answer, in the order of docs/reference/errors.md. */
export const ERROR_CATALOGUE = {
  invalid_request: row(
    'invalid_request_error',
    400,
    4000,
    'stop',
    'A value is missing, unknown or out of range; `param` names it.',
  ),
  invalid_provider_params: row(
    'invalid_request_error',
    400,
    4000,
    'stop',
    '`provider_params` does not fit the schema of the model’s provider.',
  ),
  missing_file: row('invalid_request_error', 400, 4000, 'stop', 'The form has no `file` part, or it is empty.'),
  duplicate_parameter: row('invalid_request_error', 400, 4000, 'stop', 'A parameter was sent more than once.'),
  unsupported_audio: row(
    'invalid_request_error',
    400,
    4006,
    'stop',
    'A container where raw PCM was declared, or a file that cannot be read.',
  ),
  audio_url_not_allowed: row(
    'invalid_request_error',
    400,
    null,
    'stop',
    'The address of the audio is malformed, has no TLS, or leads to a private network.',
  ),
  audio_url_failed: row(
    'invalid_request_error',
    422,
    null,
    'stop',
    'The address returned no audio: no answer, an error, a web page, or too slow. The message says which.',
  ),
  missing_credential: row('authentication_error', 401, 4001, 'stop', 'No credential was sent.'),
  invalid_api_key: row('authentication_error', 401, 4001, 'stop', 'The API key is mistyped or unknown.'),
  invalid_token: row(
    'authentication_error',
    401,
    4001,
    'stop',
    'The client token is malformed or its signature is wrong.',
  ),
  token_expired: row('authentication_error', 401, 4001, 'stop', 'The client token has expired; create a new one.'),
  token_used: row(
    'authentication_error',
    401,
    4001,
    'stop',
    'The client token was for a single use and has been used.',
  ),
  key_revoked: row(
    'authentication_error',
    401,
    4001,
    'stop',
    'The API key, or the parent key of the token, was revoked.',
  ),
  key_expired: row('authentication_error', 401, 4001, 'stop', 'The API key, or the parent key of the token, expired.'),
  invalid_login: row('authentication_error', 401, null, 'stop', 'The console’s e-mail address or password is wrong.'),
  login_required: row('authentication_error', 401, null, 'stop', 'The console login is missing or has expired.'),
  insufficient_credit: row('billing_error', 402, 4002, 'stop', 'No credit is left.'),
  max_cost_reached: row(
    'billing_error',
    402,
    4002,
    'stop',
    'The session or file would cost more than the `max_cost` of the request or its client token.',
  ),
  token_not_allowed: row(
    'permission_error',
    403,
    4003,
    'stop',
    'A client token was used where only an API key is accepted. To upload files with tokens, give their key the scope `tokens_may_upload`.',
  ),
  scope_not_allowed: row(
    'permission_error',
    403,
    4003,
    'stop',
    'The key lacks the required scope, which the message names.',
  ),
  model_not_allowed: row('permission_error', 403, 4003, 'stop', 'This key or client token may not use the model.'),
  language_not_allowed: row(
    'permission_error',
    403,
    4003,
    'stop',
    'The client token is limited to other languages, or the request does not name one.',
  ),
  region_not_allowed: row(
    'permission_error',
    403,
    4003,
    'stop',
    'The request, its key or its organisation restricts where audio is processed, and a requested model does not follow this rule.',
  ),
  retention_not_allowed: row(
    'permission_error',
    403,
    4003,
    'stop',
    'The request, its key or its organisation requires that nothing is kept, and the provider of a requested model does not promise this.',
  ),
  origin_not_allowed: row('permission_error', 403, 4003, 'stop', 'This key may not be used from the page’s origin.'),
  account_suspended: row('permission_error', 403, 4003, 'stop', 'The organisation of the key is suspended.'),
  email_not_verified: row('permission_error', 403, 4003, 'stop', 'The account’s e-mail address is not verified yet.'),
  role_not_allowed: row(
    'permission_error',
    403,
    null,
    'stop',
    'The person’s role in the organisation does not allow this.',
  ),
  operator_only: row(
    'permission_error',
    403,
    null,
    'stop',
    'Only the gateway’s operator may do this, because it concerns all organisations.',
  ),
  password_required: row(
    'permission_error',
    403,
    null,
    'stop',
    'The console needs the password again for this action.',
  ),
  cross_site_request: row(
    'permission_error',
    403,
    null,
    'stop',
    'The request to the console did not come from its own page.',
  ),
  invalid_link: row('invalid_request_error', 400, null, 'stop', 'The link of a mail is unknown, used or too old.'),
  model_not_found: row(
    'invalid_request_error',
    404,
    4004,
    'stop',
    'No such model; the message names the nearest slugs.',
  ),
  not_found: row('invalid_request_error', 404, 4004, 'stop', 'No such endpoint or object.'),
  method_not_allowed: row('invalid_request_error', 405, null, 'stop', 'The endpoint exists with another method.'),
  request_timeout: row('invalid_request_error', 408, 4008, 'stop', 'The request did not arrive in time.'),
  session_idle: row(
    'invalid_request_error',
    408,
    4008,
    'stop',
    'Neither audio nor keepalive arrived within the idle limit.',
  ),
  session_too_long: row('invalid_request_error', 408, 4008, 'stop', 'The session reached its longest duration.'),
  idempotency_conflict: row(
    'invalid_request_error',
    409,
    null,
    'stop',
    'The idempotency key was used with another body, or its first request is still in progress (then with `Retry-After`).',
  ),
  job_not_over: row(
    'invalid_request_error',
    409,
    null,
    'back_off',
    'The job is not over yet, so it has no result; ask again later.',
  ),
  job_cancelled: row('invalid_request_error', 409, null, 'stop', 'The job was cancelled before it was done.'),
  last_owner: row(
    'invalid_request_error',
    409,
    null,
    'stop',
    'The organisation would be left without an owner who can log in.',
  ),
  file_too_large: row(
    'invalid_request_error',
    413,
    null,
    'stop',
    'The upload is larger than the limit in the message.',
  ),
  audio_too_long: row(
    'invalid_request_error',
    413,
    null,
    'stop',
    'The file is longer than the `max_seconds` of the request or its client token.',
  ),
  uri_too_long: row(
    'invalid_request_error',
    414,
    null,
    'stop',
    'URL and headers are longer than the limit in the message.',
  ),
  unsupported_media_type: row(
    'invalid_request_error',
    415,
    null,
    'stop',
    'The request’s content type or encoding is not accepted.',
  ),
  unsupported_parameter: row(
    'invalid_request_error',
    422,
    4000,
    'stop',
    'The model cannot honour a parameter and `strict` is true.',
  ),
  upstream_not_configured: row(
    'invalid_request_error',
    422,
    4000,
    'stop',
    'No requested model has a credential for its provider (with `strict`: one of them has none). The message says how to set one.',
  ),
  model_not_priced: row(
    'invalid_request_error',
    422,
    4000,
    'stop',
    'No requested model has a price in this mode (with `strict`: one of them has none). The operator has to set one.',
  ),
  redaction_unavailable: row(
    'invalid_request_error',
    422,
    4000,
    'stop',
    'The request needs names or addresses redacted, but the operator has no service for them and not every requested model redacts them. The message says what to do.',
  ),
  no_model_available: row(
    'invalid_request_error',
    422,
    4000,
    'stop',
    'No model fits a request with `model=auto` (with `strict`: or with `fallbacks=auto`). The message says which condition left none.',
  ),
  message_too_big: row(
    'invalid_request_error',
    null,
    1009,
    'stop',
    'A WebSocket message is larger than the limit in the message.',
  ),
  audio_backlog_exceeded: row(
    'invalid_request_error',
    null,
    4010,
    'stop',
    'More audio is ahead of real time than the session can hold.',
  ),
  slow_consumer: row(
    'invalid_request_error',
    null,
    4011,
    'stop',
    'The client does not read its events: a final could not be queued.',
  ),
  rate_limit_exceeded: row(
    'rate_limit_error',
    429,
    4100,
    'back_off',
    'Too many requests: `Retry-After` says when to come back. On a socket: too many text frames, pings or tiny frames.',
  ),
  spend_ceiling_reached: row(
    'billing_error',
    429,
    4100,
    'back_off',
    'A ceiling on the spend of the key, its organisation or the gateway is reached. `Retry-After` is the time to the next hour, day or month.',
  ),
  too_many_sessions: row(
    'rate_limit_error',
    429,
    4100,
    'back_off',
    'The key or its organisation has reached its limit of concurrent sessions, or of files in progress.',
  ),
  upstream_failed: row('upstream_error', 502, 4101, 'back_off', 'The provider failed; `details` lists the attempts.'),
  upstream_exhausted: row(
    'upstream_error',
    502,
    4101,
    'back_off',
    'Every candidate failed; `details` lists the attempts.',
  ),
  upstream_bad_response: row('upstream_error', 502, 4101, 'back_off', 'The provider’s answer cannot be parsed.'),
  overloaded: row('server_error', 503, 4102, 'back_off', 'This node has no capacity right now.'),
  ledger_unavailable: row('server_error', 503, 4102, 'back_off', 'The ledger cannot be reached; paid work is refused.'),
  upstream_account: row('upstream_error', 502, 4103, 'back_off', 'The provider rejected the customer’s own key.'),
  upstream_timeout: row('upstream_error', 504, 4104, 'back_off', 'The provider did not answer in time.'),
  node_draining: row('server_error', 503, 4200, 'reconnect', 'This node is shutting down; reconnect at once.'),
  internal_error: row('server_error', 500, 1011, 'stop', 'An internal error of the gateway; quote the request id.'),
} as const satisfies Record<string, CatalogueRow>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;
