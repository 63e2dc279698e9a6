// The order of models that a request could go to: what decides for each preference, and that luck decides nothing.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PREFERENCES, type Preference } from '../../../../src/api/choice.ts';
import { type Rankable, ranked } from '../../../../src/live/failover/choice/rank.ts';

const NOT_MEASURED = { attempts: 0, failures: 0, delayMs: undefined, delays: 0 };

type Given = Partial<Omit<Rankable, 'figures'>> & Partial<Rankable['figures']>;

function model(slug: string, given: Given = {}): Rankable {
  const { attempts = 0, failures = 0, delayMs, delays = delayMs === undefined ? 0 : 100, ...more } = given;
  return {
    ...{ slug, provider: slug.split('/')[0] as string, created: 0, microUsdPerMinute: 5_000, isOpen: false, unmet: 0 },
    ...more,
    figures: { attempts, failures, delayMs, delays },
  };
}

const order = (candidates: readonly Rankable[], preference: Preference) =>
  ranked(candidates, preference).map(({ candidate, over }) => [candidate.slug, over]);
const names = (candidates: readonly Rankable[], preference: Preference) =>
  ranked(candidates, preference).map(({ candidate }) => candidate.slug);

describe('the order by accuracy', () => {
  it('puts the model that was wrong less often first, then those that are not measured', () => {
    const rows = [
      model('a/none', { microUsdPerMinute: 1 }),
      model('b/worse', { errorRate: 0.12 }),
      model('c/better', { errorRate: 0.06, microUsdPerMinute: 9_000 }),
    ];
    expect(order(rows, 'accuracy')).toEqual([
      ['c/better', 'accuracy'],
      ['b/worse', 'measured'],
      ['a/none', undefined],
    ]);
  });

  it('takes rates that hardly differ for equal, and puts a model that does more of the request first', () => {
    const alike = [model('a/a', { errorRate: 0.103 }), model('b/b', { errorRate: 0.102, microUsdPerMinute: 1 })];
    expect(order(alike, 'accuracy')[0]).toEqual(['b/b', 'price']);
    const unmet = [model('a/a', { errorRate: 0.01, unmet: 1 }), model('b/b', { errorRate: 0.2 })];
    expect(order(unmet, 'accuracy')[0]).toEqual(['b/b', 'wishes']);
    const open = [model('a/a', { errorRate: 0.01, isOpen: true }), model('b/b')];
    expect(order(open, 'accuracy')[0]).toEqual(['b/b', 'breaker']);
  });

  it('does not matter for other preferences', () => {
    const rows = [model('a/a', { errorRate: 0.9 }), model('b/b', { errorRate: 0.01 })];
    for (const preference of ['reliability', 'latency', 'price'] as const)
      expect(names(rows, preference)).toEqual(['a/a', 'b/b']);
  });
});

describe('the order by reliability', () => {
  it.each<[string, Rankable[], [string, string | undefined][]]>([
    [
      'puts the model that fails less first',
      [model('a/a', { attempts: 1_000, failures: 200 }), model('b/b', { attempts: 1_000, failures: 10 })],
      [
        ['b/b', 'failures'],
        ['a/a', undefined],
      ],
    ],
    [
      'takes rates that hardly differ for equal, and lets the delay decide',
      [
        model('a/a', { attempts: 1_000, failures: 1, delayMs: 900 }),
        model('b/b', { attempts: 1_000, failures: 2, delayMs: 300 }),
      ],
      [
        ['b/b', 'delay'],
        ['a/a', undefined],
      ],
    ],
    [
      'lets the price decide between equals',
      [model('a/a', { microUsdPerMinute: 9_000 }), model('b/b', { microUsdPerMinute: 4_000 })],
      [
        ['b/b', 'price'],
        ['a/a', undefined],
      ],
    ],
    [
      'then prefers the newer model, then the name',
      [model('b/b'), model('a/a'), model('c/c', { created: 5 })],
      [
        ['c/c', 'age'],
        ['a/a', 'name'],
        ['b/b', undefined],
      ],
    ],
    [
      'does not move a model for one failure',
      [model('a/a', { attempts: 1, failures: 1, microUsdPerMinute: 4_000 }), model('b/b')],
      [
        ['a/a', 'price'],
        ['b/b', undefined],
      ],
    ],
    [
      'does not prefer a model for ten successes',
      [model('a/a', { attempts: 10 }), model('b/b', { microUsdPerMinute: 4_000 })],
      [
        ['b/b', 'price'],
        ['a/a', undefined],
      ],
    ],
    [
      'prefers many successes to a model that was never used',
      [model('a/a', { microUsdPerMinute: 1 }), model('b/b', { attempts: 2_000, failures: 2 })],
      [
        ['b/b', 'failures'],
        ['a/a', undefined],
      ],
    ],
    [
      'puts a model with an open circuit breaker last',
      [model('a/a', { attempts: 5_000, isOpen: true }), model('b/b', { attempts: 10, failures: 9 })],
      [
        ['b/b', 'breaker'],
        ['a/a', undefined],
      ],
    ],
    [
      'puts a model that meets fewer wishes behind',
      [model('a/a', { attempts: 5_000, unmet: 1 }), model('b/b')],
      [
        ['b/b', 'wishes'],
        ['a/a', undefined],
      ],
    ],
  ])('%s', (_, candidates, expected) => {
    expect(order(candidates, 'reliability')).toEqual(expected);
    expect(order([...candidates].reverse(), 'reliability')).toEqual(expected);
  });
});

