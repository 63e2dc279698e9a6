// `max_cost` and `max_seconds` of a live session: it is never charged more, and ends with what was paid for delivered.
import { describe, expect, it } from 'vitest';
import { microUsdOf } from '../../../../src/config/prices/price.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { seeded } from '../../../fakes/random.ts';
import { type RigClient, type RigOptions, SessionRig } from '../../../fakes/session-rig.ts';
import { MemoryLedger } from '../../../fakes/store/memory-ledger.ts';
import { expectInOrder, expectNothingLeft, RATE, untilEnded } from '../support.ts';

const NUMBERED = 'loopback/numbered';
const minute = (amount: string) => ({ unit: 'minute' as const, amount });
/** A cent a second. */
const PRICES = { [NUMBERED]: { live: minute('0.6') } };

const rigWith = (balance: bigint | null = microUsdOf('100'), prices: RigOptions['prices'] = PRICES) =>
  new SessionRig({ prices, ledger: new MemoryLedger(balance) });

const limitedTo = (usd: string) => ({ limits: { maxMicroUsd: microUsdOf(usd) } });

async function talk(rig: SessionRig, client: RigClient, seconds: number): Promise<void> {
  for (let at = 0; at < seconds * 10 && client.closeCode === undefined; at++) {
    client.session.audio(numberedAudio((at * RATE) / 10, ((at + 1) * RATE) / 10));
    await rig.advance(100, 100);
  }
}

const endOf = (client: RigClient) => client.of('session_ended')[0]!;
const costOf = (client: RigClient): bigint => microUsdOf(endOf(client).cost_usd);

describe('max_cost', () => {
  it.each<[string, bigint | null]>([
    ['credit', microUsdOf('100')],
    ['no credit limit', null],
  ])('ends a session with %s after the last final that it pays for', async (_, balance) => {
    const rig = rigWith(balance);
    const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 4 }, ...limitedTo('0.25') });
    await talk(rig, client, 60);
    await untilEnded(rig, client);
    expect([client.closeCode, endOf(client).reason]).toEqual([4002, 'credit']);
    expect(client.of('error').at(-1)?.error.code).toBe('max_cost_reached');
    expect(client.of('warning').map(({ code }) => code)).toContain('max_cost_low');
    const heard = client.finals.at(-1)!.end;
    expect(heard).toBeGreaterThan(23);
    expect(costOf(client)).toBeLessThanOrEqual(microUsdOf('0.25'));
    expect(client.of('discontinuity')).toMatchObject([{ from: heard, to: endOf(client).audio_seconds }]);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });

  it('lets a session end as usual that stays below it, without a warning', async () => {
    const rig = rigWith();
    const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 2 }, ...limitedTo('5') });
    await talk(rig, client, 40);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect([client.closeCode, endOf(client).cost_usd, client.of('warning')]).toEqual([1000, '0.40', []]);
    await expectNothingLeft(rig);
  });

  it('holds no more than it', async () => {
    const rig = rigWith(microUsdOf('1'));
    const client = await rig.open({ model: NUMBERED, ...limitedTo('0.25') });
    expect(rig.ledger.available).toBe(microUsdOf('0.75'));
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    await expectNothingLeft(rig);
  });

  it('refuses a session of which it does not pay a second', async () => {
    const rig = rigWith();
    await expect(rig.open({ model: NUMBERED, ...limitedTo('0.009999') })).rejects.toMatchObject({
      code: 'max_cost_reached',
      extras: { param: 'max_cost' },
    });
    expect(rig.ledger.available).toBe(microUsdOf('100'));
  });

  it('does not end a session with a free model', async () => {
    const rig = rigWith(0n, {});
    const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 2 }, ...limitedTo('0') });
    await talk(rig, client, 61);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect([client.closeCode, endOf(client).cost_usd]).toEqual([1000, '0.00']);
    await expectNothingLeft(rig);
  });

  it('holds while the ledger does not answer', async () => {
    const rig = rigWith();
    const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 2 }, ...limitedTo('1') });
    rig.ledger.failing = 'busy';
    await talk(rig, client, 150);
    client.session.control({ type: 'close' });
    await rig.advance(5_000, 100);
    rig.ledger.failing = undefined;
    await untilEnded(rig, client, 400);
    expect(costOf(client)).toBeLessThanOrEqual(microUsdOf('1'));
    await rig.advance(20_000, 1_000);
    await expectNothingLeft(rig);
  });

  it('says so when credit runs out first', async () => {
    const rig = rigWith(microUsdOf('0.1'));
    const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 1 }, ...limitedTo('0.25') });
    await talk(rig, client, 30);
    await untilEnded(rig, client);
    expect(client.of('error').at(-1)?.error.code).toBe('insufficient_credit');
    await expectNothingLeft(rig);
  });

  it.each([1, 2, 3, 4, 5, 6])('is never exceeded over failovers between prices (seed %d)', async (seed) => {
    const random = seeded(seed);
    const [one, other] = random.pick([
      ['0.06', '6.0'],
      ['6.0', '0.06'],
    ]);
    const rig = rigWith(null, { 'loopback/script': { live: minute(one) }, [NUMBERED]: { live: minute(other) } });
    const max = BigInt(random.integer(200_000, 900_000));
    const client = await rig.open({
      model: 'loopback/script',
      providerParams: {
        turns: Array.from({ length: 30 }, (_, turn) => ({ text: `turn ${turn}`, seconds: random.pick([1, 2, 5]) })),
        fail: { how: 'close' as const, at_seconds: random.integer(1, 15) },
      },
      fallbacks: [{ model: NUMBERED, provider_params: { turn_seconds: 2 } }],
      limits: { maxMicroUsd: max },
    });
    for (let round = 0; round < 40 && client.closeCode === undefined; round++) {
      const speed = RATE * random.integer(1, 4);
      client.session.audio(numberedAudio(round * speed, (round + 1) * speed));
      await rig.advance(random.integer(100, 900), 100);
    }
    client.session.control({ type: 'close' });
    await untilEnded(rig, client, 400);
    expect(costOf(client)).toBeLessThanOrEqual(max);
    await expectNothingLeft(rig);
  });
});

describe('max_seconds', () => {
  it('shortens the session, and the client reads its new limit', async () => {
    const rig = rigWith();
    const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 2 }, limits: { maxSeconds: 5 } });
    expect(client.of('session_started')[0]?.limits.session_seconds).toBe(5);
    await talk(rig, client, 20);
    await untilEnded(rig, client);
    expect([client.closeCode, endOf(client).reason]).toEqual([4008, 'too_long']);
    expect(client.of('error').at(-1)?.error.code).toBe('session_too_long');
    expect(endOf(client).audio_seconds).toBeLessThanOrEqual(5.1);
    await expectNothingLeft(rig);
  });

  it('does not lengthen the gateway’s own limit', async () => {
    const rig = new SessionRig({ settings: { longestMs: 4_000 } });
    const client = await rig.open({ model: NUMBERED, limits: { maxSeconds: 60 } });
    expect(client.of('session_started')[0]?.limits.session_seconds).toBe(4);
    await untilEnded(rig, client);
    expect(endOf(client).reason).toBe('too_long');
    await expectNothingLeft(rig);
  });
});
