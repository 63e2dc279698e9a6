// Deepgram's catalogue, options and failures, row by row.
import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { describe, expect, it } from 'vitest';
import { failures } from '../../../src/providers/deepgram/failures.ts';
import { deepgram } from '../../../src/providers/deepgram/index.ts';
import { options } from '../../../src/providers/deepgram/options.ts';

const { honours, honoured, schema: optionsOf } = options;
const NovaOptions = optionsOf('nova-3');
const FluxOptions = optionsOf('flux-general-en');

/** L: nova-3 live, B: nova-3 batch, E: flux-general-en, M: flux-general-multi. */
const HONOURED: Readonly<Record<string, string>> = {
  smart_format: 'LB',
  punctuate: 'LB',
  numerals: 'LBEM',
  profanity_filter: 'LBEM',
  dictation: 'LB',
  filler_words: 'LB',
  detect_entities: '',
  mip_opt_out: 'LBEM',
  endpointing: 'L',
  utterance_end_ms: 'L',
  vad_events: 'L',
  no_delay: 'L',
  diarize_model: 'LB',
  redact: 'LBEM',
  keyterm: 'LBEM',
  keywords: '',
  multichannel: 'B',
  eot_threshold: 'EM',
  eager_eot_threshold: 'EM',
  eot_timeout_ms: 'EM',
  language_hint: 'M',
  tag: 'LBEM',
  utterances: 'B',
  utt_split: 'B',
  paragraphs: '',
  summarize: '',
  detect_language: 'B',
};
const PLACES = {
  L: ['nova-3', 'live'],
  B: ['nova-3', 'batch'],
  E: ['flux-general-en', 'live'],
  M: ['flux-general-multi', 'live'],
} as const;

const GOOD: object[] = [
  { endpointing: false },
  { endpointing: 10_000 },
  { utterance_end_ms: 1_000 },
  { diarize_model: 'v2' },
  { redact: ['numbers'] },
  { keyterm: Array.from({ length: 100 }, (_, index) => `term ${index}`) },
  { eot_threshold: 1, eager_eot_threshold: 0.3, eot_timeout_ms: 60_000 },
  { detect_language: ['en', 'de'] },
  { detect_language: true },
  { summarize: 'v2' },
];
const BAD: object[] = [
  { endpointing: true },
  { endpointing: 10_001 },
  { endpointing: 0.5 },
  { utterance_end_ms: 999 },
  { utterance_end_ms: 5_001 },
  { diarize_model: 'v3' },
  { redact: 'numbers' },
  { redact: [''] },
  { keyterm: Array.from({ length: 101 }, () => 'x') },
  { eot_threshold: 0.4 },
  { eager_eot_threshold: 0.95 },
  { eot_timeout_ms: 499 },
  { smart_format: 'yes' },
  { callback: 'https://example.com' },
];

describe('the options of Deepgram', () => {
  it('are those of the table, in both schemas, each with a description', () => {
    for (const schema of [NovaOptions, FluxOptions]) {
      expect(Object.keys(schema.properties).sort()).toEqual(Object.keys(HONOURED).sort());
      for (const [name, member] of Object.entries(schema.properties)) {
        expect(String((member as TSchema).description), name).toMatch(/\.$/);
      }
    }
  });

  it.each(Object.entries(HONOURED))('%s is honoured in "%s" alone', (option, places) => {
    for (const [place, [model, mode]] of Object.entries(PLACES)) {
      expect(honours(option, model, mode), place).toBe(places.includes(place));
    }
  });

  it('are honoured by Flux in no file, and what is no option is honoured nowhere', () => {
    for (const option of Object.keys(HONOURED)) expect(honours(option, 'flux-general-en', 'batch')).toBe(false);
    for (const option of ['callback', 'toString', '__proto__']) expect(honours(option, 'nova-3', 'live')).toBe(false);
    expect(honoured({ callback: 'x', keyterm: ['y'], tag: undefined }, 'nova-3', 'live')).toEqual({ keyterm: ['y'] });
  });

  it.each(GOOD)('take %j', (params) => expect(Value.Check(NovaOptions, params)).toBe(true));
  it.each(BAD)('refuse %j', (params) => expect(Value.Check(NovaOptions, params)).toBe(false));
  it('let Flux redact numbers alone', () => {
    expect(Value.Check(optionsOf('flux-general-en'), { redact: ['aggressive_numbers'] })).toBe(true);
    expect(Value.Check(optionsOf('flux-general-en'), { redact: ['pci'] })).toBe(false);
    expect(Value.Check(optionsOf('nova-3'), { redact: ['pci'] })).toBe(true);
  });
});

