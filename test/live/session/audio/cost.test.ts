// What a second of audio costs, counted where it is the same on every machine: objects on the heap, frames to the provider, and
// writes to its socket.
import { once } from 'node:events';
import { type AddressInfo, Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import type { Latency } from '../../../../src/api/listen.ts';
import { openWire } from '../../../../src/live/upstream/wire/open-wire.ts';
import { systemClock } from '../../../../src/runtime/telemetry/clock.ts';
import { puppetRig } from '../puppet.ts';
import { silence } from '../support.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const CHUNK_MS = 20;
const WARM_SECONDS = 40;
const MEASURED_SECONDS = 10;
const timing = { frame: { minMs: 20, idealMs: 100, maxMs: 250, tail: 'short' as const } };

/** A session whose ways through the code are warm: what each of its chunks leaves on the heap, and its frames for a second of them. */
async function costOf(latency: Latency): Promise<{ bytesPerChunk: number; framesPerSecond: number }> {
  const { rig, puppet } = puppetRig({ timing });
  const client = await rig.open({ model: 'puppet/a', latency });
  const chunk = silence(CHUNK_MS / 1000);
  let frames = 0;
  puppet.last.send = () => {
    frames++;
  };
  const send = (seconds: number) => {
    for (let sent = 0; sent < (seconds * 1000) / CHUNK_MS; sent++) client.session.audio(chunk);
  };
  send(WARM_SECONDS);
  collect();
  frames = 0;
  const before = process.memoryUsage().heapUsed;
  send(MEASURED_SECONDS);
  const bytes = process.memoryUsage().heapUsed - before;
  return { bytesPerChunk: (bytes * CHUNK_MS) / (MEASURED_SECONDS * 1000), framesPerSecond: frames / MEASURED_SECONDS };
}

/** The least of several sessions: what is compiled or collected meanwhile only adds to it. */
async function leastOf(latency: Latency): Promise<Awaited<ReturnType<typeof costOf>>> {
  const costs: Awaited<ReturnType<typeof costOf>>[] = [];
  for (let session = 0; session < 8; session++) costs.push(await costOf(latency));
  return costs.reduce((least, cost) => (cost.bytesPerChunk < least.bytesPerChunk ? cost : least));
}

it.each<[Latency, number, number]>([
  ['throughput', 10, 250],
  ['low', 50, 450],
])(
  'sends a second of 20 ms chunks, with latency `%s`, as %d frames, below %d bytes each',
  async (latency, frames, bytesMax) => {
    const { framesPerSecond, bytesPerChunk } = await leastOf(latency);
    expect(framesPerSecond).toBe(frames);
    expect(bytesPerChunk).toBeLessThan(bytesMax);
  },
);

it('writes each frame to the provider’s socket at once', async () => {
  const server = new WebSocketServer({ port: 0 });
  onTestFinished(() => server.close());
  await once(server, 'listening');
  const told = { opened() {}, message() {}, alive() {}, drained() {}, closed() {}, refused() {}, unreachable() {} };
  const whenOpened = new Promise<void>((resolve) => {
    told.opened = resolve;
  });
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const wire = openWire({ kind: 'websocket', url, headers: {} }, {}, told, systemClock);
  onTestFinished(() => wire.terminate());
  await whenOpened;
  const writes = [vi.spyOn(Socket.prototype, '_write'), vi.spyOn(Socket.prototype, '_writev' as '_write')];
  onTestFinished(() => writes.forEach((write) => void write.mockRestore()));
  const frame = silence(0.1);
  for (let sent = 0; sent < 10; sent++) {
    wire.send(frame);
    await new Promise(setImmediate);
  }
  expect(writes.reduce((sum, write) => sum + write.mock.calls.length, 0)).toBe(10);
});
