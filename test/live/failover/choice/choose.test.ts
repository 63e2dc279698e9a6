// `model=auto` and `fallbacks=auto`: which models a request could go to, which are taken, how that is explained, and what a refusal says.
import { describe, expect, it } from 'vitest';
import type { ChosenModel } from '../../../../src/api/choice.ts';
import { ApiError } from '../../../../src/api/errors.ts';
import type { Candidate } from '../../../../src/api/listen.ts';
import { createPriceList, type PriceOverrides } from '../../../../src/config/prices/price-list.ts';
import type { Ask, ChainDependencies } from '../../../../src/live/failover/chain.ts';
import { chosenChain, isChosen, type Wishes } from '../../../../src/live/failover/choice/choose.ts';
import type { Figures } from '../../../../src/live/failover/choice/measures.ts';
import { processedIn } from '../../../../src/vendors/kit/cards.ts';
import type { ModelCard, Provider } from '../../../../src/vendors/kit/provider.ts';
import { loopback } from '../../../../src/vendors/loopback/index.ts';

const ASK: Ask = {
  mode: 'live',
  organisationId: 'org_1',
  model: 'auto',
  providerParams: {},
  fallbacks: [],
  sampleRate: 16_000,
  language: 'fr',
  diarization: false,
  interimResults: false,
  strict: false,
};

const { isForOnePurpose: _, ...card } = loopback.models[0] as ModelCard;
const SOURCE = { url: 'a test', date: '2026-11-29' };
const IN_EU = [...processedIn(SOURCE, [{ region: 'eu' }], [{ retention: 'none' }])];
const ABROAD = [...processedIn(SOURCE, [{ region: 'us' }], [{ retention: 'kept' }])];

function provider(name: string, cards: readonly Partial<ModelCard>[], more: Partial<Provider> = {}): Provider {
  const models = cards.map((own, at) => ({
    ...card,
    ...{ id: `${name}/${at}`, languages: ['en', 'fr'], processing: ABROAD },
    pricing: { currency: 'USD' as const },
    ...own,
  }));
  return { ...loopback, name, title: name, models, ...more };
}

const can = (capabilities: Partial<ModelCard['capabilities']>) => ({
  capabilities: { ...card.capabilities, ...capabilities },
});

const PROVIDERS: readonly Provider[] = [
  provider('cheap', [{}, { languages: ['en'] }, { isForOnePurpose: true }]),
  provider('dear', [can({ diarization: true }), {}]),
  provider('eu', [{ processing: IN_EU }]),
  provider('files', [{ modes: ['batch'] }]),
  provider('keyless', [{}], { credential: 'required' }),
  provider('finals', [can({ interim_results: false, language_detection: true })]),
];

const priceOf = (name: string): string => ({ cheap: '0.001', dear: '0.01', eu: '0.005' })[name] ?? '0.003';
const PRICES: PriceOverrides = Object.fromEntries(
  PROVIDERS.flatMap(({ name, models }) =>
    models.map(({ id, modes }) => [
      id,
      Object.fromEntries(modes.map((mode) => [mode, { unit: 'minute' as const, amount: priceOf(name) }])),
    ]),
  ),
);

type Measured = Readonly<Record<string, Partial<Figures>>>;

function dependencies(
  measured: Measured = {},
  open: readonly string[] = [],
  accuracies: Readonly<Record<string, number>> = {},
): ChainDependencies {
  return {
    providers: new Map(PROVIDERS.map((each) => [each.name, each])),
    prices: createPriceList(PROVIDERS, PRICES),
    engines: {},
    access: () => ({ baseUrl: undefined, credential: undefined }),
    choice: {
      figuresOf: (_, slug) => ({ attempts: 0, failures: 0, delayMs: undefined, delays: 0, ...measured[slug] }),
      isOpen: ({ slug }) => open.includes(slug),
      accuracyOf: (slug, language) => {
        const errorRate = accuracies[`${slug} ${language}`];
        return errorRate === undefined ? undefined : { errorRate, unit: 'words', units: 5_000 };
      },
    },
  };
}

interface Case {
  ask?: Partial<Ask>;
  wishes?: Partial<Wishes>;
  measured?: Measured;
  open?: readonly string[];
  /** By model and language. */
  accuracies?: Readonly<Record<string, number>>;
}

