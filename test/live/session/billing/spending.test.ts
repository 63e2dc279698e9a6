// The promise that a live session costs what was heard and nothing else, never more than there is, whatever fails in between.
import { describe, expect, it } from 'vitest';
import { costMicroUsd, exactPrice, microUsdOf } from '../../../../src/config/prices/price.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { seeded } from '../../../fakes/random.ts';
import { type RigClient, type RigOptions, SessionRig, settle } from '../../../fakes/session-rig.ts';
import { MemoryLedger } from '../../../fakes/store/memory-ledger.ts';
import { expectInOrder, expectNothingLeft, RATE, untilEnded } from '../support.ts';

const minute = (amount: string, minimum?: string) => ({
  unit: 'minute' as const,
  amount,
  ...(minimum === undefined ? {} : { minimum }),
});
const NUMBERED = 'loopback/numbered';
const CHEAP = { [NUMBERED]: { live: minute('0.6') } };
/** 0.6 USD a minute: a cent a second. */
const CENTS_A_SECOND = 1;

const rigWith = (balance: bigint | null, options: RigOptions = {}) =>
  new SessionRig({ prices: CHEAP, ledger: new MemoryLedger(balance), ...options });

/** Audio in real time, a tenth of a second at a time, until it is all sent or the session takes no more. */
async function talk(rig: SessionRig, client: RigClient, seconds: number, from = 0): Promise<void> {
  for (let at = 0; at < seconds * 10 && client.closeCode === undefined; at++) {
    const sample = from * RATE + (at * RATE) / 10;
    client.session.audio(numberedAudio(sample, sample + RATE / 10));
    await rig.advance(100, 100);
  }
}

const endOf = (client: RigClient) => client.of('session_ended')[0]!;
const settledOf = (rig: SessionRig) => [...rig.ledger.settled.values()][0]!;

describe('the cost of a session', () => {
  it('appears to the micro-dollar as settled; the hold is released afterwards', async () => {
    const rig = rigWith(microUsdOf('100'));
    const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 2 } });
    await talk(rig, client, 90);
    expect(rig.ledger.available).toBeLessThan(microUsdOf('100'));
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect(endOf(client).cost_usd).toBe('0.90');
    expect(endOf(client).usage).toEqual([{ model: NUMBERED, seconds: 90, cost_usd: '0.90', byok: false }]);
    expect(settledOf(rig).costMicroUsd).toBe(microUsdOf('0.9'));
    expect(rig.ledger.available).toBe(microUsdOf('99.1'));
    expect(rig.ledger.renewals.length).toBeGreaterThanOrEqual(3);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });

  it('needs no ledger call where nothing costs, and settles anyway', async () => {
    const rig = new SessionRig({ ledger: new MemoryLedger(0n) });
    rig.ledger.failing = undefined;
    const client = await rig.open({ model: NUMBERED });
    await talk(rig, client, 61);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect(rig.ledger.renewals).toEqual([]);
    expect(endOf(client)).toMatchObject({ reason: 'client_closed', cost_usd: '0.00' });
    expect(settledOf(rig).end).toMatchObject({ audioMs: 61_000, lines: [{ audioMs: 61_000 }] });
    await expectNothingLeft(rig);
  });

  it.each([
    ['a per-session price', { unit: 'session' as const, amount: '0.15' }, 7, '0.15'],
    ['a minimum that is not reached', minute('0.6', '0.30'), 7, '0.30'],
    ['a minimum that is passed', minute('0.6', '0.30'), 60, '0.60'],
    ['a per-session price when nothing was sent', { unit: 'session' as const, amount: '0.15' }, 0, '0.00'],
  ])('%s is charged as it says', async (_, live, seconds, cost) => {
    const rig = rigWith(microUsdOf('2'), { prices: { [NUMBERED]: { live } } });
    const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 2 } });
    await talk(rig, client, seconds);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect(endOf(client).cost_usd).toBe(cost);
    expect(rig.ledger.balance).toBe(microUsdOf('2') - microUsdOf(cost));
    await expectNothingLeft(rig);
  });
});

it('sends a finalize after the audio that waited for money before it', async () => {
  const rig = rigWith(microUsdOf('100'));
  const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 7 } });
  // More than is held for, and at once.
  for (let at = 0; at < 300; at++) client.session.audio(numberedAudio(at * RATE, (at + 1) * RATE));
  client.session.control({ type: 'finalize' });
  await rig.advance(10_000, 100);
  expect(client.finals.at(-1)).toMatchObject({ start: 294, end: 300 });
  client.session.control({ type: 'close' });
  await untilEnded(rig, client);
  expectInOrder(client);
  await expectNothingLeft(rig);
});

