// What a request with an API key may do, and what a roll or a revocation makes of it. Evaluated purely, as on its row.
import { describe, expect, test } from 'vitest';
import { initialTransition, transition } from 'xstate';
import { type ApiKeyEvent, apiKeyMachine } from '../../machines/api-key.ts';

const present = (nowMs: number, suspended = false): ApiKeyEvent => ({ type: 'key.present', nowMs, suspended });
const roll = (nowMs: number, graceUntilMs: number): ApiKeyEvent => ({ type: 'key.roll', nowMs, graceUntilMs });
const revoke: ApiKeyEvent = { type: 'key.revoke' };

/** Where a key is after these events, and the actions that were asked for on the way. */
function live(expiresAtMs: number | null, events: readonly ApiKeyEvent[]) {
  const asked: string[] = [];
  let [snapshot] = initialTransition(apiKeyMachine, { expiresAtMs });
  for (const event of events) {
    const [next, actions] = transition(apiKeyMachine, snapshot, event);
    asked.push(...actions.map(({ type }) => type));
    snapshot = next;
  }
  return { state: snapshot.value, decision: snapshot.context.decision, asked, context: snapshot.context };
}

describe('an API key', () => {
  test.each([
    ['is accepted again and again', null, [present(1), present(2)], 'active', 'allowed'],
    ['without an expiry is never over', null, [present(Number.MAX_SAFE_INTEGER)], 'active', 'allowed'],
    ['works until its expiry', 60_000, [present(59_999)], 'active', 'allowed'],
    ['has expired at its expiry', 60_000, [present(60_000)], 'active', 'key_expired'],
    [
      'may get a later expiry, so its verdict is not a state',
      60_000,
      [present(60_000), present(1)],
      'active',
      'allowed',
    ],
    ['is kept out while its organisation is suspended', null, [present(1, true)], 'active', 'account_suspended'],
    ['works again when that is over', null, [present(1, true), present(2)], 'active', 'allowed'],
    ['that has expired says so, suspended or not', 60_000, [present(60_000, true)], 'active', 'key_expired'],
    ['that was rolled works until its grace is over', null, [roll(1, 30), present(29)], 'rotated', 'allowed'],
    ['that was rolled has expired at the end of its grace', null, [roll(1, 30), present(30)], 'rotated', 'key_expired'],
    ['that was rolled keeps its own expiry', 20, [roll(1, 30), present(20)], 'rotated', 'key_expired'],
    [
      'that was rolled is kept out while suspended',
      null,
      [roll(1, 30), present(2, true)],
      'rotated',
      'account_suspended',
    ],
    ['is rolled once', null, [roll(1, 30), roll(2, 90), present(31)], 'rotated', 'key_expired'],
    ['that has expired is not rolled', 60_000, [roll(60_000, 90_000)], 'active', 'key_expired'],
    ['rolled without grace is revoked', null, [roll(1, 1), present(1)], 'revoked', 'key_revoked'],
    ['that was revoked opens nothing', null, [revoke, present(1)], 'revoked', 'key_revoked'],
    [
      'reports its revocation before everything else',
      60_000,
      [revoke, present(60_000, true)],
      'revoked',
      'key_revoked',
    ],
    ['that was rolled can be revoked in its grace', null, [roll(1, 30), revoke, present(2)], 'revoked', 'key_revoked'],
    ['that was revoked is not rolled', null, [revoke, roll(1, 30), present(2)], 'revoked', 'key_revoked'],
  ] as const)('%s', (_story, expiresAtMs, events, state, decision) => {
    expect(live(expiresAtMs, events)).toMatchObject({ state, decision });
  });

  test('decides nothing before it is presented', () => {
    expect(live(60_000, []).decision).toBeNull();
  });

  test.each([
    ['a revocation', [revoke], ['publishRevocation']],
    ['a revocation in the grace', [roll(1, 30), revoke], ['publishRevocation']],
    ['a second revocation', [revoke, revoke], ['publishRevocation']],
    ['a roll without grace', [roll(1, 1)], ['publishRevocation']],
    ['a roll', [roll(1, 30)], []],
  ] as const)('%s is published once, if it ends the key at once', (_story, events, asked) => {
    expect(live(null, events).asked).toEqual(asked);
  });

  test('keeps until when its grace lasts', () => {
    expect(live(60_000, [roll(1, 30), roll(2, 90)]).context).toEqual({
      expiresAtMs: 60_000,
      graceUntilMs: 30,
      decision: null,
    });
  });
});
