// What the smaller machines are for, one story a row. The words are those of their drawings.

import { describe, expect, test } from 'vitest';
import { type EventObject, initialTransition, transition } from 'xstate';
import { type ClientTokenEvent, clientTokenMachine } from '../../machines/client-token.ts';
import { firstCandidate } from '../../machines/failover/decision.ts';
import { type Story, tell } from './story.ts';

const legFailure = { kind: 'retry', reason: 'upstream_closed', code: '1006', message: 'The provider hung up.' };
const attemptFailed = (kind: string, open: number[] = [], mayRetry = true) => ({
  type: 'attempt.failed',
  kind,
  open,
  mayRetry,
  retryAfterMs: 0,
  elapsedMs: 15_000,
  own: false,
  lasting: false,
  wasReady: false,
});
const lostInside = { ...attemptFailed('retry', [], false), own: true };
/** The sample chain has three members; each row ends with the member that has the audio. */
const failoverStories: (Story & { index?: number })[] = [
  {
    story: 'tries the same model once more, after a pause, where the failure may pass',
    events: [attemptFailed('retry'), 'after backOff'],
    state: 'trying',
    index: 0,
    calls: ['tellChosen'],
  },
  {
    story: 'goes on when the retry failed as well',
    events: [attemptFailed('retry'), 'after backOff', attemptFailed('retry')],
    state: 'trying',
    index: 1,
  },
  {
    story: 'does not retry beyond the budget of the node',
    events: [attemptFailed('retry', [], false)],
    state: 'trying',
    index: 1,
  },
  {
    story: 'forgives 30 losses inside the gateway, and counts none of them as an attempt',
    events: [...Array.from({ length: 30 }, () => [lostInside, 'after backOff']).flat(), attemptFailed('retry')],
    state: 'pausing',
    index: 0,
  },
  {
    story: 'takes a loss inside the gateway for a failure of the model when an incident had 30',
    events: [...Array.from({ length: 30 }, () => [lostInside, 'after backOff']).flat(), lostInside],
    state: 'trying',
    index: 1,
  },
  {
    story: 'does not forgive what is a fault of the gateway and not a loss',
    events: [{ ...attemptFailed('next'), own: true }],
    state: 'trying',
    index: 1,
  },
  {
    story: 'goes to the next model at once',
    events: [attemptFailed('next')],
    state: 'trying',
    index: 1,
    calls: ['tellChosen'],
  },
  {
    story: 'passes over a model whose breaker is open',
    events: [attemptFailed('next', [1])],
    state: 'trying',
    index: 2,
  },
  {
    story: 'begins the chain again, after a pause, before it gives up',
    events: [attemptFailed('next'), attemptFailed('next'), attemptFailed('next'), 'after backOff'],
    state: 'trying',
    index: 0,
  },
  {
    story: 'begins the chain again with a model whose breaker is closed',
    events: [attemptFailed('next'), attemptFailed('next'), attemptFailed('next', [0, 1]), 'after backOff'],
    state: 'trying',
    index: 2,
  },
  {
    story: 'lets no breaker refuse the last candidate',
    events: [attemptFailed('next', [0, 1, 2]), 'after backOff'],
    state: 'trying',
    index: 0,
  },
  {
    story: 'tries a passed over model before it gives up',
    events: [attemptFailed('next', [0, 1, 2]), 'after backOff', attemptFailed('next', [0, 1, 2])],
    state: 'trying',
    index: 1,
  },
  {
    story: 'never tries a refused credential again',
    events: [attemptFailed('account'), attemptFailed('next'), attemptFailed('next'), 'after backOff'],
    state: 'trying',
    index: 1,
  },
  {
    story: 'gives up when every credential was refused',
    events: [attemptFailed('account'), attemptFailed('account'), attemptFailed('account')],
    state: 'exhausted',
  },
  {
    story: 'gives up after the last round',
    events: [
      ...Array.from({ length: 3 }, () => attemptFailed('next')),
      'after backOff',
      ...Array.from({ length: 3 }, () => attemptFailed('next')),
    ],
    state: 'exhausted',
  },
  {
    story: 'reports a request that is wrong, and tries nothing else',
    events: [attemptFailed('caller')],
    state: 'refused',
  },
  {
    story: 'has its retries and rounds back once a leg has held',
    events: [
      attemptFailed('retry'),
      'after backOff',
      { type: 'attempt.held' },
      attemptFailed('retry'),
      'after backOff',
    ],
    state: 'trying',
    index: 0,
  },
];

