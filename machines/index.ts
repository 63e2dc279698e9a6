// The list of all machines: drawings, tests and console walk it. In reading order.
import type { AnyStateMachine } from 'xstate';
import { accountMachine } from './account.ts';
import { apiKeyMachine } from './api-key.ts';
import { breakerMachine } from './breaker.ts';
import { clientTokenMachine } from './client-token.ts';
import { failoverMachine } from './failover.ts';
import { nodeMachine } from './node.ts';
import { providerKeyMachine } from './provider-key.ts';
import { sessionMachine } from './session.ts';
import { turnMachine } from './turn.ts';
import { upstreamMachine } from './upstream.ts';

export interface MachineEntry {
  id: string;
  machine: AnyStateMachine;
  /** An input to draw and explore the machine with. */
  input: unknown;
  /** One event of each type and of each branch that guards tell apart. */
  samples: readonly { type: string; [member: string]: unknown }[];
}

const failure = (kind: string, reason: string) => ({ kind, reason, code: 'sample', message: 'A sample failure.' });
const attemptFailed = (kind: string, more: object) => ({
  type: 'attempt.failed',
  kind,
  open: [],
  mayRetry: true,
  retryAfterMs: 0,
  elapsedMs: 0,
  own: false,
  lasting: false,
  ...more,
});
const sampleError = { code: 'internal_error', message: 'A sample error.' };