const choose = ({ ask = {}, wishes = {}, measured, open, accuracies }: Case) =>
  chosenChain(
    { ...ASK, ...ask },
    { preference: undefined, allows: () => true, prefersInterims: true, ...wishes },
    dependencies(measured, open, accuracies),
  );

async function slugs(given: Case): Promise<string[]> {
  const { members } = await choose(given);
  return members.map(({ slug }) => slug);
}

async function refusal(given: Case): Promise<ApiError> {
  const error = await choose(given).catch((thrown: unknown) => thrown);
  if (!(error instanceof ApiError)) throw new Error('Models were chosen.');
  return error;
}

const accurate = { wishes: { preference: 'accuracy' } } as const;
const price = { wishes: { preference: 'price' } } as const;
const fallbacks = (...models: string[]): Candidate[] => models.map((model) => ({ model }));

describe('prefer=accuracy', () => {
  const accuracies = { 'dear/0 fr': 0.04, 'cheap/0 fr': 0.11, 'eu/0 en': 0.01, 'eu/0 null': 0.2 };

  it('ranks by what was measured in the language of the request, models without a measurement last', async () => {
    const { members } = await choose({ ...accurate, accuracies, ask: { language: 'fr-CA' } });
    expect(members.map(({ slug, chosen }) => [slug, chosen?.accuracy, chosen?.reason])).toEqual([
      [
        'dear/0',
        { error_rate: 0.04, unit: 'words', units: 5_000 },
        'Made fewer errors than cheap/0 in the operator’s recordings.',
      ],
      [
        'cheap/0',
        { error_rate: 0.11, unit: 'words', units: 5_000 },
        'Has a measured accuracy in this language, which eu/0 does not have.',
      ],
      ['eu/0', undefined, expect.any(String)],
    ]);
    expect(await slugs({ ...accurate, accuracies, ask: { language: 'en' } })).toContain('eu/0');
  });

  it('goes by the first of several languages, and without one by recordings without one', async () => {
    const common = { languages: ['fr', 'en'] };
    expect((await slugs({ ...accurate, accuracies, ask: { language: undefined, common } }))[0]).toBe('dear/0');
    expect((await slugs({ ...accurate, accuracies, ask: { language: undefined } }))[0]).toBe('eu/0');
  });

  it.each([
    [{ language: 'fr' }, 'for `fr`', {}],
    [{ language: 'auto' }, 'without a named language', { 'finals/0 fr': 0.1 }],
    [{ model: 'cheap/0', fallbacks: fallbacks('auto') }, 'for `fr`', { 'cheap/0 en': 0.1 }],
  ])(
    'is refused for %j where no model that fits is measured, with the command that measures',
    async (ask, of, known) => {
      const { code, message, extras } = await refusal({ ...accurate, ask, accuracies: known });
      expect([code, extras.param, message]).toEqual([
        ...['invalid_request', 'prefer'],
        `\`prefer=accuracy\`: no model that fits the request has a measured accuracy ${of}. The gateway's operator can measure it with \`voxgate accuracy DIR --models … --keep FILE\`. Send another \`prefer\` or another language.`,
      ]);
    },
  );

  it('does not show what was measured for other preferences', async () => {
    const { members } = await choose({ ...price, accuracies });
    expect(members.map(({ chosen }) => chosen?.accuracy)).toEqual([undefined, undefined, undefined]);
  });
});

