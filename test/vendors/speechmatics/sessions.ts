// What Speechmatics says in a session, and what a leg makes of it.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import {
  audio,
  closed,
  FINALIZE,
  FINISH,
  failing,
  KEEP_ALIVE,
  LEAVE,
  like,
  WAKE,
} from '../../suites/provider/story.ts';

/** [content, start, end, and what it is attached to where it is punctuation]. */
type Part = readonly [content: string, start: number, end: number, attaches?: string];

const results = (parts: readonly Part[], speaker?: string) =>
  parts.map(([content, start_time, end_time, attaches_to]) => ({
    ...{ type: attaches_to === undefined ? 'word' : 'punctuation', start_time, end_time, attaches_to },
    alternatives: [{ content, confidence: 0.5, language: 'en', speaker }],
  }));
const slice = (message: string, from: number, to: number, parts: readonly Part[], speaker?: string) => ({
  ...{
    message,
    format: '2.9',
    metadata: { start_time: from, end_time: to, transcript: parts.map(([content]) => content).join(' ') },
  },
  results: results(parts, speaker),
});
const partial = (from: number, to: number, ...parts: Part[]) => slice('AddPartialTranscript', from, to, parts);
const settled = (from: number, to: number, ...parts: Part[]) => slice('AddTranscript', from, to, parts);
const end = { message: 'EndOfUtterance', metadata: { start_time: 2, end_time: 2 } };
const error = (type: string, reason = 'Because.') => ({ message: 'Error', type, reason });

const ORDER: Part = ['Order', 0.84, 1.2];
const SEVEN: Part = ['seven', 1.26, 1.86];
const STOP: Part = ['.', 1.86, 1.86, 'previous'];
const FORCE = 'send ForceEndOfUtterance {"timestamp":10}';

const TURNS: StoryGroup['stories'] = {
  'are slices up to the end of an utterance, with what is open behind them': [
    [partial(0, 1.3, ORDER), 'partial 0 "Order" 0-1.3'],
    [settled(0, 1.2, ORDER), 'partial 0 "Order" 0-1.2'],
    [partial(1.2, 1.9, SEVEN), 'partial 0 "Order seven" 0-1.9'],
    [settled(1.2, 1.92, SEVEN, STOP), 'partial 0 "Order seven." 0-1.92'],
    [partial(1.92, 2), 'partial 0 "Order seven." 0-2'],
    [end, 'ended 0 "Order seven." 0-1.92'],
    [end],
  ],
  'have words without their marks’ own place, and the speaker of all of them': [
    [slice('AddTranscript', 0, 1.92, [ORDER, SEVEN, STOP], 'S2'), 'partial 0 "Order seven." 0-1.92 speaker 0'],
    [end, 'ended 0 "Order seven." 0-1.92 speaker 0 @0.5 (Order 0.84-1.2 @0.5, seven. 1.26-1.86 @0.5)'],
  ],
  'have no speaker where it is unknown': [[slice('AddTranscript', 0, 1.92, [ORDER], 'UU'), 'partial 0 "Order" 0-1.92']],
  'know marks that are attached to what follows': [
    [settled(0, 1, ['¿', 0, 0, 'next'], ['Qué', 0, 0.5], ['?', 0.5, 0.5, 'previous']), 'partial 0 "¿Qué?" 0-1'],
  ],
  'are written without spaces in a language that has none': [
    [{ message: 'RecognitionStarted', language_pack_info: { word_delimiter: '' } }, 'ready'],
    [settled(0, 1, ['你', 0, 0.5], ['好', 0.5, 1]), 'partial 0 "你好" 0-1'],
    [end, 'ended 0 "你好" 0-1'],
  ],
  'are silence where a slice has no words': [
    [settled(0, 1), 'ended 0 "" 0-1'],
    [settled(1, 2, ORDER), 'partial 1 "Order" 1-2'],
    [settled(2, 3), 'partial 1 "Order" 1-3'],
    [end, 'ended 1 "Order" 1-3'],
  ],
  'are not said twice, and not beyond the audio': [
    [settled(0, 1, ORDER), settled(0, 1, ORDER), 'partial 0 "Order" 0-1'],
    [settled(9, 12, SEVEN), 'partial 0 "Order seven" 0-10'],
    [partial(0.5, 0.9, ORDER)],
  ],
  'keep a slice whose place cannot be read': [
    [
      { message: 'AddTranscript', metadata: { start_time: 'x', transcript: ' Order' }, results: [] },
      ...['partial 0 "Order" 0-10', 'warned place_estimated'],
    ],
  ],
  'end where they are asked to, with a confirmation or without': [
    [settled(0, 1, ORDER), FINALIZE, 'partial 0 "Order" 0-1', FORCE, 'wake 1500'],
    [WAKE, 'ended 0 "Order" 0-1'],
    [{ ...end, forced: true }, WAKE],
    [partial(1, 2, SEVEN), FINALIZE, 'partial 1 "seven" 1-2', FORCE, 'wake 1500'],
    [WAKE],
  ],
  'end with the transcript, once that was requested': [
    [settled(0, 1, ORDER), { message: 'EndOfTranscript' }, 'partial 0 "Order" 0-1'],
    [FINISH, 'send EndOfStream {"last_seq_no":1}'],
    [{ message: 'EndOfTranscript' }, 'ended 0 "Order" 0-1', 'finished'],
    [closed(1000), 'finished'],
  ],
};