const finish = { type: 'leg.finish', waitMs: 20_000 };
const overdue = ['wire.opened', 'provider.ready', finish, 'wire.alive', 'after drainTime'];
const upstreamStories: Story[] = [
  {
    story: 'dials, shakes hands, streams and finishes',
    events: ['wire.opened', 'provider.ready', 'leg.finish', 'provider.finished'],
    state: 'finished',
    calls: ['dial', 'sendHello', 'tellReady', 'sendFinish', 'askForSign', 'tellFinished'],
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
    story: 'fails when the provider does not finish in time and gives no sign of life',
    events: ['wire.opened', 'provider.ready', finish, 'after drainTime'],
    state: 'failed',
    calls: ['dial', 'sendHello', 'tellReady', 'sendFinish', 'askForSign', 'tellFailed'],
    output: { failure: { code: 'drain_timeout' } },
  },
  {
    story: 'is waited for when it is slow and gives a sign of life',
    events: [...overdue, 'provider.finished'],
    state: 'finished',
    calls: ['dial', 'sendHello', 'tellReady', 'sendFinish', 'askForSign', 'tellOverdue', 'tellFinished'],
    output: { failure: null },
  },
  {
    story: 'is not waited for where its session has no time for that',
    events: ['wire.opened', 'provider.ready', 'leg.finish', 'wire.alive', 'after drainTime'],
    state: 'failed',
  },
  {
    story: 'fails when it is slow and its session waits no longer',
    events: [...overdue, 'provider.stalled'],
    state: 'failed',
    output: { failure: { code: 'drain_timeout' } },
  },
  {
    story: 'fails when it has not finished in the time that its session has for it',
    events: [...overdue, 'after timeLeft'],
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
const endedBeforeFormatted = { type: 'turn.ended', formattedFollows: true } as EventObject;
const ended = { type: 'turn.ended', formattedFollows: false } as EventObject;
const turnStories: Story[] = [
  { story: 'gives its final when the provider ends it', events: ['turn.heard', ended], state: 'idle', calls: final },
  {
    story: 'waits for the formatted text',
    events: ['turn.heard', endedBeforeFormatted],
    state: 'awaitingFormatted',
    calls: [],
  },
  {
    story: 'gives the formatted text, once',
    events: ['turn.heard', endedBeforeFormatted, 'turn.formatted', 'turn.formatted'],
    state: 'idle',
    calls: final,
  },
  {
    story: 'gives the unformatted text when the formatted one is late',
    events: ['turn.heard', endedBeforeFormatted, 'after formattedWait', 'turn.formatted'],
    state: 'idle',
    calls: final,
  },
  {
    story: 'gives what it has when the next turn begins',
    events: ['turn.heard', endedBeforeFormatted, 'turn.heard'],
    state: 'speaking',
    calls: final,
  },
  {
    story: 'gives its settled words when its leg fails while the formatted ones are due',
    events: ['turn.heard', endedBeforeFormatted, 'turn.discarded'],
    state: 'idle',
    calls: final,
  },
  {
    story: 'gives what its leg had settled when it fails in a long turn, and takes that for no success',
    events: ['turn.heard', 'turn.kept'],
    state: 'idle',
    calls: ['deliverFinal'],
  },
  {
    story: 'waits for its words when it ends without those that were heard',
    events: ['turn.heard', 'turn.emptied', ended],
    state: 'idle',
    calls: final,
  },
  {
    story: 'ends without words when none come',
    events: ['turn.heard', 'turn.emptied', 'after wordsWait'],
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

const failed = (error: string) => ({ type: 'node.failed', error });
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
  {
    story: 'that cannot go on drains, and its end says why',
    events: ['done start', 'done listen', failed('First.'), failed('Second.'), 'sessions.gone', 'done stop'],
    state: 'stopped',
    calls: ['beginDrain'],
    output: { error: 'First.' },
  },
  {
    story: 'that cannot go on before it serves ends as soon as it does',
    events: [failed('First.'), 'done start', 'done listen', 'sessions.gone', 'done stop'],
    state: 'stopped',
    calls: ['beginDrain'],
    output: { error: 'First.' },
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
  test.each(stories)('$story', async (story) => {
    await tell(id, story);
  });
});

// Evaluated purely: no actor runs for a token.
describe('a client token', () => {
  type Present = Extract<ClientTokenEvent, { type: 'token.present' }>;
  const present = (nowMs: number, parent: Present['parent'] = 'allowed', mayListen = true): ClientTokenEvent => ({
    type: 'token.present',
    nowMs,
    parent,
    mayListen,
  });
  const expiresAtMs = 60_000;

  test.each([
    ['opens a session while it is alive', [present(59_999)], 'valid', 'allowed'],
    ['opens any number of sessions', [present(1), present(2), present(3)], 'valid', 'allowed'],
    ['has expired at its expiry', [present(60_000)], 'expired', 'token_expired'],
    ['stays expired at any later time of the clock', [present(60_000), present(1)], 'expired', 'token_expired'],
    ['falls with the key it was made from', [present(1, 'key_revoked')], 'revoked', 'key_revoked'],
    ['says so rather than that it is over', [present(60_000, 'key_revoked')], 'revoked', 'key_revoked'],
    ['stays revoked', [present(1, 'key_revoked'), present(2), present(61_000)], 'revoked', 'key_revoked'],
    ['waits while its key is expired', [present(1, 'key_expired')], 'valid', 'key_expired'],
    ['waits while its organisation is suspended', [present(1, 'account_suspended')], 'valid', 'account_suspended'],
    ['opens again when that is lifted', [present(1, 'account_suspended'), present(2)], 'valid', 'allowed'],
    ['needs the scope of its key', [present(1, 'allowed', false)], 'valid', 'scope_not_allowed'],
    ['reports the key before the scope', [present(1, 'key_expired', false)], 'valid', 'key_expired'],
    ['is good for nothing but a handshake', [{ type: 'token.misuse' }], 'valid', 'token_not_allowed'],
    ['opens a session also after a misuse', [{ type: 'token.misuse' }, present(1)], 'valid', 'allowed'],
  ] as const)('%s', (_story, events, state, decision) => {
    const [start] = initialTransition(clientTokenMachine, { expiresAtMs });
    const end = events.reduce((snapshot, event) => transition(clientTokenMachine, snapshot, event)[0], start);
    expect({ value: end.value, context: end.context }).toEqual({ value: state, context: { expiresAtMs, decision } });
  });

  test('decides nothing before it is presented', () => {
    const [{ context }] = initialTransition(clientTokenMachine, { expiresAtMs });
    expect(context.decision).toBeNull();
  });
});

describe('a failover', () => {
  test.each(failoverStories)('$story', async ({ index, ...story }) => {
    const { context } = await tell('failover', story);
    if (index !== undefined) expect(context.index).toBe(index);
  });

  test.each<[number[], number]>([
    [[], 0],
    [[0], 1],
    [[0, 1], 2],
    [[0, 1, 2], 0],
  ])('begins, with the breakers %j open, with candidate %i', (open, first) => {
    expect(firstCandidate(3, open)).toBe(first);
  });
});
