// What the session machine is for, one story a row. The words are those of its drawing.

import { describe, test } from 'vitest';
import type { EventObject } from 'xstate';
import type { FailureKind } from '../../machines/events.ts';
import { type Story, tell } from './story.ts';

const ready = (generation: number) => ({ type: 'upstream.ready', generation });
const chosen = (index: number) => ({ type: 'failover.chosen', index });
const expiring = (generation: number) => ({ type: 'upstream.expiring', generation });
const finished = (generation: number) => ({ type: 'upstream.finished', generation });
const failed = (generation: number, kind: FailureKind) => ({
  type: 'upstream.failed',
  generation,
  failure: { kind, reason: 'upstream_error', code: '500', message: 'The provider failed.' },
});
const configured = { type: 'session.configured', chain: ['a/a', 'b/b', 'c/c'], next: 2, steadyMs: 1 };
const inPlace = { ...configured, isInPlace: true };
const live = (link: string, client = 'open', limits = 'within') => ({ live: { link, client, limits } });

const stories: Story[] = [
  {
    story: 'runs from its first leg to its settlement',
    events: [ready(1), 'turn.settled', 'client.close', 'audio.drained', finished(1), 'done settle'],
    state: 'closed',
    calls: ['openLeg', 'openGate', 'endAudio', 'closeGate', 'finishLeg', 'closeLeg', 'announceEnd', 'endTurns'],
    output: { reason: 'client_closed', error: null, attempts: [] },
  },
  {
    story: 'is closed although its settlement failed',
    events: [ready(1), 'client.close', 'audio.drained', finished(1), 'error settle'],
    state: 'closed',
  },
  {
    story: 'waits for its settlement no longer than it may',
    events: [ready(1), 'client.close', 'audio.drained', finished(1), 'after settleTime'],
    state: 'closed',
  },
  {
    story: 'finishes what it has when its client is gone',
    events: [ready(1), 'client.gone', 'audio.drained'],
    state: live('finishing', 'ending'),
  },
  {
    story: 'asks what comes next when its leg has failed, and goes on with the model that was chosen',
    events: [ready(1), failed(1, 'retry'), chosen(1), ready(2)],
    state: live('streaming'),
    calls: ['openLeg', 'openGate', 'closeLeg', 'decide', 'openLeg', 'openGate'],
  },
  {
    story: 'takes what is said meanwhile, and dials when it is told which model',
    events: [failed(1, 'next'), 'client.close'],
    state: live('deciding', 'ending'),
  },
  {
    story: 'replaces a leg that comes near its limit at the end of the turn',
    events: [ready(1), { type: 'upstream.expiring', generation: 1 }, 'turn.settled', ready(2)],
    state: live('streaming'),
    calls: ['openLeg', 'openGate', 'announceExpiry', 'closeLeg', 'openLeg', 'openGate'],
  },
  {
    story: 'replaces such a leg in the middle of a turn that does not end',
    events: [ready(1), { type: 'upstream.expiring', generation: 1 }, 'after expiry'],
    state: live('dialling'),
  },
  {
    story: 'fails over also while its leg comes near its limit',
    events: [ready(1), { type: 'upstream.expiring', generation: 1 }, failed(1, 'next')],
    state: live('deciding'),
  },
  {
    story: 'has another model at the end of the turn where the client wants that',
    events: [ready(1), configured, 'turn.settled', ready(2)],
    state: live('streaming'),
    calls: ['openLeg', 'openGate', 'announceExpiry', 'closeLeg', 'openLeg', 'openGate'],
  },
  {
    story: 'ends a turn that does not end, where the client wants another model',
    events: [ready(1), configured, 'after expiry'],
    state: live('expiring'),
    calls: ['openLeg', 'openGate', 'announceExpiry', 'endTurn'],
  },
  {
    story: 'and hears it again where it gets no final even so',
    events: [ready(1), configured, 'after expiry', 'after ended'],
    state: live('dialling'),
    calls: ['openLeg', 'openGate', 'announceExpiry', 'endTurn', 'closeLeg', 'openLeg'],
  },
  {
    story: 'is changed where its leg is, and stays with it',
    events: [ready(1), inPlace, 'turn.settled'],
    state: live('streaming'),
    calls: ['openLeg', 'openGate'],
  },
  {
    story: 'does not ask what comes next when the leg fails that the client wants no more',
    events: [ready(1), configured, failed(1, 'next'), ready(2)],
    state: live('streaming'),
    calls: ['openLeg', 'openGate', 'announceExpiry', 'closeLeg', 'openLeg', 'openGate'],
  },
  {
    story: 'dials what the client wants now where no leg has the audio',
    events: [failed(1, 'next'), configured],
    state: live('dialling'),
    calls: ['openLeg', 'closeLeg', 'decide', 'closeLeg', 'openLeg'],
  },
  {
    story: 'knows that a leg which has held for a while works',
    events: [ready(1), 'after steady'],
    state: live('streaming'),
    calls: ['openLeg', 'openGate', 'tellHeld'],
  },
  {
    story: 'returns to its first model with a leg that is ready, and forgets what befell the one before',
    events: [failed(1, 'next'), chosen(1), ready(2), { type: 'session.returning', index: 0 }, ready(3)],
    state: live('streaming'),
    calls: ['openLeg', 'closeLeg', 'decide', 'openLeg', 'openGate', 'closeLeg', 'openLeg', 'openGate'],
  },
  {
    story:
      'continues with a cheaper model once a ceiling on spend is reached, also while it waits for the end of a turn',
    events: [
      ready(1),
      { type: 'session.bounded', index: 1 },
      ready(2),
      expiring(2),
      { type: 'session.bounded', index: 0 },
    ],
    state: live('dialling'),
    calls: ['openLeg', 'openGate', 'closeLeg', 'openLeg', 'openGate', 'announceExpiry', 'closeLeg', 'openLeg'],
  },
  {
    story: 'returns only while a leg has the audio',
    events: [failed(1, 'next'), chosen(1), { type: 'session.returning', index: 0 }],
    state: live('dialling'),
    calls: ['openLeg', 'closeLeg', 'decide', 'openLeg'],
  },
  {
    story: 'gives up with every attempt listed',
    events: [
      failed(1, 'next'),
      chosen(1),
      failed(2, 'next'),
      chosen(0),
      failed(3, 'next'),
      chosen(1),
      failed(4, 'next'),
      'done failover',
      'done settle',
    ],
    state: 'closed',
    output: {
      reason: 'upstream',
      error: { code: 'upstream_exhausted', message: 'The provider failed.' },
      attempts: [
        { model: 'loopback/script', reason: 'upstream_error' },
        { model: 'loopback/numbered', reason: 'upstream_error' },
        { model: 'loopback/script', reason: 'upstream_error' },
        { model: 'loopback/numbered', reason: 'upstream_error' },
      ],
    },
  },
  {
    story: 'reports a request that is wrong, and tries nothing else',
    events: [failed(1, 'caller'), 'done failover', 'done settle'],
    state: 'closed',
    output: { reason: 'upstream', error: { code: 'invalid_provider_params' } },
  },
  {
    story: 'begins a new list of attempts once a turn has got its final',
    events: [
      ready(1),
      failed(1, 'retry'),
      chosen(0),
      ready(2),
      'turn.settled',
      failed(2, 'next'),
      'done failover',
      'done settle',
    ],
    state: 'closed',
    output: { reason: 'upstream', error: { code: 'upstream_failed' } },
  },
  {
    story: 'fails over also while it ends',
    events: [
      ready(1),
      'client.close',
      'audio.drained',
      failed(1, 'next'),
      chosen(1),
      ready(2),
      'audio.drained',
      finished(2),
      'done settle',
    ],
    state: 'closed',
    output: { reason: 'client_closed', error: null, attempts: [{ model: 'loopback/script' }] },
  },
  {
    story: 'drops what a leg says that it has given up',
    events: [ready(1), failed(1, 'next'), chosen(1), ready(1), finished(1)],
    state: live('dialling'),
  },
  {
    story: 'ends in order when it has been idle',
    events: [ready(1), 'session.idle', 'audio.drained', finished(1), 'done settle'],
    state: 'closed',
    output: { reason: 'idle', error: { code: 'session_idle' } },
  },
  {
    story: 'ends in order after its longest duration',
    events: [ready(1), 'after longest', 'audio.drained', finished(1), 'done settle'],
    state: 'closed',
    output: { reason: 'too_long', error: { code: 'session_too_long' } },
  },
  {
    story: 'ends at once when it was ending already after its longest duration',
    events: [ready(1), 'client.close', 'after longest'],
    state: 'settling',
  },
  {
    story: 'of a draining node goes on to the end of its turn',
    events: [ready(1), 'node.drain', 'turn.settled'],
    state: live('streaming', 'ending', 'drained'),
    calls: ['openLeg', 'openGate', 'announceDrain', 'endAudio'],
  },
  {
    story: 'of a draining node waits for the end of a turn no longer than it may',
    events: [ready(1), 'node.drain', 'after drain', 'audio.drained', finished(1), 'done settle'],
    state: 'closed',
    output: { reason: 'draining', error: { code: 'node_draining' } },
  },
  {
    story: 'that is aborted waits for nothing',
    events: [
      ready(1),
      { type: 'session.abort', reason: 'error', error: { code: 'internal_error', message: 'No.' } } as EventObject,
    ],
    state: 'settling',
    calls: ['openLeg', 'openGate', 'closeLeg', 'announceEnd', 'endTurns'],
  },
  {
    story: 'ends with an error when its failover chart failed',
    events: [ready(1), 'error failover', 'done settle'],
    state: 'closed',
    output: { reason: 'error', error: { code: 'internal_error' } },
  },
];

describe('a session', () => {
  test.each(stories)('$story', async (story) => {
    await tell('session', story);
  });
});
