// The options of Google with what each takes, how they are found in what is asked for, and its files.
import type { JsonObject } from '../../../src/vendors/kit/json.ts';
import type { BatchFixtures, OptionFixtures } from '../../suites/provider/fixtures.ts';

const MODELS = ['chirp_3', 'chirp_2', 'long', 'short', 'telephony'];
const everywhere = { live: MODELS, batch: MODELS };
const flags = { takes: [true, false], refuses: ['yes', 1] };

export const options: OptionFixtures = {
  rows: {
    language_codes: {
      takes: [['en-US'], ['de-DE', 'fr-FR']],
      refuses: [[], 'en-US', [1]],
      ...everywhere,
      at: 'languageCodes',
    },
    profanity_filter: { ...flags, ...everywhere, at: 'features.profanityFilter' },
    enable_automatic_punctuation: { ...flags, ...everywhere, at: 'features.enableAutomaticPunctuation' },
    enable_spoken_punctuation: { ...flags, ...everywhere, at: 'features.enableSpokenPunctuation' },
    enable_spoken_emojis: { ...flags, ...everywhere, at: 'features.enableSpokenEmojis' },
    phrases: {
      takes: [['Acme', 'Initech']],
      refuses: [[], [''], 'Acme'],
      ...everywhere,
      at: 'adaptation.phraseSets.0.inlinePhraseSet.phrases',
    },
    boost: { takes: [], refuses: [-1, 21, 'high'], ...everywhere, at: 'adaptation.phraseSets.0.inlinePhraseSet.boost' },
    endpointing_sensitivity: {
      takes: ['SHORT', 'SUPERSHORT'],
      refuses: ['LONG', 1],
      live: MODELS,
      at: 'endpointingSensitivity',
    },
    denoise_audio: { ...flags, live: ['chirp_3'], batch: ['chirp_3'], at: 'denoiserConfig.denoiseAudio' },
    snr_threshold: {
      takes: [10, 0],
      refuses: [-1, '10'],
      live: ['chirp_3'],
      batch: ['chirp_3'],
      at: 'denoiserConfig.snrThreshold',
    },
  },
};

/** An option's value as a config has it. */
export function written(value: unknown, option: string): unknown {
  if (option === 'phrases') return (value as string[]).map((each) => ({ value: each }));
  return option === 'endpointing_sensitivity' ? `ENDPOINTING_SENSITIVITY_${value}` : value;
}

const BODY = {
  kind: 'json-file' as const,
  fileMember: 'content',
  json: {
    config: {
      autoDecodingConfig: {},
      ...{ model: 'long', languageCodes: ['en-US'] },
      features: { enableAutomaticPunctuation: true, enableWordTimeOffsets: true, enableWordConfidence: true },
    },
  },
};
const words = [
  { endOffset: '0.5s', word: 'Two', confidence: 0.9 },
  { startOffset: '0.5s', endOffset: '1.200s', word: 'teas.' },
];

export const files: BatchFixtures = {
  model: 'long',
  opening: {
    method: 'POST',
    url: 'https://speech.googleapis.com/v2/projects/-/locations/global/recognizers/_:recognize',
    headers: { 'x-goog-api-key': 'key-of-the-suite' },
    body: BODY,
  },
  asked: ({ body }) => {
    if (body.kind !== 'json-file') throw new Error('It has no file.');
    return body.json.config as JsonObject;
  },
  written,
  requests: [[{ language: 'es', model: 'chirp_3' }, { languageCodes: ['es-ES'] }]],
  answers: {
    'with the times of words': [
      {},
      [
        {
          results: [
            { alternatives: [{ transcript: 'Two teas.', confidence: 0.9, words }], languageCode: 'en-us' },
            { alternatives: [{ transcript: ' please' }], resultEndOffset: '2s' },
          ],
          metadata: { totalBilledDuration: '3s' },
        },
      ],
      {
        language: 'en-us',
        utterances: ['"Two teas." 0-1.2 @0.9 (Two 0-0.5 @0.9, teas. 0.5-1.2)', '"please" 1.2-2'],
      },
    ],
    'with nothing recognised': [{}, [{ metadata: { totalBilledDuration: '3s' } }], { utterances: [] }],
  },
};
