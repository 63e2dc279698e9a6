// How much sound may be decoded for a socket before it is read more slowly.
import { expect, it } from 'vitest';
import {
  BEHIND_MS,
  DecodedSound,
  SOUND_BURST_MS,
  SOUND_MS_PER_SECOND,
  SocketPaces,
} from '../../../src/live/pace/socket-pace.ts';

function rig() {
  const time = { ms: 0 };
  const sound = new DecodedSound(() => time.ms);
  return { time, sound, owedMs: () => sound.owedMs(time.ms) };
}

it('lets a minute pass at once, and sixty times real time from then on', () => {
  const { time, sound, owedMs } = rig();
  expect([SOUND_BURST_MS, SOUND_MS_PER_SECOND]).toEqual([60_000, 60_000]);
  sound.decoded(60_000);
  expect(owedMs()).toBe(0);
  for (let second = 0; second < 100; second++) {
    time.ms += 1_000;
    sound.decoded(60_000);
    expect(owedMs()).toBe(0);
  }
  sound.decoded(120);
  expect(owedMs()).toBe(2);
});

it('reads nothing while too much waits', () => {
  const { sound, owedMs } = rig();
  sound.isBehind = true;
  expect(owedMs()).toBe(BEHIND_MS);
  sound.isBehind = false;
  expect(owedMs()).toBe(0);
});

it('makes a socket wait where the server can, and refuses none elsewhere', () => {
  const limits = {
    ...{ socketFramesPerSecondMax: 50_000, socketBytesPerSecondMax: 4_194_304, socketMessagesPerSecondMax: 50 },
    ...{ organisationFramesPerSecondMax: 250_000, organisationMessagesPerSecondMax: 1_000 },
    ...{ largeMessagesMax: 4, largeMessageSocketsMax: 4 },
  };
  const pace = new SocketPaces(limits, () => 0).open('a', () => {});
  expect([pace.take(2, true, true), pace.owedMs()]).toEqual([0, 0]);
  pace.sound.decoded(SOUND_BURST_MS + 6_000);
  expect([pace.take(2, true, true), pace.owedMs(), pace.take(2, true, false)]).toEqual([100, 100, 0]);
});