describe('model=auto', () => {
  it('takes one model and two fallbacks, each of another provider', async () => {
    expect(await slugs(price)).toEqual(['cheap/0', 'eu/0', 'dear/0']);
  });

  it('keeps the fallbacks that the request names', async () => {
    expect(await slugs({ ...price, ask: { fallbacks: fallbacks('dear/1') } })).toEqual(['cheap/0', 'dear/1']);
    expect(await slugs({ ...price, ask: { fallbacks: fallbacks('cheap/0') } })).toEqual(['eu/0', 'cheap/0']);
  });

  it.each<[string, Case, string[]]>([
    ['the language', { ...price, ask: { language: 'en-GB' } }, ['cheap/0', 'eu/0', 'dear/0']],
    ['detecting it', { ...price, ask: { language: 'auto' } }, ['finals/0']],
    [
      'all of several languages',
      { ...price, ask: { common: { languages: ['en', 'fr'] } } },
      ['cheap/0', 'finals/0', 'eu/0'],
    ],
    [
      'the models that the key allows',
      { ...price, wishes: { ...price.wishes, allows: (slug) => slug === 'dear/1' } },
      ['dear/1'],
    ],
    [
      'no redaction that the gateway does itself',
      { ...price, ask: { common: { redact: ['card'] } } },
      ['cheap/0', 'eu/0', 'dear/0'],
    ],
    ['telling speakers apart', { ...price, ask: { diarization: true } }, ['dear/0']],
    ['the region', { ...price, ask: { rules: [{ by: 'the request', regions: ['eu'], retention: 'none' }] } }, ['eu/0']],
    ['files', { ...price, ask: { mode: 'batch' } }, ['cheap/0', 'files/0', 'finals/0']],
    [
      'interims, where the request insists on them',
      { ...price, ask: { interimResults: true } },
      ['cheap/0', 'eu/0', 'dear/0'],
    ],
    [
      'no interims, where it does without them',
      { ...price, wishes: { ...price.wishes, prefersInterims: false } },
      ['cheap/0', 'finals/0', 'eu/0'],
    ],
    ['breakers', { ...price, open: ['cheap/0', 'eu/0'] }, ['dear/0', 'finals/0', 'cheap/0']],
  ])('goes by %s', async (_, given, expected) => {
    expect(await slugs(given)).toEqual(expected);
  });

  it('goes by what was measured', async () => {
    const measured = {
      'cheap/0': { attempts: 1_000, failures: 300, delayMs: 200, delays: 500 },
      'dear/0': { attempts: 1_000, failures: 3, delayMs: 900, delays: 500 },
      'dear/1': { attempts: 1_000, failures: 3, delayMs: 400, delays: 500 },
    };
    expect(await slugs({ measured })).toEqual(['dear/1', 'eu/0', 'cheap/0']);
    expect((await slugs({ measured, wishes: { preference: 'latency' } }))[0]).toBe('dear/1');
    expect((await slugs({ measured, ...price }))[0]).toBe('cheap/0');
  });

  it('stays with the models of a session that is changed, as long as they fit and work', async () => {
    const keeps = ['dear/0', 'eu/0'];
    const changed = (more: Case) => slugs({ ...more, wishes: { preference: 'price', keeps, ...more.wishes } });
    expect(await changed({})).toEqual(['dear/0', 'eu/0', 'cheap/0']);
    expect(await changed({ open: ['dear/0'] })).toEqual(['eu/0', 'cheap/0', 'dear/1']);
    expect(await changed({ ask: { language: 'auto' } })).toEqual(['finals/0']);
  });

  it('explains each model, with figures and why it precedes the next', async () => {
    const { members } = await choose({
      ...price,
      measured: {
        'cheap/0': { attempts: 123_456, failures: 1_234.56, delayMs: 312.4, delays: 9 },
        'eu/0': { attempts: 4, failures: 1 },
      },
    });
    expect(members.map(({ chosen }) => chosen)).toEqual<(ChosenModel | undefined)[]>([
      {
        ...{ model: 'cheap/0', reason: 'Costs less than eu/0.', price_per_minute: '0.001' },
        ...{ first_word_ms: 312, error_rate: 0.01, measured: 1_000 },
      },
      { model: 'eu/0', reason: 'Costs less than dear/0.', price_per_minute: '0.005', error_rate: 0.25, measured: 4 },
      {
        ...{ model: 'dear/0', reason: 'As good as dear/1, and first in alphabetical order.', price_per_minute: '0.01' },
        measured: 0,
      },
    ]);
  });

  it('shows of files how long the answer takes for a second of audio', async () => {
    const [first] = (
      await choose({ ...price, ask: { mode: 'batch' }, measured: { 'cheap/0': { delayMs: 40, delays: 3 } } })
    ).members;
    expect(first?.chosen).toMatchObject({ answer_ms_per_second: 40 });
    expect(first?.chosen).not.toHaveProperty('first_word_ms');
  });

  it('adds the operator’s last resort behind the chosen models, unexplained', async () => {
    const { members } = await choose({ ...price, ask: { lastResort: 'finals/0' } });
    expect(members.map(({ slug, chosen }) => [slug, chosen === undefined])).toEqual([
      ['cheap/0', false],
      ['eu/0', false],
      ['dear/0', false],
      ['finals/0', true],
    ]);
  });

  it.each<[string, Case, string]>([
    ['a language', { ask: { language: 'sw' } }, 'Of 7 models that transcribe live audio, none knows `sw`.'],
    ['languages', { ask: { common: { languages: ['en', 'sw'] } } }, 'none knows `fr` and `en` and `sw`.'],
    [
      'the models of the key',
      { wishes: { allows: () => false } },
      'Of 6 models that know `fr`, none is allowed by the API key.',
    ],
    [
      'credentials',
      { wishes: { allows: (slug) => slug.startsWith('keyless/') } },
      'Of the 1 model that is allowed by the API key, none has a credential and a price here.',
    ],
    [
      'the region',
      { ask: { rules: [{ by: 'the request', regions: ['jp', 'in'], retention: null }] } },
      'Of 5 models that have a credential and a price here, none may process the audio in jp or in.',
    ],
    [
      'retention',
      {
        ask: { rules: [{ by: 'the API key', regions: null, retention: 'none' }] },
        wishes: { allows: (slug) => slug !== 'eu/0' },
      },
      'none may process the audio and keep nothing.',
    ],
    [
      'what it needs',
      { ask: { common: { redact: ['pii'] }, diarization: true } },
      'none can do what the request needs (`diarization`, `redact`).',
    ],
  ])('is refused where %s leaves no model, by that condition', async (_, given, words) => {
    const { code, message, extras } = await refusal(given);
    expect([code, extras.param]).toEqual(['no_model_available', 'model']);
    expect(message).toContain(words);
  });

  it('is refused with options, which belong to one model', async () => {
    const { code, extras } = await refusal({ ask: { providerParams: { turns: [] } } });
    expect([code, extras.param]).toEqual(['invalid_request', 'provider_params']);
  });

  it('chooses with `strict` only models that honour everything', async () => {
    const common = { keyterms: ['Voxgate'] };
    expect((await refusal({ ask: { common, strict: true } })).code).toBe('no_model_available');
    expect((await slugs({ ...price, ask: { common } })).length).toBe(3);
    expect(await slugs({ ...price, ask: { strict: true, diarization: true } })).toEqual(['dear/0']);
  });
});

