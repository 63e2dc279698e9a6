// The least that a relay on Node can cost: uWebSockets.js to `ws`, a tenth of a second of audio in each frame up, in one buffer for
// each session. It knows nothing: no key, no money, no failover, no turns.
import WebSocket from 'ws';
import { loadUws } from '../../src/http/uws/library.ts';

const FRAME_BYTES = 3_200;
const upstreamUrl = process.argv[2] as string;
const { library } = loadUws();

interface Session {
  upstream: WebSocket;
  buffer: Buffer;
  length: number;
  isGone: boolean;
}

interface Client {
  getUserData(): { session: Session };
  send(data: Uint8Array, isBinary: boolean): void;
  end(): void;
}

const app = (library as unknown as { App(): Record<string, (...parts: unknown[]) => unknown> }).App();
app.ws?.('/*', {
  compression: 0,
  maxPayloadLength: 1 << 20,
  open(client: Client) {
    const upstream = new WebSocket(upstreamUrl, { perMessageDeflate: false });
    const session = { upstream, buffer: Buffer.alloc(1 << 16), length: 0, isGone: false };
    client.getUserData().session = session;
    upstream.on('message', (data: Buffer, isBinary: boolean) => session.isGone || client.send(data, isBinary));
    upstream.on('close', () => session.isGone || client.end());
    upstream.on('error', () => {});
  },
  message(client: Client, data: ArrayBuffer) {
    const { session } = client.getUserData();
    if (session.length + data.byteLength > session.buffer.length) return;
    session.buffer.set(new Uint8Array(data), session.length);
    session.length += data.byteLength;
    if (session.length < FRAME_BYTES || session.upstream.readyState !== WebSocket.OPEN) return;
    session.upstream.send(session.buffer.subarray(0, session.length));
    session.length = 0;
  },
  close(client: Client) {
    const { session } = client.getUserData();
    session.isGone = true;
    session.upstream.terminate();
  },
});
app.listen?.('127.0.0.1', 0, (socket: unknown) => {
  const port = (library as unknown as { us_socket_local_port(socket: unknown): number }).us_socket_local_port(socket);
  process.send?.({ port });
});
process.once('disconnect', () => process.exit());
