// What simulated services are built of: the checks of what is asked for, the pace of audio, keys and routes.
import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { faultIn, oneOf, valuesOf } from '../../src/providers/kit/simulator/checks.ts';
import { PacedIntake } from '../../src/providers/kit/simulator/pace.ts';
import { Remembered, routed } from '../../src/providers/kit/simulator/routes.ts';

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
    ['model=small&cut[threshold]=loud', 'invalid', 'cut'],
    ['model=small&voice=x', 'unknown', 'voice'],
  ])('%s is refused as %s %s', (query, kind, member) => {
    expect(fault(query)).toMatchObject({ kind, member });
  });

  it('has its lists as JSON where the service says so', () => {
    expect(fault('model=small&terms=["one"]', 'json')).toBeUndefined();
    for (const terms of ['terms=one', 'terms=[1]', 'terms=["one"]&terms=["two"]'])
      expect(fault(`model=small&${terms}`, 'json')).toMatchObject({
        kind: 'invalid',
        member: expect.stringMatching(/^terms/),
      });
  });
});

it('a slow intake keeps ten minutes of audio waiting, and says so when more comes', () => {
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

it('the oldest of more than 200 things is forgotten', () => {
  const things = new Remembered<number>();
  for (let id = 0; id <= 200; id++) things.set(`${id}`, id);
  expect([things.get('0'), things.get('1'), things.take('200'), things.get('200')]).toEqual([
    undefined,
    1,
    200,
    undefined,
  ]);
});

it('a request goes to the route of its path, or to the one for any last part', async () => {
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
