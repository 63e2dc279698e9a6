// Frames as a server reads them that did not write them: every length of a head, and buffers that are used again.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { ClientFrames } from '../../../../src/live/upstream/wire/socket-wire.ts';

const hasTls = process.env.CI !== undefined || spawnSync('openssl', ['version']).status === 0;

function certificate(): { cert: Buffer; key: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'client-frames-'));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  try {
    execFileSync('openssl', [...kind, '-subj', '/CN=localhost', '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { cert: readFileSync(cert), key: readFileSync(key) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A connection, what its server has read of it, and the socket below either end. */
async function connection(scheme: 'ws' | 'wss') {
  const http = scheme === 'ws' ? createPlainServer() : createServer(certificate());
  const server = new WebSocketServer({ server: http });
  onTestFinished(() => {
    server.close();
    http.close();
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const address = `${scheme}://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const client = new WebSocket(address, { rejectUnauthorized: false });
  onTestFinished(() => client.terminate());
  const whenUpgraded = once(client, 'upgrade') as Promise<[{ socket: Socket }]>;
  const [[peer], [{ socket }]] = await Promise.all([
    once(server, 'connection') as Promise<[WebSocket]>,
    whenUpgraded,
    once(client, 'open'),
  ]);
  const read: (Buffer | string)[] = [];
  let hear = (): void => {};
  peer.on('message', (data: Buffer, isBinary) => {
    read.push(isBinary ? data : data.toString());
    hear();
  });
  const whenRead = (count: number) =>
    new Promise<void>((resolve) => {
      hear = () => {
        if (read.length >= count) resolve();
      };
      hear();
    });
  let sent = 0;
  const frames = new ClientFrames(socket, () => {
    sent++;
  });
  return { frames, socket, peer, client, read, whenRead, sentCount: () => sent };
}

describe.each(['ws', 'wss'] as const)('a client over %s', (scheme) => {
  // openssl makes the certificates: without it these tests fail on the build server and are skipped elsewhere.
  const it = test.skipIf(scheme === 'wss' && !hasTls);
  it.each([0, 1, 125, 126, 16_384, 65_535, 65_536, 300_000])(
    'delivers a message of %d bytes unchanged',
    async (bytes) => {
      const { frames, read, whenRead } = await connection(scheme);
      const data = randomBytes(bytes);
      // Two bytes each, and one more where the number is odd.
      const text = 'é'.repeat(bytes / 2) + 'e'.repeat(bytes % 2);
      frames.send(data);
      frames.send(text);
      await whenRead(2);
      // Byte by byte, `toEqual` takes a second.
      expect([(read[0] as Buffer).length, data.equals(read[0] as Buffer)]).toEqual([bytes, true]);
      expect(read[1]).toBe(text);
    },
  );

  it('copies what it sends, and leaves room for the library’s own frames', async () => {
    const { frames, client, peer, read, whenRead } = await connection(scheme);
    const audio = new Uint8Array(3_200);
    const whenPinged = once(peer, 'ping');
    for (let count = 0; count < 100; count++) {
      audio.fill(count);
      frames.send(audio);
      if (count === 50) client.ping();
    }
    await Promise.all([whenRead(100), whenPinged]);
    expect(read.map((frame) => (frame as Buffer)[3_199])).toEqual(Array.from({ length: 100 }, (_, count) => count));
  });

  it('delivers every frame to a server that pauses, and reports each when it has left', async () => {
    const { frames, socket, peer, read, whenRead, sentCount } = await connection(scheme);
    peer.pause();
    const count = 3_000;
    const audio = new Uint8Array(8_000);
    for (let frame = 0; frame < count; frame++) {
      audio.fill(frame % 251);
      frames.send(audio);
    }
    expect(socket.writableLength).toBeGreaterThan(0);
    expect(sentCount()).toBeLessThan(count);
    peer.resume();
    await whenRead(count);
    const isWhole = (data: Buffer | string, frame: number) => (data as Buffer).equals(Buffer.alloc(8_000, frame % 251));
    expect(read.every(isWhole)).toBe(true);
    expect(sentCount()).toBe(count);
    // What was held back is used again by others, and not twice at a time.
    const [one, other] = [await connection(scheme), await connection(scheme)];
    for (let frame = 0; frame < 200; frame++) {
      one.frames.send(new Uint8Array(8_000).fill(1));
      other.frames.send(new Uint8Array(8_000).fill(2));
    }
    await Promise.all([one.whenRead(200), other.whenRead(200)]);
    const isFilledWith = (byte: number) => (data: Buffer | string) =>
      (data as Buffer).equals(Buffer.alloc(8_000, byte));
    expect([one.read.every(isFilledWith(1)), other.read.every(isFilledWith(2))]).toEqual([true, true]);
  });
});
