// What is special of OpenAI: limits of files, names of languages, and keys that may not list models.
import { expect, it } from 'vitest';
import {
  baseLanguage,
  LANGUAGES,
  languageCode,
  languageName,
} from '../../../src/vendors/kit/languages/whisper-languages.ts';
import { openai } from '../../../src/vendors/openai/index.ts';

it('limits file sizes and lengths of its seven models as OpenAI does', () => {
  expect(openai.models).toHaveLength(7);
  for (const { id, modes, audio } of openai.models) {
    expect(audio.max_file_bytes).toBe(modes.includes('batch') ? 26_148_864 : null);
    expect(audio.max_seconds).toBe(id.includes('gpt-4o') ? 1_400 : null);
    if (modes.includes('live')) expect(audio.sample_rates).toEqual([24_000]);
  }
});

it('languages are known by code and by name', () => {
  for (const code of LANGUAGES) expect(languageCode(languageName(code))).toBe(code);
  const names = ['English', 'haitian creole', 'pt', 'Klingon', ''];
  expect(names.map(languageCode)).toEqual(['en', 'ht', 'pt', undefined, undefined]);
  expect([undefined, 'auto', 'en-GB', 'YUE'].map(baseLanguage)).toEqual([undefined, undefined, 'en', 'yue']);
});

it('accepts a restricted key that may not list models', () => {
  const message = 'You have insufficient permissions. Missing scopes: api.model.read.';
  const verdict = (error: object) =>
    openai.credentialCheck?.verdict({ status: 401, headers: {}, body: JSON.stringify({ error }) });
  expect(verdict({ message })).toBe('unknown');
  expect(verdict({ code: 'invalid_api_key' })).toBe('refused');
});
