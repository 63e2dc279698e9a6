// Thousands of forms out of good ones, damaged in every way that a random hand finds: each is answered as good or refused as bad, none
// stops the endpoint or makes it fail, and nothing is held, charged or left open afterwards (row F22).

import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RequestBody } from '../../../../src/http/request-body.ts';
import type { Reply, ServerRequest } from '../../../../src/http/server.ts';
import { wavOf } from '../../../fakes/audio/audio-files.ts';
import { openFiles, piecesOf } from '../../../http/multipart/form-rig.ts';
import {
  expectNothingLeft,
  flac,
  idempotency,
  MEMORY_BYTES_MAX,
  replied,
  request,
  reservations,
  send,
  server,
} from '../files-fixture.ts';

const RUNS = 20_000;
const BATCHES = 10;
/** Under way together. */
const AT_ONCE = 8;
const BOUNDARY = 'b0undary';

const orphans: unknown[] = [];
const orphaned = (reason: unknown) => void orphans.push(reason);
beforeAll(() => void process.on('unhandledRejection', orphaned).on('uncaughtException', orphaned));
afterAll(() => void process.off('unhandledRejection', orphaned).off('uncaughtException', orphaned));

const FILES = [wavOf(3_200), flac(500), flac(3_000), flac(MEMORY_BYTES_MAX + 5_000)] as const;

const field = (name: string, value: string): Buffer =>
  Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);

function filePart(content: Buffer, type: string): Buffer {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: ${type}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n')]);
}

const MODELS = [
  ...Array.from({ length: 4 }, () => ['second/file', 'straight/file', 'sized/file']).flat(),
  'nobody/file',
];

const fields = fc.subarray<[string, string]>([
  ['language', 'en'],
  ['response_format', 'verbose_json'],
  ['prompt', 'Ünicode, "quoted"\r\n'],
  ['fallbacks', 'straight/file'],
  ['timestamp_granularities[]', 'word'],
  ['timestamp_granularities[]', 'segment'],
  ['provider_params', '{"deaf":true}'],
  ['strict', 'false'],
  ['stream', 'true'],
]);

/** A good form, as the list of its parts; a large file in one of sixteen. */
const parts = fc
  .record({
    model: fc.constantFrom(...MODELS),
    fields,
    file: fc.nat({ max: 15 }).map((at) => FILES[at === 15 ? 3 : at % 3]!),
    type: fc.constantFrom('audio/wav', 'audio/flac', 'text/html'),
    place: fc.nat({ max: 6 }),
  })
  .map(({ model, fields, file, type, place }) => {
    const all = [field('model', model), ...fields.map(([name, value]) => field(name, value))];
    all.splice(place, 0, filePart(file, type));
    return all;
  });

const TOKENS = [
  '\r\n',
  '\n',
  '\r',
  '--',
  `--${BOUNDARY}`,
  `\r\n--${BOUNDARY}`,
  `\r\n--${BOUNDARY}\r\n`,
  `\r\n--${BOUNDARY}--`,
];
const SIGNS = [
  '"',
  ';',
  ':',
  '=',
  '\\',
  '\0',
  ' ',
  '\t',
  '%',
  '\xff',
  '\xc3',
  '{',
  '../../../',
  '__proto__',
  'name="file"',
  'multipart/',
];

/** A place in a body: seldom within a large file, where nothing is looked at. */
type Place = (bytes: Buffer) => number;
const place: fc.Arbitrary<Place> = fc.record({ near: fc.constantFrom('front', 'end', 'any'), at: fc.nat() }).map(
  ({ near, at }): Place =>
    ({ length }) => {
      if (near === 'any' || length < 600) return at % (length + 1);
      return near === 'front' ? at % 600 : length - (at % 600);
    },
);
const length = fc.oneof(fc.constant(1), fc.nat({ max: 12 }), fc.nat({ max: 400 }), fc.nat({ max: 80_000 }));

type Damage = (bytes: Buffer) => Buffer;
const join = (...all: Buffer[]): Buffer => Buffer.concat(all);
const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.tuple(place, fc.integer({ min: 1, max: 255 })).map(
    ([place, mask]): Damage =>
      (bytes) => {
        const changed = Buffer.from(bytes);
        const at = Math.min(place(bytes), Math.max(0, bytes.length - 1));
        if (changed.length > 0) changed[at] = changed[at]! ^ mask;
        return changed;
      },
  ),
  fc.tuple(place, length).map(
    ([place, count]): Damage =>
      (bytes) =>
        join(bytes.subarray(0, place(bytes)), bytes.subarray(place(bytes) + count)),
  ),
  fc.tuple(place, length).map(
    ([place, count]): Damage =>
      (bytes) => {
        const at = place(bytes);
        return join(bytes.subarray(0, at), bytes.subarray(at, at + count), bytes.subarray(at));
      },
  ),
  fc.tuple(place, fc.constantFrom(...TOKENS, ...SIGNS), fc.constantFrom(1, 1, 1, 2, 50)).map(
    ([place, token, count]): Damage =>
      (bytes) =>
        join(bytes.subarray(0, place(bytes)), Buffer.from(token.repeat(count), 'latin1'), bytes.subarray(place(bytes))),
  ),
  place.map(
    (place): Damage =>
      (bytes) =>
        bytes.subarray(0, place(bytes)),
  ),
  fc.tuple(place, place).map(
    ([from, to]): Damage =>
      (bytes) => {
        const piece = bytes.subarray(from(bytes), from(bytes) + 40);
        return join(bytes.subarray(0, to(bytes)), piece, bytes.subarray(to(bytes)));
      },
  ),
  fc
    .constantFrom<[string, string]>(
      ['\r\n', '\n'],
      [BOUNDARY, 'other'],
      ['form-data', 'mixed'],
      ['"', ''],
      ['name', 'nome'],
    )
    .map(
      ([from, to]): Damage =>
        (bytes) =>
          Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1'),
    ),
);

