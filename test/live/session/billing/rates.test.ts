// The promise that a session whose model is asked for more, or for less, pays each price for what was heard at it, a minimum once, and
// never more than is held.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Heard } from '../../../../machines/events.ts';
import type { Price } from '../../../../src/api/models.ts';
import { costMicroUsd, lineCostMicroUsd, microUsdOf } from '../../../../src/config/prices/price.ts';
import type { ListedPrice } from '../../../../src/config/prices/price-list.ts';
import type { ResolvedCandidate } from '../../../../src/live/failover/chain.ts';
import { Usage } from '../../../../src/live/session/billing/usage.ts';
import type { MeterCandidate } from '../../../../src/money/ledger/meter.ts';
import { pricedMembers, rated } from '../../../../src/money/ledger/meter-contract.ts';
import { drawn } from '../../../fakes/drawn.ts';
import type { RigClient, SessionRig } from '../../../fakes/session-rig.ts';
import { endOf, headOf, holdOf, ledgerRig, perMinute } from '../../../fakes/store/ledger.ts';
import { MemoryLedger } from '../../../fakes/store/memory-ledger.ts';
import { type Puppet, puppetRig } from '../puppet.ts';
import { expectNothingLeft, RATE, speech, untilEnded } from '../support.ts';

/** A cent a second. */
const CENT = { unit: 'minute', amount: '0.6' } as const;
const MODEL = 'puppet/a';

const minute = (amount: string, minimum = '0'): ListedPrice => ({
  ...{ unit: 'minute', microUsd: microUsdOf(amount), minimumMicroUsd: microUsdOf(minimum) },
});

const final = (end: number): Heard => ({
  ...{ type: 'turn.ended', turnId: String(end), utterance: { text: 'words', start: 0, end }, formattedFollows: false },
});

async function opened(live: Omit<Price, 'byok'>, balance = '10') {
  const ledger = new MemoryLedger(microUsdOf(balance));
  const { rig, puppet } = puppetRig({
    timing: { stallMs: Number.POSITIVE_INFINITY },
    card: { pricing: { currency: 'USD', live: { byok: '0.00', ...live } } },
    rig: { ledger, settings: { suspendMs: 600_000, idleMs: 600_000 } },
  });
  return { ledger, rig, puppet, client: await rig.open({ model: MODEL }) };
}

let changes = 0;

/** The client changes an option, and the model costs that much from the end of the turn on. */
async function changeTo(rig: SessionRig, { session }: RigClient, price: ListedPrice): Promise<void> {
  const { opening } = session;
  const [member] = opening.chain as [ResolvedCandidate];
  const chain = [{ ...member, params: { take: ++changes }, price }];
  opening.configure = async () => ({ request: opening.request, chain, members: pricedMembers(chain) });
  session.control({ type: 'configure', provider_params: { take: changes } });
  await rig.advance(1_100, 100);
  if (chain[0] !== session.opening.chain.at(-1)) throw new Error('It was not changed.');
}

/** What the leg was sent so far has its final. */
async function hear(rig: SessionRig, puppet: Puppet, client: RigClient, seconds: number): Promise<void> {
  client.session.audio(speech(seconds));
  await rig.advance(1_000, 100);
  await puppet.last.say(final(puppet.last.samples / RATE));
}

/** Closes the session, and gives what it says that it costs, which is what the ledger has of it. */
async function billOf(rig: SessionRig, puppet: Puppet, client: RigClient) {
  client.session.control({ type: 'close' });
  await rig.advance(100, 10);
  if (!puppet.last.over) await puppet.last.say({ type: 'finished' });
  await untilEnded(rig, client);
  const { usage, cost_usd } = client.of('session_ended')[0]!;
  expect([...rig.ledger.settled.values()].map(({ costMicroUsd: cost }) => cost)).toEqual([microUsdOf(cost_usd)]);
  await expectNothingLeft(rig);
  return { rows: usage.map((row) => [row.model, row.seconds, row.cost_usd]), cost_usd };
}