const SESSION: StoryGroup['stories'] = {
  'confirms its frames, whose number is the end of its audio': [
    [
      audio(0.1),
      audio(0.1),
      { message: 'AudioAdded', seq_no: 1 },
      { message: 'AudioAdded', seq_no: 9 },
      'confirmed',
      'confirmed',
    ],
    [KEEP_ALIVE, LEAVE, 'send EndOfStream {"last_seq_no":3}'],
    [FINISH, LEAVE, 'send EndOfStream {"last_seq_no":3}'],
  ],
  'warns of each kind of thing once, and of no end that the gateway sees to': [
    [
      ...['unsupported_translation_pair', 'unsupported_translation_pair', 'idle_timeout', 'session_timeout'].map(
        (type) => ({
          ...{ message: 'Warning', type, reason: 'Not\nthis' },
        }),
      ),
      like({ code: 'speechmatics_unsupported_translation_pair', message: 'Speechmatics: Not this' }),
    ],
    [{ message: 'Info', type: 'recognition_quality', quality: 'broadcast' }, { message: 'Warning' }],
  ],
  'is over for the account when its contract is used up': [
    [{ message: 'Warning', type: 'duration_limit_exceeded' }, 'failed account duration_limit_exceeded'],
  ],
  'was not ended in order while words are open': [
    [partial(0, 1, ORDER), FINISH, 'partial 0 "Order" 0-1', 'send EndOfStream {"last_seq_no":1}'],
    [closed(1000), 'failed retry final_missing'],
  ],
  'fails once: the close after an `Error` adds nothing': [
    [error('quota_exceeded'), closed(4005, 'quota_exceeded'), ...Array(2).fill('failed next quota_exceeded')],
  ],
  'fails as its error says': [
    ...failing(error, {
      next: ['invalid_message', 'protocol_error', 'invalid_model', 'quota_exceeded'],
      caller: ['invalid_config', 'invalid_audio_type', 'invalid_output_format', 'invalid_language'],
      account: ['not_authorised', 'not_allowed', 'timelimit_exceeded'],
      retry: ['job_error', 'idle_timeout', 'session_timeout', 'internal_error', 'unknown_error', 'new'],
    }),
    [
      error('not_allowed', 'Key abc'),
      like({ failure: { message: 'Speechmatics refused the credential or the account.' } }),
    ],
  ],
};

export const stories: readonly StoryGroup[] = [
  { of: 'turns', stories: TURNS },
  { of: 'a session', stories: SESSION },
];
