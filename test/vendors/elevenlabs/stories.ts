// What Scribe says on a connection, and what a leg makes of it: commits, their two answers, and what is refused.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { audio, closed, FINALIZE, FINISH, failing, KEEP_ALIVE, like, WAKE } from '../../suites/provider/story.ts';

const said = (message_type: string, text: string, more: object = {}) => ({ message_type, text, ...more });
const partial = (text: string) => said('partial_transcript', text);
const plain = (text: string) => said('committed_transcript', text);
const word = (text: string, start: number, end: number, more: object = {}) => ({
  ...{ text, start, end, type: 'word', logprob: -0.5 },
  ...more,
});
const timed = (text: string, start = 1, end = 2) =>
  said('committed_transcript_with_timestamps', text, { words: [word(text, start, end)] });
const error = (message_type: string) => ({ message_type, error: 'their words' });
const chunk = (audio_base_64: string, commit: boolean) =>
  like({
    frame: `{"message_type":"input_audio_chunk","audio_base_64":"${audio_base_64}","commit":${commit},"sample_rate":16000}`,
  });
const COMMIT = chunk('', true);

const TURNS: StoryGroup['stories'] = {
  'is ready when the session has started': [
    [{ message_type: 'session_started', session_id: 'x', config: {} }, 'ready'],
  ],
  'makes a turn of each commit, with the times of its words': [
    [partial('book a'), 'partial 0 "book a" 0-10'],
    [said('final_transcript', 'Book a'), 'partial 0 "Book a" 0-10'],
    [FINALIZE, COMMIT],
    [plain('Book a table.'), 'wake 300'],
    [
      said('committed_transcript_with_timestamps', 'Book a table.', {
        language_code: 'eng',
        words: [
          word('Book', 1, 1.5),
          word(' ', 1.5, 1.5, { type: 'spacing' }),
          word('a', 1.5, 2),
          word('table.', 2, 3),
        ],
      }),
      like({
        utterance: {
          ...{ text: 'Book a table.', start: 1, end: 10, language: 'en', confidence: Math.exp(-0.5) },
          words: [{ word: 'Book' }, { word: 'a', start: 1.5, end: 2 }, { word: 'table.' }],
        },
      }),
    ],
    [WAKE],
    [audio(2), partial('yes'), 'partial 1 "yes" 10-12'],
  ],
  'takes the words first, and then makes nothing of the text alone': [
    [FINALIZE, COMMIT],
    [timed('One.'), 'ended 0 "One." 1-10'],
    [plain('One.')],
    [audio(2), FINALIZE, COMMIT],
    [plain('Two.'), 'wake 300'],
    [timed('Two.', 11, 12), 'ended 1 "Two." 11-12'],
  ],
  'gives the text where its words do not come, and knows them when they come late': [
    [FINALIZE, COMMIT],
    [plain('One.'), 'wake 300'],
    [WAKE, 'ended 0 "One." 0-10'],
    [timed('One.')],
    [audio(2), FINALIZE, COMMIT],
    [plain('Two.'), 'wake 300'],
    [WAKE, 'ended 1 "Two." 10-12'],
  ],
  'takes an answer that comes twice for one, and the same words said again for words': [
    [FINALIZE, COMMIT],
    [plain('Yes.'), 'wake 300'],
    [plain('Yes.')],
    [timed('Yes.'), 'ended 0 "Yes." 1-10'],
    [timed('Yes.')],
    [audio(2), FINALIZE, COMMIT],
    [plain('Yes.'), 'wake 300'],
    [timed('Yes.', 10, 11), 'ended 1 "Yes." 10-12'],
  ],
  'keeps what the service commits automatically': [
    [plain('Long ago.'), 'wake 300'],
    [timed('Long ago.'), 'ended 0 "Long ago." 1-2'],
  ],
  'gives an empty commit as silence': [
    [FINALIZE, COMMIT],
    [plain(''), 'wake 300'],
    [said('committed_transcript_with_timestamps', '', { words: [] }), 'ended 0 "" 0-10'],
  ],
  'asks for nothing where all is committed': [[FINALIZE, COMMIT], [FINALIZE]],
  'keeps the audio of a commit that was refused for the next': [
    [FINALIZE, COMMIT],
    [error('commit_throttled')],
    [FINALIZE, COMMIT],
    [timed('One.'), 'ended 0 "One." 1-10'],
  ],
  'gives the text of words without times': [
    [FINALIZE, COMMIT],
    [said('committed_transcript_with_timestamps', 'One.', { words: [{ text: 'One.' }] }), 'ended 0 "One." 0-10'],
  ],
  'keeps a connection by a little silence': [[KEEP_ALIVE, chunk(Buffer.alloc(1_600).toString('base64'), false)]],
  'passes on a warning once': [[said('warning', 'slow'), 'warned elevenlabs_warning'], [said('warning', 'slow')]],
};

const ENDS: StoryGroup['stories'] = {
  'finishes with the answer to the last commit': [
    [partial('Bye'), 'partial 0 "Bye" 0-10'],
    [FINISH, COMMIT],
    [plain('Bye.'), 'wake 300'],
    [timed('Bye.'), 'ended 0 "Bye." 1-10', 'finished'],
    [KEEP_ALIVE],
    [closed(1000), 'finished'],
  ],
  'finishes without its words': [
    [FINISH, COMMIT],
    [plain('Bye.'), 'wake 300'],
    [WAKE, 'ended 0 "Bye." 0-10', 'finished'],
  ],
  'fails when the last commit is refused after recognised words': [
    [partial('Bye'), 'partial 0 "Bye" 0-10'],
    [FINISH, COMMIT],
    [error('commit_throttled'), 'failed retry final_missing'],
  ],
  'fails when the connection closes before an answer': [
    [FINISH, COMMIT],
    [closed(1000), 'failed retry final_missing'],
  ],
};

const ERRORS: StoryGroup['stories'] = {
  'knows errors by their type': [
    ...failing(error, {
      account: ['auth_error', 'quota_exceeded', 'unaccepted_terms'],
      next: ['rate_limited', 'resource_exhausted', 'queue_overflow', 'input_error', 'chunk_size_exceeded'],
      retry: ['session_time_limit_exceeded', 'transcriber_error', 'error', 'of_tomorrow'],
      caller: ['invalid_request'],
    }),
  ],
  'survives too little speech': [[error('insufficient_audio_activity')]],
};

/** Before any audio. */
const BEGINNINGS: StoryGroup['stories'] = {
  'fills a short commit up with silence, which its times do not show': [
    [audio(0.25), FINALIZE, chunk(Buffer.alloc(3_200).toString('base64'), true)],
    [timed('One.', 0.1, 0.3), 'ended 0 "One." 0.1-0.25'],
    [audio(1), FINALIZE, COMMIT],
    [timed('Two.', 0.45, 1.35), 'ended 1 "Two." 0.35-1.25'],
  ],
  'finishes at once where there was no audio': [[FINISH, 'finished']],
};

export const stories: readonly StoryGroup[] = [
  { of: 'Scribe', stories: { ...TURNS, ...ENDS } },
  { of: 'An error of Scribe', stories: ERRORS },
  { of: 'Scribe at its beginning', seconds: 0, stories: BEGINNINGS },
];