export const machines: readonly MachineEntry[] = [
  {
    id: 'session',
    machine: sessionMachine,
    input: {
      sessionId: 'ses_sample',
      chain: ['loopback/script', 'loopback/numbered'],
      first: 0,
      limits: {
        longestMs: 60_000,
        drainMs: 40_000,
        backOffMs: 100,
        settleMs: 1_000,
        retries: 1,
        rounds: 1,
        retryMs: 15_000,
        steadyMs: 10_000,
      },
    },
    samples: [
      { type: 'upstream.ready', generation: 1 },
      { type: 'upstream.failed', generation: 1, failure: failure('next', 'upstream_error') },
      { type: 'upstream.finished', generation: 1 },
      { type: 'upstream.expiring', generation: 1 },
      { type: 'failover.chosen', index: 1 },
      {
        type: 'session.configured',
        chain: ['loopback/script', 'loopback/numbered', 'loopback/echo'],
        next: 2,
        steadyMs: 10_000,
      },
      {
        type: 'session.configured',
        chain: ['loopback/script', 'loopback/numbered', 'loopback/echo'],
        next: 2,
        steadyMs: 10_000,
        isInPlace: true,
      },
      { type: 'session.returning', index: 0 },
      { type: 'session.bounded', index: 1 },
      { type: 'audio.drained' },
      { type: 'audio.settled' },
      { type: 'audio.quiet' },
      { type: 'audio.waiting' },
      { type: 'client.close' },
      { type: 'client.gone' },
      { type: 'session.idle' },
      { type: 'session.too_long' },
      { type: 'session.stop', reason: 'credit', error: sampleError },
      { type: 'session.stop', reason: 'ledger', error: sampleError },
      { type: 'session.abort', reason: 'error', error: sampleError },
      { type: 'node.drain' },
      { type: 'turn.settled' },
    ],
  },
  {
    id: 'failover',
    machine: failoverMachine,
    input: {
      ownerId: 'ses_sample',
      members: 3,
      first: 0,
      limits: { retries: 1, rounds: 1, retryMs: 15_000, backOffMs: 100 },
    },
    samples: [
      ...(['retry', 'next', 'account', 'caller'] as const).map((kind) => attemptFailed(kind, {})),
      attemptFailed('retry', { open: [1], mayRetry: false }),
      attemptFailed('next', { open: [0, 1, 2] }),
      attemptFailed('retry', { mayRetry: false, own: true }),
      attemptFailed('next', { lasting: true }),
      { type: 'attempt.weighed', open: [], mayRetry: true, elapsedMs: 0 },
      { type: 'attempt.weighed', open: [], mayRetry: false, elapsedMs: 15_001 },
      { type: 'attempt.weighed', open: [], mayRetry: false, elapsedMs: 0 },
      { type: 'attempt.held' },
      { type: 'chain.replaced', members: 3, before: 2, first: 2 },
      { type: 'member.returned', index: 0 },
      { type: 'members.bounded', index: 1, barred: [0] },
    ],
  },
  {
    id: 'breaker',
    machine: breakerMachine,
    input: { failuresMax: 2, openMs: 10_000, openMsMax: 40_000, probeMs: 30_000 },
    samples: [
      { type: 'call.begun' },
      { type: 'call.succeeded' },
      { type: 'call.failed', kind: 'next', retryAfterMs: 0 },
      { type: 'call.failed', kind: 'next', retryAfterMs: 20_000 },
      { type: 'call.failed', kind: 'account', retryAfterMs: 0 },
      { type: 'call.released' },
      { type: 'hint.opened', openMs: 30_000 },
    ],
  },
  {
    id: 'upstream',
    machine: upstreamMachine,
    input: { legId: 'leg.sample.1', model: 'loopback/script', connectMs: 5_000, readyMs: 5_000, drainMs: 10_000 },
    samples: [
      { type: 'wire.opened' },
      { type: 'wire.failed', failure: failure('next', 'upstream_closed') },
      { type: 'provider.ready' },
      { type: 'provider.failed', failure: failure('retry', 'upstream_error') },
      { type: 'provider.finished' },
      { type: 'provider.stalled' },
      { type: 'leg.finish', waitMs: 20_000 },
      { type: 'leg.finish' },
      { type: 'wire.alive' },
      { type: 'leg.close' },
    ],
  },
  {
    id: 'turn',
    machine: turnMachine,
    input: { formattedWaitMs: 700 },
    samples: [
      { type: 'turn.heard' },
      { type: 'turn.ended', formattedFollows: false },
      { type: 'turn.ended', formattedFollows: true },
      { type: 'turn.formatted' },
      { type: 'turn.emptied' },
      { type: 'turn.resumed' },
      { type: 'turn.kept' },
      { type: 'turn.discarded' },
      { type: 'turn.flush' },
    ],
  },
  {
    id: 'api-key',
    machine: apiKeyMachine,
    input: { expiresAtMs: 60_000 },
    samples: [
      { type: 'key.present', nowMs: 1_000, suspended: false },
      { type: 'key.present', nowMs: 1_000, suspended: true },
      { type: 'key.present', nowMs: 31_000, suspended: false },
      { type: 'key.present', nowMs: 61_000, suspended: false },
      { type: 'key.roll', nowMs: 1_000, graceUntilMs: 31_000 },
      { type: 'key.roll', nowMs: 1_000, graceUntilMs: 1_000 },
      { type: 'key.roll', nowMs: 61_000, graceUntilMs: 61_000 },
      { type: 'key.revoke' },
    ],
  },
  {
    id: 'client-token',
    machine: clientTokenMachine,
    input: { expiresAtMs: 60_000 },
    samples: [
      ...['allowed', 'key_expired', 'key_revoked', 'account_suspended'].map((parent) => ({
        type: 'token.present',
        nowMs: 1_000,
        parent,
        mayListen: true,
      })),
      { type: 'token.present', nowMs: 1_000, parent: 'allowed', mayListen: false },
      { type: 'token.present', nowMs: 61_000, parent: 'allowed', mayListen: true },
      { type: 'token.misuse' },
    ],
  },
  {
    id: 'provider-key',
    machine: providerKeyMachine,
    input: { failuresMax: 3 },
    samples: [
      { type: 'check.begun' },
      { type: 'check.accepted' },
      { type: 'check.refused' },
      { type: 'check.unanswered' },
      { type: 'use.accepted' },
      { type: 'use.refused' },
    ],
  },
  {
    id: 'account',
    machine: accountMachine,
    input: { mailsPerHourMax: 3 },
    samples: [
      { type: 'account.open' },
      { type: 'account.verify', nowMs: 1_000, expiresAtMs: 60_000 },
      { type: 'account.verify', nowMs: 61_000, expiresAtMs: 60_000 },
      { type: 'account.resend', mailsInHour: 2 },
      { type: 'account.resend', mailsInHour: 3 },
      { type: 'account.suspend' },
      { type: 'account.reinstate' },
    ],
  },
  {
    id: 'node',
    machine: nodeMachine,
    input: { drainMs: 60_000 },
    samples: [
      { type: 'node.drain' },
      { type: 'node.failed', error: 'A sample failure.' },
      { type: 'sessions.gone' },
      { type: 'node.stop' },
    ],
  },
];
