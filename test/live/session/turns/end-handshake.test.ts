// The end of a session: whoever sends `close` and waits gets every final, then `session_ended`, then 1000.
import { describe, expect, it } from 'vitest';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../../fakes/audio/numbered-finals.ts';
import { drawn } from '../../../fakes/drawn.ts';
import { seeded } from '../../../fakes/random.ts';
import { SessionRig } from '../../../fakes/session-rig.ts';
import { puppetRig } from '../puppet.ts';
import { expectInOrder, expectNothingLeft, hum, RATE, storyOf } from '../support.ts';

const close = { type: 'close' } as const;
/** Of 50 sessions each. */
const BATCHES = drawn(100);

describe('the end handshake', () => {
  it('delivers every tail final before 1000 in hundreds of sessions whose finals come 0 to 9 s late', async () => {
    let finals = 0;
    for (let batch = 0; batch < BATCHES; batch++) {
      const rig = new SessionRig();
      const clients = await Promise.all(
        Array.from({ length: 50 }, async (_, index) => {
          const random = seeded(batch * 50 + index);
          const samples = random.integer(0, 3 * RATE);
          const client = await rig.open({
            model: 'loopback/numbered',
            interimResults: random.next() < 0.5,
            providerParams: { turn_seconds: random.pick([0.4, 1, 5]), final_delay_ms: random.integer(0, 9_000) },
          });
          client.session.audio(numberedAudio(0, samples));
          return { client, samples, closesAt: random.integer(0, 3) };
        }),
      );
      for (let second = 0; second <= 13; second++) {
        for (const { client, closesAt } of clients) if (closesAt === second) client.session.control(close);
        await rig.advance(1_000, 500);
      }
      for (const { client, samples } of clients) {
        expect(client.closeCode).toBe(1000);
        expect(client.events.at(-1)).toMatchObject({ type: 'session_ended', reason: 'client_closed' });
        expect(storyOf(client)).toEqual(['session_started', 'session_ended']);
        expectInOrder(client);
        expectWhole(client.finals, samples);
        finals += client.finals.length;
      }
      expect(rig.faults).toEqual([]);
      await expectNothingLeft(rig);
    }
    expect(finals).toBeGreaterThan(50 * BATCHES);
  });

  it('happens once: a second close, a finalize and a keepalive after it change nothing', async () => {
    const rig = new SessionRig();
    const client = await rig.open({ providerParams: { final_delay_ms: 500 } });
    client.session.audio(hum(1));
    for (const type of ['close', 'close', 'finalize', 'keepalive', 'close'] as const) client.session.control({ type });
    await rig.advance(2_000);
    expect(storyOf(client)).toEqual(['session_started', 'session_ended']);
    expect([client.closeCode, client.finals.length]).toEqual([1000, 1]);
    client.session.control(close);
    client.session.audio(hum(1));
    client.session.misunderstood('late');
    client.session.drain();
    client.session.gone();
    expect(client.events.at(-1)?.type).toBe('session_ended');
    await expectNothingLeft(rig);
  });

  it.each([
    ['before the leg is ready', 0],
    ['long after', 5_000],
  ])('ends a session without any audio, closed %s', async (_, afterMs) => {
    const rig = new SessionRig();
    const client = await rig.open({ providerParams: { ready_delay_ms: 300 } });
    await rig.advance(afterMs);
    client.session.control(close);
    await rig.advance(1_000);
    expect(client.events.at(-1)).toMatchObject({ type: 'session_ended', audio_seconds: 0, usage: expect.any(Array) });
    expect(client.closeCode).toBe(1000);
    await expectNothingLeft(rig);
  });

  it('takes audio that came before the close and was not sent yet, and warns once of audio that came after it', async () => {
    const rig = new SessionRig();
    const client = await rig.open({
      model: 'loopback/numbered',
      providerParams: { ready_delay_ms: 700, turn_seconds: 0.3 },
    });
    client.session.audio(numberedAudio(0, 2 * RATE + 5));
    client.session.control(close);
    for (let i = 0; i < 100; i++) client.session.audio(hum(0.1));
    await rig.advance(3_000);
    expectInOrder(client);
    expectWhole(client.finals, 2 * RATE + 5);
    expect(client.of('error').map(({ error }) => [error.code, error.message.includes('not transcribed')])).toEqual([
      ['invalid_request', true],
    ]);
    expect(rig.drops.audio_after_close).toBe(100);
    expect(client.closeCode).toBe(1000);
  });

  it('reports the lone last byte of an odd stream, and nothing when there was none', async () => {
    for (const [bytes, dropped] of [
      [32_001, 1],
      [32_000, undefined],
    ] as const) {
      const rig = new SessionRig();
      const client = await rig.open();
      client.session.audio(new Uint8Array(bytes));
      client.session.control(close);
      await rig.advance(500);
      expect(client.of('session_ended')[0]?.dropped_bytes).toBe(dropped);
    }
  });

  it('finishes the audio of a client that hung up without close, and counts its finals', async () => {
    const rig = new SessionRig();
    const client = await rig.open({
      providerParams: { turns: [{ text: 'one', seconds: 1 }], final_delay_ms: 2_000 },
    });
    client.session.audio(hum(3));
    await rig.advance(500);
    client.closeCode = 1006;
    client.session.gone();
    await rig.advance(5_000);
    expect(client.summary).toEqual({
      reason: 'client_closed',
      code: null,
      seconds: 3,
      turns: 3,
      failovers: 0,
      undeliveredFinals: 3,
    });
    await expectNothingLeft(rig);
  });

  it('sends no event after session_ended while a slow client reads the last of them', async () => {
    const rig = new SessionRig();
    const client = await rig.open({ providerParams: { turns: [{ text: 'one', seconds: 0.1 }] } });
    client.stuck = true;
    client.bufferedBytes = 70_000;
    client.session.audio(hum(2));
    client.session.control(close);
    await rig.advance(1_000);
    client.session.audio(hum(1));
    client.session.misunderstood('nonsense');
    client.session.control({ type: 'finalize' });
    client.stuck = false;
    client.bufferedBytes = 0;
    client.session.drained();
    await rig.advance(100);
    expectInOrder(client);
    expect(storyOf(client)).toEqual(['session_started', 'session_ended']);
    expect([client.finals.length, client.closeCode]).toEqual([20, 1000]);
    await expectNothingLeft(rig);
  });

  it('closes its provider with a handshake when the leg has finished', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a' });
    client.session.control(close);
    await rig.advance(100);
    expect(puppet.last.controls).toEqual(['finish']);
    await puppet.last.say({ type: 'finished' });
    expect([puppet.last.over, puppet.last.closedInOrder, client.closeCode]).toEqual([true, true, 1000]);
  });

  it('replays an unfinished turn to the next leg instead of making a final of an interim', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    client.session.audio(hum(1));
    const utterance = { text: 'half a', start: 0, end: 0.5 };
    await puppet.last.say({ type: 'partial', turnId: '1', utterance });
    client.session.control(close);
    await rig.advance(100);
    await puppet.last.say({ type: 'finished' });
    await rig.advance(500);
    expect(puppet.connections).toHaveLength(2);
    expect([puppet.last.samples, puppet.last.controls]).toEqual([RATE, ['finish']]);
    await puppet.last.say(
      {
        type: 'turn.ended',
        turnId: '1',
        formattedFollows: false,
        utterance: { ...utterance, text: 'half a word', end: 0.9 },
      },
      { type: 'finished' },
    );
    expect(client.finals.map(({ text, turn }) => [turn, text])).toEqual([[0, 'half a word']]);
    expect([client.closeCode, client.of('warning')[0]?.code]).toEqual([1000, 'upstream_reconnected']);
    expectInOrder(client);
  });

  it('gives a shown turn an empty final when no leg transcribed it again', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    client.session.audio(hum(1));
    await puppet.last.say({ type: 'partial', turnId: '1', utterance: { text: 'uh', start: 0.2, end: 0.5 } });
    await puppet.last.hangUp(1011);
    await rig.advance(500);
    client.session.control(close);
    await rig.advance(100);
    await puppet.last.say({ type: 'finished' });
    expect(client.finals).toMatchObject([{ turn: 0, text: '' }]);
    expect(client.closeCode).toBe(1000);
    expectInOrder(client);
  });
});
