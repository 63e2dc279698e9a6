// The options of Google with what each takes, how they are found in what is asked for, and its files.
import { objectIn } from '../../../src/providers/kit/json.ts';
import type { BatchFixtures, OptionFixtures } from '../../suites/provider/fixtures.ts';

type Members = Readonly<Record<string, unknown>>;

const MODELS = ['chirp_3', 'chirp_2', 'long', 'short', 'telephony'];
const everywhere = { live: MODELS, batch: MODELS };
const flags = { takes: [true, false], refuses: ['yes', 1] };

export const options: OptionFixtures = {
  rows: {
    language_codes: { takes: [['en-US'], ['de-DE', 'fr-FR']], refuses: [[], 'en-US', [1]], ...everywhere },
    profanity_filter: { ...flags, ...everywhere },
    enable_automatic_punctuation: { ...flags, ...everywhere },
    enable_spoken_punctuation: { ...flags, ...everywhere },
    enable_spoken_emojis: { ...flags, ...everywhere },
    phrases: { takes: [['Acme', 'Initech']], refuses: [[], [''], 'Acme'], ...everywhere },
    boost: { takes: [], refuses: [-1, 21, 'high'], ...everywhere },
    endpointing_sensitivity: { takes: ['SHORT', 'SUPERSHORT'], refuses: ['LONG', 1], live: MODELS },
    denoise_audio: { ...flags, live: ['chirp_3'], batch: ['chirp_3'] },
    snr_threshold: { takes: [10, 0], refuses: [-1, '10'], live: ['chirp_3'], batch: ['chirp_3'] },
  },
};

/** What a config asks for, by the names of options. */
export function asked(config: Members): Members {
  const { model, languageCodes, adaptation, denoiserConfig, features2 } = config;
  const { profanityFilter, enableAutomaticPunctuation, enableSpokenPunctuation, enableSpokenEmojis } = objectIn(
    config.features,
  );
  const [set] = (objectIn(adaptation).phraseSets ?? []) as { inlinePhraseSet: Members }[];
  const { phrases, boost } = objectIn(set?.inlinePhraseSet);
  const { denoiseAudio, snrThreshold } = objectIn(denoiserConfig);
  const { endpointingSensitivity } = objectIn(features2);
  const all = {
    model,
    language_codes: languageCodes,
    profanity_filter: profanityFilter,
    enable_automatic_punctuation: enableAutomaticPunctuation,
    enable_spoken_punctuation: enableSpokenPunctuation,
    enable_spoken_emojis: enableSpokenEmojis,
    phrases: (phrases as { value: string }[] | undefined)?.map(({ value }) => value),
    boost,
    endpointing_sensitivity:
      endpointingSensitivity && String(endpointingSensitivity).replace('ENDPOINTING_SENSITIVITY_', ''),
    denoise_audio: denoiseAudio,
    snr_threshold: snrThreshold,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
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
    return asked(body.json.config as Members);
  },
  written: (value) => value,
  requests: [[{ language: 'es', model: 'chirp_3' }, { language_codes: ['es-ES'] }]],
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
        utterances: [
          { text: 'Two teas.', start: 0, end: 1.2, words: [{ word: 'Two', start: 0, end: 0.5 }, {}] },
          { text: 'please', start: 1.2, end: 2 },
        ],
      },
    ],
    'with nothing heard': [{}, [{ metadata: { totalBilledDuration: '3s' } }], { utterances: [] }],
  },
};
