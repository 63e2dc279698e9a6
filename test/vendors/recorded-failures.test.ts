// Failures that real services were seen to send, word for word but for ids and keys: who has to act decides what the gateway does
// next. A credential's failure goes to its operator and to the next model; a caller's is final.
import { describe, expect, it } from 'vitest';
import { failures as assemblyai } from '../../src/vendors/assemblyai/failures.ts';
import { failures as aws } from '../../src/vendors/aws/failures.ts';
import { failures as azure } from '../../src/vendors/azure/failures.ts';
import { failures as cartesia } from '../../src/vendors/cartesia/failures.ts';
import { failures as deepgram } from '../../src/vendors/deepgram/failures.ts';
import { failures as elevenlabs } from '../../src/vendors/elevenlabs/failures.ts';
import { failures as gladia } from '../../src/vendors/gladia/failures.ts';
import type { FailureTable } from '../../src/vendors/kit/failures.ts';
import { failures as mistral } from '../../src/vendors/mistral/failures.ts';
import { failures as openai } from '../../src/vendors/openai/failures.ts';
import { failures as revai } from '../../src/vendors/revai/failures.ts';
import { failures as soniox } from '../../src/vendors/soniox/failures.ts';
import { failures as speaches } from '../../src/vendors/speaches/failures.ts';
import { failures as speechmatics } from '../../src/vendors/speechmatics/failures.ts';
import { failures as vllm } from '../../src/vendors/vllm/failures.ts';
import { failures as xai } from '../../src/vendors/xai/failures.ts';

const MISSING_BEARER = 'Missing bearer or basic authentication in header';
const QUOTA = 'You exceeded your current quota, please check your plan.';
const INVALID = 'invalid_request_error';
const CORRUPT = 'Audio file might be corrupted or unsupported';
const vendors = {
  ...{ assemblyai, aws, azure, cartesia, deepgram, elevenlabs, gladia, mistral, openai },
  ...{ revai, soniox, speaches, speechmatics, vllm, xai },
} satisfies Record<string, FailureTable>;
type Vendor = keyof typeof vendors;

describe('a close', () => {
  it.each<[Vendor, number, string, string]>([
    ['openai', 3000, 'invalid_request_error.invalid_api_key', 'account'],
    ['openai', 3000, INVALID, 'account'],
    ['openai', 3000, `${INVALID}.`, 'account'],
    ['openai', 3000, `${INVALID}.null`, 'account'],
    ['openai', 3000, '', 'account'],
    ['openai', 3003, '', 'account'],
    ['openai', 1013, 'insufficient_quota.insufficient_quota', 'account'],
    ['openai', 1013, 'insufficient_quota', 'account'],
    ['openai', 1013, '', 'retry'],
    ['openai', 4000, 'invalid_request_error.invalid_model', 'next'],
    ['openai', 4000, INVALID, 'caller'],
    ['openai', 4004, 'invalid_request_error.model_not_found', 'next'],
    ['openai', 1001, 'Your session hit the maximum duration of 60 minutes.', 'retry'],
    ['openai', 1011, 'server_error', 'retry'],
    ['openai', 1008, 'invalid_request_error.billing_not_active', 'account'],
    ['openai', 1008, '', 'next'],
    ['assemblyai', 1008, 'Unauthorized connection: Incorrect padding', 'retry'],
    ['assemblyai', 1008, 'Unauthorized Connection: Missing Authorization header', 'account'],
    ['deepgram', 1011, 'Deepgram did not receive audio data or a text message within the timeout window.', 'retry'],
    ['deepgram', 1008, 'DATA-0000', 'next'],
    ['deepgram', 1011, 'NET-0001', 'retry'],
    // The registered codes for "unauthorized" and "forbidden", and what services make of HTTP's.
    ...(['azure', 'cartesia', 'elevenlabs', 'mistral', 'soniox', 'vllm', 'xai'] as const).flatMap((vendor) =>
      [3000, 3003, 4401, 4403].map((code): [Vendor, number, string, string] => [vendor, code, '', 'account']),
    ),
    ...(['azure', 'elevenlabs', 'xai'] as const).flatMap((vendor): [Vendor, number, string, string][] => [
      [vendor, 1008, 'Unauthorized', 'account'],
      [vendor, 1008, 'Invalid API key.', 'account'],
      [vendor, 1008, 'Message rate exceeded', 'retry'],
      [vendor, 1011, 'Unauthorized access to internal memory', 'retry'],
    ]),
    ['speaches', 1008, '', 'account'],
    ['gladia', 4403, '', 'account'],
    ['revai', 4001, 'Unauthorized', 'account'],
    ['speechmatics', 4001, 'not_authorised', 'account'],
    ['speechmatics', 1008, 'idle_timeout', 'retry'],
  ])('blames, from %s with %i "%s", the right side: %s', (vendor, code, reason, kind) => {
    expect(vendors[vendor].ofClose(code, reason).kind).toBe(kind);
  });
});

