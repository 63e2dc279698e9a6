// Which prices of one model and account are one rate, in the members of a meter, and that there is an end to them.
import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { CONFIGURATIONS_MAX, FALLBACKS_MAX } from '../../../src/api/bounds.ts';
import { createPriceList, priceWith } from '../../../src/config/prices/price-list.ts';
import { Meter, type MeterCandidate } from '../../../src/money/ledger/meter.ts';
import { LINES_MAX } from '../../../src/money/store/checks.ts';
import { providers } from '../../../src/vendors/index.ts';
import { headOf, perMinute } from '../../fakes/store/ledger.ts';

const member = (microUsd: bigint, rest: Partial<MeterCandidate> = {}): MeterCandidate => ({
  ...{ slug: 'a/one', own: false, price: perMinute(microUsd) },
  ...rest,
});

function meterOf(...chains: readonly (readonly MeterCandidate[])[]): Meter {
  const [members = [], ...further] = chains;
  const meter = new Meter({
    head: headOf({ organisationId: 'org_1', keyId: 'key_1' }, 'ses_1'),
    members,
    grant: { heldMicroUsd: 0n, limitedBy: null },
    clock: new SimulatedClock(),
    reservations: {
      begin: () => new Promise(() => {}),
      renew: () => new Promise(() => {}),
      renewOwn: () => new Promise(() => {}),
      settle: () => {},
    },
    graceMs: 0,
    isUnlimited: false,
  });
  for (const chain of further) meter.add(chain);
  return meter;
}

const ratesOf = (...chains: readonly (readonly MeterCandidate[])[]) =>
  meterOf(...chains).members.map(({ rate }) => rate);

describe('a rate', () => {
  test('counts none for the first price, then 1, 2, …, and repeats for equal prices', () => {
    expect(ratesOf([member(10n), member(12n)], [member(10n)], [member(15n), member(12n)])).toEqual([
      ...[undefined, 1, undefined, 2, 1],
    ]);
  });

  test('counts separately for each model and account', () => {
    const other = { slug: 'a/two' };
    const own = { own: true };
    expect(ratesOf([member(10n), member(12n, other), member(0n, own)], [member(12n), member(10n, other)])).toEqual([
      ...[undefined, undefined, undefined, 1, 1],
    ]);
  });

  test.each<[string, Partial<MeterCandidate>]>([
    ['its minimum', { price: perMinute(10n, 1n) }],
    ['its unit', { price: { ...perMinute(10n), unit: 'session' } }],
    ['what it is metered by', { metered: 'connection' }],
  ])('differs where the price differs in %s', (_, rest) => {
    const [first, second] = meterOf([member(10n)], [member(10n, rest)]).members;
    expect([first, second]).toEqual([member(10n), { ...member(10n, rest), rate: 1 }]);
  });

  test('stays single where a price is per session', () => {
    const price = { unit: 'session', amount: '0.15' } as const;
    const everything = { language: 'multi', diarization: true, params: { keyterm: ['a'], redact: ['pii'] } };
    const cards = providers.flatMap(({ models }) => models).filter(({ modes }) => modes.includes('live'));
    const list = createPriceList(providers, Object.fromEntries(cards.map(({ id }) => [id, { live: price }])));
    for (const { id } of cards) {
      const listed = list.priceOf(id, 'live');
      if (listed === undefined) throw new Error(`${id} has no price.`);
      expect(priceWith(listed, everything)).toEqual({ unit: 'session', microUsd: 150_000n, minimumMicroUsd: 0n });
    }
  });

  test('fits the ledger for every candidate of every chain of a session', () => {
    const chains = Array.from({ length: CONFIGURATIONS_MAX + 1 }, (_, chain) =>
      // A model, its fallbacks and the last resort.
      Array.from({ length: FALLBACKS_MAX + 2 }, (_, at) => member(BigInt(1 + chain * 10 + at))),
    );
    const rates = ratesOf(...chains);
    expect([rates.length, rates.at(-1)]).toEqual([LINES_MAX, LINES_MAX - 1]);
  });
});
