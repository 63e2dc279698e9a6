// Every provider of the registry is proven: it has a folder here that feeds the suite, and its models are never asked for what they
// refuse, whatever a request says in words that are the same for all.
import { existsSync } from 'node:fs';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VENDOR_REDACTIONS } from '../../src/api/redaction.ts';
import { modelOf } from '../../src/api/slug.ts';
import { KEYTERM_LENGTH_MAX, KEYTERMS_MAX, PROMPT_LENGTH_MAX } from '../../src/api/vocabulary.ts';
import { mappedFor } from '../../src/live/failover/vocabulary.ts';
import { providers } from '../../src/vendors/index.ts';
import { hearsUtterances } from '../../src/vendors/kit/live-turns.ts';
import { simulators } from '../../src/vendors/simulators.ts';

it.each(providers.map(({ name }) => name))('%s has its fixtures in the suite', (name) => {
  const file = `${import.meta.dirname}/${name}/provider.test.ts`;
  expect(existsSync(file), `Write ${file}: it calls testProvider of test/suites/provider.suite.ts.`).toBe(true);
});

it('simulates only registered providers', () => {
  const names = providers.map(({ name }) => name);
  for (const { provider } of simulators) expect(names).toContain(provider);
});

describe('the options common to all models', () => {
  const places = providers.flatMap((provider) =>
    provider.models.flatMap((card) => card.modes.map((mode) => ({ id: card.id, mode, provider, card }))),
  );
  const term = fc.string({ minLength: 1, maxLength: KEYTERM_LENGTH_MAX }).map((text) => text.trim() || 'Zoë');
  const common = fc.record(
    {
      languages: fc.subarray(['en', 'en-GB', 'fr-CA', 'zh-Hans-CN', 'de', 'tlh'], { minLength: 1 }),
      keyterms: fc.uniqueArray(term, { minLength: 1, maxLength: KEYTERMS_MAX }),
      prompt: fc.lorem({ mode: 'words', maxCount: PROMPT_LENGTH_MAX / 12 }),
      redact: fc.subarray([...VENDOR_REDACTIONS], { minLength: 1 }),
      vocabulary_boost: fc.double({ min: 0, max: 1, noNaN: true }),
      temperature: fc.double({ min: 0, max: 1, noNaN: true }),
    },
    { requiredKeys: [] },
  );
  const language = fc.constantFrom(undefined, 'auto', 'en', 'pt-BR', 'tlh');

  it.each(places)(
    'matches what $id takes in $mode mode, and is reported for every candidate',
    ({ provider, card, mode }) => {
      const schema = Type.Partial(provider.options(modelOf(card.id)));
      fc.assert(
        fc.property(common, language, fc.boolean(), (asked, spoken, diarization) => {
          const { params, told } = mappedFor(
            card,
            provider,
            { mode, language: spoken, diarization, common: asked },
            {},
          );
          expect([...Value.Errors(schema, params)]).toEqual([]);
          for (const name of Object.keys(params)) {
            expect(provider.honours?.(name, modelOf(card.id), mode) ?? true, name).toBe(true);
          }
          const members = [
            ...Object.keys(asked),
            ...(spoken ? ['language'] : []),
            ...(diarization ? ['diarization'] : []),
          ];
          expect(told.map(({ param }) => param).sort()).toEqual(members.sort());
          for (const { outcome, message } of told) expect(message === undefined).toBe(outcome === 'honoured');
        }),
        { numRuns: 15 },
      );
    },
  );

  it.each([12, 45])('stays short enough for a URL, with names of %i characters of Chinese', (length) => {
    const keyterms = Array.from({ length: KEYTERMS_MAX }, (_, index) => `${index} `.padEnd(length, '語'));
    const common = { keyterms, prompt: '語言 '.repeat(PROMPT_LENGTH_MAX / 3) };
    for (const { id, provider, card, mode } of places) {
      if (mode === 'batch' || provider.live === undefined) continue;
      const { params } = mappedFor(card, provider, { mode, language: 'en', diarization: false, common }, {});
      const { endpoint } = provider.live(modelOf(id)).open({
        ...{ model: modelOf(id), params, language: 'en', sampleRate: 16_000, interimResults: true, diarization: false },
        access: { baseUrl: 'ws://provider.test', credential: 'sk-test' },
        connection: { id: '0'.repeat(32), wallMs: 0 },
      });
      expect('url' in endpoint ? endpoint.url.length : 0, id).toBeLessThan(8_000);
    }
  });

  it('reports the region of a language that a live session uses, as its codec does', () => {
    for (const { id, provider, card, mode } of places) {
      const { live } = provider;
      // The scripted models hear no language at all.
      if (mode === 'batch' || live === undefined || hearsUtterances(card) || provider.name === 'loopback') continue;
      const asked = (language: string) => {
        const { endpoint, hello } = live(modelOf(id)).open({
          ...{ model: modelOf(id), params: {}, language, sampleRate: 16_000, interimResults: true, diarization: false },
          access: { baseUrl: 'ws://provider.test', credential: 'sk-test' },
          connection: { id: '0'.repeat(32), wallMs: 0 },
        });
        return JSON.stringify([endpoint, hello]);
      };
      for (const language of ['en-GB', 'fr-CA', 'pt-PT', 'es-MX', 'zh-TW', 'en-ZW']) {
        const request = { mode, language, diarization: false };
        const [told] = mappedFor(card, provider, request, {}).told;
        if (told?.outcome === 'dropped') continue;
        const isCut =
          asked(language) === asked(language.slice(0, 2)) || asked(language) === asked(`${language.slice(0, 2)}-ZZ`);
        expect([id, language, told?.outcome]).toEqual([id, language, isCut ? 'mapped' : 'honoured']);
      }
    }
  });

  it.each([
    [
      'deepgram/nova-3',
      ['pii'],
      ['en', 'fr'],
      'dropped',
      /: in live sessions .* in English alone\. The gateway redacts card, /,
    ],
    ['deepgram/nova-3', ['pii', 'numbers'], ['fr'], 'mapped', /1 of the 2 `redact`: in live sessions .* alone\.$/],
    [
      'deepgram/flux-general-en',
      ['pci'],
      [],
      'dropped',
      /: it blacks out numbers alone\. The gateway redacts card, and nothing else\.$/,
    ],
  ] as const)('explains why %s does not redact %j in %j', (id, redact, languages, outcome, message) => {
    const { provider, card } = places.find((place) => place.id === id) as (typeof places)[number];
    const common = { redact: [...redact], languages: [...languages] };
    const asked = { mode: 'live' as const, language: undefined, diarization: false, common };
    const told = mappedFor(card, provider, asked, {}).told.find(({ param }) => param === 'redact');
    expect(told).toMatchObject({ outcome, message: expect.stringMatching(message) });
  });

  it('redacts with the models that declare it, and no others', () => {
    const redacts = ({ card, provider, mode }: (typeof places)[number]) =>
      VENDOR_REDACTIONS.some((kind) => {
        const asked = { mode, language: undefined, diarization: false, common: { redact: [kind] } };
        return mappedFor(card, provider, asked, {}).told.some(({ outcome }) => outcome !== 'dropped');
      });
    const redacting = new Set(places.filter(redacts).map(({ id }) => id));
    const said = places.filter(({ card }) => card.capabilities.redaction).map(({ id }) => id);
    expect([...redacting].sort()).toEqual([...new Set(said)].sort());
  });
});