describe('a session that is configured to another price of its model', () => {
  it.each([
    ['dearer', '1.2', '0.20'],
    ['cheaper', '0.06', '0.01'],
  ])('pays each rate for the audio transcribed at it: %s', async (_, amount, cost) => {
    const { rig, puppet, client } = await opened(CENT);
    await hear(rig, puppet, client, 5);
    await changeTo(rig, client, minute(amount));
    await hear(rig, puppet, client, 10);
    expect(puppet.connections).toHaveLength(2);
    const { rows, cost_usd } = await billOf(rig, puppet, client);
    expect(rows).toEqual([
      [MODEL, 5, '0.05'],
      [MODEL, 10, cost],
    ]);
    expect(microUsdOf(cost_usd)).toBe(microUsdOf('0.05') + microUsdOf(cost));
  });

  it('lists one row per price, in the order of first use, when it changes back', async () => {
    const { rig, puppet, client } = await opened(CENT);
    await changeTo(rig, client, minute('1.2'));
    await hear(rig, puppet, client, 5);
    await changeTo(rig, client, minute('0.6'));
    await hear(rig, puppet, client, 5);
    await changeTo(rig, client, minute('1.2'));
    await hear(rig, puppet, client, 5);
    expect((await billOf(rig, puppet, client)).rows).toEqual([
      [MODEL, 10, '0.20'],
      [MODEL, 5, '0.05'],
    ]);
  });

  it('lists one row where the price stays the same', async () => {
    const { rig, puppet, client } = await opened(CENT);
    await hear(rig, puppet, client, 5);
    await changeTo(rig, client, minute('0.6'));
    await hear(rig, puppet, client, 5);
    expect((await billOf(rig, puppet, client)).rows).toEqual([[MODEL, 10, '0.10']]);
  });

  it('pays a price per session once', async () => {
    const { rig, puppet, client } = await opened({ unit: 'session', amount: '0.15' });
    await hear(rig, puppet, client, 5);
    await changeTo(rig, client, { unit: 'session', microUsd: 150_000n, minimumMicroUsd: 0n });
    await hear(rig, puppet, client, 5);
    expect((await billOf(rig, puppet, client)).rows).toEqual([[MODEL, 10, '0.15']]);
  });

  it.each<[string, number, number, unknown[]]>([
    ['transcribed at the first', 5, 5, [5, '0.30', 5, '0.10']],
    ['transcribed at the second only', 0, 5, [5, '0.60']],
    ['transcribed at the first only', 5, 0, [5, '0.30']],
    ['never transcribed', 0, 0, []],
  ])('pays a minimum once, and at least that, where it was %s', async (_, before, after, rows) => {
    const { rig, puppet, client } = await opened({ ...CENT, minimum: '0.3' });
    if (before > 0) await hear(rig, puppet, client, before);
    await changeTo(rig, client, minute('1.2', '0.6'));
    if (after > 0) await hear(rig, puppet, client, after);
    expect((await billOf(rig, puppet, client)).rows.flatMap(([, ...row]) => row)).toEqual(rows);
  });

  it('sends no more than its hold at a price a hundred times higher, then ends', async () => {
    const { rig, puppet, client, ledger } = await opened(CENT, '0.75');
    await hear(rig, puppet, client, 5);
    await changeTo(rig, client, minute('60'));
    client.session.audio(speech(30));
    await rig.advance(3_000, 100);
    const sent = puppet.last.samples / RATE;
    expect(sent).toBeGreaterThan(0.6);
    expect(sent).toBeLessThanOrEqual(0.7);
    await puppet.last.say(final(sent));
    await puppet.last.say({ type: 'finished' });
    await untilEnded(rig, client);
    expect([client.closeCode, ledger.balance! >= 0n, ledger.leastAvailable! >= 0n]).toEqual([4002, true, true]);
    await expectNothingLeft(rig);
  });

  it('continues with its remaining credit at a price whose minimum would be higher', async () => {
    const { rig, puppet, client } = await opened({ ...CENT, minimum: '0.3' }, '0.55');
    await hear(rig, puppet, client, 5);
    await changeTo(rig, client, minute('1.2', '0.6'));
    await hear(rig, puppet, client, 10);
    expect((await billOf(rig, puppet, client)).rows.map(([, ...row]) => row)).toEqual([
      [5, '0.30'],
      [10, '0.20'],
    ]);
  });
});

