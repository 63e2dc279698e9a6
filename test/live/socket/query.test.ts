// The query of `GET /v1/listen`: what is well-formed is read exactly, anything else is refused with the parameter's name.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/api/errors.ts';
import type { ListenRequest } from '../../../src/api/listen.ts';
import { readListenQuery } from '../../../src/live/socket/query.ts';

const read = (parameters: Record<string, string>): ListenRequest =>
  readListenQuery(new Map(Object.entries({ model: 'loopback/script', ...parameters })));

function apiErrorOf(parameters: Iterable<[string, string]>): ApiError {
  try {
    readListenQuery(new Map(parameters));
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('The query was taken.');
}

const DEFAULTS: ListenRequest = {
  model: 'loopback/script',
  fallbacks: [],
  sampleRate: 16_000,
  encoding: 'linear16',
  channels: 1,
  language: undefined,
  interimResults: true,
  diarization: false,
  providerParams: {},
  common: {},
  turnEvents: false,
  isResumable: false,
  strict: false,
};

describe('a listen query', () => {
  it.each<[Record<string, string>, Partial<ListenRequest>]>([
    [{}, {}],
    [{ sample_rate: '8000' }, { sampleRate: 8_000 }],
    [{ sample_rate: '48000' }, { sampleRate: 48_000 }],
    [{ sample_rate: '22050' }, { sampleRate: 22_050 }],
    [{ encoding: 'linear16' }, {}],
    [
      { encoding: 'mulaw', sample_rate: '8000' },
      { encoding: 'mulaw', sampleRate: 8_000 },
    ],
    [{ encoding: 'alaw' }, { encoding: 'alaw' }],
    [{ channels: '2' }, { channels: 2 }],
    [
      { channels: '8', encoding: 'alaw' },
      { channels: 8, encoding: 'alaw' },
    ],
    [{ language: 'auto' }, { language: 'auto' }],
    [{ language: 'en' }, { language: 'en' }],
    [{ language: 'fr-CA' }, { language: 'fr-CA' }],
    [{ language: 'zh-Hant-TW' }, { language: 'zh-Hant-TW' }],
    [{ language: 'yue' }, { language: 'yue' }],
    [
      { interim_results: 'false', diarization: 'true', strict: 'true' },
      { interimResults: false, diarization: true, strict: true },
    ],
    [
      { interim_results: 'False', diarization: 'True', strict: '1' },
      { interimResults: false, diarization: true, strict: true },
    ],
    [{ provider_params: '' }, {}],
    [{ provider_params: ' {"a":{"b":[1,null]}} ' }, { providerParams: { a: { b: [1, null] } } }],
    [{ fallbacks: '' }, {}],
    [{ fallbacks: 'a/b' }, { fallbacks: [{ model: 'a/b' }] }],
    [{ fallbacks: 'a/b, c/d ,a/b' }, { fallbacks: [{ model: 'a/b' }, { model: 'c/d' }, { model: 'a/b' }] }],
    [{ fallbacks: '[]' }, {}],
    [
      { fallbacks: ' ["a/b",{"model":"c/d"},{"model":"e/f","provider_params":{"x":1}}]' },
      { fallbacks: [{ model: 'a/b' }, { model: 'c/d' }, { model: 'e/f', provider_params: { x: 1 } }] },
    ],
    [{ turn_events: 'true' }, { turnEvents: true }],
    [{ languages: 'en, fr-CA,en' }, { common: { languages: ['en', 'fr-CA'] } }],
    [{ keyterms: '["Smith, Inc.","Zoë"]' }, { common: { keyterms: ['Smith, Inc.', 'Zoë'] } }],
    [{ keyterms: '', prompt: ' ', redact: 'false', vocabulary_boost: ' ' }, {}],
    [
      { prompt: 'A call.', redact: 'true' },
      {
        common: { prompt: 'A call.', redact: ['pii'] },
        redacted: ['card', 'iban', 'phone', 'email', 'national_id', 'date_of_birth'],
      },
    ],
    [
      { redact: 'email,phi,card', redact_hold_ms: '0' },
      { common: { redact: ['email', 'phi', 'card'] }, redacted: ['card', 'email'], redactHoldMs: 0 },
    ],
    [
      { redact: 'pci,numbers', vocabulary_boost: '0.5' },
      { common: { redact: ['pci', 'numbers'], vocabulary_boost: 0.5 }, redacted: ['card'] },
    ],
    [{ suspend_seconds: '1' }, { suspendSeconds: 1 }],
    [{ return_to_primary: 'true' }, { returnToPrimary: true }],
    [{ standby: 'on' }, { standby: true }],
    [{ standby: 'false' }, { standby: false }],
    [{ return_to_primary: 'false' }, { returnToPrimary: false }],
    [{ price: 'never_dearer' }, { price: 'never_dearer' }],
    [{ price: 'cheapest' }, { price: 'cheapest' }],
    [{ latency: 'low' }, { latency: 'low' }],
    [{ latency: 'throughput' }, { latency: 'throughput' }],
    [{ suspend_seconds: '3600' }, { suspendSeconds: 3_600 }],
    [{ max_cost: '0' }, { limits: { maxMicroUsd: 0n } }],
    [{ max_cost: '999999999.999999' }, { limits: { maxMicroUsd: 999_999_999_999_999n } }],
    [{ max_cost: '0.25', max_seconds: '600' }, { limits: { maxMicroUsd: 250_000n, maxSeconds: 600 } }],
    [{ max_seconds: '1' }, { limits: { maxSeconds: 1 } }],
    [{ api_key: 'anything' }, {}],
  ])('%j is read exactly', (parameters, expected) => {
    expect(read(parameters)).toEqual({ ...DEFAULTS, ...expected });
  });

  const model: [string, string] = ['model', 'loopback/script'];
  it.each<[string, [string, string][], string, string?]>([
    ['no model', [], 'model'],
    ['an empty model', [['model', '']], 'model'],
    ['a model of 129 characters', [['model', 'x'.repeat(129)]], 'model'],
    ['an unknown parameter', [model, ['sampel_rate', '16000']], 'sampel_rate'],
    ['a parameter in another case', [model, ['Model', 'a/b']], 'Model'],
    ['a parameter that objects have', [model, ['constructor', '1']], 'constructor'],
    ['__proto__ as a parameter', [model, ['__proto__', '1']], '__proto__'],
    ['a parameter that cannot be printed', [model, ['a\nb\u202e', '1']], 'a?b?'],
    ['a parameter of 8,000 characters', [model, ['x'.repeat(8_000), '1']], 'x'.repeat(80)],
    ['resume', [model, ['resume', 'token']], 'resume'],
    ['a last_seq without a token', [model, ['resume', 'on'], ['last_seq', '1']], 'last_seq'],
    ['heard_seconds without a token', [model, ['heard_seconds', '1']], 'heard_seconds'],
    ...[
      '',
      ' 16000',
      '16000abc',
      '16000.0',
      '1e4',
      '0x3e80',
      '-16000',
      '+16000',
      'NaN',
      'Infinity',
      '0',
      '7999',
      '48001',
      '1000000000',
      '１６０００',
    ].map((rate): [string, [string, string][], string] => [
      `sample_rate=${rate}`,
      [model, ['sample_rate', rate]],
      'sample_rate',
    ]),
    ...['return_to_primary', 'standby'].flatMap((name) =>
      ['', '2', 'maybe', 'TRUE '].map((flag): [string, [string, string][], string] => [
        `${name}=${flag}`,
        [model, [name, flag]],
        name,
      ]),
    ),
    ...['', '0', '3601', '-1', '20.5', '20s', 'true'].map((seconds): [string, [string, string][], string] => [
      `suspend_seconds=${seconds}`,
      [model, ['suspend_seconds', seconds]],
      'suspend_seconds',
    ]),
    ...['', '-1', '+1', '1,5', '1e-3', '.5', '1.', '0.0000001', '1000000000', '$1', 'NaN', ' 1', '1\n'].map(
      (cost): [string, [string, string][], string] => [
        `max_cost=${JSON.stringify(cost)}`,
        [model, ['max_cost', cost]],
        'max_cost',
      ],
    ),
    ...['', '0', '-1', '1.5', '360001', '1e3', 'ten'].map((seconds): [string, [string, string][], string] => [
      `max_seconds=${seconds}`,
      [model, ['max_seconds', seconds]],
      'max_seconds',
    ]),
    ...['', '0', '9', '1.5', 'two'].map((channels): [string, [string, string][], string] => [
      `channels=${channels}`,
      [model, ['channels', channels]],
      'channels',
    ]),
    ['two channels of Opus', [model, ['channels', '2'], ['encoding', 'ogg-opus']], 'channels'],
    ...['', 'LINEAR16', 'pcm', 'mp3', 'linear16 ', '__proto__'].map(
      (encoding): [string, [string, string][], string] => [
        `encoding=${encoding}`,
        [model, ['encoding', encoding]],
        'encoding',
      ],
    ),
    ...[
      '',
      'e',
      'english',
      'en_US',
      'en-',
      '-en',
      'en--US',
      'en-US-x-y',
      'en-a-b-c-d',
      'AUTO',
      'en\n',
      '12',
      'x'.repeat(5_000),
    ].map((language): [string, [string, string][], string] => [
      `language=${language.slice(0, 20)}`,
      [model, ['language', language]],
      'language',
    ]),
    ...['interim_results', 'diarization', 'strict'].flatMap((name) =>
      ['', '2', 'tru', 'maybe', 'false '].map((value): [string, [string, string][], string] => [
        `${name}=${value}`,
        [model, [name, value]],
        name,
      ]),
    ),
    ...['null', '[]', '1', '"{}"', '{', '{"a":1}}', "{'a':1}", 'a=b', '['.repeat(4_000)].map(
      (params): [string, [string, string][], string, string] => [
        `provider_params=${params.slice(0, 20)}`,
        [model, ['provider_params', params]],
        'provider_params',
        'invalid_provider_params',
      ],
    ),
    ...[
      ',',
      'a/b,',
      ',a/b',
      'a/b,,c/d',
      '[',
      '["a/b"',
      '[1]',
      '[null]',
      '[["a/b"]]',
      '[{}]',
      '[{"model":1}]',
      '[{"model":"a/b","params":{}}]',
      '[{"model":"a/b","provider_params":[]}]',
      '[{"model":"a/b","provider_params":null}]',
      '[{"model":"a/b","__proto__":{}}]',
    ].map((fallbacks): [string, [string, string][], string] => [
      `fallbacks=${fallbacks}`,
      [model, ['fallbacks', fallbacks]],
      'fallbacks',
    ]),
  ])('fails with %s, and names the parameter', (_, parameters, param, code = 'invalid_request') => {
    const refusal = apiErrorOf(parameters);
    expect([refusal.code, refusal.extras.param, refusal.status, refusal.closeCode]).toEqual([code, param, 400, 4000]);
    expect(refusal.message).toMatch(/[.}]$/);
    expect(refusal.message.length).toBeLessThan(600);
    expect(refusal.message).toMatch(/^[\x20-\x7e…]*$/);
  });

  it('reads members named __proto__ as data, and sets no prototype', () => {
    const { providerParams, fallbacks } = read({
      provider_params: '{"__proto__":{"polluted":true}}',
      fallbacks: '[{"model":"a/b","provider_params":{"__proto__":{"polluted":true}}}]',
    });
    for (const params of [providerParams, fallbacks[0]?.provider_params ?? {}]) {
      expect(Object.keys(params)).toEqual(['__proto__']);
      expect((params as { polluted?: boolean }).polluted).toBeUndefined();
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('reads or refuses any content, and reads values in range', () => {
    const names = [
      'model',
      'fallbacks',
      'sample_rate',
      'encoding',
      'language',
      'interim_results',
      'diarization',
      'provider_params',
      'strict',
      'api_key',
    ];
    const value = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.json({ maxDepth: 3 }),
      fc.constantFrom('true', 'en', 'mulaw', '16000', 'a/b'),
    );
    const query = fc.array(
      fc.tuple(
        fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: fc.string() }),
        value,
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(query, (parameters) => {
        try {
          const request = readListenQuery(new Map([model, ...parameters]));
          expect(request.sampleRate).toBeGreaterThanOrEqual(8_000);
          expect(request.sampleRate).toBeLessThanOrEqual(48_000);
          expect(request.fallbacks.every((each) => typeof each.model === 'string')).toBe(true);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          expect(error.extras.param).toBeTypeOf('string');
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
