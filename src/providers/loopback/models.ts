// Catalogue rows of the scripted provider.
import type { ModelCard } from '../provider.ts';

const row = (id: string, name: string, description: string): ModelCard => ({
  id: `loopback/${id}`,
  created: 1_760_000_000,
  name,
  description,
  modes: ['batch', 'live'],
  languages: ['*'],
  capabilities: {
    diarization: false,
    word_timestamps: true,
    interim_results: true,
    formatting: false,
    redaction: false,
    language_detection: false,
  },
  audio: {
    sample_rates: [8000, 16000, 24000, 48000],
    encodings: ['linear16'],
    max_file_bytes: null,
    max_seconds: null,
  },
  pricing: {
    currency: 'USD',
    batch: { unit: 'minute', amount: '0', byok: '0.00', free: true },
    live: { unit: 'minute', amount: '0', byok: '0.00', free: true },
  },
  priceSource: { url: 'this project: nothing is bought', date: '2026-11-20' },
});

export const models: readonly ModelCard[] = [
  row(
    'script',
    'Loopback script',
    'Says scripted turns, whatever it is sent: for demonstrations, load and failure tests. It recognises nothing.',
  ),
  row(
    'numbered',
    'Loopback numbered audio',
    'Says which samples it heard of numbered audio (sample i is the low 16 bits of i): for proving that none is lost.',
  ),
];
