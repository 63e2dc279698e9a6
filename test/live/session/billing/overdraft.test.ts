// The promise that nobody pays for what no model heard, and that a balance is never overdrawn, in the corners: failovers while
// money runs out, silence, times that a provider makes up, and a ledger that fails in between.
import { describe, expect, it } from 'vitest';
import type { Heard } from '../../../../machines/events.ts';
import { microUsdOf } from '../../../../src/config/prices/price.ts';
import { StoreError } from '../../../../src/store/store-error.ts';
import { settle } from '../../../fakes/session-rig.ts';
import { MemoryLedger } from '../../../fakes/store/memory-ledger.ts';
import { puppetRig } from '../puppet.ts';
import { RATE, silence, speech, untilEnded } from '../support.ts';

const minute = (amount: string) => ({ unit: 'minute' as const, amount });
const session = (amount: string) => ({ unit: 'session' as const, amount });
type Live = ReturnType<typeof minute> | ReturnType<typeof session>;

const final = (turn: number, start: number, end: number): Heard => ({
  type: 'turn.ended',
  turnId: String(turn),
  utterance: { text: `turn ${turn}`, start, end },
  formattedFollows: false,
});

/** A session on `puppet/a` with `puppet/b` behind it, at these prices, with so much credit. */
async function opened(credit: string | null, a: Live, b: Live = minute('0.6'), timing = {}) {
  const ledger = new MemoryLedger(credit === null ? null : microUsdOf(credit));
  const prices = { 'puppet/a': { live: a }, 'puppet/b': { live: b } };
  const { rig, puppet } = puppetRig({
    timing: { stallMs: Number.POSITIVE_INFINITY, ...timing },
    rig: { prices, ledger },
  });
  const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
  await rig.advance(200, 100);
  /** What the leg heard so far gets its final, and the leg ends. */
  const finish = async () => {
    await puppet.last.say(final(9, 0, puppet.last.samples / RATE));
    await puppet.last.say({ type: 'finished' });
    await untilEnded(rig, client, 100);
  };
  return { ledger, rig, puppet, client, finish, end: () => client.of('session_ended')[0]! };
}

describe('a failover', () => {
  it.each([
    ['a hundred times dearer', minute('60')],
    ['for a price per session', session('5')],
  ])('charges the next model nothing for silence that it never received, %s', async (_, b) => {
    const { rig, puppet, client, ledger, end } = await opened('0.30', minute('0.6'), b);
    client.session.audio(speech(2));
    client.session.audio(silence(18));
    await rig.advance(1_000, 100);
    await puppet.last.say(final(0, 0, 2));
    await puppet.last.hangUp(1011);
    await rig.advance(3_000, 100);
    client.session.control({ type: 'close' });
    await rig.advance(1_000, 100);
    await puppet.last.say({ type: 'finished' });
    await untilEnded(rig, client, 100);
    expect(end().usage.find(({ model }) => model === 'puppet/a')?.seconds).toBeGreaterThan(19);
    expect(ledger.balance).toBeGreaterThanOrEqual(0n);
    expect(ledger.settled.size).toBe(1);
  });

  it('replays no more than the hold to a dearer model after the money ran out', async () => {
    const { rig, puppet, client, ledger, finish } = await opened('0.10', minute('0.6'), minute('60'));
    client.session.audio(speech(30));
    await rig.advance(1_000, 100);
    expect(puppet.last.samples / RATE).toBeGreaterThan(9);
    await puppet.last.hangUp(1011);
    await rig.advance(3_000, 100);
    expect(puppet.last.samples / RATE).toBeLessThan(0.2);
    await finish();
    expect(client.closeCode).toBe(4002);
    expect(ledger.balance).toBeGreaterThanOrEqual(0n);
  });

  it.each([
    ['per session', session('5')],
    ['per minute', minute('0.6')],
  ])('continues with a price %s while the ledger fails, with less than one call a second', async (_, b) => {
    const { rig, puppet, client, ledger } = await opened(null, minute('0.6'), b);
    client.session.audio(speech(2));
    await rig.advance(500, 100);
    ledger.failing = 'busy';
    let asked = 0;
    const renew = ledger.renewHold.bind(ledger);
    ledger.renewHold = (...call) => {
      asked++;
      return renew(...call);
    };
    await puppet.last.hangUp(1011);
    await rig.advance(1_000, 100);
    client.session.audio(speech(3));
    await rig.advance(1_000, 100);
    await puppet.last.say(final(0, 0, 4));
    for (let second = 0; second < 60; second++) {
      client.session.audio(speech(1));
      await rig.advance(1_000, 250);
    }
    expect([client.closeCode, asked < 30]).toEqual([undefined, true]);
    expect(puppet.last.samples / RATE).toBeGreaterThan(60);
  });
});

