// Whether a provider takes what it is sent, by a clock that is moved by hand; and a session whose provider confirms its audio.
import { expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { Pressure } from '../../../../src/live/upstream/pressure.ts';
import { puppetRig } from '../../session/puppet.ts';

const MAX = 10;

function world() {
  const clock = new SimulatedClock();
  const amount = { bytes: 0, frames: 0 };
  const lines: string[] = [];
  const pressure = new Pressure(
    { unsentBytes: () => amount.bytes, unconfirmedFrames: { now: () => amount.frames, max: MAX } },
    { clock, pressureBytes: { high: 100, max: 1_000 } },
    { changed: (high) => lines.push(high ? 'pause' : 'go on'), clogged: ({ code }) => lines.push(code) },
  );
  const become = (change: Partial<typeof amount>) => {
    Object.assign(amount, change);
    pressure.look();
  };
  return { clock, lines, pressure, become };
}

test('pauses above the bound of unconfirmed frames, and resumes at half of it', () => {
  const { lines, become } = world();
  for (const frames of [MAX, MAX + 1, MAX + 2, MAX, MAX / 2 + 1]) become({ frames });
  expect(lines).toEqual(['pause']);
  become({ frames: MAX / 2 });
  expect(lines).toEqual(['pause', 'go on']);
});

test('pauses for bytes and frames until both are low', () => {
  const { lines, pressure, become } = world();
  become({ bytes: 101, frames: MAX + 1 });
  become({ bytes: 0 });
  pressure.relieve();
  expect(lines).toEqual(['pause']);
  become({ frames: 0 });
  expect(lines).toEqual(['pause', 'go on']);
});

test('fails a provider that confirms nothing for 5 s of a pause, but not a slow one', () => {
  const { clock, lines, become } = world();
  become({ frames: MAX + 3 });
  for (const frames of [MAX + 2, MAX + 1]) {
    become({ frames });
    clock.increment(5_000);
  }
  expect(lines).toEqual(['pause']);
  clock.increment(5_000);
  expect(lines).toEqual(['pause', 'audio_unconfirmed']);
});

test('fails at twice the bound of frames, or beyond that of bytes, at once and once', () => {
  for (const [change, code] of [
    [{ frames: 2 * MAX + 1 }, 'audio_unconfirmed'],
    [{ bytes: 1_001 }, 'send_buffer_full'],
  ] as const) {
    const { clock, lines, become } = world();
    become(change);
    become(change);
    clock.increment(60_000);
    expect(lines).toEqual([code]);
  }
});

test('holds audio back while its provider confirms none, loses none, and continues there', async () => {
  let confirmed = 0;
  const sent = { frames: 0 };
  const { rig, puppet } = puppetRig({
    timing: { unconfirmedMax: MAX, stallMs: 60_000 },
    codec: {
      audio: (_, frame) => {
        sent.frames++;
        return frame;
      },
      unconfirmed: () => sent.frames - confirmed,
    },
  });
  const client = await rig.open({ model: 'puppet/a' });
  const second = new Uint8Array(32_000);
  for (let at = 0; at < 8; at++) client.session.audio(second);
  await rig.advance(1_000);
  expect(sent.frames).toBe(MAX + 1);
  for (let round = 0; round < 20; round++) {
    confirmed = sent.frames;
    await puppet.last.say();
    await rig.advance(1_000);
  }
  expect(puppet.last.samples).toBe(8 * 16_000);
  expect([client.of('failover'), client.of('error')]).toEqual([[], []]);
});
