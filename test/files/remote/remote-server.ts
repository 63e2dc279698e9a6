// Servers that audio is fetched from: each writes its answers itself, byte by byte where it wants to.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, expect } from 'vitest';
import { RemoteAudio, type RemoteAudioOptions } from '../../../src/files/remote/remote-audio.ts';
import { parseNetworks } from '../../../src/runtime/network-addresses.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { limitedSignal } from '../../../src/runtime/timeouts.ts';

export const HERE = parseNetworks('127.0.0.1');

/** A WAV file of silence, with some bytes of every kind. */
export const WAV = Buffer.concat([
  Buffer.from('RIFF\x24\x20\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0', 'latin1'),
  Buffer.alloc(4_000),
]);

export interface RemoteServer {
  port: number;
  /** An address there. */
  at(path?: string): string;
  /** The heads of the requests so far. */
  requests: string[];
  /** Connections that are open. */
  open: Set<Socket>;
}

/** @param answer is given the head of each request */
export async function remoteServer(
  answer: (socket: Socket, head: string) => void,
  host = '127.0.0.1',
  wantedPort = 0,
): Promise<RemoteServer> {
  const requests: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => {});
    socket.once('data', (data) => {
      requests.push(data.toString());
      answer(socket, data.toString());
    });
  });
  server.listen(wantedPort, host);
  await once(server, 'listening');
  afterAll(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, at: (path = '/a.wav') => `http://${host}:${port}${path}`, requests, open };
}

export const head = (status: string, headers: Record<string, string> = {}): string =>
  `HTTP/1.1 ${status}\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

/** Answers with a body whose length is known. */
export const whole = (body: Uint8Array | string, headers: Record<string, string> = {}, status = '200 OK'): Buffer =>
  Buffer.concat([
    Buffer.from(head(status, { 'Content-Length': String(Buffer.byteLength(body)), ...headers })),
    Buffer.from(body as string),
  ]);

export const remoteAudio = (options: Partial<RemoteAudioOptions> = {}): RemoteAudio =>
  new RemoteAudio({ clock: systemClock, isOn: true, networks: HERE, bytesMax: 1_000_000, ...options });

/** Fetches all of it. */
export async function fetched(
  url: string,
  options: Partial<RemoteAudioOptions> = {},
  timeoutMs = 60_000,
): Promise<{ bytes: Buffer; filename: string; contentType: string | undefined }> {
  const audio = remoteAudio(options);
  const limit = limitedSignal(systemClock, timeoutMs);
  const work = async () => {
    const file = await audio.open({ url, param: 'audio_url' }, 'org_1', limit);
    const pieces: Uint8Array[] = [];
    for await (const piece of file.read()) pieces.push(piece);
    const { filename, contentType } = file;
    return { bytes: Buffer.concat(pieces), filename, contentType };
  };
  const result = await work().catch((error: Error) => error);
  limit.release();
  // A fetch that is over has given its place back.
  expect(audio.size).toBe(0);
  if (result instanceof Error) throw result;
  return result;
}
