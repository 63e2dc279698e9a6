// What OpenAI's refusals mean, which options each model honours, and that the catalogue is whole.
import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { describe, expect, it } from 'vitest';
import { baseLanguage, LANGUAGES, languageCode, languageName } from '../../../src/providers/kit/whisper-languages.ts';
import { errorOf, failureOfItem, failures } from '../../../src/providers/openai/failures.ts';
import { openai } from '../../../src/providers/openai/index.ts';
import { options } from '../../../src/providers/openai/options.ts';

const { honours } = options;
const Options = options.schema('whisper-1');

const refusal = (status: number, error?: object, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: error === undefined ? '<html>' : JSON.stringify({ error }),
});

describe('a refusal', () => {
  it.each<[string, number, object | undefined, string, string]>([
    ['of the key', 401, { code: 'invalid_api_key', message: 'm' }, 'account', 'invalid_api_key'],
    ['of the project', 403, { code: 'model_not_found', message: 'm' }, 'account', 'model_not_found'],
    ['of the model', 404, { code: 'model_not_found', message: 'm' }, 'caller', 'model_not_found'],
    ['by a server that is none of OpenAI’s', 404, undefined, 'next', 'http_404'],
    ['of the rate', 429, { code: 'rate_limit_exceeded', type: 'requests' }, 'next', 'rate_limit_exceeded'],
    ['of a rate without a name', 429, { code: null }, 'next', 'http_429'],
    ['for want of credit', 429, { code: 'insufficient_quota' }, 'account', 'insufficient_quota'],
    [
      'of a broken file',
      400,
      { code: 'invalid_value', param: 'file', message: 'corrupted' },
      'caller',
      'audio_unusable',
    ],
    [
      'of a long file',
      400,
      {
        code: 'invalid_value',
        message: 'audio duration 1500.2 seconds is longer than 1400 seconds which is the maximum',
      },
      'next',
      'audio_too_long',
    ],
    ['of a large file', 413, { code: null, message: 'm' }, 'caller', 'http_413'],
    ['by a failing server', 500, { type: 'server_error', code: null }, 'retry', 'http_500'],
    ['by a gateway', 502, undefined, 'retry', 'http_502'],
    ['by an overloaded server', 503, undefined, 'retry', 'http_503'],
    ['by a late server', 504, undefined, 'retry', 'http_504'],
  ])('%s (%d) is told apart', (_, status, error, kind, code) => {
    expect(failures.ofRefusal(refusal(status, error))).toMatchObject({ kind, code });
  });

  it('says how long to wait, and what OpenAI said, on one line', () => {
    const error = { code: 'rate_limit_exceeded', message: 'Slow\n\u0007down' };
    expect(failures.ofRefusal(refusal(429, error, { 'retry-after': '3' }))).toMatchObject({
      retryAfterMs: 3_000,
      message: 'The provider answered with HTTP 429: Slow down',
    });
  });

  it('has a failure for each row of the table, and one for every other', () => {
    for (const { name, kind, message } of failures.rows) {
      if (kind !== undefined && name !== undefined)
        expect(failures.named(name)).toMatchObject({ kind, code: name, message });
    }
    expect(failures.named('constructor')).toMatchObject({ kind: 'retry' });
    expect(failures.ofError('invalid_request_error', 'No such member.')?.message).toBe(
      'OpenAI does not take this request: No such member.',
    );
    expect(failures.ofClose(1011, 'x'.repeat(1_000)).message.length).toBeLessThan(400);
    expect(failures.ofError('c'.repeat(99), '', 'server_error')?.code).toHaveLength(64);
    expect(failureOfItem(errorOf({ error: { type: 'server_error', message: 'oops' } }))).toMatchObject({
      kind: 'retry',
      code: 'item_failed',
      message: 'OpenAI could not transcribe a turn: oops',
    });
    expect(failureOfItem(undefined)).toMatchObject({ kind: 'retry', code: 'item_failed' });
  });
});

