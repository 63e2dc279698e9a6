// What an answer says of a file beyond its words.
import { expect, it } from 'vitest';
import { verboseTranscriptionOf } from '../../src/files/answers.ts';
import type { FileResult } from '../../src/files/job.ts';

const languageOf = (languages: readonly string[], asked?: string, heard?: string) =>
  verboseTranscriptionOf(
    {
      request: { timestampGranularities: [], common: {} },
      outcome: {
        ...{ utterances: [], attempts: [], seconds: 1, language: heard },
        member: { slug: 'a/b', language: asked, card: { languages } },
      },
      ...{ warnings: [], charge: { costMicroUsd: 0n, own: false, channels: 1 } },
    } as unknown as FileResult,
    'req_1',
  ).language;

it('names the detected language, else the requested one, else the model’s only one', () => {
  expect(languageOf(['en', 'de'], 'de', 'fr')).toBe('french');
  expect(languageOf(['en', 'de'], 'de')).toBe('german');
  expect(languageOf(['en'], 'auto')).toBe('english');
  expect(languageOf(['en', 'en-GB'])).toBe('english');
});

it('names none where none was reported and the model knows several', () => {
  expect(languageOf(['af', 'en'])).toBe('und');
  expect(languageOf(['*'], 'auto')).toBe('und');
});