describe('the order by latency', () => {
  it('puts the earliest first words first, at any price', () => {
    const candidates = [model('a/a', { delayMs: 800 }), model('b/b', { delayMs: 250, microUsdPerMinute: 90_000 })];
    expect(order(candidates, 'latency')[0]).toEqual(['b/b', 'delay']);
  });

  it('leaves a fast model behind that fails often', () => {
    const candidates = [model('a/a', { delayMs: 800 }), model('b/b', { delayMs: 50, attempts: 100, failures: 60 })];
    expect(order(candidates, 'latency')[0]).toEqual(['a/a', 'reliable']);
  });

  it('expects of one fast answer little, and of a model without any what its provider’s others give', () => {
    const slow = model('slow/one', { delayMs: 3_000, delays: 500 });
    const usual = model('usual/one', { delayMs: 600, delays: 500 });
    expect(names([slow, usual, model('slow/two'), model('new/one', { delayMs: 10, delays: 1 })], 'latency')).toEqual([
      'usual/one',
      'new/one',
      'slow/one',
      'slow/two',
    ]);
  });
});

describe('the order by price', () => {
  it('puts the cheapest first, and the more reliable of two at one price', () => {
    const candidates = [
      model('a/a', { microUsdPerMinute: 4_000, attempts: 1_000, failures: 300 }),
      model('b/b', { microUsdPerMinute: 4_000 }),
      model('c/c', { microUsdPerMinute: 9_000, attempts: 1_000 }),
      model('d/d', { microUsdPerMinute: 0, attempts: 1_000, failures: 500 }),
    ];
    expect(order(candidates, 'price')).toEqual([
      ['d/d', 'price'],
      ['b/b', 'failures'],
      ['a/a', 'price'],
      ['c/c', undefined],
    ]);
  });
});

const figures = fc
  .record({
    attempts: fc.nat(2_000),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    delayMs: fc.option(fc.double({ min: 1, max: 60_000, noNaN: true }), { nil: undefined }),
    delays: fc.integer({ min: 1, max: 500 }),
  })
  .map(({ attempts, share, delayMs, delays }) => ({
    ...{ attempts, failures: Math.floor(attempts * share), delayMs },
    delays: delayMs === undefined ? 0 : delays,
  }));

const candidates = fc.uniqueArray(
  fc.record({
    slug: fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(20)).map(([provider, at]) => `${provider}/${at}`),
    created: fc.nat(3),
    microUsdPerMinute: fc.nat(5).map((price) => price * 1_000),
    isOpen: fc.boolean(),
    unmet: fc.nat(2),
    figures: fc.oneof(fc.constant(NOT_MEASURED), figures),
  }),
  { selector: ({ slug }) => slug, minLength: 1, maxLength: 12 },
);
const all = candidates.map((each) => each.map((row) => ({ ...row, provider: row.slug.split('/')[0] as string })));
const preferences = fc.constantFrom(...PREFERENCES);

describe('any order', () => {
  it('has each candidate once, and is the same for every order of the question', () => {
    fc.assert(
      fc.property(all, preferences, fc.nat(), (rows, preference, seed) => {
        const found = names(rows, preference);
        expect([...found].sort()).toEqual(rows.map(({ slug }) => slug).sort());
        const turned = [...rows.slice(seed % rows.length), ...rows.slice(0, seed % rows.length)].reverse();
        expect(order(turned, preference)).toEqual(order(rows, preference));
      }),
    );
  });

  it('never moves a model up for more failures', () => {
    fc.assert(
      fc.property(all, preferences, fc.nat(), fc.integer({ min: 1, max: 500 }), (rows, preference, at, more) => {
        const row = rows[at % rows.length] as Rankable;
        const { attempts, failures } = row.figures;
        const place = names(rows, preference).indexOf(row.slug);
        const worse = { ...row, figures: { ...row.figures, attempts: attempts + more, failures: failures + more } };
        const after = rows.map((each) => (each === row ? worse : each));
        expect(names(after, preference).indexOf(row.slug)).toBeGreaterThanOrEqual(place);
      }),
    );
  });

  it('has every open breaker behind every closed one', () => {
    fc.assert(
      fc.property(all, preferences, (rows, preference) => {
        const open = ranked(rows, preference).map(({ candidate }) => candidate.isOpen);
        expect(open).toEqual([...open].sort());
      }),
    );
  });
});
