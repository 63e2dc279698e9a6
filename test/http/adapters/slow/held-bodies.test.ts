// A handler may read slowly, and answer late: the connection is not taken for that of a slow client.
import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openNodeServer } from '../../../../src/http/node/server.ts';
import { reasonAgainstUws } from '../../../../src/http/open-server.ts';
import { openUwsServer } from '../../../../src/http/uws/server.ts';
import { closeAfterEach, start } from '../../../suites/server-adapter/fixture.ts';

closeAfterEach();
const reason = await reasonAgainstUws();
const servers = [['node', openNodeServer] as const, ...(reason === undefined ? [['uws', openUwsServer] as const] : [])];
const PIECE = Buffer.alloc(64 * 1024, 'audio');
const PIECES = 400;
/** Longer than the library waits for a client that sends too little. */
const HOLD_MS = 12_000;
/** Longer than it waits for the next request. */
const ANSWER_MS = 34_000;

function* pieces(count: number): Generator<Buffer> {
  for (let piece = 0; piece < count; piece++) yield PIECE;
}

describe.each(servers)('a body that is held back at the server %s', (_name, open) => {
  test.each([
    ['once', [1]],
    ['several times', [50, 150, 300]],
  ])('arrives whole when its reader pauses %s', { timeout: 60_000 }, async (_what, holds) => {
    const { port } = await start(
      { open, gaps: {} },
      {
        request: async ({ body }) => {
          let arrived = 0;
          let chunks = 0;
          for await (const chunk of body(PIECES * PIECE.length)) {
            arrived += (chunk as Buffer).length;
            chunks++;
            if (holds.includes(chunks)) await delay(HOLD_MS / holds.length);
          }
          return { status: 200, body: String(arrived) };
        },
      },
    );
    expect(await send(port)).toBe(`200 ${PIECES * PIECE.length}`);
  });

  test('is answered long after it arrived, when its last byte came during a pause', { timeout: 60_000 }, async () => {
    const { port } = await start(
      { open, gaps: {} },
      {
        request: async ({ body }) => {
          const stream = body(PIECES * PIECE.length);
          await delay(1_000);
          let arrived = 0;
          for await (const chunk of stream) arrived += (chunk as Buffer).length;
          await delay(ANSWER_MS);
          return { status: 200, body: String(arrived) };
        },
      },
    );
    const { length } = PIECE;
    // One piece more than is held for a reader that does not read.
    expect(await Promise.all([17, 18, 20].map((count) => send(port, count)))).toEqual(
      [17, 18, 20].map((count) => `200 ${count * length}`),
    );
  });

  test('is answered long after it arrived', { timeout: 60_000 }, async () => {
    const { port } = await start(
      { open, gaps: {} },
      {
        request: async ({ body }) => {
          let arrived = 0;
          for await (const chunk of body(PIECES * PIECE.length)) {
            arrived += (chunk as Buffer).length;
            await delay(1);
          }
          await delay(ANSWER_MS);
          return { status: 200, body: String(arrived) };
        },
      },
    );
    expect(await send(port)).toBe(`200 ${PIECES * PIECE.length}`);
  });
});

async function send(port: number, count = PIECES): Promise<string> {
  const headers = { 'Content-Length': count * PIECE.length };
  const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', agent: false, headers });
  const answered = new Promise<string>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', async (response) => {
      let text = '';
      for await (const piece of response.setEncoding('utf8')) text += piece;
      resolve(`${response.statusCode} ${text}`);
    });
  });
  await pipeline(Readable.from(pieces(count)), request);
  return answered;
}
