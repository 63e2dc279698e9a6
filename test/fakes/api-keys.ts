// API keys and callers as the store and the authenticator describe them, without either.

import type { Caller } from '../../src/accounts/auth/permissions.ts';
import type { ApiKey } from '../../src/accounts/keys/calls.ts';

/** An active key with every scope and no limit of its own. */
export function apiKey(members: Partial<ApiKey> = {}): ApiKey {
  return {
    id: 'key_1',
    organisationId: 'org_1',
    name: 'key',
    display: 'sk_vox_abcd...wxyz',
    createdAt: '2026-01-01T00:00:00.000Z',
    expiresAt: null,
    scopes: ['listen', 'transcribe', 'tokens'],
    models: null,
    origins: null,
    requestsPerMinuteMax: null,
    sessionsMax: null,
    tokensPerMinuteMax: null,
    dailySpendMicroUsdMax: null,
    spendCeilings: null,
    regions: null,
    retention: null,
    redact: null,
    replace: null,
    latency: null,
    aliases: null,
    tags: null,
    organisationRegions: null,
    organisationRetention: null,
    organisationRedact: null,
    organisationAliases: null,
    revokedAt: null,
    graceUntil: null,
    rolledTo: null,
    lastUsedAt: null,
    makerId: null,
    maker: null,
    suspended: false,
    ...members,
  };
}

/** Who calls with such a key. */
export function callerOf(key: ApiKey = apiKey(), via: Caller['via'] = 'key'): Caller {
  return { organisationId: key.organisationId, keyId: key.id, key, via };
}
