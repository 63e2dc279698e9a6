// Turns for models that make none: ended behind speech that silence has followed, or when they become too long.
import { describe, expect, it } from 'vitest';
import { type PuppetConnection, puppetRig } from '../puppet.ts';
import { hum, RATE, silence, speech } from '../support.ts';

const endpointing = { silenceMs: 500, longestMs: 10_000 };

/** Seconds of audio that the leg had heard at each finalize. */
const finalizedAt = (connection: PuppetConnection): number[] =>
  connection.controls.flatMap((control, index) =>
    control === 'finalize' ? [(connection.controlsAt[index] as number) / RATE] : [],
  );

async function hear(...pieces: Uint8Array[]) {
  const { rig, puppet } = puppetRig({ timing: { endpointing, stallMs: Number.POSITIVE_INFINITY } });
  const client = await rig.open({ model: 'puppet/a' });
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += 3_200) {
      client.session.audio(piece.subarray(at, at + 3_200));
      await rig.advance(100);
    }
  }
  return { rig, puppet, client };
}

describe('a leg that makes no turns', () => {
  it('gets a finalize where speech has ended, once for each pause', async () => {
    const { puppet } = await hear(speech(1), silence(2), speech(1), silence(0.3), speech(1), silence(1));
    expect(finalizedAt(puppet.last).map((at) => Math.round(at * 10) / 10)).toEqual([1.5, 5.8]);
  });

  it('gets a finalize when a turn has become too long, and not in silence', async () => {
    const { puppet } = await hear(speech(21), silence(12));
    expect(finalizedAt(puppet.last).map((at) => Math.round(at * 10) / 10)).toEqual([10, 20, 21.5]);
  });

  it('gets no finalize in the middle of a word after a long silence', async () => {
    const { puppet } = await hear(speech(1), silence(30), speech(3), silence(1));
    expect(finalizedAt(puppet.last).map((at) => Math.round(at * 10) / 10)).toEqual([1.5, 34.5]);
  });

  it('gets finalizes again after a failover', async () => {
    const { rig, puppet, client } = await hear(speech(1), silence(1));
    await puppet.last.hangUp(1011);
    await rig.advance(500);
    client.session.audio(silence(1));
    await rig.advance(500);
    expect([puppet.connections.length, finalizedAt(puppet.last).length]).toEqual([2, 1]);
  });
});

it('sends quiet speech to the model now and then, and a silent line never', async () => {
  const { puppet } = await hear(hum(32), silence(70));
  expect(finalizedAt(puppet.last).map((at) => Math.round(at))).toEqual([10, 20, 30, 40]);
});

it('sends finalizes for endless turns alone to a leg that makes its own turns', async () => {
  const { rig, puppet } = puppetRig({
    timing: { endpointing: { silenceMs: Number.POSITIVE_INFINITY, longestMs: 10_000 }, stallMs: 60_000 },
  });
  const client = await rig.open({ model: 'puppet/a' });
  client.session.audio(speech(5));
  client.session.audio(silence(1));
  await rig.advance(100);
  await puppet.last.say({
    type: 'turn.ended',
    turnId: '1',
    formattedFollows: false,
    utterance: { text: 'a', start: 0, end: 5.5 },
  });
  for (let seconds = 0; seconds < 12; seconds++) {
    client.session.audio(speech(1));
    await rig.advance(100);
  }
  expect(finalizedAt(puppet.last).map(Math.round)).toEqual([16]);
});

it('sends no finalize to a leg whose provider makes its own turns', async () => {
  const { rig, puppet } = puppetRig();
  const client = await rig.open({ model: 'puppet/a' });
  client.session.audio(speech(1));
  client.session.audio(silence(20));
  await rig.advance(100);
  expect(finalizedAt(puppet.last)).toEqual([]);
});