describe('fallbacks=auto', () => {
  const auto = fallbacks('auto');

  it('adds two models of other providers to the one that is named', async () => {
    const { members } = await choose({ ...price, ask: { model: 'cheap/1', fallbacks: auto, language: 'en' } });
    expect(members.map(({ slug }) => slug)).toEqual(['cheap/1', 'eu/0', 'dear/0']);
    expect(members.map(({ chosen }) => chosen?.model)).toEqual([undefined, 'eu/0', 'dear/0']);
  });

  it('adds them behind fallbacks that are named', async () => {
    const ask = { model: 'dear/0', fallbacks: fallbacks('eu/0', 'auto') };
    expect(await slugs({ ...price, ask })).toEqual(['dear/0', 'eu/0', 'cheap/0', 'finals/0']);
  });

  it('warns where there are none, and refuses with `strict`', async () => {
    const ask = { model: 'dear/0', fallbacks: auto, diarization: true };
    const { members, warnings } = await choose({ ask });
    expect(members.map(({ slug }) => slug)).toEqual(['dear/0']);
    expect(warnings).toMatchObject([{ code: 'no_fallback_available', param: 'fallbacks' }]);
    expect((await refusal({ ask: { ...ask, strict: true } })).code).toBe('no_model_available');
  });

  it('takes no options', async () => {
    const { code, extras } = await refusal({ ask: { fallbacks: [{ model: 'auto', credential: 'own' }] } });
    expect([code, extras.param]).toEqual(['invalid_request', 'fallbacks']);
  });

  it('does not let a named model pass that there is not', async () => {
    expect((await refusal({ ask: { model: 'cheap/9', fallbacks: auto } })).code).toBe('model_not_found');
  });
});

it('leaves requests alone that name their models', () => {
  expect(isChosen({ model: 'cheap/0', fallbacks: fallbacks('eu/0') })).toBe(false);
  expect(isChosen({ model: 'cheap/0', fallbacks: fallbacks('eu/0', 'auto') })).toBe(true);
});
