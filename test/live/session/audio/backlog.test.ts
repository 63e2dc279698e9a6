// Audio that comes in unusual ways: far too much, nothing but silence for ever, in single bytes, in huge frames, as a file.
import { describe, expect, it } from 'vitest';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../../fakes/audio/numbered-finals.ts';
import { type RigClient, SessionRig } from '../../../fakes/session-rig.ts';
import { puppetRig } from '../puppet.ts';
import { expectInOrder, expectNothingLeft, hum, RATE, silence, storyOf, timersOf, untilEnded } from '../support.ts';

const numbered = { model: 'loopback/numbered' } as const;

describe('audio ahead of what the provider takes', () => {
  it('beyond the bound ends the session with 4010, and what was accepted is transcribed', async () => {
    const settings = { memoryBytesMax: 64_000, spoolNodeBytesMax: 512_000 };
    const rig = new SessionRig({ settings });
    const client = await rig.open({ ...numbered, providerParams: { turn_seconds: 1, ready_delay_ms: 3_000 } });
    let sent = 0;
    let accepted = 0;
    while (client.of('error').length === 0 && sent < 20) {
      const before = rig.drops.audio_backlog ?? 0;
      client.session.audio(numberedAudio(sent * RATE, (sent + 1) * RATE));
      if ((rig.drops.audio_backlog ?? 0) === before && rig.drops.audio_after_close === undefined) accepted++;
      sent++;
    }
    expect(accepted).toBeGreaterThanOrEqual(8);
    expect(accepted).toBeLessThan(12);
    await untilEnded(rig, client);
    expectWhole(client.finals, accepted * RATE);
    expect(client.of('error').at(-1)?.error.code).toBe('audio_backlog_exceeded');
    expect(client.of('session_ended')).toMatchObject([{ reason: 'error', audio_seconds: accepted }]);
    expect(client.closeCode).toBe(4010);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });

  const ahead = { ...numbered, providerParams: { turn_seconds: 1, ready_delay_ms: 3_000 } };
  const spool = { memoryBytesMax: 64_000, spoolNodeBytesMax: 256 * 4_096 };

  it('leaves room for other organisations, and the error names the organisation’s limit', async () => {
    const rig = new SessionRig({ settings: spool });
    const greedy = [await rig.open(ahead, 'org_greedy'), await rig.open(ahead, 'org_greedy')];
    for (let second = 0; second < 14; second++)
      for (const { session } of greedy) session.audio(numberedAudio(second * RATE, (second + 1) * RATE));
    const refused = greedy.flatMap((each) => each.of('error').map(({ error }) => error));
    expect(refused).toMatchObject([{ code: 'audio_backlog_exceeded' }, { code: 'audio_backlog_exceeded' }]);
    expect(refused[0]?.message).toContain('as one organisation may');
    const others = [await rig.open(ahead, 'org_a'), await rig.open(ahead, 'org_b')];
    for (let second = 0; second < 6; second++)
      for (const { session } of others) session.audio(numberedAudio(second * RATE, (second + 1) * RATE));
    for (const each of others) {
      each.session.control({ type: 'close' });
      await untilEnded(rig, each);
      expectWhole(each.finals, 6 * RATE);
      expect([each.closeCode, each.of('error')]).toEqual([1000, []]);
    }
  });

  it('ends as overloaded, not as the client’s fault, when the node has no room', async () => {
    const rig = new SessionRig({ settings: { ...spool, spoolNodeBytesMax: 4 * 4_096 } });
    const clients = [];
    for (const organisation of ['org_a', 'org_b', 'org_c', 'org_d', 'org_e'])
      clients.push(await rig.open(ahead, organisation));
    for (const seconds of [2.161, 0.05, 0.025]) for (const { session } of clients) session.audio(silence(seconds));
    const last = clients.at(-1)!;
    await untilEnded(rig, last);
    expect(last.of('error').map(({ error }) => error)).toMatchObject([
      { code: 'overloaded', message: expect.stringContaining('no room left') },
    ]);
    expect(last.closeCode).toBe(4102);
  });

  it('within it waits in memory and on disk, and is transcribed whole', async () => {
    const { rig, puppet } = puppetRig({
      timing: { speedMax: 1.25, burstMs: 1_000 },
      rig: { settings: { memoryBytesMax: 64_000 } },
    });
    const client = await rig.open({ model: 'puppet/a' });
    client.session.audio(numberedAudio(0, 30 * RATE));
    client.session.control({ type: 'close' });
    await rig.advance(10_000, 100);
    expect(puppet.last.samples / RATE).toBeGreaterThan(12);
    expect(puppet.last.samples / RATE).toBeLessThan(14);
    expect(puppet.last.controls).toEqual([]);
    await rig.advance(14_000, 100);
    expect([puppet.last.samples, puppet.last.controls]).toEqual([30 * RATE, ['finish']]);
    await puppet.last.say({ type: 'finished' });
    expect(client.closeCode).toBe(1000);
    await expectNothingLeft(rig);
  });
});

