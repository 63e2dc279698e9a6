// The promise that a model whose vendor bills open connections is held for and billed by them: for no time that it was not
// connected, not for the audio beside it, and never beyond what is held.
import { describe, expect, it } from 'vitest';
import { microUsdOf } from '../../../../src/config/prices/price.ts';
import type {
  HoldRequest,
  SessionEnd,
  SessionHead,
  SessionName,
  UsageLine,
} from '../../../../src/money/store/calls.ts';
import { seeded } from '../../../fakes/random.ts';
import type { RigClient, SessionRig } from '../../../fakes/session-rig.ts';
import { MemoryLedger } from '../../../fakes/store/memory-ledger.ts';
import { type Puppet, puppetRig } from '../puppet.ts';
import { expectNothingLeft, RATE, speech, untilEnded } from '../support.ts';

/** A cent a second. */
const PRICE = { unit: 'minute', amount: '0.6', byok: '0.00', metered: 'connection' } as const;

/** A ledger that notes what was charged beyond what was held for it. */
class StrictLedger extends MemoryLedger {
  readonly beyond: bigint[] = [];

  override renewHold(name: SessionName, lines: readonly UsageLine[], hold: HoldRequest) {
    return this.watched(name.id, () => super.renewHold(name, lines, hold));
  }

  override settleSession(head: SessionHead, end: SessionEnd) {
    return this.watched(head.id, () => super.settleSession(head, end));
  }

  private async watched<Answer>(id: string, call: () => Promise<Answer>): Promise<Answer> {
    const [held, before] = [this.held.get(id) ?? 0n, this.posted.get(id) ?? 0n];
    const answer = await call();
    const charged = (this.posted.get(id) ?? 0n) - before;
    if (charged > held) this.beyond.push(charged - held);
    return answer;
  }
}

function world(balance: string, suspendMs = 600_000, prices = {}) {
  const ledger = new StrictLedger(microUsdOf(balance));
  const settings = { suspendMs, idleMs: 600_000 };
  const { rig, puppet } = puppetRig({
    timing: { stallMs: Number.POSITIVE_INFINITY },
    card: { pricing: { currency: 'USD', live: PRICE } },
    rig: { ledger, settings, prices },
  });
  return { rig, puppet, ledger };
}

/** Closes the session, whose connection has heard all there was. */
async function end(rig: SessionRig, puppet: Puppet, client: RigClient): Promise<void> {
  client.session.control({ type: 'close' });
  await rig.advance(10, 10);
  if (!puppet.last.over) await puppet.last.say({ type: 'finished' });
  await untilEnded(rig, client);
}

const endOf = (client: RigClient) => client.of('session_ended')[0];

