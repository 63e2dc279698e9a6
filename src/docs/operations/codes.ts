// Which refusals may occur where, as lists that operations share. Statuses and words are the catalogue's.
import type { ErrorCode } from '../../api/error-catalogue.ts';

/** Wherever an API key is asked for. */
export const KEY_CODES: readonly ErrorCode[] = [
  'missing_credential',
  'invalid_api_key',
  'key_revoked',
  'key_expired',
  'token_not_allowed',
  'origin_not_allowed',
  'account_suspended',
  'rate_limit_exceeded',
  'overloaded',
];

/** Where a client token is taken as well. */
export const TOKEN_CODES: readonly ErrorCode[] = ['invalid_token', 'token_expired'];

/** Wherever something is asked in the query or the body. */
export const QUERY_CODES: readonly ErrorCode[] = ['invalid_request', 'duplicate_parameter'];

/** Of a chain of models, live or for a file. */
const CHAIN_CODES: readonly ErrorCode[] = [
  'invalid_provider_params',
  'insufficient_credit',
  'scope_not_allowed',
  'model_not_allowed',
  'region_not_allowed',
  'retention_not_allowed',
  'model_not_found',
  'unsupported_parameter',
  'upstream_not_configured',
  'model_not_priced',
  'ledger_unavailable',
  'upstream_account',
];

export const FILE_CODES: readonly ErrorCode[] = [
  ...CHAIN_CODES,
  'missing_file',
  'unsupported_audio',
  'request_timeout',
  'idempotency_conflict',
  'file_too_large',
  'unsupported_media_type',
  'upstream_failed',
  'upstream_exhausted',
  'upstream_bad_response',
  'upstream_timeout',
  'too_many_sessions',
];

/** Of the handshake; what may end an open session is in the table of close codes. */
export const LIVE_CODES: readonly ErrorCode[] = [
  ...CHAIN_CODES,
  ...TOKEN_CODES,
  'not_found',
  'too_many_sessions',
  'node_draining',
];

/** Wherever the ledger is asked. */
export const LEDGER_CODES: readonly ErrorCode[] = ['ledger_unavailable'];

/** Of the console, which is for people and no part of the documents. */
export const CONSOLE_CODES: readonly ErrorCode[] = [
  'invalid_login',
  'login_required',
  'password_required',
  'role_not_allowed',
  'operator_only',
  'last_owner',
  'cross_site_request',
  'invalid_link',
  'email_not_verified',
];
