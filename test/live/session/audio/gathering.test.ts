// The promise that audio is gathered only as a client asked or for want of time, and never waits for a client that says no more.
import { describe, expect, it } from 'vitest';
import type { Latency } from '../../../../src/api/listen.ts';
import { puppetRig } from '../puppet.ts';
import { RATE, speech } from '../support.ts';

const CHUNK_MS = 20;
const timing = { frame: { minMs: 20, idealMs: 100, maxMs: 250, tail: 'short' as const } };

/** A session that has sent so many chunks, and the sizes of the frames that its provider got of them, in milliseconds. */
async function afterChunks(chunks: number, latency: Latency | undefined, busyShare = 0) {
  const { rig, puppet } = puppetRig({ timing, rig: { busyShare } });
  const client = await rig.open({ model: 'puppet/a', latency });
  const sizes: number[] = [];
  for (let sent = 0; sent < chunks; sent++) {
    const before = puppet.last.samples;
    client.session.audio(speech(CHUNK_MS / 1000));
    if (puppet.last.samples > before) sizes.push(((puppet.last.samples - before) * 1000) / RATE);
    await rig.advance(CHUNK_MS);
  }
  const heardMs = () => (puppet.last.samples * 1000) / RATE;
  return { rig, puppet, client, sizes, heardMs };
}

describe('frames', () => {
  it.each<[string, Latency | undefined, number, number[]]>([
    ['leave at once by default while there is room', undefined, 0, Array(10).fill(20)],
    ['leave at once when requested, however busy the process is', 'low', 1, Array(10).fill(20)],
    ['are gathered where the process is busy', undefined, 1, [100, 100]],
    ['are gathered in part where it is less busy', 'balanced', 0.3, [60, 40, 60, 40]],
    ['are gathered when requested, however idle the process is', 'throughput', 0, [100, 100]],
  ])('%s', async (_, latency, busyShare, sizes) => {
    expect((await afterChunks(10, latency, busyShare)).sizes).toEqual(sizes);
  });
});

describe('gathered audio', () => {
  it('leaves at once when the turn is ended by the client', async () => {
    const { puppet, client, heardMs } = await afterChunks(7, 'throughput');
    expect(heardMs()).toBe(100);
    client.session.control({ type: 'finalize' });
    expect([heardMs(), puppet.last.controls]).toEqual([140, ['finalize']]);
  });

  it('leaves at once when the session is closed', async () => {
    const { client, heardMs } = await afterChunks(7, 'throughput');
    client.session.control({ type: 'close' });
    expect(heardMs()).toBe(140);
  });

  it('leaves after two frames’ time when no more audio comes', async () => {
    const { rig, heardMs } = await afterChunks(7, 'throughput');
    await rig.advance(200, 10);
    expect(heardMs()).toBe(140);
  });

  it('replays to the next leg from the last final on', async () => {
    const { rig, puppet, client } = await afterChunks(7, 'throughput');
    await puppet.last.hangUp(1011);
    await rig.advance(1_000, 100);
    client.session.control({ type: 'close' });
    expect([puppet.connections.length, puppet.last.samples]).toEqual([2, 0.14 * RATE]);
  });
});
