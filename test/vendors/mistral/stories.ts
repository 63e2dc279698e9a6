// What Voxtral says on a connection, and what a leg makes of it: text that only grows, and ends of turns, told or asked for.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { audio, closed, FINALIZE, FINISH, KEEP_ALIVE, like, WAKE } from '../../suites/provider/story.ts';

export const CREATED = { type: 'session.created', session: { request_id: 'x', model: 'm' } };
export const UPDATED = { ...CREATED, type: 'session.updated' };
export const appended = (frame: Uint8Array): string =>
  `{"type":"input_audio.append","audio":"${Buffer.from(frame).toString('base64')}"}`;

const said = (text: string) => ({ type: 'transcription.text.delta', text });
const start = (time_s: number) => ({ type: 'turn.start', time_s });
const end = (time_s: number) => ({ type: 'turn.end', time_s, end_reason: 'threshold' });
const done = (text: string) => ({ type: 'transcription.done', model: 'm', text, language: null, segments: [] });
const error = (message: unknown, code: unknown) => ({ type: 'error', error: { message, code } });
const FLUSH = 'send input_audio.flush';
const END = 'send input_audio.end';
const BEGUN = [CREATED, UPDATED, like({ type: 'send', frame: { type: 'session.update' } }), 'ready'];

const TURNS: StoryGroup['stories'] = {
  'are set up when they are created, and take audio when that is confirmed; each once': [BEGUN, [CREATED, UPDATED]],
  'are kept by a little silence, once they are set up': [
    [KEEP_ALIVE],
    BEGUN,
    [KEEP_ALIVE, like({ type: 'send', frame: appended(new Uint8Array(3_200)) })],
  ],
  'join what is said between their ends, and wait a little for the rest': [
    [start(1), 'speech 1'],
    [said(' Two'), 'partial 0 "Two" 1-10'],
    [said(' teas'), 'partial 0 "Two teas" 1-10'],
    [{ type: 'turn.eager_end', time_s: 2.5 }, 'partial 0 "Two teas" 1-2.5 eager_end'],
    [{ type: 'turn.resume', time_s: 2.6 }, 'partial 0 "Two teas" 1-2.6 resumed'],
    [end(3), 'wake 150'],
    [said('.'), 'partial 0 "Two teas." 1-3'],
    [WAKE, 'ended 0 "Two teas." 1-3'],
    [start(4), said(' Yes'), 'speech 4', 'partial 1 "Yes" 4-10'],
    [end(5), 'wake 150'],
    [start(5.5), 'ended 1 "Yes" 4-5', 'speech 5.5'],
  ],
  'are silence where nothing was said': [[end(3), 'wake 150', WAKE, 'ended 0 "" 0-3']],
  'end where that is requested, reported or not': [
    [said(' One.'), 'partial 0 "One." 0-10'],
    [FINALIZE, FLUSH, 'wake 1500'],
    [WAKE, 'ended 0 "One." 0-10'],
    [audio(1), said(' Two.'), 'partial 1 "Two." 10-11'],
    [FINALIZE, FLUSH, 'wake 1500'],
    [done('One. Two.'), 'ended 1 "Two." 10-11'],
  ],
  'end automatically while an end is awaited': [
    [said(' One.'), 'partial 0 "One." 0-10'],
    [FINALIZE, FLUSH, 'wake 1500'],
    [end(9), 'wake 150'],
    [WAKE, 'ended 0 "One." 0-9', 'wake 1500'],
    [done('One.'), 'ended 1 "" 9-10'],
  ],
  'are no longer than a turn can be': [[said('x'.repeat(65_537)), 'failed retry turn_without_end']],
};

const ASKED: StoryGroup['stories'] = {
  'end where a flush is done, one behind the other': [
    [said(' One.'), 'partial 0 "One." 0-10'],
    [FINALIZE, FLUSH, 'wake 6000'],
    [audio(2), FINALIZE, FLUSH, 'wake 6000'],
    [done('One.'), 'ended 0 "One." 0-10', 'wake 6000'],
    [said(' Two.'), 'partial 1 "Two." 10-12'],
    [done('Two.'), 'ended 1 "Two." 10-12'],
    [FINALIZE],
  ],
  // Which of these is true of the service is not settled.
  'have the text that came piece by piece, and what the whole has behind it, be it of a turn or of all': [
    [said(' One'), 'partial 0 "One" 0-10'],
    [FINALIZE, FLUSH, 'wake 6000'],
    [done('One two.'), 'ended 0 "One two." 0-10'],
    [audio(1), said(' Three.'), 'partial 1 "Three." 10-11'],
    [FINALIZE, FLUSH, 'wake 6000'],
    [done('One two. Three.'), 'ended 1 "Three." 10-11'],
    [audio(1), FINALIZE, FLUSH, 'wake 6000'],
    [done('One two. Three.'), 'ended 2 "" 11-12'],
    [audio(1), FINALIZE, FLUSH, 'wake 6000'],
    [done('Yes.'), 'ended 3 "Yes." 12-13'],
    [audio(1), FINALIZE, FLUSH, 'wake 6000'],
    [done('Yes.'), 'ended 4 "Yes." 13-14'],
  ],
  // The last words come with the end of a flush.
  'fail where a flush is never done, so that the audio is replayed': [
    [said(' One'), 'partial 0 "One" 0-10'],
    [FINALIZE, FLUSH, 'wake 6000'],
    [WAKE, 'failed retry final_missing'],
  ],
  'finish with the rest, and a connection that is dropped': [
    [said(' One'), 'partial 0 "One" 0-10'],
    [FINISH, END],
    [KEEP_ALIVE],
    [done('One.'), 'ended 0 "One." 0-10', 'finished'],
    [closed(1006), 'finished'],
  ],
  'finish where a flush before was not done': [
    [FINALIZE, FLUSH, 'wake 6000'],
    [audio(1), FINISH, END],
    [said(' One'), 'partial 0 "One" 0-10'],
    [done('One.'), 'ended 0 "One." 0-10'],
  ],
  'fail when they are dropped before the rest': [[FINISH, END, closed(1006), 'failed retry final_missing']],
};

export const stories: readonly StoryGroup[] = [
  { of: 'Turns that are told', stories: TURNS },
  { of: 'Turns that are asked for', request: { model: 'voxtral-mini-transcribe-realtime-2602' }, stories: ASKED },
  {
    of: 'An error',
    stories: {
      'is known by its code, or by its words': [
        [error('Unknown field', 3051), 'failed caller 3051'],
        [error({ detail: 'Timeout waiting for response' }, 3804), 'failed retry 3804'],
        [error('TooManyRequestsError', 3000), 'failed next rate_limited'],
        [error({ message: 'their words' }, 3999), 'failed retry 3999'],
        [error(null, 'x'), 'failed retry x'],
      ],
    },
  },
];
