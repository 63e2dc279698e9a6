// A handler may read slowly, and answer late: the connection is not taken for that of a slow client.
import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { openNodeServer } from '../../../../src/http/node/server.ts';
import { reasonAgainstUws } from '../../../../src/http/open-server.ts';
import { openUwsServer } from '../../../../src/http/uws/server.ts';
import { closeAfterAll, start } from '../../../suites/server-adapter/fixture.ts';

closeAfterAll();
const reason = await reasonAgainstUws();
const servers = [['node', openNodeServer] as const, ...(reason === undefined ? [['uws', openUwsServer] as const] : [])];
const PIECE = Buffer.alloc(64 * 1024, 'audio');
/** In pieces: so much is held for a reader that does not read. */
const HELD = 4;
/** Longer than the library waits for a client that sends too little. The timers are the library's own. */
const HOLD_MS = 12_000;
/** Longer than it waits for the next request. */
const ANSWER_MS = 34_000;

function* pieces(count: number): Generator<Buffer> {
  for (let piece = 0; piece < count; piece++) yield PIECE;
}

/** Reads a body, with a pause before each of some chunks, and says how long it was. */
async function readSlowly(body: Readable, holds: readonly number[], holdMs = HOLD_MS): Promise<string> {
  let arrived = 0;
  let chunks = 0;
  for await (const chunk of body) {
    arrived += (chunk as Buffer).length;
    chunks++;
    if (holds.includes(chunks)) await delay(holdMs / holds.length);
  }
  return `${arrived}`;
}

// Both wait for timers of the servers.
describe.concurrent.each(servers)('a body that is held back at the server %s', (_name, open) => {
  const served = (answer: (body: Readable) => Promise<string>) =>
    start(
      { open, gaps: {} },
      { request: async ({ body }) => ({ status: 200, body: await answer(body(1_000 * PIECE.length)) }) },
    );

  test('arrives whole when its reader pauses, and is answered long after it arrived', { timeout: 60_000 }, async () => {
    const [once, long, often, late] = await Promise.all([
      served((body) => readSlowly(body, [1])),
      served((body) => readSlowly(body, [1], ANSWER_MS)),
      served((body) => readSlowly(body, [50, 150, 300])),
      served(async (body) => {
        // Then the client is paused; the last byte of a short body arrives before it is resumed, of a long one behind that.
        await vi.waitFor(() => expect(body.readableLength).toBeGreaterThanOrEqual(HELD * PIECE.length));
        const arrived = await readSlowly(body, []);
        await delay(ANSWER_MS);
        return arrived;
      }),
    ]);
    const sent: [{ port: number }, number][] = [
      [once, 400],
      [long, 400],
      [often, 400],
      ...[HELD + 1, HELD + 2, HELD + 4, 400].map((count): [{ port: number }, number] => [late, count]),
    ];
    expect(await Promise.all(sent.map(([{ port }, count]) => send(port, count)))).toEqual(
      sent.map(([, count]) => `200 ${count * PIECE.length}`),
    );
  });
});

async function send(port: number, count: number): Promise<string> {
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
