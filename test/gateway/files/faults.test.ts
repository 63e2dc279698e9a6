// Bad luck and bad intent on the way in: lengths that lie, slow and broken uploads, compressed bodies. Every one ends with an answer
// or a count, and nothing is left. The rows of the fault list that are about files, and where each is tested:
//
// F22 malformed forms       edge/multipart-corpus.test.ts (by name, both adapters), gateway/files/slow/generated.test.ts (20,000)
// F23 lengths and limits    here; of bodies in general suites/server-adapter/bodies.ts
// F24 slow uploads          here
// F25 compressed bodies     here
// F26 lengths of audio      live/files-bombs.test.ts, edge/audio-formats.test.ts, live/files-money.test.ts
// F27 clients that leave    here (uploads), live/files-idempotency.test.ts and live/files.test.ts (while the provider works)
// F28 idempotency keys      live/files-idempotency.test.ts
// F29 wrong answers         live/files-upstream.test.ts, upstream/http-batch-failures.test.ts
// F30 slow providers        live/files-upstream.test.ts, upstream/http-batch-failures.test.ts (by an injected clock)
// F31 names and types       live/files-upstream.test.ts
import { readdir } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FaultProxy } from '../../fakes/fault-proxy.ts';
import { RawSocket, turns } from '../../fakes/raw-socket.ts';
import { answerTo, requestOf } from '../../http/multipart/form-rig.ts';
import {
  END,
  expectNothingLeft,
  faults,
  flac,
  idempotency,
  port,
  replied,
  reservations,
  send,
  server,
  settled,
  spoolDirectory,
  spooled,
} from './files-fixture.ts';

const TYPE = 'multipart/form-data; boundary=b';
const MIB = 1_048_576;

