// The catalogue row of whisper.cpp: its server has the one model that it was started with. What it answers was read in its source and
// of a built server; not verified is which formats it reads beside WAV, MP3 and FLAC where it was started without `--convert`.
import { modelCards, ownServer } from '../kit/cards.ts';
import { LANGUAGES } from '../kit/languages/whisper-languages.ts';

export const models = modelCards(
  'whispercpp',
  {
    created: 1_700_000_000,
    capabilities: {
      diarization: false,
      word_timestamps: true,
      interim_results: false,
      formatting: true,
      redaction: false,
      language_detection: true,
    },
    sampleRates: [16_000],
    ...ownServer,
  },
  [
    {
      id: 'whisper',
      name: 'Whisper (whisper.cpp)',
      description:
        'The model with which your own whisper.cpp server was started: files, one after the other. Live, each utterance is a file.',
      languages: LANGUAGES,
      batch: '0',
    },
  ],
);
