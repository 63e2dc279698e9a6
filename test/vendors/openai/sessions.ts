// What OpenAI's Realtime transcription says of a session, and what a leg makes of it: how it begins, fails and ends.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { type Act, audio, FINALIZE, FINISH, KEEP_ALIVE, LEAVE, like } from '../../suites/provider/story.ts';

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
const BUFFER = 'input_audio_buffer';

// What OpenAI says.
export const CREATED = { type: 'session.created', session: {} };
export const UPDATED = { type: 'session.updated', session: {} };
export const started = (id: string, ms: number) => ({
  type: `${BUFFER}.speech_started`,
  item_id: id,
  audio_start_ms: ms,
});
export const stopped = (id: string, ms: number) => ({
  type: `${BUFFER}.speech_stopped`,
  item_id: id,
  audio_end_ms: ms,
});
export const timeout = (id: string, startMs: number, endMs: number) => ({
  ...{ type: `${BUFFER}.timeout_triggered`, item_id: id },
  ...{ audio_start_ms: startMs, audio_end_ms: endMs },
});
export const committed = (id: string, previous: string | null = null) => ({
  ...{ type: `${BUFFER}.committed`, item_id: id, previous_item_id: previous },
});
export const delta = (id: string, text: string) => ({
  ...{ type: `${TRANSCRIPTION}.delta`, item_id: id, content_index: 0, delta: text },
});
export const completed = (id: string, transcript: string, more: object = {}) => ({
  ...{ type: `${TRANSCRIPTION}.completed`, item_id: id, content_index: 0, transcript },
  ...more,
});
export const itemFailed = (id: string, error: object = {}) => ({
  ...{ type: `${TRANSCRIPTION}.failed`, item_id: id, error },
});
export const error = (type: string, code: string | null = null, more: object = {}) => ({
  type: 'error',
  error: { type, code, message: 'words', param: null, event_id: null, ...more },
});

// What is said to it.
/** The n-th commit of a leg, from 1. */
export const commit = (n: number) => `send ${BUFFER}.commit ${JSON.stringify({ event_id: `commit-${n}` })}`;
/** Turn detection is switched off before the last commit. */
export const LAST_TURN = `send session.update ${JSON.stringify({
  event_id: 'end-turn-detection',
  session: { type: 'transcription', audio: { input: { turn_detection: null } } },
})}`;
/** Silence of so many samples. */
export const appended = (samples: number) =>
  `send ${BUFFER}.append ${JSON.stringify({ audio: Buffer.alloc(2 * samples).toString('base64') })}`;

export const BEGUN = [CREATED, UPDATED, like({ type: 'send', frame: { type: 'session.update' } }), 'ready'];
/** A commit came to nothing: it is told late, and of which. */
export const empty = (eventId: string | null = null) =>
  error('invalid_request_error', `${BUFFER}_commit_empty`, { event_id: eventId });
export const SERVER_TURNS = { model: 'gpt-4o-transcribe' };

const BEGINNINGS: StoryGroup['stories'] = {
  'is set up when it is created, and takes audio when that is confirmed; each once': [BEGUN, [CREATED, UPDATED]],
  'is not ready before it was set up': [[UPDATED]],
  'forgets uncommitted audio on release, and needs nothing to stay open': [[KEEP_ALIVE, LEAVE, `send ${BUFFER}.clear`]],
  'that was sent nothing is finished at once': [[FINISH, 'finished']],
};

const FAILURES: StoryGroup['stories'] = {
  'fails by an error that ends it': [
    [error('invalid_request_error', 'session_expired'), 'failed retry session_expired'],
    [error('invalid_request_error', 'invalid_model'), 'failed next invalid_model'],
    [
      error('invalid_request_error', 'invalid_value', { message: 'Wrong.', param: 'session.audio.input.delay' }),
      like({
        failure: {
          kind: 'caller',
          message: 'OpenAI does not take this request: (`session.audio.input.delay`) Wrong.',
        },
      }),
    ],
    [
      error('invalid_request_error', null, { message: 'No such member.' }),
      like({
        ...{ type: 'failed' },
        failure: {
          ...{ kind: 'caller', code: 'invalid_request_error' },
          message: 'OpenAI does not take this request: No such member.',
        },
      }),
    ],
    [error('invalid_request_error', 'invalid_api_key'), 'failed account invalid_api_key'],
    [error('server_error', 'oops'), 'failed retry oops'],
    [error('server_error', 'c'.repeat(99)), `failed retry ${'c'.repeat(64)}`],
    [error('insufficient_quota'), 'failed account insufficient_quota'],
    [error('server_error'), 'failed retry server_error'],
    [error('tokens', 'rate_limit_exceeded'), 'failed next rate_limit_exceeded'],
    [error('rate_limit_error'), 'failed next rate_limit_exceeded'],
  ],
  'survives errors that are not failures': [
    [error('something_new', 'whatever'), { type: 'error' }, { type: 'rate_limits.updated' }],
    [
      { type: 'conversation.item.added', item: {} },
      { type: `${TRANSCRIPTION}.segment`, item_id: 'a', text: 'x' },
    ],
    [started('a', Number.NaN), { type: `${BUFFER}.committed` }],
  ],
  // No words are made final by guess.
  'fails with an item, so that its audio is replayed': [
    [audio(1), delta('a', 'some words'), 'partial a "some words" 0-1'],
    [FINALIZE, commit(1)],
    [committed('a'), itemFailed('a'), 'failed retry item_failed'],
  ],
  'fails with an item without words': [[itemFailed('a', { type: 'x' }), 'failed retry item_failed']],
  'fails with an item in OpenAI’s words': [
    [
      itemFailed('a', { type: 'server_error', message: 'oops' }),
      like({ failure: { kind: 'retry', code: 'item_failed', message: 'OpenAI could not transcribe a turn: oops' } }),
    ],
  ],
  'finds a limit of requests in the words of an item': [
    [
      itemFailed('a', { type: 'server_error', code: null, message: 'Upstream said 429 Too Many Requests.' }),
      'failed next rate_limit_exceeded',
    ],
  ],
  'may find its credit ended with an item': [
    [itemFailed('a', { code: 'insufficient_quota' }), 'failed account insufficient_quota'],
  ],
  'takes an item that cannot be made out for a turn without words, and says so': [
    [audio(1), FINALIZE, commit(1)],
    [
      committed('a'),
      itemFailed('a', { code: 'audio_unintelligible' }),
      'ended a "" 0-1',
      'warned audio_unintelligible',
    ],
  ],
};

/** Commits of a tenth of a second each, with what OpenAI says to each. */
const commits = (count: number, answer: (at: number) => readonly unknown[] = () => []): (Act | unknown)[] =>
  Array.from({ length: count }, (_, at) => [audio(0.1), FINALIZE, ...answer(at)]).flat();
const sent = (count: number) => Array.from({ length: count }, (_, at) => commit(at + 1));

export const BOUNDS: StoryGroup['stories'] = {
  'fails when more commits wait for an answer than it remembers': [
    [...commits(64), ...sent(64)],
    [...commits(1), commit(65), 'failed retry too_many_items'],
  ],
  'fails when more turns wait for their finals than it remembers': [
    [...commits(64, (at) => [committed(`i${at}`)]), ...sent(64)],
    [...commits(1), commit(65), 'failed retry too_many_items'],
  ],
};

export const sessionStories: readonly StoryGroup[] = [
  { of: 'a session', seconds: 0, stories: { ...BEGINNINGS, ...FAILURES, ...BOUNDS } },
];
