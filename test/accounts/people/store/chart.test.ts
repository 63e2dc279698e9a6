// The account chart on a row: what each event does in each state, and that everything else does nothing.
import { describe, expect, test } from 'vitest';
import type { AccountEvent } from '../../../../machines/account.ts';
import type { AccountState } from '../../../../src/accounts/people/store/calls.ts';
import { accountAfter, MAILS_PER_HOUR_MAX } from '../../../../src/accounts/people/store/mailed-links.ts';

const STATES: AccountState[] = ['unverified', 'verified', 'suspended'];
const EVENTS: Record<string, AccountEvent> = {
  open: { type: 'account.open' },
  'verify in time': { type: 'account.verify', nowMs: 999, expiresAtMs: 1000 },
  'verify too late': { type: 'account.verify', nowMs: 1000, expiresAtMs: 1000 },
  'resend the third': { type: 'account.resend', mailsInHour: MAILS_PER_HOUR_MAX - 1 },
  'resend the fourth': { type: 'account.resend', mailsInHour: MAILS_PER_HOUR_MAX },
  suspend: { type: 'account.suspend' },
  reinstate: { type: 'account.reinstate' },
};

const DOES: Record<string, [AccountState, ...string[]]> = {
  'unverified: open': ['unverified', 'mailVerification'],
  'unverified: verify in time': ['verified', 'grantWelcomeCredit'],
  'unverified: resend the third': ['unverified', 'mailVerification'],
  'verified: suspend': ['suspended', 'suspendOrganisation', 'endConsoleSessions'],
  'suspended: reinstate': ['verified', 'reinstateOrganisation'],
};

describe('an account', () => {
  const cases = STATES.flatMap((state) => Object.keys(EVENTS).map((event) => [state, event] as const));

  test.each(cases)('moves from state %s by %s', (state, event) => {
    const [after, ...actions] = DOES[`${state}: ${event}`] ?? [state];
    expect(accountAfter(state, EVENTS[event]!)).toEqual({ state: after, actions });
  });
});
