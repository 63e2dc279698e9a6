// What the session machine is for, one story a row. The words are those of its drawing.

import { describe, test } from 'vitest';
import type { EventObject } from 'xstate';
import type { FailureKind } from '../../machines/events.ts';
import { type Story, tell } from './story.ts';

const ready = (generation: number) => ({ type: 'upstream.ready', generation });
const finished = (generation: number) => ({ type: 'upstream.finished', generation });
const failed = (generation: number, kind: FailureKind) => ({
  type: 'upstream.failed',
  generation,
  failure: { kind, reason: 'upstream_error', code: '500', message: 'The provider failed.' },
});
const live = (link: string, client = 'open', limits = 'within') => ({ live: { link, client, limits } });

const stories: Story[] = [
  {
    story: 'runs from its first leg to its settlement',
    events: [ready(1), 'turn.settled', 'client.close', 'audio.drained', finished(1), 'done settle'],
    state: 'closed',
    calls: ['openLeg', 'openGate', 'endAudio', 'closeGate', 'finishLeg', 'closeLeg', 'announceEnd'],
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
    story: 'tries the same model once more after a failure that may pass',
    events: [ready(1), failed(1, 'retry'), 'after backOff', ready(2)],
    state: live('streaming'),
    calls: ['openLeg', 'openGate', 'closeGate', 'closeLeg', 'openLeg', 'openGate'],
  },
  {
    story: 'goes to the next model when the retry failed too',
    events: [ready(1), failed(1, 'retry'), 'after backOff', failed(2, 'retry')],
    state: live('dialling'),
  },
  {
    story: 'goes to the next model at once when a credential is bad',
    events: [failed(1, 'account'), ready(2)],
    state: live('streaming'),
  },
  {
    story: 'begins the chain again before it gives up',
    events: [failed(1, 'next'), failed(2, 'next')],
    state: live('backingOff'),
  },
  {
    story: 'gives up with every attempt listed',
    events: [
      failed(1, 'next'),
      failed(2, 'next'),
      'after backOff',
      failed(3, 'next'),
      failed(4, 'next'),
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
    events: [failed(1, 'caller'), 'done settle'],
    state: 'closed',
    output: { reason: 'upstream', error: { code: 'invalid_provider_params' } },
  },
  {
    story: 'has its retries back once a turn has got its final',
    events: [ready(1), failed(1, 'retry'), 'after backOff', ready(2), 'turn.settled', failed(2, 'retry')],
    state: live('backingOff'),
  },
  {
    story: 'fails over also while it ends',
    events: [
      ready(1),
      'client.close',
      'audio.drained',
      failed(1, 'next'),
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
    events: [ready(1), failed(1, 'next'), ready(1), finished(1)],
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
    calls: ['openLeg', 'openGate', 'closeGate', 'closeLeg', 'announceEnd'],
  },
  {
    story: 'ends with an error when its turn chart failed',
    events: [ready(1), 'error turn', 'done settle'],
    state: 'closed',
    output: { reason: 'error', error: { code: 'internal_error' } },
  },
];

describe('a session', () => {
  test.each(stories)('$story', (story) => tell('session', story));
});
