// The corpus of broken forms, each by its name: refused with its status, code and field by the reader itself, in pieces of
// every kind, and over sockets through both adapters; quickly, and with nothing left behind (row F22).
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../../src/api/errors.ts';
import { openNodeServer } from '../../../../src/http/node/server.ts';
import { reasonAgainstUws } from '../../../../src/http/open-server.ts';
import { openUwsServer } from '../../../../src/http/uws/server.ts';
import { BROKEN_ENVELOPES } from '../broken-envelopes.ts';
import { BROKEN_FORMS, type BrokenForm, CONTENT_TYPE, field, file, form } from '../broken-forms.ts';
import { BROKEN_HEADERS } from '../broken-headers.ts';
import { BROKEN_PARTS } from '../broken-parts.ts';
import { answerTo, FormRig, requestOf } from '../form-rig.ts';
import { ODD_FORMS } from '../odd-forms.ts';

const CORPUS: readonly BrokenForm[] = [...BROKEN_FORMS, ...BROKEN_ENVELOPES, ...BROKEN_HEADERS, ...BROKEN_PARTS];
const GOOD = form(field('model', 'a/b'), file(Buffer.from('audio')));
/** Of one body on a busy machine; what is worse than linear takes minutes for the large ones. */
const TIME_MS_MAX = 2_000;

const rig = new FormRig();
const against = await reasonAgainstUws();
if (against !== undefined) console.warn(`uWebSockets.js is not tested: ${against}`);
const adapters = [
  ['node', openNodeServer] as const,
  ...(against === undefined ? [['uws', openUwsServer] as const] : []),
];

const status = (code: string): number =>
  new Map([
    ['file_too_large', 413],
    ['unsupported_media_type', 415],
  ]).get(code) ?? 400;

test('holds more than 250 broken forms, each with a distinct name', () => {
  expect(CORPUS.length).toBeGreaterThan(250);
  expect(new Set(CORPUS.map(([what]) => what)).size).toBe(CORPUS.length);
});

describe('F22 the reader of forms', () => {
  test.each(CORPUS.map(([what, ...rest]) => [what, rest] as const))(
    'refuses %s',
    async (_what, [bytes, code, param, contentType = CONTENT_TYPE]) => {
      for (const pieceBytes of [65_536, 61, 1].filter((size) => bytes.length / size < 20_000)) {
        const startedMs = performance.now();
        const outcome = await rig.read(bytes, pieceBytes, contentType);
        expect(performance.now() - startedMs).toBeLessThan(TIME_MS_MAX);
        expect(outcome).toBeInstanceOf(ApiError);
        const { code: got, extras, message, status: answered } = outcome as ApiError;
        expect([got, extras.param, answered]).toEqual([code, param, status(code)]);
        expect(message).toMatch(/^[\x20-\x7e]{1,300}\.$/);
      }
      await rig.expectNothingLeft();
    },
  );
});

describe('the reader of forms', () => {
  test.each(ODD_FORMS.map(([what, ...rest]) => [what, rest] as const))(
    'takes %s',
    async (_what, [bytes, expected, contentType = CONTENT_TYPE]) => {
      for (const pieceBytes of [65_536, 61, 3, 1].filter((size) => bytes.length / size < 200_000)) {
        const outcome = await rig.read(bytes, pieceBytes, contentType);
        expect(outcome).toMatchObject({ content: Buffer.from('audio'), filename: 'a.wav', ...expected });
        expect((outcome as { fields: unknown }).fields).toEqual(expected.fields);
      }
      await rig.expectNothingLeft();
    },
  );
});

/** Headers of HTTP cannot hold everything that is tried on the reader. */
const isSendable = (contentType: string): boolean => /^[\t\x20-\x7e]*$/.test(contentType) && contentType.length < 7_000;

describe.each(adapters)('F22 behind the adapter %s', (_name, open) => {
  test('refuses every broken form on a separate connection, and parses a good one after each', async () => {
    const port = await rig.openServer(open);
    const sent = CORPUS.filter(([, , , , contentType = '']) => isSendable(contentType));
    expect(sent.length).toBeGreaterThan(240);
    const good = requestOf(GOOD);
    const answers: unknown[] = [];
    for (const [what, bytes, , , contentType = CONTENT_TYPE] of sent) {
      const { status, code, param } = await answerTo(port, requestOf(bytes, contentType));
      answers.push([what, status, code, param]);
      expect((await answerTo(port, good)).status).toBe(200);
    }
    expect(answers).toEqual(sent.map(([what, , code, param]) => [what, status(code), code, param]));
    await rig.expectNothingLeft();
  }, 120_000);

  test('parses every unusual form on a separate connection', async () => {
    const port = await rig.openServer(open);
    for (const [what, bytes, { fields, content = Buffer.from('audio') }, contentType = CONTENT_TYPE] of ODD_FORMS) {
      const { status, json } = await answerTo(port, requestOf(bytes, contentType));
      expect([what, status, json.fields, json.content]).toEqual([what, 200, fields, content.toString('base64')]);
    }
    await rig.expectNothingLeft();
  }, 60_000);

  test('parses a good form at every TCP split', async () => {
    const port = await rig.openServer(open);
    const whole = requestOf(GOOD);
    const headBytes = whole.indexOf('\r\n\r\n') + 4;
    for (let at = headBytes; at < whole.length; at++) {
      const { status, json } = await answerTo(port, whole.subarray(0, at), whole.subarray(at));
      expect([status, json]).toMatchObject([200, { fields: [['model', 'a/b']], content: 'YXVkaW8=' }]);
    }
    await rig.expectNothingLeft();
  }, 60_000);
});
