// What is as loud as speech and no voice: a leg that says nothing of it is not left, and a turn ends though it goes on. Where the
// detector is not there or fails, loudness decides alone, at the same time as without one; where it is late, a second later.
import { describe, expect, it } from 'vitest';
import type { Heard } from '../../../../machines/events.ts';
import { FakeVoices, voiced } from '../../../fakes/audio/fake-voices.ts';
import type { RigClient, SessionRig } from '../../../fakes/session-rig.ts';
import { type PuppetOptions, puppetRig } from '../puppet.ts';
import { expectNothingLeft, silence, speech, untilEnded } from '../support.ts';

const noise = speech;
const voice = (seconds: number) => voiced(speech(seconds));
const heard: Heard = { type: 'partial', turnId: '1', utterance: { text: 'a', start: 0, end: 0.1 } };

async function opened(voices: FakeVoices | undefined, options: PuppetOptions = {}) {
  const { rig, puppet } = puppetRig({ ...options, rig: { ...(voices === undefined ? {} : { voices }) } });
  const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
  return { rig, puppet, client };
}

/** Streams audio in real time; gives the seconds after which the session failed over. */
async function play(rig: SessionRig, client: RigClient, sound: (seconds: number) => Uint8Array, seconds: number) {
  const before = client.of('failover').length;
  for (let tenth = 1; tenth <= seconds * 10; tenth++) {
    client.session.audio(sound(0.1));
    await rig.advance(100);
    if (client.of('failover').length > before) return tenth / 10;
  }
  return undefined;
}

describe('a leg that says nothing', () => {
  it('is not left while there is noise without a voice, however long', async () => {
    const voices = new FakeVoices();
    const { rig, client } = await opened(voices);
    expect(await play(rig, client, noise, 60)).toBeUndefined();
    expect(rig.voiceChecks.length).toBeGreaterThan(3);
    expect(new Set(rig.voiceChecks)).toEqual(new Set(['stall: no_voice']));
    expect([voices.streams, voices.streamsMax]).toEqual([0, 1]);
    expect(voices.unreportedSecondsMax).toBeLessThanOrEqual(1);
  });

  it('is left after the same time as without a detector while a voice has no answer', async () => {
    const { rig, client } = await opened(undefined);
    const without = await play(rig, client, voice, 20);
    const voices = new FakeVoices();
    const other = await opened(voices);
    expect(await play(other.rig, other.client, voice, 20)).toBe(without);
    expect(other.rig.voiceChecks[0]).toBe('stall: voice');
    expect(voices.secondsHeard).toBeLessThanOrEqual(1);
  });

  it.each([
    ['dies', 0],
    ['refuses', 0],
    ['silent', 1],
  ] as const)(
    'is left without a verdict when the detector %s, %d s later than without a detector',
    async (manner, laterSeconds) => {
      const { rig, client } = await opened(undefined);
      const without = await play(rig, client, noise, 20);
      expect(without).toBeGreaterThan(7);
      const voices = new FakeVoices();
      voices.manner = manner;
      const other = await opened(voices);
      const leftAfter = (await play(other.rig, other.client, noise, 20)) as number;
      expect(leftAfter - (without as number)).toBeCloseTo(laterSeconds, 1);
      expect(other.rig.voiceChecks[0]).toBe(manner === 'silent' ? 'stall: late' : 'stall: no_detector');
    },
  );

  it('is left as soon as a late detector finds the voice', async () => {
    const { rig, client } = await opened(undefined);
    const without = (await play(rig, client, voice, 20)) as number;
    const voices = new FakeVoices();
    voices.manner = 'silent';
    const other = await opened(voices);
    expect(await play(other.rig, other.client, voice, without + 0.3)).toBeUndefined();
    voices.answer();
    expect(await play(other.rig, other.client, voice, 0.1)).toBe(0.1);
    expect(other.rig.voiceChecks).toEqual(['stall: voice']);
  });

  it('has its whole limit from the first voice behind noise on', async () => {
    const { rig, client } = await opened(new FakeVoices());
    expect(await play(rig, client, noise, 5)).toBeUndefined();
    const leftAfter = (await play(rig, client, voice, 20)) as number;
    expect(leftAfter).toBeGreaterThan(7.5);
    expect(leftAfter).toBeLessThan(9);
  });

  it('is left for a voice between noise, and is not when it answers', async () => {
    const { rig, client, puppet } = await opened(new FakeVoices());
    await play(rig, client, noise, 12);
    await play(rig, client, voice, 1);
    await puppet.last.say(heard);
    expect(await play(rig, client, noise, 20)).toBeUndefined();
    await play(rig, client, voice, 1);
    expect(await play(rig, client, noise, 10)).toBeLessThan(9);
  });

  it('costs no stream of voices while it answers, or in silence', async () => {
    const voices = new FakeVoices();
    const { rig, client, puppet } = await opened(voices);
    for (let round = 0; round < 10; round++) {
      await play(rig, client, voice, 3);
      await puppet.last.say(heard);
      await play(rig, client, silence, 10);
    }
    expect([voices.opened, rig.voiceChecks]).toEqual([0, []]);
  });

  it('leaves no stream of voices behind when the session ends in the middle of a check', async () => {
    const voices = new FakeVoices();
    voices.manner = 'silent';
    const { rig, client } = await opened(voices);
    await play(rig, client, noise, 5);
    expect(voices.streams).toBe(1);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client, 120);
    expect(voices.streams).toBe(0);
    await expectNothingLeft(rig);
  });
});

describe('a turn of a model that makes none', () => {
  const timing = { endpointing: { silenceMs: 500, longestMs: 30_000 }, stallMs: Number.POSITIVE_INFINITY };

  it('ends where the voice has ended, though the noise continues', async () => {
    const { rig, client, puppet } = await opened(new FakeVoices(), { timing });
    await play(rig, client, voice, 4);
    expect(puppet.last.controls).toEqual([]);
    await play(rig, client, noise, 2);
    expect(puppet.last.controls).toEqual(['finalize']);
    expect(rig.voiceChecks).toEqual(['turn: no_voice']);
    await play(rig, client, noise, 20);
    expect(puppet.last.controls).toEqual(['finalize']);
  });

  it('continues while the voice does, with short pauses in noise', async () => {
    const { rig, client, puppet } = await opened(new FakeVoices(), { timing });
    for (let word = 0; word < 10; word++) {
      await play(rig, client, voice, 1.5);
      await play(rig, client, noise, 0.6);
    }
    expect(puppet.last.controls).toEqual([]);
  });

  it.each(['silent', 'dies', 'refuses'] as const)('ends at its longest when the detector %s', async (manner) => {
    const voices = new FakeVoices();
    voices.manner = manner;
    const { rig, client, puppet } = await opened(voices, { timing });
    await play(rig, client, voice, 4);
    await play(rig, client, noise, 25);
    expect(puppet.last.controls).toEqual([]);
    await play(rig, client, noise, 2);
    expect(puppet.last.controls).toEqual(['finalize']);
  });

  it('costs no stream of voices where it ends in quiet', async () => {
    const voices = new FakeVoices();
    const { rig, client, puppet } = await opened(voices, { timing });
    for (let turn = 0; turn < 5; turn++) {
      await play(rig, client, voice, 2);
      await play(rig, client, silence, 1);
    }
    expect([puppet.last.controls.length, voices.opened]).toEqual([5, 0]);
  });
});
