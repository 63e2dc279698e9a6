// A whole file in one message: taken whole on both adapters, refused with a word beyond the limit, and bounded in memory.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { reasonAgainstUws } from '../../../src/http/open-server.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../fakes/audio/numbered-finals.ts';
import { startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { Serving } from '../../fakes/processes/serving.ts';

const MIB = 1_048_576;
const SAMPLES = (64 * MIB) / 2;
const numbered = { model: 'loopback/numbered', provider_params: '{"turn_seconds":60}' };

const against = await reasonAgainstUws();
if (against !== undefined) console.warn(`uWebSockets.js is not tried: ${against}`);
const adapters = ['node', ...(against === undefined ? ['uws'] : [])];

describe.each(adapters)('large messages on the adapter %s', (adapter) => {
  it('64 MiB in one frame, and more behind it, lose, repeat or shift no sample', async () => {
    const live = await startLiveGateway({ VOXGATE_DOOR: adapter });
    const client = live.connect(numbered);
    await client.event('session_started');
    client.send(numberedAudio(0, SAMPLES));
    client.send(numberedAudio(SAMPLES, SAMPLES + 16_000));
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
    expectWhole(client.finals, SAMPLES + 16_000);
  });

  it('more than the limit is said to be too much before the close', async () => {
    const live = await startLiveGateway({ VOXGATE_DOOR: adapter, VOXGATE_BINARY_FRAME_BYTES_MAX: String(2 * MIB) });
    for (const bytes of [2 * MIB + 1, 4 * MIB, 5 * MIB, 64 * MIB]) {
      const client = live.connect(numbered);
      await client.event('session_started');
      client.send(Buffer.alloc(bytes));
      if (adapter === 'uws' && bytes > 4 * MIB) {
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

// The library gathers messages out of sight, so how many can be large is decided before they begin.
it.skipIf(against !== undefined)(
  'lets some sockets send large messages on uws, half of them per organisation',
  async () => {
    const live = await startLiveGateway({
      ...{
        VOXGATE_DOOR: 'uws',
        VOXGATE_LARGE_MESSAGE_SOCKETS_MAX: '2',
        VOXGATE_BINARY_FRAME_BYTES_MAX: String(8 * MIB),
      },
    });
    const limitOf = async (client: ReturnType<typeof live.connect>) =>
      (await client.event('session_started')).limits.binary_frame_bytes;
    const first = live.connect(numbered);
    expect(await limitOf(first)).toBe(8 * MIB);
    const second = live.connect(numbered);
    expect(await limitOf(second)).toBe(MIB);
    second.send(numberedAudio(0, (1.5 * MIB) / 2));
    expect((await second.event('error')).error).toMatchObject({ code: 'message_too_big' });
    expect((await second.close()).code).toBe(1009);
    const third = live.connect(numbered);
    await limitOf(third);
    third.send(Buffer.alloc(3 * MIB));
    expect((await third.close()).code).toBe(1006);
    first.send(numberedAudio(0, (3 * MIB) / 2));
    first.send({ type: 'close' });
    expect((await first.close()).code).toBe(1000);
    expectWhole(first.finals, (3 * MIB) / 2);
    // A place that is given back is given on.
    expect(await limitOf(live.connect(numbered))).toBe(8 * MIB);
    const metrics = await (await fetch(`${live.url}/metrics`)).text();
    expect(metrics).toMatch(/^voxgate_small_message_sockets_total\{.*\} 2$/m);
    expect(metrics).toMatch(/^voxgate_sessions_ended_total\{reason="error",.*\} 2$/m);
  },
);

// Only where the system reports it.
it.skipIf(process.platform !== 'linux')(
  'assembles a few of many large messages on node, while the others wait unread',
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
