// Several channels of one client are one session to it: heard each by itself, numbered together, billed as their sum.
import { describe, expect, it } from 'vitest';
import type { Heard } from '../../../../machines/events.ts';
import { microUsdOf } from '../../../../src/config/prices/price.ts';
import { expectChannelsWhole, interleavedNumbers } from '../../../fakes/audio/interleaved.ts';
import { drawn } from '../../../fakes/drawn.ts';
import { seeded } from '../../../fakes/random.ts';
import { type RigClient, SessionRig } from '../../../fakes/session-rig.ts';
import { MemoryLedger } from '../../../fakes/store/memory-ledger.ts';
import { failure, puppetRig } from '../puppet.ts';

const RATE = 16_000;
const NUMBERED = { model: 'loopback/numbered', providerParams: { turn_seconds: 0.7 } };

/** Every event has its number, and the session one beginning and one end. */
function expectOneSession(client: RigClient): void {
  expect(client.events.map(({ seq }) => seq)).toEqual(client.events.map((_, index) => index + 1));
  expect(new Set(client.events.map((event) => event.session_id)).size).toBe(1);
  expect(client.of('session_started')).toHaveLength(1);
  expect(client.events[0]?.type).toBe('session_started');
  expect(client.of('session_ended')).toHaveLength(1);
  expect(client.events.at(-1)?.type).toBe('session_ended');
}

async function untilClosed(rig: SessionRig, client: RigClient): Promise<void> {
  for (let waited = 0; client.closeCode === undefined && waited < 300; waited++) await rig.advance(1_000, 200);
}

/** As the ledger has it, of all sessions. */
const chargedBy = (ledger: MemoryLedger): bigint =>
  [...ledger.settled.values()].reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0n);

describe('a session of several channels', () => {
  it.each([2, 3, 8])(
    'puts every sample of each of %d channels in one final, for any split of frames',
    async (channels) => {
      for (let seed = 0; seed < drawn(8); seed++) {
        const random = seeded(seed);
        const ledger = new MemoryLedger(null);
        const rig = new SessionRig({
          ledger,
          prices: { 'loopback/numbered': { live: { unit: 'minute', amount: '0.017' } } },
        });
        const client = await rig.open({ ...NUMBERED, channels });
        const frames = 3 * RATE + seed;
        const bytes = interleavedNumbers(channels, frames);
        for (let at = 0; at < bytes.length; ) {
          const size = random.pick([1, 3, random.integer(1, 5_000), random.integer(1, 70_000)]);
          client.session.audio(bytes.subarray(at, at + size));
          at += size;
          if (random.next() < 0.2) await rig.advance(200, 100);
        }
        client.session.control({ type: 'close' });
        await untilClosed(rig, client);
        expect(client.closeCode).toBe(1000);
        expectOneSession(client);
        expectChannelsWhole(client.finals, { channels, frames, sampleRate: RATE });
        const ended = client.of('session_ended')[0];
        expect(ended).toMatchObject({ reason: 'client_closed', usage: [{ model: 'loopback/numbered' }] });
        expect(microUsdOf(ended?.cost_usd ?? '')).toBe(chargedBy(ledger));
        expect(ledger.settled.size).toBe(channels);
        expect(client.released).toBe(channels);
        expect(rig.faults).toEqual([]);
        expect([rig.sessions.size, rig.upstream.size, rig.engine.connections]).toEqual([0, 0, 0]);
      }
    },
  );

  it('reports its channels, and the bytes that make no sample of each', async () => {
    const rig = new SessionRig();
    const client = await rig.open({ ...NUMBERED, channels: 2 });
    const [started] = client.of('session_started');
    expect(started).toMatchObject({
      channels: 2,
      channel_sessions: [started?.session_id, expect.stringMatching(/^ses_/)],
    });
    client.session.audio(new Uint8Array(4 * RATE + 3));
    client.session.control({ type: 'close' });
    await untilClosed(rig, client);
    expect(client.of('session_ended')).toMatchObject([{ audio_seconds: 1, dropped_bytes: 3, usage: [{ seconds: 2 }] }]);
  });

  it('reports each client error once: a file, audio after its end, an invalid message', async () => {
    const rig = new SessionRig();
    const file = await rig.open({ ...NUMBERED, channels: 4 });
    file.session.audio(Buffer.from('RIFF....WAVE'));
    await untilClosed(rig, file);
    expect(file.of('error')).toMatchObject([{ error: { code: 'unsupported_audio' } }]);
    expect(file.closeCode).toBe(4006);
    expectOneSession(file);

    const late = await rig.open({ ...NUMBERED, channels: 4 });
    late.session.misunderstood('What was that?');
    late.session.audio(new Uint8Array(8 * RATE));
    late.session.control({ type: 'close' });
    for (let count = 0; count < 3; count++) late.session.audio(new Uint8Array(80));
    await untilClosed(rig, late);
    expect(late.of('error').map(({ error, ...event }) => [error.code, event.channel])).toEqual([
      ['invalid_request', undefined],
      ['invalid_request', undefined],
    ]);
    expect(late.closeCode).toBe(1000);
    expectOneSession(late);
  });

  it('ends each channel when its client is gone', async () => {
    const rig = new SessionRig();
    const client = await rig.open({ ...NUMBERED, channels: 3 });
    client.session.audio(interleavedNumbers(3, RATE));
    client.session.gone();
    await untilClosed(rig, client);
    expect([rig.sessions.size, rig.upstream.size, client.released]).toEqual([0, 0, 3]);
    expect(rig.faults).toEqual([]);
  });

  it('warns once when the node drains, and each channel continues to its turn’s end', async () => {
    const rig = new SessionRig();
    const client = await rig.open({ ...NUMBERED, channels: 2 });
    client.session.audio(interleavedNumbers(2, 1_000));
    await rig.advance(200);
    void rig.sessions.drain();
    client.session.audio(interleavedNumbers(2, 2 * RATE));
    await untilClosed(rig, client);
    expect(client.of('warning').filter(({ code }) => code === 'node_draining')).toHaveLength(1);
    expect(client.closeCode).toBe(4200);
    expect(client.of('session_ended')).toMatchObject([{ reason: 'draining' }]);
    expectOneSession(client);
  });
});

