// Fireworks: what its service says and what that must become, for the suite of every provider.
import { formTo } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';

const MODELS = ['whisper-v3-turbo'];
const refused = (message: string, type = 'invalid_request_error') => ({ error: { object: 'error', type, message } });
const word = (text: string, start: number, end: number, speaker_id?: string) => ({
  ...{ word: text, language: 'en', probability: 0.75, hallucination_score: 0.1, start, end, speaker_id },
});
const segment = { id: 0, seek: 0, start: 0, end: 2.4, text: ' Book a table.', audio_start: 0, audio_end: 2.6 };
const answer = { task: 'transcribe', language: 'en', duration: 2.6, text: ' Book a table.' };
const booked = { text: 'Book a table.', start: 0, end: 2.4 };

testProvider({
  provider: 'fireworks',
  options: {
    rows: {
      prompt: { takes: ['Voxgate'], refuses: [7], batch: MODELS },
      temperature: { takes: [0, 1], refuses: [1.1], batch: MODELS },
      timestamp_granularities: { takes: [['word']], refuses: ['word', ['line']], batch: MODELS },
      vad_model: { takes: ['whisperx-pyannet'], refuses: ['best'], batch: MODELS },
      alignment_model: { takes: ['tdnn_ffn'], refuses: ['gentle'], batch: MODELS },
      preprocessing: { takes: ['none', 'bass_dynamic'], refuses: ['loud'], batch: MODELS },
    },
  },
  batch: {
    model: 'whisper-v3-turbo',
    opening: formTo('https://audio-turbo.api.fireworks.ai/v1/audio/transcriptions', {
      model: 'whisper-v3-turbo',
      response_format: 'verbose_json',
      timestamp_granularities: 'segment',
    }),
    written: (value, option) => (option === 'timestamp_granularities' ? 'word,segment' : String(value)),
    requests: [
      [
        { language: 'en-US', params: { prompt: 'p', temperature: 0.2 } },
        { language: 'en', prompt: 'p', temperature: '0.2' },
      ],
      [{ wordTimestamps: true, language: 'auto' }, { timestamp_granularities: 'word,segment' }],
      [{ diarization: true }, { diarize: 'true', timestamp_granularities: 'word,segment' }],
    ],
    answers: {
      'segments, without the space before them': [
        {},
        [{ ...answer, segments: [segment] }],
        { language: 'en', seconds: 2.6, utterances: [booked] },
      ],
      'speakers, of segments and of words': [
        { diarization: true },
        [
          {
            ...answer,
            segments: [
              { ...segment, speaker_id: 'SPEAKER_01' },
              { ...segment, text: ' Yes.', start: 2.4, end: 2.6, speaker_id: 'SPEAKER_00' },
            ],
            words: [word(' Book', 0, 0.4, 'SPEAKER_01'), word(' Yes.', 2.4, 2.6, 'SPEAKER_00')],
          },
        ],
        {
          utterances: [
            '"Book a table." 0-2.4 speaker 0 en (Book 0-0.4 @0.75)',
            '"Yes." 2.4-2.6 speaker 1 en (Yes. 2.4-2.6 @0.75)',
          ],
        },
      ],
      'words in segments, and several languages': [
        {},
        [{ ...answer, language: 'en,de', segments: [{ ...segment, words: [word(' Book', 0, 0.4)] }] }],
        {
          language: 'en',
          utterances: ['"Book a table." 0-2.4 en (Book 0-0.4 @0.75)'],
        },
      ],
      'the text alone': [{}, [{ text: ' Yes.' }], { utterances: ['"Yes." 0-12.5'] }],
    },
  },
  refusals: [
    [400, refused('their words'), 'caller http_400', { message: /their words/ }],
    [400, refused('could not decode'), 'caller http_400', { file: 'caller audio_unusable' }],
    // A model that has ended is refused with a good key too.
    [401, refused('Unauthorized', 'unauthorized'), 'account http_401', { message: /has ended this model/ }],
    [402, refused('Payment required'), 'account http_402'],
    [412, refused('suspended'), 'account account_suspended', { message: /^(?!.*: suspended)/ }],
    [429, refused('Too many requests'), 'next http_429'],
  ],
});
