// What keys and tokens are worth at a moment, and the words of their refusals.

import { describe, expect, test } from 'vitest';
import { apiErrorOfDecision, judgeKey, judgeToken } from '../../../src/accounts/auth/verdicts.ts';
import type { ApiKey } from '../../../src/accounts/keys/calls.ts';
import { apiKey } from '../../fakes/api-keys.ts';

const NOW = Date.UTC(2026, 2, 29, 0, 59, 59, 999);
const at = (ms: number): string => new Date(NOW + ms).toISOString();

describe('a key', () => {
  test.each<[string, Partial<ApiKey>, boolean, string]>([
    ['without anything against it', {}, false, 'allowed'],
    ['in its last millisecond', { expiresAt: at(1) }, false, 'allowed'],
    ['at its expiry', { expiresAt: at(0) }, false, 'key_expired'],
    ['long after its expiry', { expiresAt: at(-86_400_000) }, false, 'key_expired'],
    ['that was revoked', { revokedAt: at(-1) }, false, 'key_revoked'],
    ['that was revoked just now, before its row says so', {}, true, 'key_revoked'],
    ['that was revoked and has expired', { revokedAt: at(-1), expiresAt: at(-1) }, false, 'key_revoked'],
    [
      'that was rolled, in the last millisecond of its grace',
      { rolledTo: 'key_2', graceUntil: at(1) },
      false,
      'allowed',
    ],
    ['that was rolled, at the end of its grace', { rolledTo: 'key_2', graceUntil: at(0) }, false, 'key_expired'],
    [
      'that was rolled, and expires within its grace',
      { rolledTo: 'k', graceUntil: at(9), expiresAt: at(0) },
      false,
      'key_expired',
    ],
    ['that was rolled and then revoked', { rolledTo: 'k', graceUntil: at(9), revokedAt: at(-1) }, false, 'key_revoked'],
    ['of a suspended organisation', { suspended: true }, false, 'account_suspended'],
    ['of a suspended organisation, revoked', { suspended: true, revokedAt: at(-1) }, false, 'key_revoked'],
    [
      'rolled, of a suspended organisation',
      { suspended: true, rolledTo: 'k', graceUntil: at(9) },
      false,
      'account_suspended',
    ],
  ])('%s', (_, members, isRevoked, decision) => {
    expect(judgeKey(apiKey(members), NOW, isRevoked)).toBe(decision);
  });
});

describe('a token presented', () => {
  test.each([
    ['when minted', 0, 'allowed', true, 'allowed'],
    ['in its last millisecond', 59_999, 'allowed', true, 'allowed'],
    ['when its lifetime is over', 60_000, 'allowed', true, 'token_expired'],
    ['a millisecond later', 60_001, 'allowed', true, 'token_expired'],
    ['a day later', 86_400_000, 'allowed', true, 'token_expired'],
    ['with a revoked parent', 0, 'key_revoked', true, 'key_revoked'],
    ['with a revoked parent, when its lifetime is over', 60_000, 'key_revoked', true, 'key_revoked'],
    ['with an expired parent', 59_999, 'key_expired', true, 'key_expired'],
    ['with a suspended parent', 59_999, 'account_suspended', true, 'account_suspended'],
    ['with a parent that may not listen', 59_999, 'allowed', false, 'scope_not_allowed'],
    ['over, with a parent that may not listen', 60_000, 'allowed', false, 'token_expired'],
  ] as const)('%s', (_, afterMs, parent, mayListen, decision) => {
    expect(judgeToken({ exp: NOW + 60_000 }, NOW + afterMs, parent, mayListen)).toBe(decision);
  });
});

test.each([
  ['key_revoked', 401, 4001],
  ['key_expired', 401, 4001],
  ['token_expired', 401, 4001],
  ['account_suspended', 403, 4003],
  ['scope_not_allowed', 403, 4003],
  ['token_not_allowed', 403, 4003],
] as const)('%s is refused with %d, on sockets with %d', (decision, status, closeCode) => {
  expect(apiErrorOfDecision(decision)).toMatchObject({ code: decision, status, closeCode });
});

test('counts as no error when allowed', () => {
  expect(apiErrorOfDecision('allowed')).toBeUndefined();
});