describe('the models of Deepgram', () => {
  it.each(deepgram.models.map((card) => [card.id, card] as const))('%s has a price for each mode', (id, card) => {
    expect(id).toMatch(/^deepgram\/[a-z0-9-]+$/);
    for (const mode of ['batch', 'live'] as const) {
      const price = card.pricing[mode];
      if (card.modes.includes(mode)) expect(Number(price?.amount)).toBeGreaterThan(0);
      else expect(price).toBeUndefined();
    }
    expect(card.priceSource).toEqual({ url: 'https://deepgram.com/pricing', date: '2026-08-01' });
  });
});

const refusal = (status: number, body = '', headers: Record<string, string> = {}) => ({ status, body, headers });
const modern = (category: string) =>
  JSON.stringify({ category, message: 'their words', details: 'd', request_id: 'x' });
const legacy = (code: string) => JSON.stringify({ err_code: code, err_msg: 'their words', request_id: 'x' });

describe('the failures of Deepgram', () => {
  it.each([
    [refusal(400, legacy('Bad Request')), 'caller', 'http_400', /their words/],
    [refusal(400, '', { 'dg-error': 'no such model' }), 'caller', 'http_400', /no such model/],
    [refusal(400, 'plain words'), 'caller', 'http_400', /plain words/],
    [refusal(401, modern('INVALID_AUTH')), 'account', 'INVALID_AUTH', /API key/],
    [refusal(401), 'account', 'http_401', /401/],
    [refusal(402, modern('ASR_PAYMENT_REQUIRED')), 'account', 'ASR_PAYMENT_REQUIRED', /credit/],
    [refusal(403, modern('INSUFFICIENT_PERMISSIONS')), 'account', 'INSUFFICIENT_PERMISSIONS', /may not use/],
    [refusal(404, legacy('Not Found')), 'caller', 'http_404', /their words/],
    [refusal(404, '<html>nothing here</html>'), 'next', 'http_404', /404\.$/],
    [refusal(413, 'too large'), 'caller', 'http_413', /too large/],
    [refusal(429, modern('TOO_MANY_REQUESTS'), { 'retry-after': '3' }), 'next', 'TOO_MANY_REQUESTS', /their words/],
    [refusal(429), 'next', 'http_429', /429/],
    [refusal(500), 'retry', 'http_500', /500/],
    [refusal(502), 'retry', 'http_502', /502/],
    [refusal(503, '[]'), 'retry', 'http_503', /503/],
    [refusal(504), 'retry', 'http_504', /504/],
    [refusal(502, '{"category":7,"message":[]}'), 'retry', 'http_502', /502/],
  ])('a refusal like %j is %s', (refused, kind, code, message) => {
    expect(failures.ofRefusal(refused)).toMatchObject({ kind, code, message: expect.stringMatching(message) });
  });

  it('keep how long the provider asked to be left alone', () => {
    expect(failures.ofRefusal(refusal(429, modern('TOO_MANY_REQUESTS'), { 'retry-after': '3' })).retryAfterMs).toBe(
      3_000,
    );
    expect(failures.ofRefusal(refusal(503, '', { 'retry-after': '1' })).retryAfterMs).toBe(1_000);
  });

  it('say nothing of the provider’s words where they are about credentials', () => {
    expect(failures.ofRefusal(refusal(401, modern('INVALID_AUTH'))).message).not.toMatch(/their words/);
  });

  it.each([
    [1008, 'DATA-0000: cannot decode', 'caller', 'DATA-0000'],
    [1002, 'DATA-0000', 'caller', 'DATA-0000'],
    [1008, '', 'next', 'close_1008'],
    [1011, 'NET-0000', 'retry', 'NET-0000'],
    [1011, 'within the timeout window. See https://dpgr.am/net0001', 'retry', 'NET-0001'],
    [1011, '', 'retry', 'close_1011'],
    [1006, '', 'retry', 'close_1006'],
    [1000, 'bye', 'retry', 'close_1000'],
    [1005, '', 'retry', 'close_1005'],
    [4242, 'toString', 'retry', 'close_4242'],
  ])('a close with %i "%s" is %s', (code, reason, kind, name) => {
    expect(failures.ofClose(code, reason)).toMatchObject({ kind, code: name });
  });

  it.each(failures.rows)('%o is a row with a sentence', (row) => {
    if (typeof row.code === 'string') {
      expect(failures.ofError(row.code)).toMatchObject({ kind: row.kind, code: row.code, message: row.message });
    }
    if (row.message !== undefined) expect(row.message).toMatch(/^[A-Z].*\.$/);
  });

  it('take an unknown code for an error worth a retry, and cut what the provider says', () => {
    expect(failures.ofError('NOVEL', `a\u0000b${'x'.repeat(1_000)}`)).toMatchObject({ kind: 'retry', code: 'NOVEL' });
    expect(failures.ofError('', 'x')).toMatchObject({ code: 'error' });
    expect(failures.ofError('toString')?.kind).toBe('retry');
    expect(failures.ofError('NOVEL', 'x'.repeat(1_000))?.message.length).toBeLessThan(400);
  });
});