describe('credit that runs out', () => {
  it('ends the session after the last final it pays for, names what was cut, and never goes below zero', async () => {
    const rig = rigWith(microUsdOf('0.25'));
    const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 4 } });
    await talk(rig, client, 60);
    await untilEnded(rig, client);
    expect(client.closeCode).toBe(4002);
    expect(client.of('warning').map(({ code }) => code)).toContain('credit_low');
    expect(client.of('error').at(-1)?.error.code).toBe('insufficient_credit');
    const end = endOf(client);
    expect(end.reason).toBe('credit');
    const heard = client.finals.at(-1)!.end;
    expect(Number(end.cost_usd) * 100).toBeCloseTo(heard * CENTS_A_SECOND, 2);
    expect(heard).toBeGreaterThan(23);
    expect(client.of('discontinuity')).toMatchObject([{ from: heard, to: end.audio_seconds }]);
    expect(rig.ledger.leastAvailable).toBeGreaterThanOrEqual(0n);
    expect(rig.ledger.balance).toBeGreaterThanOrEqual(0n);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });

  it('fails the session’s opening when there is none', async () => {
    const rig = rigWith(0n);
    await expect(rig.open({ model: NUMBERED })).rejects.toMatchObject({ code: 'insufficient_credit' });
    expect(rig.sessions.size).toBe(0);
  });

  it('cuts a client off that had sent everything and closed, too', async () => {
    const rig = rigWith(microUsdOf('0.05'));
    const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 1 } });
    client.session.audio(numberedAudio(0, 30 * RATE));
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect([client.closeCode, endOf(client).reason]).toEqual([4002, 'credit']);
    expect(rig.ledger.balance).toBeGreaterThanOrEqual(0n);
    expect(client.of('discontinuity')).toHaveLength(1);
    await expectNothingLeft(rig);
  });

  it('keeps the session alive when more is added in time', async () => {
    const rig = rigWith(microUsdOf('0.25'));
    const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 2 } });
    await talk(rig, client, 10);
    rig.ledger.balance = rig.ledger.balance! + microUsdOf('5');
    await talk(rig, client, 60, 10);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect([client.closeCode, endOf(client).cost_usd]).toEqual([1000, '0.70']);
    await expectNothingLeft(rig);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'never falls below zero for clients far faster than real time (seed %d)',
    async (seed) => {
      const random = seeded(seed);
      const rig = rigWith(BigInt(random.integer(20_000, 3_000_000)));
      const clients: RigClient[] = [];
      for (let each = 0; each < 8; each++) {
        const opened = await rig
          .open({ model: NUMBERED, providerParams: { turn_seconds: random.pick([0.7, 3, 20]) } })
          .catch(() => undefined);
        if (opened !== undefined) clients.push(opened);
      }
      for (let round = 0; round < 40; round++) {
        for (const [index, client] of clients.entries()) {
          if (client.closeCode === undefined) {
            const speed = RATE * (index + 1);
            client.session.audio(numberedAudio(round * speed, (round + 1) * speed));
          }
        }
        await rig.advance(random.integer(0, 900), 300);
      }
      for (const client of clients) client.session.control({ type: 'close' });
      for (const client of clients) await untilEnded(rig, client, 400);
      expect(rig.ledger.leastAvailable ?? 0n).toBeGreaterThanOrEqual(0n);
      expect(rig.ledger.balance).toBeGreaterThanOrEqual(0n);
      for (const client of clients) {
        const { cost_usd, usage } = endOf(client);
        const audioMs = Math.round((usage[0]?.seconds ?? 0) * 1000);
        expect(microUsdOf(cost_usd)).toBe(costMicroUsd(exactPrice({ ...minute('0.6'), byok: '0.00' }), audioMs));
        expectInOrder(client);
      }
      await expectNothingLeft(rig);
    },
  );
});