describe('a session on a model that is metered by its connection', () => {
  it('pays for the time that its connection was open when it only sends keepalives', async () => {
    const { rig, puppet, ledger } = world('10');
    const client = await rig.open({ model: 'puppet/a' });
    await rig.advance(200_000, 1_000);
    await end(rig, puppet, client);
    const [row] = endOf(client)!.usage;
    expect(row).toMatchObject({ model: 'puppet/a', seconds: 0, byok: false });
    expect(Math.round(row!.connection_seconds!)).toBe(200);
    expect(microUsdOf(row!.cost_usd)).toBe(BigInt(row!.connection_seconds! * 10_000));
    expect(ledger.balance).toBe(microUsdOf('10') - microUsdOf(row!.cost_usd));
    expect(ledger.beyond).toEqual([]);
    await expectNothingLeft(rig);
  });

  it('pays nothing while it rests without a connection', async () => {
    const { rig, puppet } = world('10', 20_000);
    const client = await rig.open({ model: 'puppet/a' });
    await rig.advance(20_000, 1_000);
    await puppet.last.say({ type: 'finished' });
    await rig.advance(280_000, 1_000);
    await end(rig, puppet, client);
    expect(Math.round(endOf(client)!.usage[0]!.connection_seconds!)).toBe(20);
    await expectNothingLeft(rig);
  });

  it('pays for audio that came faster than time, once', async () => {
    const { rig, puppet } = world('10');
    const client = await rig.open({ model: 'puppet/a' });
    for (let second = 0; second < 5; second++) {
      client.session.audio(speech(2));
      await rig.advance(1_000, 100);
    }
    await end(rig, puppet, client);
    expect(endOf(client)).toMatchObject({ cost_usd: '0.10', usage: [{ seconds: 10 }] });
    expect(Math.round(endOf(client)!.usage[0]!.connection_seconds!)).toBe(5);
    await expectNothingLeft(rig);
  });

  it('transcribes fast audio that the connection time before has paid for', async () => {
    const { rig, puppet, ledger } = world('0.40');
    const client = await rig.open({ model: 'puppet/a' });
    await rig.advance(35_000, 1_000);
    client.session.audio(speech(25));
    await rig.advance(2_000, 100);
    expect(puppet.last.samples).toBe(25 * RATE);
    await end(rig, puppet, client);
    expect([client.closeCode, Math.round(endOf(client)!.usage[0]!.connection_seconds!)]).toEqual([1000, 37]);
    expect(ledger.beyond).toEqual([]);
    await expectNothingLeft(rig);
  });

  it('ends without credit, though it sent no audio, at no more than there was', async () => {
    const { rig, puppet, ledger } = world('0.05');
    const client = await rig.open({ model: 'puppet/a' });
    await rig.advance(4_000, 100);
    expect(puppet.last.controls).toEqual([]);
    await rig.advance(2_000, 100);
    expect(puppet.last.controls).toEqual(['finish']);
    await puppet.last.say({ type: 'finished' });
    await untilEnded(rig, client);
    expect([client.closeCode, endOf(client)?.reason]).toEqual([4002, 'credit']);
    expect(client.of('warning').map(({ code }) => code)).toContain('credit_low');
    expect(microUsdOf(endOf(client)!.cost_usd)).toBeGreaterThan(49_000n);
    expect([ledger.balance! >= 0n, ledger.beyond, rig.upstream.size]).toEqual([true, [], 0]);
    await expectNothingLeft(rig);
  });

  it('continues when credit is added in time', async () => {
    const { rig, puppet, ledger } = world('0.05');
    const client = await rig.open({ model: 'puppet/a' });
    await rig.advance(4_000, 100);
    ledger.balance = ledger.balance! + microUsdOf('5');
    await rig.advance(60_000, 1_000);
    await end(rig, puppet, client);
    expect([client.closeCode, Math.round(endOf(client)!.usage[0]!.connection_seconds!)]).toEqual([1000, 64]);
    expect(ledger.beyond).toEqual([]);
    await expectNothingLeft(rig);
  });

  it('lists each model that it was connected to, and pays once for replayed audio', async () => {
    const { rig, puppet, ledger } = world('10');
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    client.session.audio(speech(5));
    await rig.advance(5_000, 100);
    await puppet.last.hangUp(1011);
    await rig.advance(10_000, 100);
    expect(puppet.dialled).toEqual(['a', 'b']);
    await end(rig, puppet, client);
    expect(endOf(client)).toMatchObject({
      usage: [
        { model: 'puppet/b', seconds: 5 },
        { model: 'puppet/a', seconds: 0 },
      ],
    });
    const [b, a] = endOf(client)!.usage;
    expect([a!, b!].map((row) => Math.round(row.connection_seconds!))).toEqual([5, 10]);
    expect(ledger.beyond).toEqual([]);
    await expectNothingLeft(rig);
  });

  it('holds what a dearer model transcribed without a final, and rarely asks for more', async () => {
    const dear = { unit: 'minute', amount: '6' } as const;
    const { rig, puppet, ledger } = world('50', 600_000, { 'puppet/a': { live: dear } });
    let renewals = 0;
    const renewHold = ledger.renewHold.bind(ledger);
    ledger.renewHold = (...asked) => {
      renewals++;
      return renewHold(...asked);
    };
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    client.session.audio(speech(50));
    await rig.advance(1_000, 100);
    const utterance = { text: 'a', start: 0, end: 50 };
    await puppet.last.say({ type: 'partial', turnId: '1', utterance });
    await puppet.last.hangUp(1011);
    const before = renewals;
    await rig.advance(120_000, 500);
    expect(renewals - before).toBeLessThan(10);
    await puppet.last.say({ type: 'turn.ended', turnId: '1', formattedFollows: false, utterance });
    await end(rig, puppet, client);
    expect([client.closeCode, ledger.beyond]).toEqual([1000, []]);
    await expectNothingLeft(rig);
  });

  it.each([
    ['a price of the session', { unit: 'session', amount: '0.15' } as const],
    ['no price', { unit: 'minute', amount: '0', free: true } as const],
  ])('costs nothing by its connection where the operator sets %s', async (_, live) => {
    const { rig, puppet } = world('1', 600_000, { 'puppet/a': { live } });
    const client = await rig.open({ model: 'puppet/a' });
    await rig.advance(100_000, 1_000);
    await end(rig, puppet, client);
    expect(endOf(client)?.cost_usd).toBe('0.00');
    await expectNothingLeft(rig);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'never costs more than its hold, for any sequence of events (seed %d)',
    async (seed) => {
      const random = seeded(seed);
      const { rig, puppet, ledger } = world((random.integer(20_000, 1_500_000) / 1_000_000).toFixed(6), 20_000);
      const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
      for (let round = 0; round < 60 && client.closeCode === undefined; round++) {
        if (random.integer(0, 2) > 0) client.session.audio(speech(random.integer(1, 40) / 10));
        if (puppet.last.controls.includes('finish') && !puppet.last.over) await puppet.last.say({ type: 'finished' });
        else if (random.integer(0, 12) === 0 && !puppet.last.over) await puppet.last.hangUp(1011);
        await rig.advance(random.pick([100, 1_000, 5_000]), 100);
      }
      if (client.closeCode === undefined) await end(rig, puppet, client);
      await untilEnded(rig, client);
      const cost = microUsdOf(endOf(client)!.cost_usd);
      expect([ledger.beyond, ledger.balance! >= 0n]).toEqual([[], true]);
      expect([...ledger.settled.values()].map(({ costMicroUsd }) => costMicroUsd)).toEqual([cost]);
      await expectNothingLeft(rig);
    },
  );
});