describe('an error of a session', () => {
  it.each<[Vendor, string | undefined, string, string | undefined, string]>([
    ['openai', undefined, MISSING_BEARER, INVALID, 'account'],
    ['openai', undefined, `${MISSING_BEARER}.`, INVALID, 'account'],
    ['openai', undefined, "You didn't provide an API key.", INVALID, 'account'],
    ['openai', undefined, 'Incorrect API key provided: sk-pr***wxyz.', INVALID, 'account'],
    ['openai', undefined, 'You have insufficient permissions for this operation.', INVALID, 'account'],
    ['openai', 'invalid_api_key', 'Incorrect API key provided: sk-pr***wxyz.', INVALID, 'account'],
    ['openai', 'insufficient_quota', QUOTA, 'insufficient_quota', 'account'],
    ['openai', 'billing_not_active', 'Your account is not active.', INVALID, 'account'],
    ['openai', 'billing_hard_limit_reached', 'Billing hard limit has been reached', INVALID, 'account'],
    ['openai', 'account_deactivated', 'Your account is deactivated.', INVALID, 'account'],
    ['openai', 'invalid_organization', 'No such organization: org-1.', INVALID, 'account'],
    ['openai', undefined, '', 'authentication_error', 'account'],
    ['openai', undefined, '', 'permission_error', 'account'],
    ['openai', 'session_expired', 'Your session hit the maximum duration of 60 minutes.', INVALID, 'retry'],
    ['openai', undefined, '…429 Too Many Requests', 'server_error', 'next'],
    // What a caller asked for stays the caller's, whatever it is called.
    ['openai', 'unknown_parameter', "Unknown parameter: 'session.api_key'.", INVALID, 'caller'],
    ['openai', 'invalid_value', "Invalid value: 'bearer'.", INVALID, 'caller'],
    ['openai', undefined, 'Invalid authorization of the prompt.', INVALID, 'caller'],
    ['aws', 'UnrecognizedClientException', 'The security token is invalid.', undefined, 'account'],
    ['aws', 'ExpiredTokenException', 'The security token included in the request is expired', undefined, 'account'],
    ['aws', 'InvalidSignatureException', 'The request signature does not match.', undefined, 'account'],
    ['aws', 'SubscriptionRequiredException', 'The key needs a subscription.', undefined, 'account'],
    ['aws', 'BadRequestException', 'Your request timed out.', undefined, 'retry'],
    ['xai', undefined, 'Incorrect API key provided.', undefined, 'account'],
    ['xai', undefined, 'Your team has no credits left.', undefined, 'account'],
    ['mistral', '3000', 'Internal server error.', undefined, 'retry'],
    ['assemblyai', undefined, 'Unauthorized connection: Incorrect padding', undefined, 'retry'],
    ['cartesia', '401', 'Unauthorized', '401', 'account'],
    ['soniox', '401', 'Invalid API key.', undefined, 'account'],
    ['elevenlabs', 'auth_error', 'You must be authenticated.', undefined, 'account'],
  ])('blames, from %s with %s "%s" and type %s, the right side: %s', (vendor, code, words, type, kind) => {
    expect(vendors[vendor].ofError(code, words, type)?.kind).toBe(kind);
  });
});

describe('a refused request', () => {
  const bearer = { error: { message: MISSING_BEARER, type: INVALID, param: null, code: null }, status: 401 };
  const tooLong = { message: 'audio duration 1500 seconds is longer than 1400 seconds', code: 'invalid_value' };
  const tooMany = 'Total number of tokens in instructions + audio is too large';
  const unknown = { message: 'Unsupported file format bin', type: INVALID, param: null, code: null };
  const onlyFile = { message: CORRUPT, type: INVALID, param: 'file', code: 'invalid_value' };
  it.each<[Vendor, number, object, string, string]>([
    ['openai', 401, bearer, 'account', 'http_401'],
    ['openai', 400, bearer, 'account', 'http_400'],
    ['openai', 400, { error: tooLong }, 'caller', 'audio_too_long'],
    ['openai', 400, { error: { message: tooMany, code: 'input_too_large' } }, 'caller', 'audio_too_long'],
    ['openai', 400, { error: unknown }, 'caller', 'unsupported_format'],
    ['openai', 400, { error: onlyFile }, 'caller', 'audio_unusable'],
    ['openai', 413, { error: { type: 'server_error', code: null } }, 'caller', 'http_413'],
    [
      'openai',
      429,
      { error: { type: 'insufficient_quota', code: 'insufficient_quota' } },
      'account',
      'insufficient_quota',
    ],
    ['openai', 429, { error: { message: QUOTA, code: null } }, 'account', 'http_429'],
    ['openai', 429, { error: { code: 'billing_not_active' } }, 'account', 'billing_not_active'],
    ['openai', 429, { error: { type: 'requests', code: 'rate_limit_exceeded' } }, 'next', 'rate_limit_exceeded'],
    ['xai', 400, { error: 'Incorrect API key provided.' }, 'account', 'http_400'],
    ['assemblyai', 400, { error: 'Your current account balance is negative.' }, 'account', 'http_400'],
  ])('blames, from %s with %i %j, the right side: %s', (vendor, status, body, kind, code) => {
    const refusal = { status, headers: { 'content-type': 'text/plain' }, body: JSON.stringify(body) };
    for (const file of [true, false]) {
      expect(vendors[vendor].ofRefusal(refusal, { file })).toMatchObject({ kind, code });
    }
  });
});
