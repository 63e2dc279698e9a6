// The promise that a chunk which waits for more costs its session nothing, and is lost, repeated or forgotten nowhere.
import { describe, expect, it } from 'vitest';
import { WaitingChunks } from '../../../../src/live/session/audio/incoming-audio.ts';
import { puppetRig } from '../puppet.ts';
import { RATE, speech } from '../support.ts';

const timing = { frame: { minMs: 20, idealMs: 100, maxMs: 250, tail: 'short' as const } };

/** A session that waits for 100 ms at a time, and has sent so many chunks of 20 ms. */
async function afterChunks(chunks: number) {
  const { rig, puppet } = puppetRig({ timing });
  const client = await rig.open({ model: 'puppet/a', latency: 'throughput' });
  for (let sent = 0; sent < chunks; sent++) {
    client.session.audio(speech(0.02));
    await rig.advance(20);
  }
  return { rig, puppet, client };
}

describe('chunks that wait', () => {
  it('wait in order, up to one byte below the limit, independent of the client’s buffer', () => {
    let begins = 0;
    const waiting = new WaitingChunks(() => begins++);
    const chunk = Uint8Array.of(1, 2);
    expect(waiting.hold(chunk)).toBe(false);
    waiting.bytesMax = 5;
    expect([waiting.hold(chunk), waiting.hold(chunk.fill(3))]).toEqual([true, true]);
    expect([waiting.hold(Uint8Array.of(5)), begins]).toEqual([false, 1]);
    expect([...(waiting.take() ?? [])]).toEqual([1, 2, 3, 3]);
    expect([waiting.take(), waiting.hold(chunk)]).toEqual([undefined, false]);
  });

  it('reach the session when its frame is complete, and not before', async () => {
    const { client, puppet } = await afterChunks(19);
    expect([client.session.pipeline.receivedSamples, puppet.last.samples]).toEqual([0.3 * RATE, 0.3 * RATE]);
    client.session.audio(speech(0.02));
    expect([client.session.pipeline.receivedSamples, puppet.last.samples]).toEqual([0.4 * RATE, 0.4 * RATE]);
  });

  it('count as received where the session is cut off', async () => {
    const { client, rig } = await afterChunks(19);
    client.session.abort('message_too_big', 'Too big.');
    await rig.advance(1_000);
    expect(client.of('session_ended')[0]).toMatchObject({ audio_seconds: 0.38 });
  });
});
