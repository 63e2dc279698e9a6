// Providers that answer wrongly, late or never, and files whose names and types lie: rows F29 to F31 of the fault list.
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { silentWav, wavOf } from '../../fakes/audio/audio-files.ts';
import { answerTo, requestOf } from '../../http/multipart/form-rig.ts';
import { type Answer, answer } from '../../live/upstream/http-batch-fixture.ts';
import { END, expectNothingLeft, flac, port, replied, reservations, send, server } from './files-fixture.ts';

const PAID: [string, string] = ['model', 'second/file'];
const FALLBACK: [string, string] = ['fallbacks', 'straight/file'];
const SMALL = flac(2_000);

const says =
  (body: string | Buffer, type = 'application/json', status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': type }).end(body);

describe('F29 an answer of 200 that is none', () => {
  const WRONG: readonly [string, Answer][] = [
    ['a page', says('<html><body>Service temporarily unavailable</body></html>', 'text/html; charset=utf-8')],
    ['a page that calls itself JSON', says('<!doctype html><p>Bad gateway</p>')],
    ['half a JSON', says('{"text":"hea')],
    ['nothing', says('')],
    ['blanks', says(' \r\n ')],
    ['JSON that continues after its end', says('{"text":"heard"}{"text":"again"}')],
    ['JSON in Latin-1', says(Buffer.from('{"text":"caf\xe9"}', 'latin1'))],
    ['JSON in 16 bits', says(Buffer.from('{"text":"heard"}', 'utf16le'), 'application/json; charset=utf-16')],
    ['half a letter', says(Buffer.concat([Buffer.from('{"text":"caf'), Buffer.from([0xc3]), Buffer.from('"}')]))],
    ['a picture', says(Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), 'image/png')],
    ['a null', says('null')],
  ];

  it.each(WRONG)('refuses %s, charges nothing, and never shows it', async (_, wrong) => {
    server('second').answers = [wrong];
    const refused = await send([PAID], SMALL);
    expect([refused.status, refused.json]).toMatchObject([
      502,
      { error: { code: 'upstream_bad_response', details: [{ model: 'second/file', reason: 'upstream_error' }] } },
    ]);
    expect(refused.text).not.toMatch(/html|temporarily|caf|IHDR/i);
    expect([server('second').arrived.length, reservations.charges.size, reservations.released]).toEqual([1, 0, 1]);
    await expectNothingLeft();
  });

  it.each(WRONG)('%s goes to the fallback, once', async (_, wrong) => {
    server('second').answers = [wrong];
    const { status, json } = await send([PAID, FALLBACK, ['response_format', 'verbose_json']], SMALL);
    expect([status, json]).toMatchObject([
      200,
      { text: 'heard by straight', fallback: [{ model: 'second/file', reason: 'upstream_error' }] },
    ]);
    expect([server('second').arrived.length, server('straight').arrived.length]).toEqual([1, 1]);
    expect([...reservations.charges.values()]).toMatchObject([{ model: 'straight/file' }]);
  });

  it.each(['json', 'text', 'verbose_json', 'srt', 'vtt'])(
    'but no words at all of a silent file are an answer, which is passed on and charged: %s',
    async (format) => {
      server('second').answers = [says('{"text":"","seconds":3}')];
      const { status, json, text } = await send(
        [PAID, FALLBACK, ['response_format', format]],
        silentWav(3),
        '/files',
        'audio/wav',
      );
      expect(status).toBe(200);
      if (format.endsWith('json')) expect(json.text).toBe('');
      else expect(text).not.toMatch(/[a-z]{2}(?<!WEBVTT)/);
      expect([server('straight').arrived.length, [...reservations.charges.values()]]).toMatchObject([
        0,
        [{ seconds: 3 }],
      ]);
    },
  );

  it('reads UTF-8 text after a byte order mark', async () => {
    server('second').answers = [says(Buffer.from('\ufeff{"text":"café 🎙️"}'))];
    expect((await send([PAID], SMALL)).json.text).toBe('café 🎙️');
  });
});