const ALL = Object.keys(Options.properties);
const live = {
  'gpt-live-transcribe': ['noise_reduction', 'prompt', 'languages', 'keywords'],
  'gpt-realtime-whisper': ['noise_reduction', 'delay'],
  'gpt-transcribe': ['turn_detection', 'noise_reduction', 'prompt', 'languages', 'keywords'],
  'gpt-4o-transcribe': ['turn_detection', 'noise_reduction', 'prompt'],
  'gpt-4o-mini-transcribe': ['turn_detection', 'noise_reduction', 'prompt'],
  'whisper-1': ['turn_detection', 'noise_reduction', 'prompt'],
  'gpt-4o-transcribe-diarize': [],
};
const batch = {
  'gpt-live-transcribe': [],
  'gpt-realtime-whisper': [],
  'gpt-transcribe': ['prompt', 'languages', 'keywords', 'temperature'],
  'gpt-4o-transcribe': ['prompt', 'temperature', 'chunking_strategy', 'include'],
  'gpt-4o-mini-transcribe': ['prompt', 'temperature', 'chunking_strategy', 'include'],
  'whisper-1': ['prompt', 'temperature', 'timestamp_granularities'],
  'gpt-4o-transcribe-diarize': ['temperature', 'chunking_strategy', 'known_speaker_names', 'known_speaker_references'],
};

describe('options', () => {
  it.each(Object.entries(live))('of %s are honoured live: %j', (model, options) => {
    expect(ALL.filter((option) => honours(option, model, 'live'))).toEqual(options);
  });

  it.each(Object.entries(batch))('of %s are honoured for files: %j', (model, options) => {
    expect(ALL.filter((option) => honours(option, model, 'batch'))).toEqual(options);
  });

  it('are each honoured by some model, and nothing else by any', () => {
    const honoured = new Set([...Object.values(live), ...Object.values(batch)].flat());
    expect([...honoured].sort()).toEqual([...ALL].sort());
    for (const name of ['constructor', 'model', '']) expect(honours(name, 'whisper-1', 'live')).toBe(false);
  });

  it.each<[object, boolean]>([
    [{}, true],
    [{ turn_detection: null }, true],
    [{ turn_detection: { type: 'server_vad', threshold: 0.7, silence_duration_ms: 200, prefix_padding_ms: 0 } }, true],
    [{ turn_detection: { type: 'server_vad', threshold: 1.1 } }, false],
    [{ turn_detection: { type: 'semantic_vad', eagerness: 'auto' } }, true],
    [{ turn_detection: { type: 'none' } }, false],
    [{ noise_reduction: 'near_field', delay: 'xhigh' }, true],
    [{ delay: 'never' }, false],
    [{ languages: ['en', 'yue'], keywords: ['Voxgate'] }, true],
    [{ languages: ['english'] }, false],
    [{ temperature: 1.5 }, false],
    [{ timestamp_granularities: ['word'] }, true],
    [{ chunking_strategy: 'auto' }, true],
    [{ chunking_strategy: { type: 'server_vad' } }, true],
    [{ known_speaker_names: ['a', 'b', 'c', 'd', 'e'] }, false],
    [{ known_speaker_references: ['data:audio/wav;base64,AA=='] }, true],
    [{ known_speaker_references: ['https://example.org'] }, false],
    [{ include: ['logprobs'] }, true],
    [{ unknown: 1 }, false],
  ])('%j: %s', (params, isValid) => {
    expect(Value.Check(Options, params)).toBe(isValid);
  });

  it('say what they are for', () => {
    for (const [name, { description }] of Object.entries<TSchema>(Options.properties)) {
      expect(description, name).toBeTypeOf('string');
    }
  });
});

describe('the catalogue', () => {
  it('has a price for every mode of every model, with its source and date', () => {
    expect(openai.models).toHaveLength(7);
    for (const { id, modes, pricing, priceSource, audio } of openai.models) {
      expect(
        Object.keys(pricing).filter((mode) => mode !== 'currency'),
        id,
      ).toEqual(modes);
      for (const mode of modes) expect(Number(pricing[mode]?.amount)).toBeGreaterThan(0);
      expect(priceSource).toMatchObject({ date: '2026-08-01' });
      expect(audio.max_file_bytes).toBe(modes.includes('batch') ? 25 * 1_048_576 : null);
      expect(audio.max_seconds).toBe(id.includes('gpt-4o') ? 1_400 : null);
    }
  });

  it('knows languages by code and by name', () => {
    for (const code of LANGUAGES) expect(languageCode(languageName(code))).toBe(code);
    expect(['English', 'haitian creole', 'pt', 'Klingon', ''].map(languageCode)).toEqual([
      'en',
      'ht',
      'pt',
      undefined,
      undefined,
    ]);
    expect([undefined, 'auto', 'en-GB', 'YUE'].map(baseLanguage)).toEqual([undefined, undefined, 'en', 'yue']);
  });
});
