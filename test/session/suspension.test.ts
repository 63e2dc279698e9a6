// The promise that a session to which no audio comes keeps no connection to a provider, and loses and doubles nothing by that.
import { describe, expect, it } from 'vitest';
import type { Heard } from '../../machines/events.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { SessionRig } from '../fakes/session-rig.ts';
import { failure, puppetRig } from './puppet.ts';
import { expectInOrder, expectNothingLeft, RATE, speech, untilEnded } from './support.ts';

const SETTINGS = { settings: { suspendMs: 20_000, idleMs: 600_000 } };
const ended = (turnId: string, start: number, end: number): Heard => ({
  type: 'turn.ended',
  turnId,
  formattedFollows: false,
  utterance: { text: 'a', start, end },
});

const quietRig = () => puppetRig({ timing: { stallMs: Number.POSITIVE_INFINITY }, rig: SETTINGS });

describe('a session without audio', () => {
  it('that only sends keepalives has its connection let go of, and no other is made', async () => {
    const { rig, puppet } = quietRig();
    const client = await rig.open({ model: 'puppet/a' });
    for (let seconds = 0; seconds < 300; seconds++) {
      client.session.control({ type: 'keepalive' });
      if (puppet.last.controls.includes('finish') && !puppet.last.over) await puppet.last.say({ type: 'finished' });
      await rig.advance(1_000, 1_000);
    }
    expect(puppet.connections.map(({ over }) => over)).toEqual([true]);
    expect([client.closeCode, rig.upstream.size]).toEqual([undefined, 0]);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect([client.closeCode, puppet.connections.length]).toEqual([1000, 1]);
    expect(client.of('warning')).toEqual([]);
    await expectNothingLeft(rig);
  });

  it('gets the final of what was said, and goes on with the next turn on another connection', async () => {
    const { rig, puppet } = quietRig();
    const client = await rig.open({ model: 'puppet/a' });
    client.session.audio(speech(3));
    await rig.advance(21_000, 1_000);
    expect(puppet.last.controls).toEqual(['finish']);
    await puppet.last.say(ended('1', 0, 2), { type: 'finished' });
    expect(rig.upstream.size).toBe(0);
    client.session.audio(speech(2));
    await rig.advance(100, 100);
    expect([puppet.connections.length, puppet.last.samples]).toEqual([2, 2 * RATE]);
    client.session.control({ type: 'close' });
    await rig.advance(100, 100);
    await puppet.last.say(ended('1', 0, 2), { type: 'finished' });
    await untilEnded(rig, client);
    expect(client.finals).toMatchObject([
      { turn: 0, start: 0, end: 2 },
      { turn: 1, start: 3, end: 5 },
    ]);
    expect(client.of('session_ended')).toMatchObject([{ audio_seconds: 5, usage: [{ seconds: 5 }] }]);
    expect([client.of('warning'), client.of('discontinuity'), client.of('failover')]).toEqual([[], [], []]);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });

  it('to which audio comes while the connection is let go of is given another at once', async () => {
    const { rig, puppet } = quietRig();
    const client = await rig.open({ model: 'puppet/a' });
    client.session.audio(speech(1));
    await rig.advance(21_000, 1_000);
    client.session.audio(speech(1));
    expect(puppet.last.samples).toBe(RATE);
    await puppet.last.say(ended('1', 0, 1), { type: 'finished' });
    expect([puppet.connections.length, puppet.last.samples]).toEqual([2, RATE]);
    client.session.control({ type: 'close' });
    await puppet.last.say(ended('1', 0, 1), { type: 'finished' });
    await untilEnded(rig, client);
    expect(client.finals.map(({ turn, end }) => [turn, end])).toEqual([
      [0, 1],
      [1, 2],
    ]);
    await expectNothingLeft(rig);
  });

  it('whose connection fails instead of finishing is heard again, and rests after that', async () => {
    const { rig, puppet } = quietRig();
    const client = await rig.open({ model: 'puppet/a' });
    client.session.audio(speech(1));
    await rig.advance(21_000, 1_000);
    await puppet.last.say({ type: 'failed', failure: failure('retry') });
    await rig.advance(1_000, 100);
    expect([puppet.connections.length, puppet.last.samples]).toEqual([2, RATE]);
    await rig.advance(21_000, 1_000);
    await puppet.last.say(ended('1', 0, 1), { type: 'finished' });
    expect([rig.upstream.size, client.finals.length]).toEqual([0, 1]);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect(client.of('session_ended')).toMatchObject([{ reason: 'client_closed', usage: [{ seconds: 1 }] }]);
    await expectNothingLeft(rig);
  });

  it.each([1, 2, 3, 4])('again and again (%d s of audio each time) hears every sample once', async (seconds) => {
    const rig = new SessionRig(SETTINGS);
    const client = await rig.open({ model: 'loopback/numbered', providerParams: { turn_seconds: 0.7 } });
    for (let round = 0; round < 5; round++) {
      client.session.audio(numberedAudio(round * seconds * RATE, (round + 1) * seconds * RATE));
      await rig.advance(60_000, 1_000);
      expect(rig.upstream.size).toBe(0);
    }
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    const heard = client.finals.map(({ text }) => text.split('-').map(Number));
    expect(heard[0]![0]).toBe(0);
    for (const [index, [from]] of heard.slice(1).entries()) expect(from! % 65_536).toBe(heard[index]![1]! % 65_536);
    expect(client.finals.at(-1)?.end).toBe(5 * seconds);
    expect(client.of('session_ended')).toMatchObject([
      { audio_seconds: 5 * seconds, usage: [{ seconds: 5 * seconds }] },
    ]);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });
});