const final = (turn: number, end: number): Heard => ({
  ...{ type: 'turn.ended' as const, turnId: String(turn), formattedFollows: false },
  utterance: { text: `turn ${turn}`, start: 0, end },
});

describe('a channel that fails', () => {
  it('continues with the next model alone, unnoticed by the others', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }], channels: 2 });
    await rig.advance(200);
    const [first, second] = puppet.connections;
    client.session.audio(interleavedNumbers(2, RATE));
    await rig.advance(200);
    await second?.hangUp(1011);
    await rig.advance(500);
    expect(client.of('failover')).toMatchObject([{ channel: 1, from: 'puppet/a', to: 'puppet/b' }]);
    expect(puppet.dialled).toEqual(['a', 'a', 'b']);
    expect(puppet.last.samples).toBe(RATE);
    client.session.control({ type: 'close' });
    await rig.advance(500);
    for (const [at, leg] of [first, puppet.last].entries()) await leg?.say(final(at, 1), { type: 'finished' });
    await untilClosed(rig, client);
    expect(client.finals.map(({ channel, model, turn }) => [channel, model, turn])).toEqual([
      [0, 'puppet/a', 0],
      [1, 'puppet/b', 0],
    ]);
    expect(client.of('session_ended')).toMatchObject([
      {
        usage: [
          { model: 'puppet/a', seconds: 1 },
          { model: 'puppet/b', seconds: 1 },
        ],
      },
    ]);
    expectOneSession(client);
  });

  it('ends the session in order: its error, the others’ finals, then the end', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a', channels: 2 });
    await rig.advance(200);
    const [first, second] = puppet.connections;
    client.session.audio(interleavedNumbers(2, RATE));
    await rig.advance(200);
    await second?.say({ type: 'failed', failure: failure('next') } as never);
    await rig.advance(2_000);
    for (const again of puppet.connections.slice(2))
      await again.say({ type: 'failed', failure: failure('next') } as never);
    await rig.advance(2_000);
    expect(client.of('error')).toMatchObject([{ channel: 1, error: { code: 'upstream_exhausted' } }]);
    expect(client.closeCode).toBeUndefined();
    await first?.say(final(0, 1), { type: 'finished' });
    await untilClosed(rig, client);
    expect(client.finals.map(({ channel, turn }) => [channel, turn])).toEqual([[0, 0]]);
    expect(client.of('session_ended')).toMatchObject([{ reason: 'upstream' }]);
    expect(client.closeCode).toBe(4101);
    expectOneSession(client);
  });
});