describe('a session on a model that is metered by its connection', () => {
  const METERED = { ...CENT, metered: 'connection' } as const;

  it('pays each price for the time that it was open at it', async () => {
    const { rig, puppet, client } = await opened(METERED);
    await rig.advance(20_000, 1_000);
    await changeTo(rig, client, { ...minute('1.2'), metered: 'connection' });
    await rig.advance(10_000, 1_000);
    await billOf(rig, puppet, client);
    const { usage } = client.of('session_ended')[0]!;
    expect(usage.map(({ connection_seconds: seconds }) => Math.round(seconds!))).toEqual([20, 11]);
    expect(usage.map(({ cost_usd: cost }) => microUsdOf(cost))).toEqual(
      usage.map(({ connection_seconds: seconds }, at) => BigInt(Math.round(seconds! * [10_000, 20_000][at]!))),
    );
  });

  it('closes at a dearer price when the remaining credit is used up', async () => {
    const { rig, puppet, client, ledger } = await opened(METERED, '0.40');
    await rig.advance(30_000, 1_000);
    await changeTo(rig, client, { ...minute('1.2'), metered: 'connection' });
    for (let second = 0; second < 10 && !puppet.last.controls.includes('finish'); second++)
      await rig.advance(1_000, 100);
    await puppet.last.say({ type: 'finished' });
    await untilEnded(rig, client);
    expect(client.closeCode).toBe(4002);
    expect(microUsdOf(client.of('session_ended')[0]!.cost_usd)).toBeGreaterThan(390_000n);
    expect([ledger.balance! >= 0n, ledger.leastAvailable! >= 0n]).toEqual([true, true]);
    await expectNothingLeft(rig);
  });
});

describe('the rates that a session reports', () => {
  const prices = [perMinute(60_001n, 5_000n), perMinute(90_007n, 7_501n), perMinute(30_011n, 2_501n)];
  const step = fc.record({
    member: fc.nat(3),
    samples: fc.oneof(fc.nat(10), fc.nat(40_000)),
    how: fc.constantFrom('final', 'silence', 'lost', 'answered'),
    isTold: fc.boolean(),
  });

  it('keep prices and lines monotonic, charge a minimum once, and sum exactly', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const members: MeterCandidate[] = [];
        for (const price of [...prices, prices[0]!]) {
          members.push(rated({ slug: MODEL, own: false, price }, members));
        }
        const usage = new Usage(RATE, members, new SimulatedClock());
        const { ledger, customer, database } = ledgerRig();
        const who = customer({ limit: null });
        const head = headOf(who, 'ses_1');
        ledger.openSession(head, holdOf(1n));
        let sent = 0;
        for (const { member, samples, how, isTold } of steps) {
          usage.heardBy(member);
          sent += samples;
          if (how === 'answered') usage.answered(sent);
          else if (how === 'final') usage.covered(sent, MODEL);
          else if (how === 'silence') usage.passedOver(sent);
          // What the client is told is lost.
          else usage.skip(sent);
          // What it looks like from outside changes nothing.
          usage.linesUpTo(sent + 16_000);
          if (isTold) ledger.renewHold(head, usage.settledLines(), { ...holdOf(1n), onTrust: true });
        }
        const lines = usage.linesUpTo(sent);
        const record = ledger.settleSession(head, endOf(lines, { onTrust: true }));
        const told = lines.reduce((sum, line) => sum + lineCostMicroUsd(line), 0n);
        expect(microUsdOf(usage.rows(lines).cost_usd)).toBe(told);
        expect(record.costMicroUsd).toBe(told);
        expect(lines.every(({ audioMs }) => audioMs > 0)).toBe(true);
        expect(lines.filter(({ price }) => price.minimumMicroUsd > 0n)).toHaveLength(Math.min(1, lines.length));
        for (const line of lines) {
          const { microUsd, minimumMicroUsd } = prices[line.rate ?? 0]!;
          const minimum = line.price.minimumMicroUsd === 0n ? 0n : minimumMicroUsd;
          expect(lineCostMicroUsd(line)).toBe(costMicroUsd(perMinute(microUsd, minimum), line.audioMs));
        }
        expect(ledger.auditLedger().faults).toEqual([]);
        database.close();
      }),
      { seed: 20, numRuns: drawn(100) },
    );
  });
});