/** A form for a model, in pieces: all in front of the file, the file, and the end. */
function partsOf(model: string, file: Buffer, fields: readonly [string, string][] = []): [Buffer, Buffer, Buffer] {
  const all = [['model', model], ...fields].map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `${all.join('')}--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;
  return [Buffer.from(head), file, END];
}
const formOf = (...given: Parameters<typeof partsOf>): Buffer => Buffer.concat(partsOf(...given));

const headOf = (path: string, ...headers: string[]): string =>
  [`POST ${path} HTTP/1.1`, 'Host: localhost', `Content-Type: ${TYPE}`, ...headers, '\r\n'].join('\r\n');

const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

const counted = (): unknown[] => replied.map(({ status, code }) => [status, code]);

describe('F23 a file larger than the limit', () => {
  it('refuses by Content-Length before a byte of the file has arrived', async () => {
    const socket = await RawSocket.connect(port());
    socket.write(headOf('/small', 'Content-Length: 50000000'));
    const { status, body } = await socket.reply();
    expect([status, JSON.parse(body)]).toMatchObject([413, { error: { code: 'file_too_large', param: 'file' } }]);
    expect(JSON.parse(body).error.message).toContain('100000 bytes');
    socket.destroy();
    await expectNothingLeft();
  });

  it.each<[string, (head: Buffer) => readonly [headers: string[], piece: (bytes: Buffer) => Buffer]]>([
    [
      'whose Content-Length lets room for it',
      (head) => [[`Content-Length: ${head.length + 1_100_000}`], (bytes) => bytes],
    ],
    ['in chunks', () => [['Transfer-Encoding: chunked'], chunk]],
  ])('%s is refused at the limit, and not read to its end', async (_, framing) => {
    for (const model of ['straight/file', 'sized/file', 'second/file']) {
      const [head] = partsOf(model, flac(8));
      const [headers, piece] = framing(head);
      const socket = await RawSocket.connect(port());
      socket.write(headOf('/small', ...headers));
      await socket.writeApart([piece(head), piece(flac(60_000)), piece(flac(60_000))]);
      const { status, body } = await socket.reply();
      expect([model, status, JSON.parse(body).error.code]).toEqual([model, 413, 'file_too_large']);
      socket.destroy();
      await expectNothingLeft();
    }
    expect([reservations.charges.size, server('sized').arrived.length]).toEqual([0, 0]);
  });

  it('reads an endless body up to the limit, then cuts its sender off or holds it', async () => {
    const socket = await RawSocket.connect(port());
    socket.write(headOf('/small', 'Transfer-Encoding: chunked'));
    socket.write(chunk(partsOf('straight/file', flac(8))[0]));
    const piece = chunk(flac(MIB));
    for (let sent = 0; sent < 8; sent++) socket.write(piece);
    expect((await socket.reply()).status).toBe(413);
    socket.reset();
    await expectNothingLeft();
  });
});

describe('F23 a length that lies', () => {
  const whole = formOf('second/file', flac(2_000));

  it('reports a broken form when the length is too short', async () => {
    const said = whole.length - 300;
    const socket = await RawSocket.connect(port());
    socket.write(headOf('/files', `Content-Length: ${said}`));
    socket.write(whole.subarray(0, said));
    const { status, body } = await socket.reply();
    expect([status, JSON.parse(body).error.code]).toEqual([400, 'invalid_request']);
    socket.destroy();
    await expectNothingLeft();
  });

  it.each(['end', 'reset'] as const)(
    'leaves nothing over when the length is too long and the connection ends by %s',
    async (how) => {
      const socket = await RawSocket.connect(port());
      // All but the closing delimiter: with it the form would be whole, whatever was to follow.
      socket.write(headOf('/files', `Content-Length: ${whole.length + 500}`));
      socket.write(whole.subarray(0, -END.length));
      await turns(20);
      socket[how]();
      await settled(() => replied.length === 1);
      expect([counted(), server('second').arrived.length]).toEqual([[[408, 'request_timeout']], 0]);
      socket.destroy();
      await expectNothingLeft();
    },
  );

  it('reads a form in chunks of any size without a length', async () => {
    for (const bytes of [1, 7, 100, 5_000]) {
      const chunks = Array.from({ length: Math.ceil(whole.length / bytes) }, (_, at) =>
        chunk(whole.subarray(at * bytes, (at + 1) * bytes)),
      );
      const end = Buffer.from('0\r\n\r\n');
      const { status } = await answerTo(
        port(),
        Buffer.concat([Buffer.from(headOf('/files', 'Transfer-Encoding: chunked')), ...chunks, end]),
      );
      expect(status).toBe(200);
    }
    await expectNothingLeft();
  });

  it('refuses a request without a length or chunks as no form', async () => {
    const { status, code } = await answerTo(port(), Buffer.from(headOf('/files')));
    expect([status, code]).toEqual([400, 'invalid_request']);
  });
});

describe('F24 a slow upload', () => {
  it('accepts 8 KB a second for as long as data arrives', async () => {
    // Longer than either adapter waits for a client that is silent.
    const bytes = formOf('straight/file', flac(110_000));
    const proxy = await FaultProxy.start({
      port: port(),
      program: () => ({ toServer: { bandwidth: 8_000, slicerBytes: 2_000 } }),
    });
    const { status, json } = await answerTo(proxy.port, requestOf(bytes, TYPE, '/files'));
    expect([status, json]).toMatchObject([200, { text: 'heard by straight' }]);
    await proxy.close();
    await expectNothingLeft();
  }, 60_000);

  it.each(['straight/file', 'sized/file'])(
    'refuses with 408, and counts, an upload that is not complete in time: %s',
    async (model) => {
      const [head, file, end] = partsOf(model, flac(200_000));
      const socket = await RawSocket.connect(port());
      socket.write(headOf('/hasty', `Content-Length: ${head.length + file.length + end.length}`));
      socket.write(Buffer.concat([head, file.subarray(0, 150_000)]));
      const { status, body } = await socket.reply();
      expect([status, JSON.parse(body).error]).toMatchObject([408, { code: 'request_timeout', message: /0\.3 s/ }]);
      expect([counted(), reservations.charges.size]).toEqual([[[408, 'request_timeout']], 0]);
      socket.destroy();
      await expectNothingLeft();
    },
  );
});

describe('F25 a compressed body', () => {
  const bomb = gzipSync(formOf('straight/file', Buffer.alloc(20 * MIB)));

  it.each([
    'gzip',
    'x-gzip',
    'deflate',
    'br',
    'zstd',
    'compress',
    'gzip, gzip',
    'identity, gzip',
    'aws-chunked',
    'GZIP',
  ])('coded as %s is refused with 415, and not unpacked', async (encoding) => {
    const sent = requestOf(bomb, TYPE, '/files', [`Content-Encoding: ${encoding}`]);
    const { status, code, json } = await answerTo(port(), sent);
    expect([status, code, JSON.stringify(json)]).toEqual([
      415,
      'unsupported_media_type',
      expect.stringContaining('without compression'),
    ]);
    await expectNothingLeft();
  });

  it('coded as nothing in particular is read', async () => {
    const sent = requestOf(formOf('straight/file', flac(100)), TYPE, '/files', ['Content-Encoding: identity']);
    expect((await answerTo(port(), sent)).status).toBe(200);
  });

  it.each([
    ['gzip', bomb],
    ['zip', Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(500)])],
  ])('refuses compressed data as the file: %s', async (_, file) => {
    const { status, code } = await answerTo(port(), requestOf(formOf('straight/file', file), TYPE, '/files'));
    expect([status, code]).toEqual([400, 'unsupported_audio']);
    await expectNothingLeft();
  });
});

describe('F27 an upload whose client leaves', () => {
  it('charges and leaves nothing after an abort at any byte, by close or reset', async () => {
    const small = requestOf(formOf('second/file', flac(3_000)), TYPE, '/files');
    const cases = fc.record({
      model: fc.constantFrom('straight/file', 'sized/file', 'second/file'),
      fileBytes: fc.constantFrom(500, 30_000, 200_000),
      fields: fc.constantFrom<[string, string][]>([], [['fallbacks', 'straight/file']]),
      share: fc.double({ min: 0, max: 0.999, noNaN: true }),
      how: fc.constantFrom('destroy', 'reset', 'end'),
      key: fc.option(fc.uuid()),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ model, fileBytes, fields, share, how, key }) => {
        replied.length = 0;
        const headers = key === null ? [] : [`Idempotency-Key: ${key}`];
        const whole = requestOf(formOf(model, flac(fileBytes), fields), TYPE, '/files', headers);
        const headBytes = whole.indexOf('\r\n\r\n') + 4;
        const cut = headBytes + Math.floor((whole.length - END.length - headBytes) * share);
        const socket = await RawSocket.connect(port());
        socket.write(whole.subarray(0, cut));
        await turns(3);
        socket[how as 'destroy' | 'reset' | 'end']();
        // It may have gone before the server has seen it.
        await settled(() => replied.length === 1);
        socket.destroy();
        expect(replied.every(({ status }) => status === 408 || status === 400)).toBe(true);
        await expectNothingLeft();
        expect([reservations.charges.size, idempotency.size]).toEqual([0, 0]);
      }),
      { numRuns: 80, seed: 27 },
    );
    expect((await answerTo(port(), small)).status).toBe(200);
    expect(faults).toEqual([]);
  }, 120_000);

  it('leaves no file on disk after a killed process, because the spool is unlinked', async () => {
    const [head, file, end] = partsOf('sized/file', flac(300_000));
    const socket = await RawSocket.connect(port());
    socket.write(headOf('/files', `Content-Length: ${head.length + file.length + end.length}`));
    socket.write(Buffer.concat([head, file]));
    if (process.platform === 'linux') expect(await settled(async () => (await spooled()) === 1)).toBe(true);
    expect(await readdir(spoolDirectory)).toEqual([]);
    socket.write(end);
    expect((await socket.reply()).status).toBe(200);
    socket.destroy();
    await expectNothingLeft();
  });

  it('leaves the next client unaffected', async () => {
    expect((await send([['model', 'second/file']], flac(500))).status).toBe(200);
  });
});
