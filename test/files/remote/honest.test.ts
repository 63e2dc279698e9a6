// Audio at addresses as customers have them: static servers, presigned links, stores that redirect, and old or careless servers.
import { describe, expect, test } from 'vitest';
import { fetched, head, type RemoteServer, remoteServer, WAV, whole } from './remote-server.ts';

/** How the end of the body is known. */
const FRAMINGS: Record<string, (headers: Record<string, string>) => Buffer> = {
  'a length': (headers) => whole(WAV, headers),
  chunks: (headers) => {
    const pieces = [WAV.subarray(0, 10), WAV.subarray(10, 1_000), WAV.subarray(1_000)];
    const chunks = pieces.flatMap((piece) => [
      Buffer.from(`${piece.length.toString(16)}\r\n`),
      piece,
      Buffer.from('\r\n'),
    ]);
    return Buffer.concat([
      Buffer.from(head('200 OK', { 'Transfer-Encoding': 'chunked', ...headers })),
      ...chunks,
      Buffer.from('0\r\n\r\n'),
    ]);
  },
  'the end of the connection': (headers) =>
    Buffer.concat([Buffer.from(head('200 OK', { Connection: 'close', ...headers })), WAV]),
  'HTTP/1.0': (headers) => Buffer.concat([Buffer.from(head('200 OK', headers).replace('HTTP/1.1', 'HTTP/1.0')), WAV]),
};
const TYPES = ['audio/wav', 'application/octet-stream', 'binary/octet-stream', 'text/plain', undefined];
const REDIRECTS = [
  'none',
  '301 Moved Permanently',
  '302 Found',
  '303 See Other',
  '307 Temporary Redirect',
  '308 Permanent Redirect',
];
const QUERY =
  '?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AK%2F20260101%2Feu%2Fs3%2Faws4_request&X-Amz-Signature=0a1b';

describe.each(Object.entries(FRAMINGS))('a body that ends with %s', (_, answerOf) => {
  test.each(REDIRECTS)('arrives whole with any content type (redirect: %s)', async (redirect) => {
    for (const type of TYPES) {
      const server: RemoteServer = await remoteServer((socket, request) => {
        const path = request.split(' ')[1] as string;
        const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type };
        if (redirect === 'none' || path.startsWith('/there/')) socket.end(answerOf(headers));
        else socket.end(whole('', { Location: `/there${path}` }, redirect));
      });
      const { bytes, filename } = await fetched(server.at(`/calls/M%C3%A4rz%201.wav${QUERY}`));
      expect([bytes.equals(WAV), filename]).toEqual([true, 'März 1.wav']);
      const [first = '', second] = server.requests;
      expect(first).toContain(`GET /calls/M%C3%A4rz%201.wav${QUERY} HTTP/1.1`);
      expect(second === undefined).toBe(redirect === 'none');
      expect(first.toLowerCase()).not.toMatch(/cookie|authorization|referer|range/);
      expect(first).toMatch(/accept-encoding: identity/i);
      expect(first).toMatch(/user-agent: voxgate\/\d/i);
    }
  });
});

test('follows five redirects, to other ports as well', async () => {
  const last = await remoteServer((socket) => socket.end(whole(WAV)));
  const server = await remoteServer((socket, request) => {
    const step = Number(request.split(' ')[1]?.slice(1));
    const next = step === 4 ? last.at('/end') : `/${step + 1}`;
    socket.end(whole('', { Location: next }, '302 Found'));
  });
  expect((await fetched(server.at('/0'))).bytes.equals(WAV)).toBe(true);
  expect(server.requests).toHaveLength(5);
});

test.each([
  ['/speech.flac', 'speech.flac'],
  ['/', 'audio'],
  ['/a/', 'audio'],
  ['/%E0%A4%A', 'audio'],
  [`/${'x'.repeat(300)}.mp3`, `${'x'.repeat(124)}.mp3`],
])('calls a file at %s by the end of its path', async (path, filename) => {
  const server = await remoteServer((socket) => socket.end(whole(WAV)));
  expect((await fetched(server.at(path))).filename).toBe(filename);
});

test('keeps the content type of headerless samples alone', async () => {
  for (const [type, kept] of [
    ['audio/L16;rate=16000', 'audio/L16;rate=16000'],
    ['audio/l16; rate="x\\"', undefined],
    ['audio/mpeg', undefined],
  ] as const) {
    const server = await remoteServer((socket) => socket.end(whole(Buffer.alloc(100, 0x41), { 'Content-Type': type })));
    const found = fetched(server.at());
    if (kept === undefined) await expect(found).rejects.toThrow('not with audio');
    else expect((await found).contentType).toBe(kept);
  }
});

test('takes a file that is smaller than the marks of any format', async () => {
  const server = await remoteServer((socket) => socket.end(whole(Buffer.from([0, 1]))));
  expect((await fetched(server.at())).bytes).toHaveLength(2);
});

test('takes a file of exactly the largest size', async () => {
  const server = await remoteServer((socket) => socket.end(whole(WAV)));
  expect((await fetched(server.at(), { bytesMax: WAV.length })).bytes).toHaveLength(WAV.length);
});
