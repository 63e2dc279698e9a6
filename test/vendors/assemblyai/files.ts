// What AssemblyAI answers while a file is worked on, and what it comes to.
import type { BatchFixtures } from '../../suites/provider/fixtures.ts';
import { getOf, jsonTo } from '../../suites/provider/requests.ts';

const headers = { authorization: 'key-of-the-suite' };
const JOB_URL = 'https://api.assemblyai.com/v2/transcript/t-1';
const UPLOADED = { upload_url: 'https://cdn.example.test/upload/1' };
const QUEUED = { id: 't-1', status: 'queued' };
const done = (json: object) => [QUEUED, { id: 't-1', status: 'completed', ...json }];
const failed = (error: string) => [{ id: 't-1', status: 'error', error }];

const word = (text: string, start: number, end: number, speaker?: string) => ({
  ...{ text, start, end, confidence: 0.5 },
  speaker,
});
const turnOf = (speaker: string, start: number) => ({
  ...word('Yes.', start, start + 100, speaker),
  words: [word('Yes.', start, start + 100, speaker)],
});
const language = (code: unknown, heard: string | undefined) =>
  [{}, done({ text: '', language_code: code }), { language: heard }] as const;

export const files: BatchFixtures = {
  model: 'universal-3-5-pro',
  opening: {
    method: 'POST',
    url: 'https://api.assemblyai.com/v2/upload',
    headers: { ...headers, 'content-type': 'application/octet-stream' },
    body: { kind: 'file' },
  },
  before: [UPLOADED],
  job: {
    requests: [
      jsonTo(
        'https://api.assemblyai.com/v2/transcript',
        { audio_url: UPLOADED.upload_url, speech_models: ['universal-3-5-pro'] },
        headers,
      ),
      getOf(JOB_URL, headers),
    ],
    created: QUEUED,
    waiting: { id: 't-1', status: 'processing' },
    abandoned: [{ method: 'DELETE', url: JOB_URL }],
  },
  written: (value, option, model) => (option === 'speech_models' ? [model, ...(value as string[])] : value),
  requests: [
    [{ language: 'en-US' }, { language_code: 'en_us' }],
    [{ language: 'en-GB' }, { language_code: 'en_uk' }],
    [{ language: 'en-AU' }, { language_code: 'en_au' }],
    [{ language: 'en-IN' }, { language_code: 'en' }],
    [{ language: 'pt-BR' }, { language_code: 'pt' }],
    [{ language: 'auto' }, { language_detection: true }],
    [{ language: 'fr', params: { language_detection: true } }, { language_code: 'fr' }],
    [
      { diarization: true, params: { speakers_expected: 2 } },
      { speaker_labels: true, speakers_expected: 2 },
    ],
    [{ params: { format_turns: true, unheard_of: 1, punctuate: false } }, { punctuate: false }],
    [{ model: 'universal-2', params: { prompt: 'b' } }, {}],
  ],
  answers: {
    'cut where sentences end': [
      {},
      done({
        ...{ text: 'Book a table. Now?', confidence: 0.9, language_code: 'en_us', audio_duration: 3 },
        words: [word('Book', 160, 320), word('a', 320, 400), word('table.', 400, 900), word('Now?', 1_000, 1_500)],
      }),
      {
        ...{ language: 'en-US', seconds: 3, warnings: [] },
        utterances: [
          '"Book a table." 0.16-0.9 @0.5 (Book 0.16-0.32 @0.5, a 0.32-0.4 @0.5, table. 0.4-0.9 @0.5)',
          '"Now?" 1-1.5',
        ],
      },
    ],
    'whole, where the words do not make up the text': [
      {},
      done({ text: '你好。', words: [word('你', 0, 100), word('好。', 100, 200)], confidence: 0.8 }),
      { utterances: ['"你好。" 0-0.2 @0.8 (你 0-0.1 @0.5, 好。 0.1-0.2 @0.5)'] },
    ],
    'with the words behind the last sentence': [
      {},
      done({ text: 'One. two', words: [word('One.', 0, 100), word('two', 100, 200)] }),
      { utterances: ['"One." 0-0.1', '"two" 0.1-0.2'] },
    ],
    'as text without words': [{}, done({ text: 'only text' }), { utterances: ['"only text" 0-0'] }],
    'as turns of speakers, numbered as they appear': [
      {},
      done({ text: 'Yes. Yes. Yes.', utterances: [turnOf('B', 0), turnOf('A', 200), turnOf('B', 400)] }),
      {
        utterances: [
          '"Yes." 0-0.1 speaker 0 @0.5 (Yes. 0-0.1 @0.5)',
          '"Yes." 0.2-0.3 speaker 1',
          '"Yes." 0.4-0.5 speaker 0',
        ],
      },
    ],
    'empty, of silence': [{}, done({ text: '', words: [], utterances: null }), { utterances: [] }],
    'empty, without a text': [
      {},
      done({ text: null }),
      { utterances: [], language: undefined, seconds: undefined, warnings: [] },
    ],
    'in the English of the United Kingdom': language('en_uk', 'en-GB'),
    'in English': language('en', 'en'),
    'in Chinese of Taiwan': language('zh-tw', 'zh-TW'),
    'in no language': language('', undefined),
    'in an unknown language': language('unknown', undefined),
    'in a language that is a number': language(7, undefined),
    'not, when the id of the job is a path': [{}, [{ id: '../x', status: 'queued' }], 'next bad_answer'],
    'not, when the status is unknown': [{}, [QUEUED, { id: 't-1', status: 'lost' }], 'next bad_answer'],
    'not, when it has no audio': [
      {},
      [QUEUED, ...failed('Transcoding failed. File does not appear to contain audio.')],
      'caller audio_unusable',
    ],
    'not, when it has no speech': [
      {},
      failed('language_detection cannot be performed on files with no spoken audio.'),
      'caller audio_unusable',
    ],
    'not, when it cannot be loaded': [
      {},
      failed('Download error, unable to download https://example.test/a'),
      'caller audio_unusable',
    ],
    'not, when it is too short': [
      {},
      failed('Audio file is too short; audio duration is below 160 ms'),
      'caller audio_unusable',
    ],
    'not, when it could not be decoded': [{}, failed('File could not be decoded'), 'caller audio_unusable'],
    'not, when the provider failed': [{}, failed('Internal error, please try again'), 'next job_failed'],
    'not, for no reason': [{}, [{ id: 't-1', status: 'error' }], 'next job_failed'],
  },
};
