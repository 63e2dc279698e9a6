// Files through the endpoint at providers with an HTTP interface, over real sockets: what goes straight through and what is
// kept, fallbacks, limits of time and memory, and that nothing is left when a client goes away.

import type { Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { type Arrived, answer, SECRET } from '../../live/upstream/http-batch-fixture.ts';
import {
  END,
  expectNothingLeft,
  flac,
  MEMORY_BYTES_MAX,
  open,
  send,
  server,
  settled,
  spooled,
} from './files-fixture.ts';

describe('an upload', () => {
  it('arrives whole at any size, by every path', async () => {
    const size = fc.oneof(
      fc.integer({ min: 8, max: 3 * MEMORY_BYTES_MAX }),
      fc.integer({ min: MEMORY_BYTES_MAX - 2, max: MEMORY_BYTES_MAX + 2 }),
    );
    const way = fc.constantFrom<[string, [string, string][]]>(
      ['straight', []],
      ['sized', []],
      ['straight', [['fallbacks', 'second/file']]],
    );
    await fc.assert(
      fc.asyncProperty(size, way, async (bytes, [name, more]) => {
        server(name).arrived.length = 0;
        const file = flac(bytes);
        const { status, json } = await send([['model', `${name}/file`], ...more], file);
        expect([status, json.text]).toEqual([200, `heard by ${name}`]);
        const { headers, body } = server(name).arrived[0] as Arrived;
        expect(server(name).arrived).toHaveLength(1);
        const isForm = headers['content-type']?.startsWith('multipart/') === true;
        const heard = isForm ? body.subarray(body.indexOf('fLaC'), body.indexOf('fLaC') + file.length) : body;
        expect(heard.equals(file)).toBe(true);
        expect(body.includes('passwd')).toBe(false);
        // A large file for one model that does not ask for its length is not kept, so nobody knows it.
        const isKept = name === 'sized' || more.length > 0 || file.length <= MEMORY_BYTES_MAX;
        expect(headers['content-length'] !== undefined).toBe(isKept);
      }),
      { numRuns: 40 },
    );
    await expectNothingLeft();
  });

  it('reaches the provider before it is complete, when one model answers', async () => {
    const file = flac(1_000_000);
    const upload = open('straight/file', file.length);
    upload.write(file.subarray(0, 500_000));
    await new Promise<void>((resolve) => {
      server('straight').early = (request) => {
        request.once('data', () => resolve());
        return false;
      };
    });
    const answered = new Promise<number>((resolve) => {
      upload.on('response', (response) => resolve(response.resume().statusCode ?? 0));
    });
    upload.end(Buffer.concat([file.subarray(500_000), END]));
    expect(await answered).toBe(200);
    expect(server('straight').arrived[0]?.body.equals(file)).toBe(true);
  });

  it('leaves as WAV when it has samples without a header', async () => {
    const samples = Buffer.from(numberedAudio(0, 100_000));
    await send([['model', 'straight/file']], samples, '/files', 'audio/l16;rate=8000');
    const [arrived] = server('straight').arrived;
    expect([arrived?.headers['content-type'], arrived?.headers['content-length']]).toEqual(['audio/wav', '200044']);
    expect(arrived?.body.readUInt32LE(24)).toBe(8_000);
    expect(arrived?.body.subarray(44).equals(samples)).toBe(true);
  });
});

describe('fallbacks', () => {
  const LARGE = flac(500_000);

  it.each([
    ['slugs', 'second/file'],
    ['JSON', '[{"model":"second/file","provider_params":{"deaf":true}}]'],
  ])('work as %s, and the answer says which failed and which answered', async (_, fallbacks) => {
    server('straight').answers = [answer({}, 503)];
    const { json, status } = await send(
      [
        ['model', 'straight/file'],
        ['fallbacks', fallbacks],
        ['response_format', 'verbose_json'],
      ],
      LARGE,
    );
    expect(status).toBe(200);
    expect(json).toMatchObject({
      text: 'heard by second',
      model: 'second/file',
      duration: 60,
      usage: { seconds: 60, cost_usd: '0.60', byok: false },
      fallback: [
        { model: 'straight/file', reason: 'connect_failed' },
        { model: 'straight/file', reason: 'connect_failed' },
      ],
    });
    for (const name of ['straight', 'second']) {
      expect(server(name).arrived.every(({ body }) => body.equals(LARGE))).toBe(true);
    }
    await expectNothingLeft();
  });

  it.each([
    ['an unknown model', 'nobody/file', 404, 'model_not_found'],
    ['bad options', '[{"model":"second/file","provider_params":{"dear":1}}]', 400, 'invalid_provider_params'],
    ['no list', '{"model":"second/file"}x', 404, 'model_not_found'],
    ['an empty member', 'second/file,', 400, 'invalid_request'],
  ])('fail with %s before any provider is called', async (_, fallbacks, status, code) => {
    const refused = await send(
      [
        ['model', 'straight/file'],
        ['fallbacks', fallbacks],
      ],
      LARGE,
    );
    expect([refused.status, refused.json]).toMatchObject([status, { error: { code } }]);
    expect(server('straight').arrived).toEqual([]);
    await expectNothingLeft();
  });

  it('warn of what the model that answered does not take, and only of that', async () => {
    const fields: [string, string][] = [
      ['prompt', 'names'],
      ['temperature', '0.5'],
      ['response_format', 'verbose_json'],
    ];
    const taken = await send([['model', 'straight/file'], ...fields], LARGE);
    expect([taken.warning, taken.json.warnings]).toMatchObject(['parameter_ignored', [{ param: 'temperature' }]]);
    const strict: [string, string] = ['strict', 'true'];
    const refused = await send([['model', 'straight/file'], strict, ...fields], LARGE);
    expect([refused.status, refused.json]).toMatchObject([
      422,
      { error: { code: 'unsupported_parameter', param: 'temperature' } },
    ]);
    const further = await send(
      [['model', 'straight/file'], ['fallbacks', 'second/file,second/file'], ...fields],
      LARGE,
    );
    expect(further.warning).toBe('duplicate_fallback, parameter_ignored');
  });

  it('report every attempt when all fail, and never a credential', async () => {
    const quoting = answer({ error: `The key ${SECRET} is wrong.` }, 401);
    server('straight').answers = [quoting];
    server('second').answers = [quoting];
    const { status, json, text } = await send(
      [
        ['model', 'straight/file'],
        ['fallbacks', 'second/file'],
      ],
      LARGE,
    );
    expect([status, json]).toMatchObject([
      502,
      {
        error: {
          code: 'upstream_exhausted',
          details: [
            { model: 'straight/file', reason: 'connect_failed' },
            { model: 'second/file', reason: 'connect_failed' },
          ],
        },
      },
    ]);
    expect(text).not.toContain(SECRET);
  });
});

describe('a job over its time or without its client', () => {
  it('refuses a job that takes too long with 504', async () => {
    let socket: Socket | null | undefined;
    server('straight').answers = [
      (response) => {
        socket = response.socket;
      },
    ];
    const { status, json } = await send([['model', 'straight/file']], flac(500_000), '/hasty');
    expect([status, json]).toMatchObject([504, { error: { code: 'upstream_timeout' } }]);
    await server('straight').until(() => socket?.destroyed === true);
    await expectNothingLeft();
  });

  it.each<[string, [string, string][]]>([
    ['straight/file', []],
    ['sized/file', []],
    ['straight/file', [['fallbacks', 'second/file']]],
  ])('cancels the provider’s job at %s %j and keeps nothing', async (model, fields) => {
    const provider = server(model.split('/')[0] as string);
    // It is asked about once, and does not answer: by then it has a name.
    provider.answers = [answer({ next: '/jobs/7' }), () => {}, answer({})];
    const file = flac(400_000);
    const upload = open(model, file.length, fields);
    upload.end(Buffer.concat([file, END]));
    await provider.until(() => provider.arrived.length === 2);
    upload.destroy();
    await provider.until(() => provider.arrived.some(({ method }) => method === 'DELETE'));
    expect(provider.arrived.at(-1)?.path).toBe('/jobs/7');
    await expectNothingLeft();
  });

  it.each<[string, [string, string][]]>([
    ['straight/file', []],
    ['straight/file', [['fallbacks', 'second/file']]],
  ])('leaves nothing after an upload aborts at %s %j', async (model, fields) => {
    const file = flac(400_000);
    const upload = open(model, file.length, fields);
    const isStraight = fields.length === 0;
    let socket: Socket | undefined;
    server('straight').early = (request) => {
      socket = request.socket;
      return false;
    };
    await new Promise((resolve) => upload.write(file.subarray(0, 300_000), resolve));
    if (isStraight) await server('straight').until(() => socket !== undefined);
    else await settled(async () => (await spooled()) === 1);
    upload.destroy();
    await server('straight').until(() => socket === undefined || socket.destroyed);
    expect(server('straight').arrived).toEqual([]);
    await expectNothingLeft();
  });
});