describe('a failover between prices', () => {
  const scripted = {
    model: 'loopback/script',
    providerParams: {
      turns: Array.from({ length: 30 }, (_, turn) => ({ text: `turn ${turn}`, seconds: 2 })),
      fail: { how: 'close' as const, at_seconds: 11 },
    },
    fallbacks: [{ model: NUMBERED, provider_params: { turn_seconds: 2 } }],
  };
  const prices = { 'loopback/script': { live: minute('0.06') }, [NUMBERED]: { live: minute('6.0') } };

  it('bills each second once, at the model that produced its final', async () => {
    const rig = rigWith(microUsdOf('100'), { prices });
    const client = await rig.open(scripted);
    await talk(rig, client, 30);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect(client.of('failover')).toHaveLength(1);
    const { usage, cost_usd } = endOf(client);
    expect(usage.map(({ model, seconds }) => [model, seconds])).toEqual([
      ['loopback/script', 10],
      [NUMBERED, 20],
    ]);
    expect(usage.map((row) => row.cost_usd)).toEqual(['0.01', '2.00']);
    expect(cost_usd).toBe('2.01');
    expect(settledOf(rig).costMicroUsd).toBe(microUsdOf('2.01'));
    await expectNothingLeft(rig);
  });

  it('sends a dearer model no sample beyond the hold', async () => {
    const rig = rigWith(microUsdOf('0.75'), { prices });
    const client = await rig.open(scripted);
    await talk(rig, client, 60);
    await untilEnded(rig, client);
    expect(client.of('failover')).toHaveLength(1);
    expect(client.closeCode).toBe(4002);
    expect(rig.ledger.balance).toBeGreaterThanOrEqual(0n);
    expect(rig.ledger.leastAvailable).toBeGreaterThanOrEqual(0n);
    await expectNothingLeft(rig);
  });
});

describe('a ledger that does not answer', () => {
  it('stops no session in the grace period, and receives every settlement afterwards', async () => {
    const rig = rigWith(microUsdOf('100'));
    const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 2 } });
    rig.ledger.failing = 'busy';
    await talk(rig, client, 200);
    expect(client.closeCode).toBeUndefined();
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect([client.closeCode, endOf(client).cost_usd]).toEqual([1000, '2.00']);
    expect([rig.ledger.settled.size, rig.reservations.unsettled]).toEqual([0, 1]);
    rig.ledger.failing = undefined;
    await rig.advance(20_000, 1_000);
    expect([settledOf(rig).costMicroUsd, rig.reservations.unsettled]).toEqual([microUsdOf('2'), 0]);
    await expectNothingLeft(rig);
  });

  it('ends a session when the time of grace is over, and says that it is the ledger', async () => {
    const rig = rigWith(microUsdOf('100'), { graceMs: 30_000 });
    const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 2 } });
    rig.ledger.failing = 'failed';
    await talk(rig, client, 200);
    await untilEnded(rig, client);
    expect([client.closeCode, client.of('error').at(-1)?.error.code]).toEqual([4102, 'ledger_unavailable']);
    expect(endOf(client).audio_seconds).toBeGreaterThan(85);
    // The event, the metrics and the bill say the same: it is no customer without credit.
    await rig.advance(20_000, 1_000);
    rig.ledger.failing = undefined;
    await rig.advance(20_000, 1_000);
    expect([endOf(client).reason, client.summary?.reason, settledOf(rig).end]).toMatchObject([
      'ledger',
      'ledger',
      { reason: 'ledger', code: 'ledger_unavailable' },
    ]);
  });

  it('refuses paid sessions before they begin and lets free ones in', async () => {
    const rig = rigWith(microUsdOf('100'));
    rig.ledger.failing = 'failed';
    await expect(rig.open({ model: NUMBERED })).rejects.toMatchObject({ code: 'ledger_unavailable' });
    const client = await rig.open({ model: 'loopback/script' });
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect(client.closeCode).toBe(1000);
  });

  it('delays audio when it answers late, and loses none of it', async () => {
    const rig = rigWith(null);
    const client = await rig.open({ model: NUMBERED, providerParams: { turn_seconds: 2 } });
    let answer = () => {};
    rig.ledger.gate = new Promise((resolve) => {
      answer = resolve;
    });
    client.session.audio(numberedAudio(0, 200 * RATE));
    await rig.advance(2_000, 100);
    expect(client.finals.at(-1)!.end).toBeLessThanOrEqual(60);
    answer();
    rig.ledger.gate = undefined;
    await settle();
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect(client.finals.at(-1)!.end).toBe(200);
    expect(client.of('discontinuity')).toEqual([]);
    expect(endOf(client).cost_usd).toBe('2.00');
    await expectNothingLeft(rig);
  });
});
