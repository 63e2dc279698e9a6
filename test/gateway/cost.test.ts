// What a request with a small file and the opening of a live session allocate in a whole gateway, from the client's socket to the
// provider's and back. Clients and provider are in the same process: they write prepared bytes and look at few of those that come.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { WAV_HEADER_BYTES, wavHeader } from '../../src/audio/containers/wav.ts';
import { allocatedBytes, leastAllocatedBytes } from '../fakes/allocation.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { RawSocket } from '../fakes/raw-socket.ts';

const WARM_ROUNDS = 6;
const ROUNDS = 8;
const EACH = 40;
const FILE_BYTES = 16_000;
const ANSWER = JSON.stringify({ text: 'twenty one degrees', usage: { type: 'duration', seconds: 1 } });
const REPLY = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${ANSWER.length}\r\n\r\n${ANSWER}`;
const CLOSING = '--\r\n';

/** Answers each form when its end has come. */
async function fileProvider(): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      if (chunk.toString('latin1', chunk.length - CLOSING.length) === CLOSING) socket.write(REPLY);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function gatewayOf(env: Record<string, string> = {}): Promise<LiveGateway> {
  return startLiveGateway({
    VOXGATE_SESSIONS_PER_KEY_MAX: '100000',
    VOXGATE_SESSIONS_PER_ORGANISATION_MAX: '100000',
    VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '1000000',
    ...env,
  });
}

/** The least that one piece of work allocates, once the ways through the code are warm. */
async function bytesOfEach(round: () => Promise<number>): Promise<number> {
  for (let done = 0; done < WARM_ROUNDS; done++) await round();
  return (await leastAllocatedBytes(ROUNDS, round)) / EACH;
}

function formRequest(key: string): Buffer {
  const part = (name: string, more = '') => `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n`;
  const head = `${part('model')}\r\nopenai/gpt-4o-transcribe\r\n${part('file', '; filename="a.wav"')}Content-Type: audio/wav\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), wavFile(), Buffer.from(`\r\n--b${CLOSING}`)]);
  const lines = [
    'POST /v1/audio/transcriptions HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${key}`,
    'Content-Type: multipart/form-data; boundary=b',
    `Content-Length: ${body.length}`,
    '\r\n',
  ];
  return Buffer.concat([Buffer.from(lines.join('\r\n')), body]);
}

/** Of silence. */
function wavFile(): Buffer {
  const sampleBytes = FILE_BYTES - WAV_HEADER_BYTES;
  return Buffer.concat([wavHeader(16_000, sampleBytes), Buffer.alloc(sampleBytes)]);
}

it('transcribes a file of 16 kB, below 230 kB', async () => {
  const { gateway, key } = await gatewayOf({ OPENAI_API_KEY: 'good-key', VOXGATE_OPENAI_URL: await fileProvider() });
  const client = await RawSocket.connect(Number(new URL(gateway.url).port));
  onTestFinished(() => client.destroy());
  const request = formRequest(key);
  let answered = 0;
  const bytes = await bytesOfEach(() =>
    allocatedBytes(async () => {
      for (let sent = 0; sent < EACH; sent++) {
        client.write(request);
        const { status } = await client.reply();
        if (status === 200) answered++;
      }
    }),
  );
  expect(answered).toBe((WARM_ROUNDS + ROUNDS) * EACH);
  expect(bytes).toBeLessThan(230_000);
});

it('opens a live session, below 450 kB', async () => {
  const { gateway, key } = await gatewayOf();
  const port = Number(new URL(gateway.url).port);
  const path = '/v1/listen?model=loopback/script&sample_rate=16000&encoding=linear16';
  let accepted = 0;
  const bytes = await bytesOfEach(async () => {
    const clients: RawSocket[] = [];
    for (let opened = 0; opened < EACH; opened++) clients.push(await RawSocket.connect(port));
    const allocated = await allocatedBytes(async () => {
      for (const client of clients) {
        const { status } = await client.handshake(path, [`Authorization: Bearer ${key}`]);
        await client.frame();
        if (status === 101) accepted++;
      }
    });
    for (const client of clients) client.destroy();
    await Promise.all(clients.map(({ closed }) => closed));
    return allocated;
  });
  expect(accepted).toBe((WARM_ROUNDS + ROUNDS) * EACH);
  expect(bytes).toBeLessThan(450_000);
});
