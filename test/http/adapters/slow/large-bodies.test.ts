// Bodies of a gigabyte, the largest that the product takes by default, at both servers.
import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, test } from 'vitest';
import { openNodeServer } from '../../../../src/http/node/server.ts';
import { reasonAgainstUws } from '../../../../src/http/open-server.ts';
import { openUwsServer } from '../../../../src/http/uws/server.ts';
import { closeAfterEach, start } from '../../../suites/server-adapter/fixture.ts';

closeAfterEach();
const reason = await reasonAgainstUws();
const servers = [['node', openNodeServer] as const, ...(reason === undefined ? [['uws', openUwsServer] as const] : [])];
const GIBIBYTE = 1024 ** 3;
const PIECE = Buffer.alloc(1024 * 1024, 'audio');

function* pieces(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= PIECE.length) yield PIECE.subarray(0, Math.min(left, PIECE.length));
}

describe.each(servers)('large bodies at the server %s', (_name, open) => {
  test.each([
    ['1,000,000,000 bytes with a length', 1_000_000_000, true],
    ['1 GiB with a length', GIBIBYTE, true],
    ['1 GiB in chunks', GIBIBYTE, false],
  ])('receives a body of %s whole', async (_what, bytes, hasLength) => {
    const { port } = await start(
      { open, gaps: {} },
      {
        request: async ({ body }) => {
          let arrived = 0;
          for await (const chunk of body(GIBIBYTE)) arrived += (chunk as Buffer).length;
          return { status: 200, body: String(arrived) };
        },
      },
    );
    const headers = hasLength ? { 'Content-Length': bytes } : { 'Transfer-Encoding': 'chunked' };
    const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', agent: false, headers });
    const answered = new Promise<string>((resolve, reject) => {
      request.on('error', reject);
      request.on('response', async (response) => {
        let text = '';
        for await (const piece of response.setEncoding('utf8')) text += piece;
        resolve(`${response.statusCode} ${text}`);
      });
    });
    await pipeline(Readable.from(pieces(bytes)), request);
    expect(await answered).toBe(`200 ${bytes}`);
  });
});
