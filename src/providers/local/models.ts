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

const OWN_GRAMMAR = 'or a JSGF grammar of your own in `provider_params.grammar`';

export const models: readonly ModelCard[] = [
  row(
    'commands-en',
    'en',
    'Commands, English',
    `Numbers, times, dates, yes and no, home and navigation commands; ${OWN_GRAMMAR}. No open dictation.`,
  ),
  row(
    'digits-en',
    'en',
    'Digits, English',
    'Strings of digits. Hard for it: expect a wrong digit now and then. No open dictation.',
  ),
  row(
    'align-en',
    'en',
    'Alignment, English',
    'Finds the times of the words of a known text, given as `provider_params.align_text`. No open dictation.',
  ),
  row(
    'commands-fr',
    'fr',
    'Commands, French',
    `Numbers, times, dates, yes and no, home and navigation commands; ${OWN_GRAMMAR}. No open dictation.`,
  ),
  row(
    'digits-fr',
    'fr',
    'Digits, French',
    'Strings of digits. Hard for it: expect a wrong digit now and then. No open dictation.',
  ),
  row(
    'align-fr',
    'fr',
    'Alignment, French',
    'Finds the times of the words of a known text, given as `provider_params.align_text`. No open dictation.',
  ),
];
