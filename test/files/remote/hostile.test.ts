// Addresses and servers that mean no good: each is refused with a reason, and leaves no connection and no place behind.
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { DOWNLOAD_TIMES } from '../../../src/files/remote/download.ts';
import { DOWNLOADS_MAX } from '../../../src/files/remote/remote-audio.ts';
import { parseNetworks } from '../../../src/runtime/network-addresses.ts';
import type { Resolve } from '../../../src/runtime/outbound/reachable.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { type LimitedSignal, limitedSignal } from '../../../src/runtime/timeouts.ts';
import { openTlsFront } from '../../sdk/simulator/tls-front.ts';
import { fetched, HERE, head, remoteAudio, remoteServer, WAV, whole } from './remote-server.ts';

const SECRET = 'X-Amz-Signature=5ec7e7';

const refused = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (failure) => failure,
  );
  expect(error?.message).not.toContain('5ec7e7');
  return [error?.code, error?.message, error?.extras];
};
const as = (code: string, words: RegExp) => [code, expect.stringMatching(words), { param: 'audio_url' }];

/** What closes is closed a moment later, or never. */
async function closed({ open }: { open: Set<Socket> }): Promise<void> {
  await Promise.all([...open].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
}

describe('an address', () => {
  test.each([
    ['https://127.0.0.1/a.wav', /private address/],
    ['https://2130706433/a.wav', /private address/],
    ['https://0x7f.1/a.wav', /private address/],
    ['https://017700000001/a.wav', /private address/],
    ['https://127.0.0.1./a.wav', /private address/],
    ['https://[::1]/a.wav', /private address/],
    ['https://[::ffff:127.0.0.1]/a.wav', /private address/],
    ['https://[::ffff:7f00:1]/a.wav', /private address/],
    ['https://[::127.0.0.1]/a.wav', /private address/],
    ['https://[64:ff9b::a9fe:a9fe]/a.wav', /private address/],
    ['https://[fd00::1]/a.wav', /private address/],
    ['https://0.0.0.0/a.wav', /private address/],
    ['https://169.254.169.254/latest/meta-data', /private address/],
    ['https://[fe80::1]/a.wav', /private address/],
    ['https://10.0.0.1/a.wav', /private address/],
    ['https://192.168.1.1:8443/a.wav', /private address/],
    ['https://localhost/a.wav', /private address/],
    ['http://8.8.8.8/a.wav', /no TLS/],
    ['http://127.0.0.1/a.wav', /no TLS/],
    ['ftp://example.com/a.wav', /not an `https` address/],
    ['file:///etc/passwd', /not an `https` address/],
    ['data:audio/wav;base64,UklGRg==', /not an `https` address/],
    ['gopher://127.0.0.1:6379/_PING', /not an `https` address/],
    ['s3://bucket/key.wav', /not an `https` address/],
    ['//example.com/a.wav', /not a URL/],
    ['a.wav', /not a URL/],
    ['', /not a URL/],
    ['https://', /not a URL/],
    ['https://exa mple.com/', /not a URL/],
    ['https://user:password@example.com/a.wav', /user name or a password/],
    ['https://user@example.com/a.wav', /user name or a password/],
    ['https://example.com:22/a.wav', /port 22/],
    ['https://example.com:25/a.wav', /port 25/],
    ['https://example.com:0/a.wav', /port 0/],
    [`https://example.com/${'a'.repeat(8_192)}`, /longer than 8192/],
  ])('%s is not fetched', async (url, words) => {
    const withQuery = url.includes('?') || url === '' ? url : `${url}?${SECRET}`;
    expect(await refused(fetched(withQuery, { networks: undefined }))).toEqual(as('audio_url_not_allowed', words));
  });

  test('is not fetched where the operator has switched that off', async () => {
    const answer = await refused(fetched('https://example.com/a.wav', { isOn: false }));
    expect(answer).toEqual(as('audio_url_not_allowed', /switched audio by URL off/));
  });

  test('without TLS is fetched within the networks of the operator only', async () => {
    for (const url of ['http://127.0.0.2/a.wav', 'http://8.8.8.8/a.wav', 'http://10.0.0.1/a.wav'])
      expect(await refused(fetched(url, { networks: HERE }))).toEqual(as('audio_url_not_allowed', /no TLS/));
  });
});

describe('a name', () => {
  const naming = (...addresses: string[][]): Resolve => {
    let lookups = 0;
    return (_, __, callback) => {
      const found = addresses[Math.min(lookups++, addresses.length - 1)] as string[];
      setImmediate(
        callback,
        null,
        found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    };
  };

  test.each([
    [['127.0.0.1']],
    [['93.184.216.34', '10.0.0.1']],
    [['::ffff:169.254.169.254']],
    [['2606:4700::1', '::1']],
  ])('that leads to %j is not connected to', async (addresses) => {
    const resolve = naming(addresses);
    const answer = await refused(fetched('https://audio.example/a.wav', { networks: undefined, resolve }));
    expect(answer).toEqual(
      as('audio_url_not_allowed', /does not exist on the Internet, or that has a private address/),
    );
  });

  test('that does not exist gets the same answer as a private one', async () => {
    const resolve: Resolve = (_, __, callback) =>
      setImmediate(callback, Object.assign(new Error('none'), { code: 'ENOTFOUND' }), []);
    const answer = await refused(fetched('https://intranet.example/a.wav', { resolve }));
    expect(answer).toEqual(
      as('audio_url_not_allowed', /does not exist on the Internet, or that has a private address/),
    );
  });

  test('that changes between two hops is looked up, and judged, at each', async () => {
    const server = await remoteServer((socket) => socket.end(whole('', { Location: '/again' }, '302 Found')));
    const url = `http://audio.example:${server.port}/a.wav`;
    const resolve = naming(['127.0.0.1'], ['127.0.0.2']);
    expect(await refused(fetched(url, { resolve }))).toEqual(as('audio_url_not_allowed', /no TLS/));
    expect(server.requests).toHaveLength(1);
    await closed(server);
  });

  test('that is looked up slowly keeps one of two lookups free for other organisations', async () => {
    const waiting: string[] = [];
    const resolve: Resolve = (hostname) => void waiting.push(hostname);
    const audio = remoteAudio({ networks: HERE, resolve });
    const limit = limitedSignal(systemClock, 60_000);
    const open = (organisationId: string, name: string) =>
      audio.open({ url: `https://${name}.example/`, param: 'audio_url' }, organisationId, limit);
    const all = [open('org_1', 'a'), open('org_1', 'b'), open('org_2', 'c')];
    await new Promise((resolve) => setImmediate(resolve));
    expect(waiting).toEqual(['a.example', 'c.example']);
    limit.abort(new Error('enough'));
    expect(await Promise.allSettled(all)).toEqual(all.map(() => ({ status: 'rejected', reason: new Error('enough') })));
    expect(audio.size).toBe(0);
    limit.release();
  });
});

describe('a redirect', () => {
  const LOCATIONS: [string, RegExp][] = [
    ['http://127.0.0.2/a.wav', /no TLS/],
    ['https://169.254.169.254/a.wav', /private address/],
    ['https://[::1]/a.wav', /private address/],
    ['//2130706434/a.wav', /no TLS/],
    ['https://user:password@example.com/', /user name or a password/],
    ['file:///etc/passwd', /not an `https` address/],
    ['http://127.0.0.1:22/', /port 22/],
    ['http://[', /not a URL/],
  ];

  test.each(LOCATIONS)('to %s is not followed', async (location, words) => {
    const server = await remoteServer((socket) =>
      socket.end(whole('', { Location: location }, '307 Temporary Redirect')),
    );
    expect(await refused(fetched(server.at(`/?${SECRET}`)))).toEqual(as('audio_url_not_allowed', words));
    await closed(server);
  });

  test('is followed five times', async () => {
    const server = await remoteServer((socket) => socket.end(whole('', { Location: '/again' }, '302 Found')));
    expect(await refused(fetched(server.at()))).toEqual(as('audio_url_failed', /redirects more than 5 times/));
    expect(server.requests).toHaveLength(6);
    await closed(server);
  });

  test('gets a separate connection for each hop', async () => {
    const server = await remoteServer((socket) =>
      socket.write(whole('', { Location: '/again', Connection: 'keep-alive' }, '302 Found')),
    );
    await refused(fetched(server.at()));
    expect(server.requests).toHaveLength(6);
    await closed(server);
  });
});

describe('a server', () => {
  const CHUNKED = { 'Transfer-Encoding': 'chunked' };
  type Answer = (socket: Socket) => unknown;
  const ending =
    (...answer: Parameters<typeof whole>): Answer =>
    (socket) =>
      socket.end(whole(...answer));
  const endless =
    (start: string, piece: Buffer): Answer =>
    (socket) => {
      const more = () => {
        while (socket.writable && socket.write(piece));
      };
      socket.on('drain', more).write(start);
      more();
    };
  const PAGE = '<!doctype html><title>Log in</title>';
  const FAILED: [string, Answer, RegExp][] = [
    ['answers with 403', ending('no', {}, '403 Forbidden'), /status 403/],
    ['answers with 404', ending(WAV, {}, '404 Not Found'), /status 404/],
    ['answers with 500', ending('', {}, '500 Oops'), /status 500/],
    ['answers with 204', (socket) => socket.end(head('204 No Content')), /status 204/],
    ['answers with a part', ending(WAV, {}, '206 Partial Content'), /status 206/],
    ['redirects nowhere', ending('', {}, '302 Found'), /status 302/],
    ['answers with a page', ending(PAGE, { 'Content-Type': 'text/html' }), /a page or another text/],
    ['calls a page audio', ending('\n <html>', { 'Content-Type': 'audio/wav' }), /a page or another text/],
    ['answers with JSON', ending('{"error":"expired"}'), /a page or another text/],
    ['answers with nothing', ending(''), /empty file/],
    ['sends a bomb', ending(gzipSync(Buffer.alloc(10_000_000)), { 'Content-Encoding': 'gzip' }), /compressed/],
    ['compresses twice', ending(WAV, { 'Content-Encoding': 'identity, br' }), /compressed/],
    [
      'compresses the transfer',
      (socket) => socket.end(head('200 OK', { 'Transfer-Encoding': 'gzip, chunked' })),
      /compressed/,
    ],
    ['says more than it sends', ending(WAV, { 'Content-Length': '9999' }), /broke off/],
    ['breaks off within chunks', (socket) => socket.end(`${head('200 OK', CHUNKED)}99\r\nRIFF\0`), /broke off/],
    ['hangs up', (socket) => socket.destroy(), /broke off/],
    [
      'switches protocols',
      (socket) => socket.write(head('101 Switching Protocols', { Upgrade: 'x', Connection: 'upgrade' })),
      /broke off/,
    ],
    [
      'has an endless head',
      endless('HTTP/1.1 200 OK\r\n', Buffer.from('X: x\r\n'.repeat(1_000))),
      /not answer in HTTP/,
    ],
    ['is another service', (socket) => socket.end('220 mail.example.com ESMTP\r\n'), /not answer in HTTP/],
  ];

  test.each(FAILED)('that %s is given up', async (_, answer, words) => {
    const server = await remoteServer(answer);
    expect(await refused(fetched(server.at(`/a.wav?${SECRET}`)))).toEqual(as('audio_url_failed', words));
    await closed(server);
  });

  const CHUNK = Buffer.concat([Buffer.from('ffff\r\n'), Buffer.alloc(65_535), Buffer.from('\r\n')]);
  test.each<[string, Answer]>([
    ['announces too much', (socket) => socket.write(head('200 OK', { 'Content-Length': '1000001' }))],
    ['never ends', endless(head('200 OK', { Connection: 'close' }), Buffer.alloc(65_536))],
    ['never ends, in chunks', endless(head('200 OK', CHUNKED), CHUNK)],
  ])('that %s is read no further than a file may be large', async (_, answer) => {
    const server = await remoteServer(answer);
    const answered = await refused(fetched(server.at(`/a.wav?${SECRET}`)));
    expect(answered).toEqual(as('file_too_large', /larger than 1000000 bytes/));
    await closed(server);
  });

  const LENGTH = head('200 OK', { 'Content-Length': '9999' });
  test.each<[string, Partial<typeof DOWNLOAD_TIMES>, Answer, RegExp]>([
    ['never answers', { headMs: 30 }, () => {}, /did not answer within 0.03 s/],
    ['never ends its head', { headMs: 30 }, (socket) => socket.write('HTTP/1.1 200 OK\r\nX: '), /did not answer/],
    ['informs for ever', { headMs: 30 }, endless('', Buffer.from(head('103 Early Hints'))), /did not answer/],
    ['sends no body', { silenceMs: 30 }, (socket) => socket.write(LENGTH), /nothing of it arrived for 0.03 s/],
    [
      'stops in the middle',
      { silenceMs: 30 },
      (socket) => socket.write(LENGTH + WAV.toString('latin1')),
      /nothing of it/,
    ],
  ])('that %s is not waited for longer than it should take', async (_, short, answer, words) => {
    const server = await remoteServer(answer);
    const times = { ...DOWNLOAD_TIMES, ...short };
    expect(await refused(fetched(server.at(`/a.wav?${SECRET}`), { times }))).toEqual(as('audio_url_failed', words));
    await closed(server);
  });

  test('that sends a few bytes at a time is given up', async () => {
    const server = await remoteServer((socket) => {
      socket.write(Buffer.concat([Buffer.from(head('200 OK', { 'Content-Length': '999999' })), WAV]));
      socket.setNoDelay();
      const more = () => socket.writable && socket.write('x', () => setImmediate(more));
      more();
    });
    // Each piece that arrives ends the time in which more of them have to.
    const times = { ...DOWNLOAD_TIMES, windowMs: 0, windowBytesMin: 2_000 };
    expect(await refused(fetched(server.at(), { times }))).toEqual(as('audio_url_failed', /too slowly/));
    await closed(server);
  });

  test('that does not listen is not reached', async () => {
    const server = await remoteServer(() => {});
    const { port } = server;
    const networks = parseNetworks('127.0.0.0/8');
    const answer = await refused(fetched(`http://127.0.0.9:${port}/`, { networks }));
    expect(answer).toEqual(as('audio_url_failed', /could not be reached/));
  });

  test('with a certificate that no authority has signed is not believed', async () => {
    const server = await remoteServer((socket) => socket.end(whole(WAV)));
    const front = await openTlsFront(server.port);
    const answer = await refused(fetched(`${front.url.replace('wss:', 'https:')}/a.wav?${SECRET}`));
    expect(answer).toEqual(as('audio_url_failed', /certificate of its server is not valid/));
    expect(server.requests).toEqual([]);
    await front.close();
  });

  test('without TLS is not spoken to by `https`', async () => {
    const server = await remoteServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
    const answer = await refused(fetched(server.at().replace('http:', 'https:')));
    expect(answer).toEqual(as('audio_url_failed', /could not be reached/));
  });
});

describe('the whole time', () => {
  test('of a file bounds a fetch', async () => {
    const server = await remoteServer((socket) => socket.write(head('200 OK', { 'Content-Length': '9' })));
    expect(await refused(fetched(server.at(), {}, 30))).toEqual(as('audio_url_failed', /time that a file may take/));
    await closed(server);
  });

  test('ends with the request', async () => {
    const audio = remoteAudio();
    const limit = limitedSignal(systemClock, 60_000);
    const server = await remoteServer(() => limit.abort(new Error('the client left')));
    await expect(audio.open({ url: server.at(), param: 'audio_url' }, 'org_1', limit)).rejects.toThrow(
      'the client left',
    );
    expect(audio.size).toBe(0);
    limit.release();
    await closed(server);
  });

  test('is waited for in fair shares, and places are given back', async () => {
    const server = await remoteServer((socket) => socket.write(whole(WAV)));
    const audio = remoteAudio();
    const limits: LimitedSignal[] = [];
    const open = (organisationId: string) => {
      const limit = limitedSignal(systemClock, 60_000);
      limits.push(limit);
      return audio.open({ url: server.at(), param: 'audio_url' }, organisationId, limit);
    };
    const first = await Promise.all(Array.from({ length: DOWNLOADS_MAX / 2 }, () => open('org_1')));
    const waiting = open('org_1');
    const other = await open('org_2');
    expect(audio.size).toBe(DOWNLOADS_MAX / 2 + 2);
    first[0]?.close();
    first[0]?.close();
    for (const file of [...first, await waiting, other]) file.close();
    expect(audio.size).toBe(0);
    for (const limit of limits) limit.release();
    await closed(server);
  });
});
