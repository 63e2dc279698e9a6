// The server adapters' suite: answers in pieces to clients that read slowly, late or not at all.
import { describe, expect, test, vi } from 'vitest';
import { UNREAD_MS_MAX } from '../../../src/http/reply.ts';
import { turns } from '../../fakes/raw-socket.ts';
import { type AdapterUnderTest, rawSocket, start } from './fixture.ts';
import { Given, open } from './given-body.ts';

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

export function slowReaderSuite(under: AdapterUnderTest): void {
  const serving = (body: AsyncIterable<string>) => start(under, { request: async () => ({ status: 200, body }) });
  /** A client that has read the first piece, and no more until it is resumed. `taken` resolves when it has so many bytes. */
  const paused = async (body: AsyncIterable<string>) => {
    const { port } = await serving(body);
    const response = Object.assign(await open(port), { chunks: [] as Buffer[] });
    let bytes = 0;
    let wake = () => {};
    response.on('data', (chunk: Buffer) => {
      response.chunks.push(chunk);
      bytes += chunk.length;
      wake();
    });
    response.on('close', () => wake());
    const taken = async (atLeast: number) => {
      while (bytes < atLeast) {
        if (response.destroyed) throw new Error(`The connection ended after ${bytes} bytes.`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    };
    await taken(4);
    response.pause();
    return { response, taken };
  };
  /** Until the kernels at both ends have taken what they take. */
  const standstill = async (body: Given) => {
    for (let asked = -1; asked !== body.asked; await turns(400)) asked = body.asked;
  };

  describe('an answer in pieces', () => {
    test('reaches a client that was slow to its last byte, though no next piece is made', async () => {
      const body = new Given().give('head');
      const { response, taken } = await paused(body);
      body.give('ä🜚'.repeat(2 * 1024 * 1024));
      await standstill(body);
      response.resume();
      await taken(4 + 12 * 1024 * 1024);
      expect(body.asked).toBe(3);
      const text = Buffer.concat(response.chunks).toString();
      expect(text === `head${'ä🜚'.repeat(2 * 1024 * 1024)}`).toBe(true);
      response.destroy();
    });

    test('reaches, in one large part, a client that reads some of it every 6 s', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        const bytes = 32 * 1024 * 1024;
        const body = new Given().give('head');
        const { response, taken } = await paused(body);
        body.give('w'.repeat(bytes), undefined);
        await standstill(body);
        for (let part = 1; part < 8; part++) {
          response.resume();
          await taken((part * bytes) / 8);
          response.pause();
          await turns(400);
          await vi.advanceTimersByTimeAsync(0.6 * UNREAD_MS_MAX);
        }
        response.resume();
        await taken(4 + bytes);
      } finally {
        vi.useRealTimers();
      }
    });

    test('ends after its last part when it fails, also for a client far behind', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        const body = new Given().give('head');
        const { response, taken } = await paused(body);
        body.give('v'.repeat(12 * 1024 * 1024), 'why', new Error('inside'));
        await standstill(body);
        const failed = new Promise((resolve) => response.on('error', resolve));
        response.resume();
        await taken(4 + 12 * 1024 * 1024 + 3);
        expect(response.chunks.at(-1)?.subarray(-3).toString()).toBe('why');
        await vi.advanceTimersByTimeAsync(UNREAD_MS_MAX);
        expect([await failed, response.complete]).toMatchObject([{ code: 'ECONNRESET' }, false]);
      } finally {
        vi.useRealTimers();
      }
    });

    test('ends, and releases its source, when the client reads nothing for 10 s', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        const body = new Given();
        const { port } = await serving(body);
        const socket = await rawSocket(port);
        socket.write(GET);
        socket.pause();
        let asked = -1;
        // As much as the kernels take, until no more is asked for.
        while (asked !== body.asked) {
          asked = body.asked;
          for (let count = 0; count < 64; count++) body.give('z'.repeat(65_536));
          await turns(200);
          if (vi.getTimerCount() > 0) break;
        }
        await vi.advanceTimersByTimeAsync(UNREAD_MS_MAX + 1);
        expect(await body.told.next()).toBe('returned');
        socket.resume();
        await socket.closed;
      } finally {
        vi.useRealTimers();
      }
    });
  });
}
