// What an upload leaves behind when it is not read to its end: nothing, whatever ended it. And whose time a deadline counts: that
// of the gateway, not that of the consumer.
import { once } from 'node:events';
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { Voxgate } from '../../clients/typescript/src/index.ts';
import { fileFromPath } from '../../clients/typescript/src/node.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';
import { type ScriptedHttp, startScriptedHttp } from './rig/scripted-http.ts';

const MODEL = 'local/commands-en';
const path = join(temporaryDirectory(), 'large.wav');
let http: ScriptedHttp;
beforeAll(async () => {
  writeFileSync(path, new Uint8Array(32 * 1024 * 1024));
  http = await startScriptedHttp();
});
afterEach(() => {
  vi.useRealTimers();
});

const made = (baseUrl: string, timeoutMs = 60_000) =>
  new Voxgate({ apiKey: 'sk_vox_x', baseUrl, retriesMax: 0, timeoutMs });

/** How often the file is open in this process. */
function openCount(): number {
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      // That of the listing itself is gone by now.
      return '';
    }
  });
  return links.filter((link) => link === path).length;
}

/** A server that answers, or hangs up, at the first bytes and reads no more. */
async function startRude(answer: string | undefined): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.pause();
      if (answer === undefined) socket.destroy();
      else socket.end(answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A port on which a server was, and is no more. */
async function startNobody(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

const BUSY = '{"error":{"type":"server_error","code":"overloaded","message":"Busy."}}';
const HEAD = `Content-Type: application/json\r\nContent-Length: ${BUSY.length}\r\nConnection: close`;

// Only Linux shows a process which files it has open.
it.skipIf(process.platform !== 'linux').each<[string, () => Promise<string>]>([
  ['no server listens', startNobody],
  ['the connection breaks', () => startRude(undefined)],
  ['the answer comes before the file is read', () => startRude(`HTTP/1.1 503 Busy\r\n${HEAD}\r\n\r\n${BUSY}`)],
])('closes a file after every attempt, also where %s', async (_, start) => {
  const client = made(await start());
  const file = await fileFromPath(path);
  for (let count = 0; count < 10; count++) {
    await expect(client.transcribe({ model: MODEL, file })).rejects.toThrow();
  }
  await vi.waitFor(() => expect(openCount()).toBe(0));
});

it('counts waits for events in a stream’s deadline, but not the consumer’s time', async () => {
  const told = (type: string) => `data: ${JSON.stringify({ type: `transcript.text.${type}` })}\n\n`;
  let sent: ServerResponse | undefined;
  http.answers = [
    (response) => {
      sent = response;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(told('delta'));
    },
  ];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const read = async () => {
    const options = { model: MODEL, file: new Uint8Array(3), stream: true } as const;
    const answer = await made(http.url, 1_000).transcribe(options);
    await vi.advanceTimersByTimeAsync(5_000);
    const reader = answer[Symbol.asyncIterator]();
    expect((await reader.next()).value?.type).toBe('transcript.text.delta');
    await vi.advanceTimersByTimeAsync(5_000);
    return reader;
  };
  const whole = await read();
  sent?.end(told('done'));
  expect((await whole.next()).value?.type).toBe('transcript.text.done');
  expect((await whole.next()).done).toBe(true);
  const last = expect((await read()).next()).rejects.toMatchObject({ code: 'timeout', name: 'TimeoutError' });
  await vi.advanceTimersByTimeAsync(1_000);
  await last;
});
