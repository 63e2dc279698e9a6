// Catalogue rows of the embedded recogniser. It is grammar-based: no model here takes open dictation, and each says so.
import type { ModelCard } from '../provider.ts';

const FREE = { unit: 'minute', amount: '0', byok: '0.00', free: true } as const;

const row = (id: string, language: string, name: string, description: string): ModelCard => ({
  id: `local/${id}`,
  created: 1_763_596_800,
  name,
  description,
  modes: ['batch', 'live'],
  languages: [language],
  capabilities: {
    diarization: false,
    word_timestamps: true,
    interim_results: true,
    formatting: false,
    redaction: false,
    language_detection: false,
  },
  audio: { sample_rates: [16_000], encodings: ['linear16'], max_file_bytes: null, max_seconds: null },
  pricing: { currency: 'USD', batch: FREE, live: FREE },
  priceSource: { url: 'this project: it runs on your own machine', date: '2026-11-20' },
});

const COMMANDS =
  'Numbers, times, dates, yes and no, home and navigation commands; or a JSGF grammar of your own in `provider_params.grammar`.';
const ALIGNMENT = 'Finds the times of the words of a known text, given as `provider_params.align_text`.';
const NO_DICTATION = 'No open dictation.';

// Measured on synthetic speech (espeak-ng, 130 words a minute), which is harder for the models
// than a person. No row for French digits: 37 of 100 strings were right.
export const models: readonly ModelCard[] = [
  row(
    'commands-en',
    'en',
    'Commands, English',
    `${COMMANDS} Of 200 commands in four synthetic voices 89 % were right word for word. ${NO_DICTATION}`,
  ),
  row(
    'digits-en',
    'en',
    'Digits, English',
    `Strings of digits. Hard for it: of 144 strings of one to seven in four synthetic voices 62 % were right. ${NO_DICTATION}`,
  ),
  row('align-en', 'en', 'Alignment, English', `${ALIGNMENT} ${NO_DICTATION}`),
  row(
    'commands-fr',
    'fr',
    'Commands, French',
    `${COMMANDS} Of 168 commands in six synthetic voices 68 % were right word for word, in the three clearest 86 %. ${NO_DICTATION}`,
  ),
  row('align-fr', 'fr', 'Alignment, French', `${ALIGNMENT} ${NO_DICTATION}`),
];
