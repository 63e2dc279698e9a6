// Fields of a form in any order around a file of any size, for models that are asked by HTTP and for those that hear it: the answer,
// and what the provider is asked for, is the same; and the usual order is with the provider while it arrives.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wavOf } from '../../fakes/audio/audio-files.ts';
import { answer } from '../../live/upstream/http-batch-fixture.ts';
import { expectNothingLeft, flac, MEMORY_BYTES_MAX, port, reservations, server } from './files-fixture.ts';

type Field = readonly [name: string, value: string];

/** Sends the parts as they stand, the file where `undefined` is. */
async function sendInOrder(
  parts: readonly (Field | undefined)[],
  file: Buffer<ArrayBuffer>,
  type: string,
  isChunked: boolean,
) {
  const form = new FormData();
  for (const part of parts) {
    if (part === undefined) form.append('file', new Blob([file], { type }), 'a');
    else form.append(...(part as [string, string]));
  }
  const whole = new Response(form);
  // A stream has no length.
  const body = isChunked ? whole.body : await whole.arrayBuffer();
  const headers = { 'content-type': whole.headers.get('content-type') as string };
  const url = `http://127.0.0.1:${port()}/files`;
  const response = await fetch(url, { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
  const { request_id: _, ...json } = (await response.json()) as Record<string, unknown>;
  return { status: response.status, json };
}

const TURNS = '{"turns":[{"text":"One, two.","seconds":1},{"text":"three","seconds":1}]}';
const COMMON: Field[] = [
  ['language', 'en'],
  ['response_format', 'verbose_json'],
  ['timestamp_granularities[]', 'segment'],
  ['temperature', ''],
  ['tags', 'customer:acme'],
];
const BY_HTTP: Field[] = [
  ['model', 'straight/file'],
  ...COMMON,
  ['prompt', 'names'],
  ['provider_params[deaf]', 'true'],
];

const wav = (bytes: number) => wavOf(bytes) as Buffer<ArrayBuffer>;
const WAYS: readonly [
  string,
  { fields: Field[]; asked: number; fileOf(bytes: number): Buffer<ArrayBuffer>; type: string },
][] = [
  ['by HTTP', { fields: BY_HTTP, asked: 1, fileOf: flac, type: 'audio/flac' }],
  [
    'with a fallback',
    { fields: [...BY_HTTP, ['fallbacks', 'second/file']], asked: 1, fileOf: flac, type: 'audio/flac' },
  ],
  [
    'for money, strictly',
    { fields: [['model', 'second/file'], ...COMMON, ['strict', 'true']], asked: 1, fileOf: wav, type: 'audio/wav' },
  ],
  [
    'for live transcription',
    {
      fields: [['model', 'loopback/script'], ...COMMON, ['provider_params', TURNS]],
      asked: 0,
      fileOf: wav,
      type: 'audio/wav',
    },
  ],
];
const SIZES = [1_000, MEMORY_BYTES_MAX - 50, MEMORY_BYTES_MAX + 2, 300_000];
const SCRIPTED = ['straight', 'second'];

describe.each(WAYS)('a file %s', (_, { fields, asked, fileOf, type }) => {
  it('gets the same answer and charge in every order of the form and at every size', async () => {
    for (const name of SCRIPTED) server(name).answers = [answer({ text: 'heard', seconds: 2 })];
    const usual = [...fields, undefined];
    const expected = new Map<number, unknown>();
    for (const bytes of SIZES) expected.set(bytes, await sendInOrder(usual, fileOf(bytes), type, false));
    expect(expected.get(1_000)).toMatchObject({ status: 200 });
    const orders = fc.shuffledSubarray(usual, { minLength: usual.length });
    await fc.assert(
      fc.asyncProperty(orders, fc.constantFrom(...SIZES), fc.boolean(), async (parts, bytes, isChunked) => {
        for (const name of SCRIPTED) server(name).arrived.length = 0;
        const chargesBefore = reservations.charges.size;
        const file = fileOf(bytes);
        expect(await sendInOrder(parts, file, type, isChunked)).toEqual(expected.get(bytes));
        // What was begun and given up never had its end, and nobody pays for it.
        const arrived = SCRIPTED.flatMap((name) => server(name).arrived);
        expect([arrived.length, reservations.charges.size - chargesBefore]).toEqual([asked, 1]);
        expect(reservations.reserved.at(-1)?.tags).toBe('{"customer":"acme"}');
        expect(arrived.every(({ body }) => body.equals(file))).toBe(true);
      }),
      { numRuns: 12 },
    );
    await expectNothingLeft();
  });
});

it.each([
  ['region', 'eu'],
  ['retention', 'none'],
])('refuses a rule of %s after a large file, because audio may have been sent already', async (name, value) => {
  const sent = (...parts: (Field | undefined)[]) =>
    sendInOrder([['model', 'straight/file'], ...parts], flac(300_000), 'audio/flac', false);
  server('straight').arrived.length = 0;
  expect(await sent(undefined, [name, value])).toMatchObject({
    status: 400,
    json: { error: { code: 'invalid_request', param: 'region' } },
  });
  // In front of the file it is kept to: nobody says where this model's audio goes.
  expect(await sent([name, value], undefined)).toMatchObject({
    status: 403,
    json: { error: { code: `${name}_not_allowed` } },
  });
  await expectNothingLeft();
});

it('accepts a required option after a large file, and ends the job on a wrong one', async () => {
  const sent = (...parts: (Field | undefined)[]) =>
    sendInOrder([['model', 'needy/file'], ...parts], wav(300_000), 'audio/wav', false);
  expect(await sent(undefined, ['provider_params[grammar]', 'x'])).toMatchObject({ json: { text: 'heard by needy' } });
  expect(await sent(undefined)).toMatchObject({ status: 400, json: { error: { code: 'invalid_provider_params' } } });
  expect(await sent(['provider_params', '{"grammar":1}'], undefined)).toMatchObject({ status: 400 });
  expect(server('needy').arrived.length).toBe(1);
  await expectNothingLeft();
});