describe('silence for an hour', () => {
  it('holds no memory, few timers and one leg, and leaves no events', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a' });
    const { pipeline } = client.session;
    const held: number[] = [];
    for (let minute = 0; minute < 60; minute++) {
      for (let chunk = 0; chunk < 6; chunk++) {
        client.session.audio(silence(10));
        await rig.advance(10_000, 5_000);
      }
      held.push(pipeline.bufferedBytes);
      expect(timersOf(rig.clock)).toBeLessThanOrEqual(5);
    }
    // The last minute is kept for a replay, in whole blocks of 16 KiB.
    expect(Math.max(...held)).toBeLessThanOrEqual(60 * RATE * 2 + 2 * 16_384);
    expect([puppet.connections.length, client.events.length]).toEqual([1, 1]);
    expect(puppet.last.samples).toBe(3_600 * RATE);
    client.session.control({ type: 'close' });
    await puppet.last.say({ type: 'finished' });
    expect(client.of('session_ended')).toMatchObject([{ audio_seconds: 3_600 }]);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });

  it.each([
    ['a quiet room, of which only the last minute can be replayed, says what was lost', hum, [{ from: 0, to: 60 }], 60],
    ['silence, which is never replayed, loses nothing', silence, [], 0.5],
  ])('survives a failed leg: %s', async (_, sound, lost, replayed) => {
    const { rig, puppet } = puppetRig({ rig: { settings: { replaySpoolMs: 0 } } });
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    for (let chunk = 0; chunk < 12; chunk++) {
      client.session.audio(sound(10));
      await rig.advance(10_000, 5_000);
    }
    await puppet.last.hangUp(1011);
    await rig.advance(1_000);
    expect(client.of('discontinuity')).toMatchObject(lost);
    expect(client.of('failover')).toMatchObject([{ replayed_seconds: replayed }]);
    expectInOrder(client);
  });
});

describe('frames of any size', () => {
  it.each([
    ['single bytes', 1, 1],
    ['three bytes', 3, 4],
    ['empty frames between', 0, 2],
    ['1 MiB', 1_048_576, 100],
  ])('%s: no sample is lost or shifted', async (_, bytesMax, seconds) => {
    const rig = new SessionRig();
    const client = await rig.open({ ...numbered, providerParams: { turn_seconds: 0.5 } });
    const audio = numberedAudio(0, seconds * RATE);
    const size = bytesMax || 1_000;
    for (let at = 0, frame = 0; at < audio.length; at += size, frame++) {
      if (bytesMax === 0) client.session.audio(new Uint8Array(0));
      client.session.audio(audio.subarray(at, at + size));
      if (frame % 3_200 === 0) await rig.advance(100);
    }
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expectWhole(client.finals, seconds * RATE);
    expect(storyOf(client)).toEqual(['session_started', 'session_ended']);
    expectInOrder(client);
  });
});

describe('a file sent as samples', () => {
  const header = (text: string) => Buffer.concat([Buffer.from(text, 'latin1'), Buffer.alloc(64)]);
  const files: [string, Buffer][] = [
    ['WAV', header('RIFF\x24\x00\x00\x00WAVEfmt ')],
    ['Ogg', header('OggS\x00\x02')],
    ['FLAC', header('fLaC\x00\x00\x00\x22')],
    ['MP3', header('ID3\x04\x00\x00\x00\x00\x00\x21')],
    ['WebM', header('\x1a\x45\xdf\xa3')],
    ['MP4', header('\x00\x00\x00\x20ftypM4A ')],
  ];

  async function expectRefused(client: RigClient, rig: SessionRig, name: string): Promise<void> {
    await rig.advance(100);
    expect(client.of('error').map(({ error }) => error.code)).toEqual(['unsupported_audio']);
    expect(client.of('error')[0]?.error.message).toContain(name);
    expect([client.closeCode, client.of('session_ended')[0]?.reason]).toEqual([4006, 'error']);
    expectInOrder(client);
    await expectNothingLeft(rig);
  }

  it.each(files)('%s is refused by name, however it is split', async (name, bytes) => {
    for (const size of [1, 2, 3, 7, bytes.length]) {
      const rig = new SessionRig();
      const client = await rig.open();
      for (let at = 0; at < bytes.length; at += size) client.session.audio(bytes.subarray(at, at + size));
      await expectRefused(client, rig, name);
    }
  });

  it('gets recognised at the beginning only', async () => {
    const rig = new SessionRig();
    const client = await rig.open();
    client.session.audio(silence(0.1));
    for (const [, bytes] of files) client.session.audio(bytes);
    await rig.advance(100);
    expect(client.of('error')).toEqual([]);
  });
});