describe('charges up to the audio transcribed', () => {
  it('ignore a turn end that a provider reports beyond the audio it received', async () => {
    const { rig, puppet, client, ledger, end } = await opened('0.10', minute('0.6'));
    client.session.audio(speech(30));
    await rig.advance(1_000, 100);
    const sent = puppet.last.samples / RATE;
    await puppet.last.say(final(0, 0, sent + 5));
    await puppet.last.say({ type: 'finished' });
    await untilEnded(rig, client, 100);
    expect(end().usage[0]?.seconds).toBeLessThanOrEqual(Math.ceil(sent * 1000) / 1000);
    expect(ledger.balance).toBeGreaterThanOrEqual(0n);
  });

  it('stop on trust when the credit is known to be used up', async () => {
    const { rig, puppet, client, ledger, finish } = await opened('0.10', minute('0.6'));
    client.session.audio(speech(5));
    await rig.advance(500, 100);
    ledger.failing = 'busy';
    client.session.audio(speech(60));
    await rig.advance(5_000, 100);
    expect(puppet.last.samples / RATE).toBeLessThanOrEqual(10);
    ledger.failing = undefined;
    await rig.advance(10_000, 100);
    await finish();
    expect(client.closeCode).toBe(4002);
    expect(ledger.balance).toBeGreaterThanOrEqual(0n);
  });

  it('stop at a paid fallback of a free model without credit, unknown to the ledger', async () => {
    const ledger = new MemoryLedger(0n);
    const open = ledger.openSession.bind(ledger);
    let calls = 0;
    ledger.openSession = (...call) =>
      ++calls === 1 ? Promise.reject(new StoreError('overflow', 'Too many calls.')) : open(...call);
    const prices = { 'puppet/b': { live: minute('0.6') } };
    const { rig, puppet } = puppetRig({ timing: { stallMs: Number.POSITIVE_INFINITY }, rig: { prices, ledger } });
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    await rig.advance(200, 100);
    await puppet.last.hangUp(1011);
    await rig.advance(1_000, 100);
    for (let second = 0; second < 10; second++) {
      client.session.audio(speech(1));
      await rig.advance(1_000, 250);
    }
    expect(puppet.last.samples).toBe(0);
    expect(calls).toBe(2);
    expect(ledger.balance).toBe(0n);
  });
});

describe('a session', () => {
  it('ends when another process has settled it, and asks no more', async () => {
    const { rig, puppet, client, ledger, finish } = await opened(null, minute('0.6'));
    client.session.audio(speech(2));
    await rig.advance(500, 100);
    const { head } = client.session.opening.meter;
    await ledger.settleSession(head, { endedAt: '', reason: 'recovered', code: null, audioMs: 2_000, lines: [] });
    for (let second = 0; second < 90 && puppet.last.controls.length === 0; second++) {
      client.session.audio(speech(1));
      await rig.advance(1_000, 250);
    }
    await finish();
    expect(client.closeCode).toBe(4102);
    expect(client.of('error').map(({ error }) => error.code)).toContain('ledger_unavailable');
    expect(ledger.renewals.length).toBeLessThan(5);
  });

  it('continues for the grace period while the ledger does not answer', async () => {
    const { rig, puppet, client, ledger } = await opened(null, minute('0.6'));
    ledger.gate = new Promise(() => {});
    for (let second = 0; second < 300; second++) {
      client.session.audio(speech(1));
      await rig.advance(1_000, 500);
    }
    expect([client.closeCode, puppet.last.samples / RATE > 290]).toEqual([undefined, true]);
  });

  it('leaves nothing when it was never opened, whether it costs or not', async () => {
    const { rig } = puppetRig({
      rig: { prices: { 'puppet/b': { live: minute('0.6') } }, ledger: new MemoryLedger(null) },
    });
    for (const [index, microUsd] of [0n, 600_000n].entries()) {
      const head = {
        id: `ses_${index}`,
        organisationId: 'org_1',
        keyId: 'key_1',
        mode: 'live' as const,
        model: 'puppet/a',
      };
      const meter = await rig.reservations.open({ ...head, openedAt: new Date(0).toISOString() }, [
        { slug: 'puppet/a', own: false, price: { unit: 'minute', microUsd, minimumMicroUsd: 0n } },
      ]);
      meter.abandon(new Date(0));
      meter.abandon(new Date(0));
    }
    await settle();
    expect(rig.ledger.held.size).toBe(0);
    expect([...rig.ledger.settled.values()].map(({ costMicroUsd }) => costMicroUsd)).toEqual([0n, 0n]);
    expect(rig.reservations.journal.size).toBe(0);
  });

  it('records usage as audio is sent on, also when all of it came at once', async () => {
    const { rig, puppet, client } = await opened(null, minute('0.6'), minute('0.6'), { speedMax: 1, burstMs: 1_000 });
    client.session.audio(speech(120));
    client.session.control({ type: 'close' });
    const [entry] = rig.reservations.journal.entries;
    for (let at = 0; at < 5; at++) {
      await rig.advance(4_000, 250);
      const record = entry!.record(true) as { lines: { audioMs: number }[] };
      expect(record.lines[0]?.audioMs).toBe(Math.round((puppet.last.samples / RATE) * 1000));
      expect(entry!.record(false)).toBeUndefined();
      await rig.advance(2_000, 250);
      expect(entry!.record(false)).toBeDefined();
    }
  });
});
