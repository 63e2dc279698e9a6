// A person's account: what proves the address, what is given for that, and what a suspension does. Evaluated purely on its row;
// whether a link is the right one is found out by look-up before the chart is asked.
import { setup } from 'xstate';
import { declaredAction } from './declared.ts';

export interface AccountInput {
  /** Mails with a link that one address gets in an hour. */
  mailsPerHourMax: number;
}

export type AccountContext = AccountInput;

export type AccountEvent =
  /** A person opens the account. Sent once, when the row is created. */
  | { type: 'account.open' }
  /** The link that was mailed to the account's address comes back. */
  | { type: 'account.verify'; nowMs: number; expiresAtMs: number }
  /** Another link is requested. `mailsInHour`: those of the last hour. */
  | { type: 'account.resend'; mailsInHour: number }
  | { type: 'account.suspend' }
  | { type: 'account.reinstate' };

export const accountMachine = setup({
  types: {
    context: {} as AccountContext,
    events: {} as AccountEvent,
    input: {} as AccountInput,
  },
  actions: {
    mailVerification: declaredAction('mailVerification'),
    /** Once for each normalised address, whatever becomes of the account. */
    grantWelcomeCredit: declaredAction('grantWelcomeCredit'),
    /** Its keys are refused, its console sessions end. */
    suspendOrganisation: declaredAction('suspendOrganisation'),
    endConsoleSessions: declaredAction('endConsoleSessions'),
    reinstateOrganisation: declaredAction('reinstateOrganisation'),
  },
  guards: {
    isInTime: ({ event }) => event.type === 'account.verify' && event.nowMs < event.expiresAtMs,
    mayMail: ({ context, event }) => event.type === 'account.resend' && event.mailsInHour < context.mailsPerHourMax,
  },
}).createMachine({
  id: 'account',
  description: 'The account of a person, from sign-up on.',
  // Pure transitions build a throw-away actor without input.
  context: ({ input }) => ({ mailsPerHourMax: input?.mailsPerHourMax ?? 0 }),
  initial: 'unverified',
  states: {
    unverified: {
      description: 'Signed up; nobody has shown yet that the address is theirs.',
      on: {
        'account.open': { actions: 'mailVerification' },
        'account.verify': { guard: 'isInTime', target: 'verified', actions: 'grantWelcomeCredit' },
        'account.resend': { guard: 'mayMail', actions: 'mailVerification' },
      },
    },
    verified: {
      on: {
        'account.suspend': { target: 'suspended', actions: ['suspendOrganisation', 'endConsoleSessions'] },
      },
    },
    suspended: {
      on: {
        'account.reinstate': { target: 'verified', actions: 'reinstateOrganisation' },
      },
    },
  },
  options: { maxIterations: 200 },
});
