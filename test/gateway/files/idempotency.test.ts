// One upstream call and one charge for each idempotency key: when requests come again, at once, with another body, from another
// organisation, after a failure, or when the client is gone.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawn } from '../../fakes/drawn.ts';
import { answer } from '../../live/upstream/http-batch-fixture.ts';
import {
  END,
  expectNothingLeft,
  flac,
  idempotency,
  open,
  reservations,
  rig,
  send,
  server,
  settled,
} from './files-fixture.ts';

const SMALL = flac(2_000);
const LARGE = flac(400_000);
const OTHER = Buffer.from(SMALL).fill(9, 1_000);
const VERBOSE: [string, string] = ['response_format', 'verbose_json'];

let keys = 0;
const newKey = () => ({ 'Idempotency-Key': `key ${++keys}` });
const ask = (headers: Record<string, string>, file = SMALL, fields: [string, string][] = [VERBOSE], path = '/files') =>
  send([['model', 'second/file'], ...fields], file, path, 'audio/flac', headers);

const calls = () => server('second').arrived.length;

describe.each([
  ['small', SMALL],
  ['large', LARGE],
])('a %s file that is sent again with its key', (_, file) => {
  it('gets the same answer, without a second provider call or charge', async () => {
    const key = newKey();
    const first = await ask(key, file);
    const second = await ask(key, file);
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect([second.status, second.text, second.headers.get('content-type')]).toEqual([
      200,
      first.text,
      first.headers.get('content-type'),
    ]);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect([calls(), reservations.charges.size]).toEqual([1, 1]);
    await expectNothingLeft();
  });

  it('waits for the first, at the same time', async () => {
    const key = newKey();
    let respond = () => {};
    server('second').answers = [
      (response) => {
        respond = () => response.end('{"text":"heard once","seconds":60}');
      },
    ];
    const all = [1, 2, 3, 4].map(() => ask(key, file));
    await server('second').until(() => calls() === 1);
    await settled(() => idempotency.waiting === 3);
    respond();
    const answers = await Promise.all(all);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(3);
    expect([calls(), reservations.charges.size, idempotency.waiting]).toEqual([1, 1, 0]);
    await expectNothingLeft();
  });
});

describe('a key', () => {
  it('gives its answer to no API key that may not use the model, and to one that may still', async () => {
    const key = newKey();
    const first = await ask(key);
    const narrow = await ask(key, SMALL, [VERBOSE], '/narrow');
    const again = await ask(key);
    expect([first.status, narrow.status, again.status]).toEqual([200, 403, 200]);
    expect(narrow.json).toMatchObject({ error: { code: 'model_not_allowed', param: 'model' } });
    expect([again.text, calls(), reservations.charges.size]).toEqual([first.text, 1, 1]);
    await expectNothingLeft();
  });

  it('holds until a large file is complete, with all fields that follow it', async () => {
    const key = newKey();
    const body = (format: string) =>
      Buffer.concat([
        LARGE,
        Buffer.from(`\r\n--b\r\nContent-Disposition: form-data; name="response_format"\r\n\r\n${format}`),
        END,
      ]);
    const post = (format: string) => {
      const bytes = body(format);
      const upload = open('straight/file', bytes.length - END.length, [], '/files', key);
      upload.end(bytes);
      return new Promise<number>((resolve) => {
        upload.on('response', (response) => resolve(response.resume().statusCode ?? 0));
      });
    };
    expect([await post('text'), await post('text'), await post('json')]).toEqual([200, 200, 409]);
    expect(server('straight').arrived).toHaveLength(1);
  });

  it.each<[string, Buffer<ArrayBuffer>, [string, string][]]>([
    ['another file', OTHER, [VERBOSE]],
    ['another field', SMALL, [['response_format', 'text']]],
    ['a field more', SMALL, [VERBOSE, ['language', 'en']]],
  ])('cannot be used again for %s', async (_, file, fields) => {
    const key = newKey();
    await ask(key);
    const refused = await ask(key, file, fields);
    expect([refused.status, refused.json]).toMatchObject([
      409,
      { error: { code: 'idempotency_conflict', param: 'Idempotency-Key' } },
    ]);
    expect(refused.text).not.toContain('heard');
    expect([calls(), reservations.charges.size]).toEqual([1, 1]);
  });

  it('counts separately for each organisation', async () => {
    const key = newKey();
    const mine = await ask(key);
    const theirs = await ask(key, SMALL, [VERBOSE], '/others');
    expect([mine.status, theirs.status, calls(), reservations.charges.size]).toEqual([200, 200, 2, 2]);
    expect(theirs.headers.get('idempotency-replayed')).toBeNull();
  });

  it('fails when malformed, before anything is read', async () => {
    const refused = await ask({ 'Idempotency-Key': 'x'.repeat(256) });
    expect([refused.status, refused.json]).toMatchObject([400, { error: { param: 'Idempotency-Key' } }]);
    expect(calls()).toBe(0);
  });

  it.each<[string, () => void, [string, string][], number]>([
    ['our own refusal', () => {}, [['temperature', '7']], 400],
    ['want of credit', () => (reservations.isBroke = true), [VERBOSE], 402],
    ['a failure of the provider', () => (server('second').answers = [answer({}, 500)]), [VERBOSE], 502],
    ['a file that the provider refuses', () => (server('second').answers = [answer({}, 413)]), [VERBOSE], 413],
  ])('becomes free again after %s', async (_, prepare, fields, status) => {
    const key = newKey();
    prepare();
    expect((await ask(key, SMALL, fields)).status).toBe(status);
    reservations.isBroke = false;
    server('second').answers = [answer({ text: 'at last', seconds: 60 })];
    const again = await ask(key, SMALL);
    expect([again.status, again.json.text, reservations.charges.size]).toEqual([200, 'at last', 1]);
    await expectNothingLeft();
  });

  it('passes from a failed first attempt to one that waits, whose answer the rest receive', async () => {
    const key = newKey();
    let fail = () => {};
    server('second').answers = [
      (response) => {
        fail = () => response.writeHead(400, { 'content-type': 'application/json' }).end('{}');
      },
      answer({ text: 'second time', seconds: 60 }),
    ];
    const all = [1, 2, 3].map(() => ask(key));
    await server('second').until(() => calls() === 1);
    await settled(() => idempotency.waiting === 2);
    fail();
    const statuses = (await Promise.all(all)).map(({ status }) => status).sort();
    expect(statuses.slice(0, 2)).toEqual([200, 200]);
    expect(statuses[2]).toBeGreaterThanOrEqual(400);
    expect([calls(), reservations.charges.size]).toEqual([2, 1]);
  });
});