describe('F30 a provider that takes too long', () => {
  /** Of sockets that were under way. */
  const sockets: (Socket | null)[] = [];
  const noting =
    (more: Answer): Answer =>
    (response, arrived) => {
      sockets.push(response.socket);
      more(response, arrived);
    };
  const SLOW: readonly [string, Answer[]][] = [
    ['never answers', [noting(() => {})]],
    [
      'begins an answer and stops',
      [noting((response) => response.writeHead(200, { 'content-length': '99' }).write('{"te'))],
    ],
    ['has never done its job', [answer({ next: '/jobs/1', after_ms: 20 })]],
    ['asks for a pause of a week', [answer({ next: '/jobs/1', after_ms: 604_800_000 })]],
  ];

  it.each(SLOW)('cancels in time with 504, the request’s id and no hold: %s', async (_, answers) => {
    sockets.length = 0;
    server('second').answers = answers;
    const { status, json, headers } = await send([PAID], SMALL, '/hasty');
    expect([status, json]).toMatchObject([504, { error: { code: 'upstream_timeout', message: /0\.3 s/ } }]);
    const { request_id: id } = json.error as { request_id: string };
    expect(id).toBe(headers.get('x-request-id'));
    await server('second').until(() => sockets.every((socket) => socket?.destroyed ?? true));
    expect([reservations.charges.size, reservations.released, replied.at(-1)?.code]).toEqual([
      0,
      1,
      'upstream_timeout',
    ]);
    await expectNothingLeft();
  });

  it('shares one time limit among all attempts with fallbacks', async () => {
    const startedMs = performance.now();
    server('second').answers = [() => {}];
    server('straight').answers = [() => {}];
    expect((await send([PAID, FALLBACK], SMALL, '/hasty')).status).toBe(504);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    await expectNothingLeft();
  });
});

describe('F31 a file', () => {
  const post = (disposition: string, type: string, file = SMALL as Buffer, model = 'sized/file') => {
    const head = `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n--b\r\nContent-Disposition: form-data; name="file"; ${disposition}\r\nContent-Type: ${type}\r\n\r\n`;
    const bytes = Buffer.concat([Buffer.from(head), file, END]);
    return answerTo(port(), requestOf(bytes, 'multipart/form-data; boundary=b', '/files'));
  };

  it.each([
    '../../etc/passwd',
    '..\\\\..\\\\windows\\\\win.ini',
    '/etc/cron.d/x',
    'a\0b.wav',
    '\0',
    'ü'.repeat(2_000),
    '音'.repeat(1_300),
    '\u202egpj.exe',
    'a%00b.wav',
    '%2e%2e%2fpasswd',
    'CON',
    'a.wav:stream',
    '~/.ssh/id_rsa',
    '$(touch x)',
    '`id`',
    '<script>alert(1)</script>',
    'x\\"; name=\\"model',
    '-rf',
    ' ',
    '.',
    '..',
  ])('passes under the name %j, which is sent nowhere', async (name) => {
    const { status, json } = await post(`filename="${name}"`, 'audio/flac');
    expect([status, json]).toMatchObject([200, { text: 'heard by sized' }]);
    const [arrived] = server('sized').arrived;
    const told = arrived!.body.subarray(0, arrived!.body.indexOf('fLaC')).toString('latin1');
    expect(/filename="([^"]*)"/.exec(told)?.[1]).toBe('audio.flac');
    expect(told).toMatch(/^[\r\n\x20-\x7e]*$/);
    await expectNothingLeft();
  });

  it.each(['text/html', 'image/png', 'application/x-msdownload', 'video/mp4', 'audio/mpeg', 'a', 'x'.repeat(500), ''])(
    'follows its bytes when its type says %j',
    async (type) => {
      expect((await post('filename="a.exe"', type)).status).toBe(200);
      const [arrived] = server('sized').arrived;
      expect(arrived!.body.toString('latin1')).toContain('Content-Type: audio/flac\r\n');
    },
  );

  it.each<[string, Buffer, string]>([
    ['a picture', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'.repeat(9), 'latin1'), 'audio/wav'],
    ['a program', Buffer.concat([Buffer.from('\x7fELF', 'latin1'), Buffer.alloc(99)]), 'audio/mpeg'],
    ['a page', Buffer.from('<html><script>'.repeat(9)), 'audio/flac'],
    ['a RIFF that is not a WAV', Buffer.from('RIFF\x20\0\0\0AVI LIST'.repeat(9), 'latin1'), 'audio/wav'],
    ['a WAV that says it is bare samples', wavOf(3_200), 'audio/l16;rate=16000'],
    ['bare samples that say they are a WAV', Buffer.alloc(3_200), 'audio/wav'],
  ])('fails if it is %s, under any type or name', async (_, file, type) => {
    const { status, code, param } = await post('filename="a.wav"', type, file);
    expect([status, code, param, server('sized').arrived.length]).toEqual([400, 'unsupported_audio', 'file', 0]);
    await expectNothingLeft();
  });
});