const TYPES = [
  ...Array.from({ length: 20 }, () => `multipart/form-data; boundary=${BOUNDARY}`),
  `multipart/form-data; boundary="${BOUNDARY}"`,
  `multipart/form-data; boundary=${BOUNDARY.slice(0, -1)}`,
  'multipart/form-data; boundary=-',
  'multipart/mixed; boundary=x',
];

/** Once in so many. */
const seldom = <T>(arbitrary: fc.Arbitrary<T>, once: number): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: once - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const bodies = fc.record({
  parts,
  /** None at all in one of six: good forms have to stay good. */
  damages: fc.oneof(
    { weight: 1, arbitrary: fc.constant<Damage[]>([]) },
    { weight: 5, arbitrary: fc.array(damage, { maxLength: 4, minLength: 1 }) },
  ),
  swap: seldom(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 })), 10),
  type: fc.constantFrom(...TYPES),
  cuts: fc.oneof(
    fc.constant(65_536),
    fc.integer({ min: 200, max: 5_000 }),
    fc.array(fc.nat({ max: 3_000 }), { maxLength: 6 }),
  ),
  key: seldom(fc.nat({ max: 300 }), 10),
  /** The client leaves after so many pieces. */
  leavesAfter: seldom(fc.nat({ max: 3 }), 15),
});
type Generated = typeof bodies extends fc.Arbitrary<infer Value> ? Value : never;

function bytesOf({ parts, damages, swap }: Generated): Buffer {
  const all = [...parts];
  if (swap !== undefined) {
    const [from, to] = [swap[0] % all.length, swap[1] % all.length];
    [all[from], all[to]] = [all[to]!, all[from]!];
  }
  const whole = join(...all, Buffer.from(`--${BOUNDARY}--\r\n`));
  return damages.reduce((bytes: Buffer, change: Damage) => change(bytes), whole);
}

/** Sends it to the endpoint as the server would, and takes all of the answer. */
async function post(generated: Generated): Promise<{ reply: Reply; hasLeft: boolean }> {
  const { type, cuts, key, leavesAfter } = generated;
  const bytes = bytesOf(generated);
  const pieces = piecesOf(bytes, cuts);
  const abort = new AbortController();
  const body = new RequestBody({ pause: () => {}, resume: () => {} }, bytes.length);
  const headers = new Map([['content-type', type]]);
  if (key !== undefined) headers.set('idempotency-key', `key ${key}`);
  const sent: ServerRequest = {
    method: 'POST',
    path: '/files',
    query: '',
    headers,
    remoteAddress: '127.0.0.1',
    signal: abort.signal,
    body: (maxBytes) => body.claim(maxBytes),
  };
  const answering = request(sent);
  const hasLeft = leavesAfter !== undefined && leavesAfter < pieces.length;
  for (const [index, piece] of pieces.entries()) {
    if (index === leavesAfter) break;
    body.arrived(piece);
    if (index % 64 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  if (hasLeft) {
    body.aborted();
    abort.abort();
  } else body.finished();
  const reply = await answering;
  body.discard();
  if (typeof reply.body === 'object' && Symbol.asyncIterator in reply.body) {
    for await (const _ of Readable.from(reply.body));
  }
  return { reply, hasLeft };
}

it(`${RUNS} damaged forms are answered or refused, each in time, and leave nothing`, async () => {
  const openPaths = () =>
    process.platform === 'linux' ? openFiles().filter((path) => !path.startsWith('socket:')).length : 0;
  let openBefore = 0;
  const counts = new Map<number, number>();
  let heapBytes = 0;
  for (let batch = 0; batch < BATCHES; batch++) {
    await fc.assert(
      fc.asyncProperty(fc.array(bodies, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (generated) => {
        for (const { reply, hasLeft } of await Promise.all(generated.map(post))) {
          if (hasLeft) continue;
          counts.set(reply.status, (counts.get(reply.status) ?? 0) + 1);
          const isRefused = reply.status >= 400 && reply.status < 500;
          if (isRefused) expect(JSON.parse(reply.body as string).error.code).toMatch(/^[a-z_]+$/);
          else expect(reply.status).toBe(200);
        }
      }),
      { numRuns: RUNS / BATCHES / AT_ONCE, seed: 100 + batch, endOnFailure: true },
    );
    await expectNothingLeft();
    server('straight').arrived.length = 0;
    server('second').arrived.length = 0;
    server('sized').arrived.length = 0;
    replied.length = 0;
    // The threads that measure files are there from the first batch on, with files of their own.
    if (batch === 0) openBefore = openPaths();
    if (batch === 1) heapBytes = process.memoryUsage().rss;
  }
  const bad = counts.get(400) ?? 0;
  const good = counts.get(200) ?? 0;
  // Were nearly all of one kind, the damage would be too great, or none.
  expect(bad).toBeGreaterThan(RUNS / 5);
  expect(good).toBeGreaterThan(RUNS / 20);
  expect([reservations.open, idempotency.size, idempotency.waiting, orphans]).toEqual([0, 0, 0, []]);
  expect(process.memoryUsage().rss - heapBytes).toBeLessThan(200 * 1_048_576);
  expect(openPaths()).toBeLessThanOrEqual(openBefore);
  expect((await send([['model', 'second/file']], wavOf(3_200), '/files', 'audio/wav')).status).toBe(200);
}, 300_000);
