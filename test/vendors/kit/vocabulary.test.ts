// What a request says in the same words for all vendors, as options of one: honoured, in another way, cut, or told as dropped.
import { Type } from '@sinclair/typebox';
import { expect, it } from 'vitest';
import type { Common } from '../../../src/api/vocabulary.ts';
import { honouredBy, optionTable, text, texts } from '../../../src/vendors/kit/options.ts';
import { PROMPT_WITH_TERMS, toRedactions } from '../../../src/vendors/kit/vocabulary/conversions.ts';
import { mapped, servedBy } from '../../../src/vendors/kit/vocabulary/mapping.ts';

const live = honouredBy({ live: true });

const table = optionTable({
  terms: honouredBy({ live: ['lists', 'both'] })(texts(3, 'Terms.', { maxLength: 8 }), { common: 'keyterms' }),
  hint: honouredBy({ live: ['prompts', 'both'] })(text(20, 'Text.'), { common: PROMPT_WITH_TERMS }),
  context: honouredBy({ live: ['objects'] })(
    Type.Object({ text: Type.Optional(Type.String()), terms: Type.Optional(texts(9, 'Terms.')) }),
    {
      common: {
        keyterms: { to: (terms) => ({ terms }), charactersMax: 6 },
        prompt: { to: (words, before) => ({ ...(before as object), text: words }) },
      },
    },
  ),
  weighted: honouredBy({ live: ['weights'] })(
    Type.Array(Type.Object({ value: Type.String(), weight: Type.Optional(Type.Number()) })),
    {
      common: {
        keyterms: { to: (terms) => terms.map((value) => ({ value })) },
        vocabulary_boost: {
          to: (weight, before) => (before as object[] | undefined)?.map((term) => ({ ...term, weight })),
        },
      },
    },
  ),
  mask: live(Type.Boolean(), { common: { redact: { to: () => true } } }),
  masked: live(texts(9, 'Kinds.'), {
    common: { redact: { to: toRedactions({ pii: ['name', 'email'], pci: ['card'] }) } },
  }),
});

function asked(model: string, common: Common, given: Record<string, unknown> = {}) {
  const place = { model, mode: 'live' as const, language: undefined };
  const { params, told } = mapped(`x/${model}`, place, servedBy(table.members, place), common, given);
  return {
    params,
    told: Object.fromEntries(told.map(({ param, outcome, isCut }) => [param, isCut ? 'cut' : outcome])),
    said: told.flatMap(({ message }) => message ?? []),
  };
}

type Row = [string, Parameters<typeof asked>, Record<string, unknown>, Record<string, string>];

it.each<Row>([
  ['its own option', ['lists', { keyterms: ['Zoë'] }], { terms: ['Zoë'] }, { keyterms: 'honoured' }],
  [
    'no more than the option takes, and none that it does not',
    ['lists', { keyterms: ['Zoë', 'much too long', 'b', 'c', 'd'] }],
    { terms: ['Zoë', 'b', 'c'] },
    { keyterms: 'cut' },
  ],
  ['nothing where none is taken', ['lists', { keyterms: ['much too long'] }], {}, { keyterms: 'dropped' }],
  ['nothing without an option', ['lists', { prompt: 'A call.' }], {}, { prompt: 'dropped' }],
  ['a prompt', ['prompts', { prompt: 'A call.' }], { hint: 'A call.' }, { prompt: 'honoured' }],
  [
    'a prompt that is cut between words',
    ['prompts', { prompt: 'A call about flowers' }],
    { hint: 'A call about flowers' },
    { prompt: 'honoured' },
  ],
  [
    'the beginning of a long prompt',
    ['prompts', { prompt: 'A call about dandelions.' }],
    { hint: 'A call about' },
    { prompt: 'cut' },
  ],
  ['terms in its prompt', ['prompts', { keyterms: ['Zoë', 'b'] }], { hint: 'Zoë, b' }, { keyterms: 'mapped' }],
  [
    'terms behind its prompt, which has the room that they leave',
    ['prompts', { prompt: 'A call about flowers', keyterms: ['Zoë', 'b'] }],
    { hint: 'A call about\nZoë, b' },
    { keyterms: 'mapped', prompt: 'cut' },
  ],
  [
    'terms in the option that is theirs, where there is one',
    ['both', { prompt: 'A call.', keyterms: ['Zoë'] }],
    { terms: ['Zoë'], hint: 'A call.' },
    { keyterms: 'honoured', prompt: 'honoured' },
  ],
  [
    'members of one object',
    ['objects', { prompt: 'A call.', keyterms: ['Zoë', 'bcd', 'e'] }],
    { context: { terms: ['Zoë', 'bcd'], text: 'A call.' } },
    { keyterms: 'cut', prompt: 'honoured' },
  ],
  [
    'an object that is joined with the one given',
    ['objects', { prompt: 'A call.', keyterms: ['Zoë'] }, { context: { text: 'Mine.' } }],
    { context: { terms: ['Zoë'], text: 'Mine.' } },
    { keyterms: 'honoured', prompt: 'mapped' },
  ],
  [
    'what `provider_params` says in its own words',
    ['lists', { keyterms: ['Zoë'] }, { terms: ['Mine'] }],
    { terms: ['Mine'] },
    { keyterms: 'mapped' },
  ],
  [
    'terms with a weight',
    ['weights', { keyterms: ['Zoë'], vocabulary_boost: 0.5 }],
    { weighted: [{ value: 'Zoë', weight: 0.5 }] },
    { keyterms: 'honoured', vocabulary_boost: 'honoured' },
  ],
  ['no weight without terms', ['weights', { vocabulary_boost: 0.5 }], {}, { vocabulary_boost: 'dropped' }],
  [
    'terms that its own option has as well, and more, without a word of that',
    ['lists', { keyterms: ['a'] }, { terms: ['a', 'b'] }],
    { terms: ['a', 'b'] },
    { keyterms: 'honoured' },
  ],
  [
    'several options for one member',
    ['lists', { redact: ['pii'] }],
    { mask: true, masked: ['name', 'email'] },
    { redact: 'honoured' },
  ],
  [
    'the kinds that it knows, and learns of the others',
    ['lists', { redact: ['phi', 'pci'] }],
    { mask: true, masked: ['card'] },
    { redact: 'cut' },
  ],
])('requests %s from a model', (_, [model, common, given], params, told) => {
  const found = asked(model, common, given);
  expect([found.params, found.told]).toEqual([params, told]);
});

it('says what becomes of a member in a sentence', () => {
  expect(asked('lists', { keyterms: ['a', 'b', 'c', 'd'], prompt: 'x' }).said).toEqual([
    'x/lists takes 3 of the 4 `keyterms`.',
    'x/lists does not take `prompt`.',
  ]);
  expect(asked('prompts', { keyterms: ['a'] }).said).toEqual(['`keyterms` go to x/prompts as a part of its prompt.']);
  expect(asked('lists', { keyterms: ['a'] }, { terms: [] }).said).toEqual([
    '`provider_params.terms` goes before `keyterms`.',
  ]);
});
