// What Speechmatics answers while a file is worked on, and what it comes to.
import type { BatchFixtures } from '../../suites/provider/fixtures.ts';
import { formTo, getOf } from '../../suites/provider/requests.ts';

const JOBS = 'https://eu1.asr.api.speechmatics.com/v2/jobs';
const get = (path: string) => getOf(JOBS + path);

const CREATED = { id: 'j-1' };
const shown = (status: string, more: object = {}) => ({ job: { id: 'j-1', status, ...more } });
const done = (results: unknown, more: object = {}) => [CREATED, shown('done'), { results, ...more }];
const word = (content: string, start_time: number, end_time: number, more: object = {}) => ({
  ...{ type: 'word', start_time, end_time },
  alternatives: [{ content, confidence: 0.5, language: 'en', ...more }],
});
const stop = (at: number) => ({
  ...{ type: 'punctuation', start_time: at, end_time: at, attaches_to: 'previous' },
  alternatives: [{ content: '.', confidence: 1 }],
});
const rejected = (message: string) => [CREATED, shown('rejected', { errors: [{ message }] })];

export const files: BatchFixtures = {
  model: 'enhanced',
  opening: formTo(
    JOBS,
    { config: JSON.stringify({ type: 'transcription', transcription_config: { language: 'en', model: 'enhanced' } }) },
    { file: 'data_file' },
  ),
  asked: ({ body }) => {
    const [[, config] = []] = body.kind === 'multipart' ? body.fields : [];
    return JSON.parse(String(config)).transcription_config;
  },
  written: (value) => value,
  job: {
    requests: [get('/j-1')],
    created: CREATED,
    waiting: shown('running'),
    abandoned: [{ method: 'DELETE', url: `${JOBS}/j-1?force=true` }],
  },
  requests: [
    [{ model: 'standard' }, {}],
    [{ language: 'auto' }, { language: 'auto' }],
    [{ language: 'de-AT' }, { language: 'de' }],
    [{ language: 'en-GB' }, { output_locale: 'en-GB' }],
    [{ language: 'zh-TW' }, { language: 'cmn' }],
    [{ diarization: true }, { diarization: 'speaker' }],
    [
      { params: { speaker_sensitivity: 0.7 } },
      { diarization: 'speaker', speaker_diarization_config: { speaker_sensitivity: 0.7 } },
    ],
    [{ params: { max_delay: 2, unheard_of: 1 } }, {}],
  ],
  answers: {
    'cut where sentences end, and where another speaks': [
      {},
      done(
        [
          word('Two', 0.1, 0.3, { speaker: 'S1' }),
          word('teas', 0.4, 0.7, { speaker: 'S1' }),
          stop(0.7),
          word('Yes', 1, 1.2, { speaker: 'S1' }),
          word('milk', 1.4, 1.6, { speaker: 'S2' }),
        ],
        { job: { duration: 3 } },
      ),
      {
        ...{ language: 'en', seconds: 3 },
        utterances: [
          '"Two teas." 0.1-0.7 speaker 0 @0.5 (Two 0.1-0.3 @0.5, teas. 0.4-0.7 @0.5)',
          '"Yes" 1-1.2 speaker 0',
          '"milk" 1.4-1.6 speaker 1',
        ],
      },
    ],
    'without spaces, in a language that has none': [
      {},
      done([word('你', 0, 0.5, { language: 'cmn' }), word('好', 0.5, 1)], {
        metadata: { language_pack_info: { word_delimiter: '' } },
      }),
      { language: 'zh', utterances: ['"你好" 0-1'] },
    ],
    'empty, of silence': [{}, done([]), { utterances: [], language: undefined, seconds: undefined, warnings: [] }],
    'not, without results': [{}, done('none'), 'next bad_answer'],
    'not, when its audio cannot be used': [{}, rejected('Unsupported'), 'caller audio_unusable'],
    'not, when the job has been deleted': [{}, [CREATED, shown('deleted')], 'next deleted'],
  },
};
