// What simulated services are built of: the checks of what is asked for, the pace of audio, keys and routes.
import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { SimulatorTools } from '../../../src/vendors/kit/simulation.ts';
import { faultIn, oneOf, valuesOf } from '../../../src/vendors/kit/simulator/checks.ts';
import { keyRefusal } from '../../../src/vendors/kit/simulator/credentials.ts';
import { PacedIntake } from '../../../src/vendors/kit/simulator/pace.ts';
import { FileJobs, ok, Remembered, routed } from '../../../src/vendors/kit/simulator/routes.ts';
import { markedWordsOf } from '../../../src/vendors/kit/simulator/words.ts';

const Asked = Type.Object(
  {
    model: oneOf('small', 'large'),
    rate: Type.Optional(Type.Integer({ minimum: 8_000 })),
    flag: Type.Optional(Type.Boolean()),
    terms: Type.Optional(Type.Array(Type.String())),
    cut: Type.Optional(Type.Union([Type.Literal('auto'), Type.Object({ threshold: Type.Number() })])),
  },
  { additionalProperties: false },
);
const fault = (query: string, lists?: 'json') => faultIn(Asked, valuesOf(new URLSearchParams(query), Asked, lists));

describe('a query', () => {
  it.each([
    'model=small&rate=8000&flag=true',
    'model=large&terms=one&terms=two',
    'model=large&terms[]=one&cut=auto',
    'model=large&cut[threshold]=0.5',
    'model=large&cut={"threshold":0.5}',
  ])('%s is taken', (query) => {
    expect(fault(query)).toBeUndefined();
  });

  it.each([
    ['', 'missing', 'model'],
    ['model=none', 'invalid', 'model'],
    ['model=small&rate=7999', 'invalid', 'rate'],
    ['model=small&rate=', 'invalid', 'rate'],
    ['model=small&flag=1', 'invalid', 'flag'],
    ['model=small&cut[threshold]=loud', 'invalid', 'cut.threshold'],
    ['model=small&voice=x', 'unknown', 'voice'],
  ])('%s is refused as %s %s', (query, kind, member) => {
    expect(fault(query)).toMatchObject({ kind, member });
  });

  it('takes its lists as JSON where the service says so', () => {
    expect(fault('model=small&terms=["one"]', 'json')).toBeUndefined();
    for (const terms of ['terms=one', 'terms=[1]', 'terms=["one"]&terms=["two"]'])
      expect(fault(`model=small&${terms}`, 'json')).toMatchObject({
        kind: 'invalid',
        member: expect.stringMatching(/^terms/),
      });
  });
});

it('queues ten minutes of audio in a slow intake, and reports an overflow', () => {
  let overflows = 0;
  let heardBytes = 0;
  const clock = new SimulatedClock();
  const intake = new PacedIntake(clock, 200, 1.25, {
    audio: (bytes) => {
      heardBytes += bytes.byteLength;
    },
    overflow: () => {
      overflows++;
    },
  });
  const second = new Uint8Array(200);
  // The first second is taken up at once.
  for (let sent = 0; sent < 601; sent++) intake.audio(second);
  expect(overflows).toBe(0);
  intake.audio(second);
  expect(overflows).toBe(1);
  clock.increment(479_999);
  expect(heardBytes).toBe(600 * 200);
  clock.increment(1);
  expect(heardBytes).toBe(601 * 200);
});

it('forgets the oldest of more than 200 things', () => {
  const things = new Remembered<number>();
  for (let id = 0; id <= 200; id++) things.set(`${id}`, id);
  expect([things.get('0'), things.get('1'), things.take('200'), things.get('200')]).toEqual([
    undefined,
    1,
    200,
    undefined,
  ]);
});

it('routes a request by its path, or by a wildcard for the last part', async () => {
  const routes = { 'GET /jobs': () => ({ status: 200 }), 'GET /jobs/*': (id: string) => ({ status: 200, body: id }) };
  const answer = (method: string, path: string) =>
    routed({ method, url: new URL(path, 'http://here.test'), headers: {}, body: new Uint8Array(0) }, routes);
  expect(await answer('GET', '/jobs?limit=1')).toEqual({ status: 200 });
  expect(await answer('GET', '/jobs/7')).toEqual({ status: 200, body: '7' });
  expect([answer('POST', '/jobs'), answer('GET', '/jobs/7/words'), answer('GET', '/constructor')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

it('works on a file’s job at once, and fails without a file or without audio', async () => {
  const tools = {
    newId: () => '1',
    transcribe: async ([first]: Uint8Array) => {
      if (first !== 7) throw new Error('It is no audio.');
      return { seconds: 2, turns: [] };
    },
  } as unknown as SimulatorTools;
  const kept = new FileJobs();
  const made = [Uint8Array.of(7), Uint8Array.of(0), undefined].map((file) => kept.make({ a: 1 }, file, 'en', tools));
  expect(made[0]).toMatchObject({ id: 'job-1', asked: { a: 1 }, status: 'working' });
  await new Promise(setImmediate);
  expect(made.map(({ status, isMissing, seconds }) => [status, isMissing, seconds])).toEqual([
    ['done', false, 2],
    ['failed', false, 0],
    ['failed', true, 0],
  ]);
});

it('refuses a key by its fault', () => {
  const refused = ['bad-key', undefined, 'broke', 'limited', 'good'].map((key) =>
    keyRefusal(key, (each) => ok({}, each)),
  );
  expect(refused.map((answer) => answer?.status)).toEqual([401, 401, 403, 429, undefined]);
  expect(keyRefusal('broke', (each) => ok({}, each), 402)?.status).toBe(402);
});

it('separates a word from the mark after it', () => {
  const words = markedWordsOf({ text: 'Two teas, "please" ?', start: 0, end: 4 });
  expect(words.map(({ word, mark }) => [word, mark])).toEqual([
    ['Two', undefined],
    ['teas', ','],
    ['"please"', undefined],
    ['?', undefined],
  ]);
});