describe('a client that goes away while the provider works', () => {
  async function leave(headers: Record<string, string>): Promise<{ respond: () => void; isGone: () => boolean }> {
    let respond = () => {};
    let isGone = () => false;
    server('second').answers = [
      (response) => {
        respond = () => response.end('{"text":"for whoever asks","seconds":60}');
        isGone = () => response.socket?.destroyed ?? true;
      },
    ];
    const upload = open('second/file', LARGE.length, [], '/files', headers);
    upload.end(Buffer.concat([LARGE, END]));
    await server('second').until(() => calls() === 1);
    upload.destroy();
    return { respond: () => respond(), isGone: () => isGone() };
  }

  it('finishes the work with a key, charges once, and keeps the answer for the retry', async () => {
    const key = newKey();
    const { respond } = await leave(key);
    const retry = open('second/file', LARGE.length, [], '/files', key);
    retry.end(Buffer.concat([LARGE, END]));
    const answered = new Promise<[number | undefined, unknown]>((resolve) => {
      retry.on('response', (response) => {
        resolve([response.resume().statusCode, response.headers['idempotency-replayed']]);
      });
    });
    await settled(() => idempotency.waiting === 1);
    respond();
    expect(await answered).toEqual([200, 'true']);
    expect([calls(), reservations.charges.size]).toEqual([1, 1]);
    await expectNothingLeft();
  });

  it('cancels the provider’s work without a key, and charges nothing', async () => {
    const { isGone } = await leave({});
    await server('second').until(isGone);
    await settled(() => reservations.open === 0);
    expect([reservations.charges.size, reservations.released]).toEqual([0, 1]);
    await expectNothingLeft();
  });

  it('frees the key when the client leaves in the middle of its upload', async () => {
    const key = newKey();
    const upload = open('second/file', LARGE.length, [], '/files', key);
    await new Promise((resolve) => upload.write(LARGE.subarray(0, 100_000), resolve));
    await settled(() => idempotency.size === 1);
    upload.destroy();
    await settled(() => idempotency.size === 0);
    expect((await ask(key, LARGE, [])).status).toBe(200);
    expect([calls(), reservations.charges.size]).toEqual([1, 1]);
  });
});

it('stores no word of a transcript in the database', async () => {
  server('second').answers = [answer({ text: 'a very particular sentence', seconds: 60 })];
  const key = newKey();
  await ask(key);
  expect((await ask(key)).json.text).toBe('a very particular sentence');
  const bytes = rig.database.serialize();
  expect([bytes.includes('particular sentence'), bytes.includes(key['Idempotency-Key'])]).toEqual([false, false]);
});

/**
 * The model: for each key the first body that was answered is the body of the key. Requests of that body are all answered the
 * same; requests of another body are refused, unless the key was still free when they began. Nobody is asked or charged twice.
 */
it('any interleaving of requests with few keys and bodies asks and charges once for each key', async () => {
  const request = fc.record({ key: fc.integer({ min: 0, max: 2 }), body: fc.integer({ min: 0, max: 1 }) });
  const batches = fc.array(fc.array(request, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 });
  const failures = fc.array(fc.boolean(), { maxLength: 3 });
  const bodies = [SMALL, OTHER] as const;
  await fc.assert(
    fc.asyncProperty(batches, failures, async (all, failing) => {
      const names = [newKey(), newKey(), newKey()] as const;
      server('second').arrived.length = 0;
      reservations.forget();
      const script = [...failing];
      let number = 0;
      server('second').answers = [
        (response) => {
          if (script.shift() === true) response.writeHead(400, { 'content-type': 'application/json' }).end('{}');
          else response.end(JSON.stringify({ text: `answer ${++number}`, seconds: 60 }));
        },
      ];
      const answered = new Map<number, { body: number; text: string }>();
      const failed = { count: 0 };
      for (const batch of all) {
        const replies = await Promise.all(
          batch.map(async ({ key, body }) => ({ key, body, ...(await ask(names[key]!, bodies[body]!)) })),
        );
        for (const { key, body, status, text } of replies) {
          if (status === 200) {
            const known = answered.get(key) ?? { body, text };
            expect([body, text]).toEqual([known.body, known.text]);
            answered.set(key, known);
          }
        }
        for (const { key, body, status } of replies) {
          if (status === 409) expect(answered.get(key)?.body).toBe(1 - body);
          else if (status !== 200) failed.count++;
        }
      }
      expect(reservations.charges.size).toBe(answered.size);
      expect(calls()).toBe(answered.size + failed.count);
      expect(reservations.open).toBe(0);
    }),
    { numRuns: drawn(40), seed: 11 },
  );
  await expectNothingLeft();
}, 60_000);
