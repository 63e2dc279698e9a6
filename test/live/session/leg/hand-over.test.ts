// What a session does before trouble comes: it replaces a leg that nears its provider's limit, spares models in trouble, and
// does not run over the next one when all lose the same.
import { describe, expect, it } from 'vitest';
import type { RigClient } from '../../../fakes/session-rig.ts';
import { failure, puppetRig } from '../puppet.ts';
import { expectInOrder, expectNothingLeft, silence, speech } from '../support.ts';

const HOUR_MS = 3_600_000;
const final = (end: number, text = 'a') =>
  ({ type: 'turn.ended', turnId: `${end}`, formattedFollows: false, utterance: { text, start: 0, end } }) as const;
const warnings = (client: RigClient) => client.of('warning').map(({ code }) => code);

describe('a leg that nears the provider’s limit', () => {
  const long = { settings: { idleMs: 10 * HOUR_MS, longestMs: 10 * HOUR_MS } };

  it('switches between two turns, and loses or repeats nothing', async () => {
    const { rig, puppet } = puppetRig({ timing: { sessionMaxMs: HOUR_MS }, rig: long });
    const client = await rig.open({ model: 'puppet/a' });
    await rig.advance(HOUR_MS - 61_000, 60_000);
    client.session.audio(speech(2));
    await rig.advance(100);
    await puppet.last.say({ type: 'partial', turnId: '1', utterance: { text: 'half', start: 0, end: 1 } });
    await rig.advance(5_000, 1_000);
    expect(puppet.connections).toHaveLength(1);
    await puppet.last.say(final(1.5, 'whole'));
    expect(puppet.connections).toHaveLength(2);
    expect(puppet.connections[0]?.over).toBe(true);
    expect(puppet.last.samples).toBe(8_000);
    expect([warnings(client), client.of('failover')]).toEqual([['upstream_replaced'], []]);
    await puppet.last.say(final(0.5, 'rest'));
    expect(client.finals.map(({ text, start, end }) => [text, start, end])).toEqual([
      ['whole', 0, 1.5],
      ['rest', 1.5, 2],
    ]);
    client.session.control({ type: 'close' });
    await puppet.last.say({ type: 'finished' });
    expectInOrder(client);
    await expectNothingLeft(rig);
  });

  it('switches at once during silence', async () => {
    const { rig, puppet } = puppetRig({ timing: { sessionMaxMs: HOUR_MS }, rig: long });
    const client = await rig.open({ model: 'puppet/a' });
    await rig.advance(4 * HOUR_MS, 30_000);
    expect([puppet.connections.length, warnings(client).length]).toEqual([5, 4]);
    expect(client.closeCode).toBeUndefined();
  });

  it('switches inside an endless turn, which the new leg transcribes from its beginning', async () => {
    const { rig, puppet } = puppetRig({ timing: { sessionMaxMs: HOUR_MS }, rig: long });
    const client = await rig.open({ model: 'puppet/a' });
    client.session.audio(speech(3));
    await rig.advance(100);
    await puppet.last.say({ type: 'partial', turnId: '1', utterance: { text: 'on and', start: 0, end: 1 } });
    await rig.advance(HOUR_MS - 30_000, 30_000);
    expect([puppet.connections.length, puppet.last.samples]).toEqual([2, 48_000]);
    expect(client.of('failover')).toEqual([]);
  });
});

describe('a model that keeps failing', () => {
  it('loses new sessions to the fallback from their start, until a probe succeeds', async () => {
    const { rig, puppet } = puppetRig({ rig: { breakers: { failuresMax: 2, openMs: 10_000 } } });
    const open = () => rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    for (let session = 0; session < 2; session++) {
      await open();
      await puppet.last.say({ type: 'failed', failure: failure('next') });
    }
    const spared = await open();
    expect(spared.of('failover')).toMatchObject([{ from: 'puppet/a', to: 'puppet/b', reason: 'circuit_open' }]);
    await rig.advance(10_000, 1_000);
    const probe = await open();
    const beside = await open();
    expect([probe.of('failover').length, beside.of('failover').length]).toEqual([0, 1]);
    // It has held for longer than it may be silent.
    await rig.advance(16_000, 1_000);
    expect((await open()).of('failover')).toEqual([]);
  });

  it('still serves a session that has no other model', async () => {
    const { rig, puppet } = puppetRig({ rig: { breakers: { failuresMax: 1 } } });
    const first = await rig.open({ model: 'puppet/a' });
    await puppet.last.say({ type: 'failed', failure: failure('next') });
    await rig.advance(1_000);
    expect(first.closeCode).toBeUndefined();
    const second = await rig.open({ model: 'puppet/a' });
    second.session.audio(silence(1));
    await rig.advance(100);
    await puppet.last.say(final(1));
    expect(second.finals).toHaveLength(1);
  });

  it('gets no immediate retry after a long retry-after', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    await puppet.last.say({ type: 'failed', failure: { ...failure('retry'), retryAfterMs: 5_000 } });
    expect(client.of('failover')).toMatchObject([{ to: 'puppet/b' }]);
  });
});

it('500 sessions that lose a model at once reach the next one a few at a time, and all get there', async () => {
  const { rig, puppet } = puppetRig({ rig: { dialsMax: 20 } });
  const clients = [];
  for (let session = 0; session < 500; session++)
    clients.push(await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] }));
  const lost = puppet.connections.slice();
  puppet.ready = false;
  for (const connection of lost) connection.listener.closed(1006, '');
  let most = 0;
  for (let waited = 0; waited < 500; waited++) {
    await rig.advance(10, 10);
    const dialling = puppet.connections.slice(500).filter(({ readySaid, over }) => !readySaid && !over);
    most = Math.max(most, dialling.length);
    if (dialling.length === 0) break;
    for (const connection of dialling) await connection.say({ type: 'ready' });
  }
  expect(most).toBe(20);
  expect(puppet.connections).toHaveLength(1_000);
  expect(clients.every((client) => client.of('failover').length === 1)).toBe(true);
});
