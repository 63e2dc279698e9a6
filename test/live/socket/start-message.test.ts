// The parameters of a session in a first message: read as those of a URL are, refused in the same words, and in one place only.
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/api/errors.ts';
import type { ListenRequest } from '../../../src/api/listen.ts';
import { readStartMessage, readStartRequest } from '../../../src/live/socket/client-message.ts';
import { readListenQuery } from '../../../src/live/socket/query.ts';

const MODEL = 'loopback/script';
const read = (message: unknown, query: Record<string, string> = {}): ListenRequest =>
  readListenQuery(
    readStartMessage(
      Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)),
      new Map(Object.entries(query)),
    ),
  );

function apiErrorOf(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('Nothing was refused.');
}

describe('a start message', () => {
  it.each<[Record<string, unknown>, Record<string, string>]>([
    [
      { sample_rate: 8000, encoding: 'mulaw' },
      { sample_rate: '8000', encoding: 'mulaw' },
    ],
    [
      { interim_results: false, diarization: true, strict: true },
      { interim_results: 'false', diarization: 'true', strict: 'true' },
    ],
    [
      { language: 'fr-CA', suspend_seconds: 60 },
      { language: 'fr-CA', suspend_seconds: '60' },
    ],
    [{ provider_params: { a: { b: [1, null] } } }, { provider_params: '{"a":{"b":[1,null]}}' }],
    [
      { fallbacks: ['a/b', { model: 'c/d', provider_params: { x: 1 } }] },
      { fallbacks: '["a/b",{"model":"c/d","provider_params":{"x":1}}]' },
    ],
    [{ fallbacks: 'a/b,c/d' }, { fallbacks: 'a/b,c/d' }],
    [{ language: null, provider_params: null }, {}],
  ])('%j asks for what the same query does', (members, query) => {
    const asked = readListenQuery(new Map(Object.entries({ model: MODEL, ...query })));
    expect(read({ type: 'start', model: MODEL, ...members })).toEqual(asked);
    expect(read({ type: 'start', ...members }, { model: MODEL })).toEqual(asked);
  });

  it('carries more than a URL can hold', () => {
    const keyterm = Array.from({ length: 1_000 }, (_, index) => `term ${index} ${'x'.repeat(150)}`);
    expect(read({ type: 'start', model: MODEL, provider_params: { keyterm } }).providerParams).toEqual({ keyterm });
  });

  it.each<[string, unknown, string, string?]>([
    ['no JSON', 'start', 'type'],
    ['no UTF-8', '{"type":"start"', 'type'],
    ['another message', { type: 'close' }, 'type'],
    ['an array', [{ type: 'start' }], 'type'],
    ['no model', { type: 'start' }, 'model'],
    ['an unknown member', { type: 'start', model: MODEL, sampel_rate: 1 }, 'sampel_rate'],
    ['a member that objects have', { type: 'start', model: MODEL, constructor: 1 }, 'constructor'],
    ['a prototype', '{"type":"start","model":"a/b","__proto__":{"language":"en"}}', '__proto__'],
    ['the credential', { type: 'start', model: MODEL, api_key: 'sk_vox_1' }, 'api_key'],
    ['another start', { type: 'start', model: MODEL, start: 'message' }, 'start'],
    ['a rate out of range', { type: 'start', model: MODEL, sample_rate: 1 }, 'sample_rate'],
    ['a rate beyond numbers', '{"type":"start","model":"a/b","sample_rate":1e999}', 'sample_rate'],
    [
      'params that are not an object',
      { type: 'start', model: MODEL, provider_params: [1] },
      'provider_params',
      'invalid_provider_params',
    ],
    [
      'params nested without end',
      `{"type":"start","model":"a/b","provider_params":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`,
      'provider_params',
    ],
    ['a parameter of the URL', { type: 'start', model: MODEL, language: 'en' }, 'language', 'duplicate_parameter'],
  ])('fails with %s, and names the member', (_, message, param, code = 'invalid_request') => {
    const refusal = apiErrorOf(() => read(message, { language: 'fr' }));
    expect([refusal.code, refusal.extras.param, refusal.closeCode]).toEqual([code, param, 4000]);
    expect(refusal.message).toMatch(/^[\x20-\x7e…]{1,500}$/);
  });
});

describe('a URL', () => {
  it('works alone without `start`, and may omit the model with it', () => {
    expect(readStartRequest(new Map([['model', MODEL]]))).toEqual({
      waits: false,
      parameters: new Map([['model', MODEL]]),
    });
    expect(readStartRequest(new Map([['start', 'message']]))).toEqual({ waits: true, parameters: new Map() });
  });

  it.each([
    ['start', new Map([['start', 'msg']])],
    [
      'sampel_rate',
      new Map([
        ['start', 'message'],
        ['sampel_rate', '1'],
      ]),
    ],
    [
      'sample_rate',
      new Map([
        ['start', 'message'],
        ['sample_rate', '1'],
      ]),
    ],
  ])('fails at the handshake with a wrong `%s`, before any message', (param, query) => {
    expect(apiErrorOf(() => readStartRequest(query)).extras.param).toBe(param);
  });
});
