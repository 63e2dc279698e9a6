// What the smaller machines are for, one story a row. The words are those of their drawings.

import { describe, expect, test } from 'vitest';
import { type EventObject, initialTransition, transition } from 'xstate';
import { type ClientTokenEvent, clientTokenMachine } from '../../machines/client-token.ts';
import { type Story, tell } from './story.ts';

const legFailure = { kind: 'retry', reason: 'upstream_closed', code: '1006', message: 'The provider hung up.' };
const upstreamStories: Story[] = [
  {
    story: 'dials, shakes hands, streams and finishes',
    events: ['wire.opened', 'provider.ready', 'leg.finish', 'provider.finished'],
    state: 'finished',
    calls: ['dial', 'sendHello', 'tellReady', 'sendFinish', 'tellFinished'],
    output: { failure: null },
  },
  {
    story: 'fails when the provider does not accept the connection in time',
    events: ['after connectTime'],
    state: 'failed',
    calls: ['dial', 'tellFailed'],
    output: { failure: { kind: 'next', reason: 'connect_timeout', code: 'connect_timeout' } },
  },
  {
    story: 'fails when the provider accepts and then does not get ready in time',
    events: ['wire.opened', 'after readyTime'],
    state: 'failed',
    output: { failure: { code: 'ready_timeout' } },
  },
  {
    story: 'fails when the provider hears speech and says nothing',
    events: ['wire.opened', 'provider.ready', 'provider.stalled'],
    state: 'failed',
    output: { failure: { reason: 'stalled', code: 'stalled' } },
  },
  {
    story: 'fails when the provider does not finish in time',
    events: ['wire.opened', 'provider.ready', 'leg.finish', 'after drainTime'],
    state: 'failed',
    output: { failure: { code: 'drain_timeout' } },
  },
  {
    story: 'passes on what the wire said when it broke',
    events: ['wire.opened', 'provider.ready', { type: 'wire.failed', failure: legFailure } as EventObject],
    state: 'failed',
    output: { failure: legFailure },
  },
  {
    story: 'is released without a word when its session has no more use for it',
    events: ['wire.opened', 'provider.ready', 'leg.close'],
    state: 'released',
    calls: ['dial', 'sendHello', 'tellReady'],
    output: { failure: null },
  },
];

const final = ['deliverFinal', 'tellSettled'];
const endedWithTwin = { type: 'turn.ended', twin: true } as EventObject;
const ended = { type: 'turn.ended', twin: false } as EventObject;
const turnStories: Story[] = [
  { story: 'gives its final when the provider ends it', events: ['turn.heard', ended], state: 'idle', calls: final },
  { story: 'waits for the formatted text', events: ['turn.heard', endedWithTwin], state: 'awaitingTwin', calls: [] },
  {
    story: 'gives the formatted text, once',
    events: ['turn.heard', endedWithTwin, 'turn.formatted', 'turn.formatted'],
    state: 'idle',
    calls: final,
  },
  {
    story: 'gives the unformatted text when the formatted one is late',
    events: ['turn.heard', endedWithTwin, 'after twin', 'turn.formatted'],
    state: 'idle',
    calls: final,
  },
  {
    story: 'gives what it has when the next turn begins',
    events: ['turn.heard', endedWithTwin, 'turn.heard'],
    state: 'speaking',
    calls: final,
  },
  {
    story: 'gives its settled words when its leg fails while the formatted ones are due',
    events: ['turn.heard', endedWithTwin, 'turn.discarded'],
    state: 'idle',
    calls: final,
  },
  {
    story: 'gives nothing when it came to nothing',
    events: ['turn.heard', 'turn.discarded'],
    state: 'idle',
    calls: [],
  },
  {
    story: 'gives nothing that nobody has begun',
    events: [ended, 'turn.formatted', 'turn.flush'],
    state: 'idle',
    calls: [],
  },
];

const nodeStories: Story[] = [
  {
    story: 'starts, serves, drains and stops',
    events: ['done start', 'done listen', 'node.drain', 'sessions.gone', 'done stop'],
    state: 'stopped',
    calls: ['beginDrain'],
    output: { error: null },
  },
  {
    story: 'closes what it has opened when it cannot start',
    events: ['error start', 'done stop'],
    state: 'stopped',
    output: { error: 'A sample failure.' },
  },
  {
    story: 'closes what it has opened when it cannot listen',
    events: ['done start', 'error listen', 'done stop'],
    state: 'stopped',
    output: { error: 'A sample failure.' },
  },
  { story: 'stops while it starts', events: ['node.stop'], state: 'stopping' },
  {
    story: 'lets sessions go on no longer than it may',
    events: ['done start', 'done listen', 'node.drain', 'after drain'],
    state: 'stopping',
  },
  {
    story: 'waits for nobody at the second signal',
    events: ['done start', 'done listen', 'node.drain', 'node.stop'],
    state: 'stopping',
  },
  {
    story: 'has stopped although stopping failed',
    events: ['node.stop', 'error stop'],
    state: 'stopped',
    output: { error: 'A sample failure.' },
  },
];

describe.each([
  ['upstream', upstreamStories],
  ['turn', turnStories],
  ['node', nodeStories],
] as const)('a %s', (id, stories) => {
  test.each(stories)('$story', (story) => tell(id, story));
});

// Evaluated purely: no actor runs for a token.
describe('a client token', () => {
  const present = (nowMs: number): ClientTokenEvent => ({ type: 'token.present', nowMs });
  const expiresAtMs = 60_000;

  test.each([
    ['opens a session while it is alive', false, [present(59_999)], 'valid', 'allowed'],
    ['opens any number of sessions', false, [present(1), present(2), present(3)], 'valid', 'allowed'],
    ['has expired at its expiry', false, [present(60_000)], 'expired', 'token_expired'],
    ['stays expired, whatever the clock says later', false, [present(60_000), present(1)], 'expired', 'token_expired'],
    ['falls with the key it was made from', true, [present(1)], 'revoked', 'key_revoked'],
    ['stays revoked', true, [present(1), present(61_000)], 'revoked', 'key_revoked'],
    ['is good for nothing but a handshake', false, [{ type: 'token.misuse' }], 'valid', 'token_not_allowed'],
    ['opens a session also after a misuse', false, [{ type: 'token.misuse' }, present(1)], 'valid', 'allowed'],
  ] as const)('%s', (_story, parentRevoked, events, state, decision) => {
    const [start] = initialTransition(clientTokenMachine, { expiresAtMs, parentRevoked });
    const end = events.reduce((snapshot, event) => transition(clientTokenMachine, snapshot, event)[0], start);
    expect({ value: end.value, context: end.context }).toEqual({
      value: state,
      context: { expiresAtMs, parentRevoked, decision },
    });
  });

  test('has decided nothing before it is presented', () => {
    const [{ context }] = initialTransition(clientTokenMachine, { expiresAtMs, parentRevoked: true });
    expect(context.decision).toBeNull();
  });
});
