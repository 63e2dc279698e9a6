// What Gladia says in a session, and what a leg makes of it.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { audio, closed, FINALIZE, FINISH, failing, KEEP_ALIVE, LEAVE } from '../../suites/provider/story.ts';

const word = (text: string, start: number, end: number) => ({ word: text, start, end, confidence: 0.5 });
const transcript = (
  id: string,
  is_final: boolean,
  text: string,
  start: unknown,
  end: unknown,
  words: object[] = [],
) => ({
  ...{ type: 'transcript', session_id: 's', created_at: '2026' },
  data: { id, is_final, utterance: { text, start, end, confidence: 0.9, channel: 0, language: 'en', words } },
});
const ack = (acknowledged: boolean, error: object | null = null) => ({
  ...{ type: 'audio_chunk', acknowledged, error },
  data: { byte_range: [0, 3_200], time_range: [0, 0.1] },
});
const error = (code: unknown) => ({ type: 'error', data: { code, message: 'Because.' } });
const STOPPED = [FINISH, 'send stop_recording'];

const TURNS: StoryGroup['stories'] = {
  'have names, and are sent whole until they end': [
    [{ type: 'speech_start', data: { time: 2.41, channel: 0 } }, 'speech 2.41'],
    [transcript('00_0', false, ' Table', 2.41, 2.7), 'partial 00_0 "Table" 2.41-2.7 en'],
    [{ type: 'speech_end', data: { time: 3.3 } }],
    [
      transcript('00_0', true, ' Table for', 2.41, 2.9, [word('Table', 2.41, 2.7), word(' for', 2.72, 2.85)]),
      'ended 00_0 "Table for" 2.41-2.9 en @0.9 (Table 2.41-2.7 @0.5, for 2.72-2.85 @0.5)',
    ],
    [transcript('00_0', true, ' Table for', 2.41, 2.9), transcript('00_0', false, ' Table', 2.41, 2.7)],
  ],
  'lie within the audio, also where their numbers cannot be read': [
    [transcript('00_0', true, 'Late', 9, 12), 'ended 00_0 "Late" 9-10 en'],
    [transcript('00_1', true, 'Lost', 'x', null), 'ended 00_1 "Lost" 10-10 en'],
    [transcript('00_2', false, 'Old', 1, 2), { type: 'transcript', data: { id: 7, is_final: true } }],
  ],
  'end where silence is sent, and lie on the leg’s clock behind it': [
    [FINALIZE, 'send 22400 bytes'],
    [KEEP_ALIVE, 'send 3200 bytes'],
    [audio(1)],
    [transcript('00_0', true, 'One', 1, 2), 'ended 00_0 "One" 1-2 en'],
    [transcript('00_1', true, 'Two', 10.9, 11.3), 'ended 00_1 "Two" 10.1-10.5 en'],
  ],
};

const SESSION: StoryGroup['stories'] = {
  'confirms its audio chunk by chunk, silence as well': [
    [ack(true), ack(true), 'confirmed', 'confirmed'],
    [ack(false, { message: 'Too large' }), 'failed retry audio_refused'],
  ],
  'is stopped, and over with `end_session` or a close in order': [
    [{ type: 'end_session' }],
    STOPPED,
    [{ type: 'stop_recording', acknowledged: true, data: { recording_left_to_process: 1 } }, { type: 'end_recording' }],
    [KEEP_ALIVE, LEAVE],
    [{ type: 'end_session' }, closed(1000), 'finished', 'finished'],
  ],
  'was not ended in order while words are open': [
    [transcript('00_0', false, 'One', 0, 1), 'partial 00_0 "One" 0-1 en'],
    STOPPED,
    [closed(1000), 'failed retry final_missing'],
  ],
  'is stopped also on release': [[LEAVE, 'send stop_recording']],
  'fails as its error says': [
    ...failing(error, {
      next: ['rate_limit_exceeded', 'invalid_audio_format'],
      retry: ['session_timeout', 'internal_error'],
    }),
    [{ type: 'error', message: 'Something' }, error(7), 'failed retry error', 'failed retry error'],
  ],
  'repeats itself at its end, which is of no use': [
    [
      { type: 'post_transcript', data: { full_transcript: 'a' } },
      { type: 'post_final_transcript', data: {} },
      { type: 'named_entity_recognition', data: {} },
    ],
  ],
};

export const stories: readonly StoryGroup[] = [
  { of: 'turns', stories: TURNS },
  { of: 'a session', stories: SESSION },
];
