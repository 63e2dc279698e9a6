// Fireworks: what its service says and what that must become, for the suite of every provider.
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
    opening: {
      ...{ method: 'POST', url: 'https://audio-turbo.api.fireworks.ai/v1/audio/transcriptions' },
      headers: { authorization: 'Bearer key-of-the-suite' },
      body: {
        ...{ kind: 'multipart', fileField: 'file' },
        fields: [
          ['model', 'whisper-v3-turbo'],
          ['response_format', 'verbose_json'],
          ['timestamp_granularities', 'segment'],
        ],
      },
    },
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
            { ...booked, speaker: 0, words: [{ word: 'Book', start: 0, end: 0.4, confidence: 0.75, speaker: 0 }] },
            {
              ...{ text: 'Yes.', start: 2.4, end: 2.6, speaker: 1 },
              words: [{ word: 'Yes.', start: 2.4, end: 2.6, confidence: 0.75, speaker: 1 }],
            },
          ],
        },
      ],
      'words in segments, and several languages': [
        {},
        [{ ...answer, language: 'en,de', segments: [{ ...segment, words: [word(' Book', 0, 0.4)] }] }],
        {
          language: 'en',
          utterances: [{ ...booked, words: [{ word: 'Book', start: 0, end: 0.4, confidence: 0.75 }] }],
        },
      ],
      'the text alone': [{}, [{ text: ' Yes.' }], { utterances: [{ text: 'Yes.', start: 0, end: 12.5 }] }],
    },
  },
  refusals: [
    { status: 400, body: refused('their words'), is: 'caller http_400', message: /their words/ },
    { status: 400, body: refused('could not decode'), is: 'caller http_400', file: 'caller audio_unusable' },
    // A model that has ended is refused with a good key too.
    {
      status: 401,
      body: refused('Unauthorized', 'unauthorized'),
      is: 'account http_401',
      message: /has ended this model/,
    },
    { status: 402, body: refused('Payment required'), is: 'account http_402' },
    { status: 412, body: refused('suspended'), is: 'account account_suspended', message: /^(?!.*: suspended)/ },
    { status: 429, body: refused('Too many requests'), is: 'next http_429' },
  ],
});
