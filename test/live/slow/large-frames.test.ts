// A whole file in one message: taken whole on both doors, refused with a word beyond the limit, and bounded in memory.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { reasonAgainstUws } from '../../../src/edge/open-door.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../fakes/audio/numbered-finals.ts';
import { startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { Serving } from '../../fakes/processes/serving.ts';

const MIB = 1_048_576;
const SAMPLES = (64 * MIB) / 2;
const numbered = { model: 'loopback/numbered', provider_params: '{"turn_seconds":60}' };

const against = await reasonAgainstUws();
if (against !== undefined) console.warn(`uWebSockets.js is not tried: ${against}`);
const doors = ['node', ...(against === undefined ? ['uws'] : [])];

describe.each(doors)('on the door %s', (door) => {
  it('64 MiB in one frame, and more behind it, lose, repeat or shift no sample', async () => {
    const live = await startLiveGateway({ VOXGATE_DOOR: door });
    const client = live.connect(numbered);
    await client.event('session_started');
    client.send(numberedAudio(0, SAMPLES));
    client.send(numberedAudio(SAMPLES, SAMPLES + 16_000));
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
    expectWhole(client.finals, SAMPLES + 16_000);
  });

  it('more than the limit is said to be too much before the close', async () => {
    const live = await startLiveGateway({ VOXGATE_DOOR: door, VOXGATE_BINARY_FRAME_BYTES_MAX: String(2 * MIB) });
    for (const bytes of [2 * MIB + 1, 4 * MIB, 5 * MIB, 64 * MIB]) {
      const client = live.connect(numbered);
      await client.event('session_started');
      client.send(Buffer.alloc(bytes));
      if (door === 'uws' && bytes > 4 * MIB) {
        // A known gap.
        expect((await client.close()).code).toBe(1006);
        continue;
      }
      expect((await client.event('error')).error).toMatchObject({ code: 'message_too_big' });
      expect((await client.close()).code).toBe(1009);
      expect(client.events.at(-1)).toMatchObject({ type: 'session_ended', reason: 'error' });
    }
  });
});

// Where the system does not say it, nobody can.
it.skipIf(process.platform !== 'linux')(
  'of many at a time the door node gathers some, and the others wait unread',
  async () => {
    const serving = await Serving.start({ env: { VOXGATE_DOOR: 'node', VOXGATE_LARGE_MESSAGES_MAX: '2' } });
    const peakMiB = () =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${serving.child.pid}/status`, 'utf8'))?.[1]) / 1024;
    const client = await serving.speak();
    const before = peakMiB();
    const bytes = 48 * MIB;
    const clients = await Promise.all(Array.from({ length: 6 }, () => serving.speak()));
    for (const { client } of clients) client.send(numberedAudio(0, bytes / 2));
    client.send();
    await client.heard();
    for (const speaking of clients) {
      speaking.samples = bytes / 2;
      expect(await speaking.finish()).toBe(1000);
      expectWhole(speaking.client.finals, bytes / 2);
    }
    // One at a time for one organisation, which the library holds twice; six together would be 576.
    expect(peakMiB() - before).toBeLessThan(300);
  },
);
