// What holds of every codec of files: the requests it makes, what answers come to, and what no answer can make it do.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/vendors/kit/json.ts';
import type { BatchRequest, BatchStep, HttpBatchCodec, HttpRequest } from '../../../src/vendors/kit/provider.ts';
import { drawn } from '../../fakes/drawn.ts';
import type { AnswerRow, BatchFixtures, ExpectedResult } from './fixtures.ts';
import { withSpoilt } from './live.ts';
import { askedByHttp, batchRequest, changed } from './requests.ts';
import { tellsWords, utteranceLine } from './story.ts';

/** Answers that say nothing. */
const UNREADABLE = ['', 'no JSON', 'null', '[]', '{}', '<html>'];

/** Before each time that a job is asked about. */
const PAUSES_MS = [500, 750, 1_125, 1_688, 2_532, 3_000, 3_000];

/** The object with that member otherwise, wherever it lies. */
const withMember = (value: object, member: string, otherwise: string): object =>
  JSON.parse(JSON.stringify(value, (name, each) => (name === member ? otherwise : each)));

/** The steps from the beginning, one answer after the other. */
export function stepsOf(codec: HttpBatchCodec, request: BatchRequest, bodies: readonly unknown[]): BatchStep[] {
  const { state, step } = codec.begin(request);
  const textOf = (body: unknown) => (typeof body === 'string' ? body : (JSON.stringify(body) ?? ''));
  return [step, ...bodies.map((body) => codec.read(state, { status: 200, headers: {}, body: textOf(body) }))];
}

export function requestIn(step: BatchStep | undefined): HttpRequest {
  if (step?.type !== 'request') throw new Error(`${JSON.stringify(step)} came in place of a request.`);
  return step.request;
}

/** What is asked for in the request that carries the options. */
export function askedOfFile(
  codec: HttpBatchCodec,
  { before = [], asked = askedByHttp }: Pick<BatchFixtures, 'before' | 'asked'>,
  request: BatchRequest,
): JsonObject {
  return asked(requestIn(stepsOf(codec, request, before).at(-1)));
}

/** The step with utterances as their lines, where lines are expected. */
function withLines(step: BatchStep | undefined, { utterances: expected }: ExpectedResult): object | undefined {
  if (step?.type !== 'done' || expected === undefined) return step;
  const utterances = step.result.utterances.map((each, at) =>
    typeof expected[at] === 'object' ? each : utteranceLine(each, tellsWords(expected[at])),
  );
  return { ...step, result: { ...step.result, utterances } };
}

export function testBatch(name: string, codec: HttpBatchCodec, fixtures: BatchFixtures): void {
  const { model, before = [] } = fixtures;
  const requestOf = (change: Partial<BatchRequest> = {}) => batchRequest({ model, ...change });
  const lastOf = (change: Partial<BatchRequest>, bodies: readonly unknown[]) =>
    stepsOf(codec, requestOf(change), bodies).at(-1);

  describe(`${name} files`, () => {
    it('begin with one request', () => {
      expect(requestIn(stepsOf(codec, requestOf(), [])[0])).toEqual(fixtures.opening);
    });

    it('go below the base URL that is configured, with its key alone', () => {
      const access = { baseUrl: 'http://127.0.0.1:9/below', credential: 'canary-key' };
      for (const step of stepsOf(codec, requestOf({ access }), before)) {
        const { url, headers, body } = requestIn(step);
        expect(url).toMatch(/^http:\/\/127\.0\.0\.1:9\/below\//);
        expect(url + JSON.stringify(body)).not.toContain('canary');
        expect(JSON.stringify(headers)).toContain('canary-key');
      }
    });

    it.each(fixtures.requests)('request %j as %j', (change, expected) => {
      const plain = askedOfFile(codec, fixtures, requestOf({ model: change.model ?? model }));
      expect(changed(plain, askedOfFile(codec, fixtures, requestOf(change)))).toEqual(expected);
    });

    it.each(Object.entries(fixtures.answers))('come back: %s', (_, [change, bodies, expected]: AnswerRow) => {
      const step = lastOf(change, [...before, ...bodies]);
      if (typeof expected !== 'string')
        expect(withLines(step, expected)).toMatchObject({ type: 'done', result: expected });
      else if (step?.type === 'failed') expect(`${step.failure.kind} ${step.failure.code}`).toBe(expected);
      else expect(step).toBe(expected);
    });

    const whole = Object.values(fixtures.answers).find(([, , expected]) => typeof expected !== 'string');
    const [change, bodies] = whole as AnswerRow;
    const answers = [...before, ...bodies];
    it.each(answers.map((_, at) => at))('fail when answer %i cannot be read, and others may do better', (at) => {
      for (const body of UNREADABLE) {
        const step = lastOf(change, [...answers.slice(0, at), body]);
        expect(step, body).toMatchObject({ type: 'failed', failure: { kind: 'next', code: 'bad_answer' } });
      }
    });

    const { job } = fixtures;
    if (job !== undefined)
      it('become jobs, polled less and less often, and cancelled without a client', () => {
        const { requests, created, waiting, abandoned, abandonedBefore = [] } = job;
        const waits = PAUSES_MS.slice(1).map(() => waiting);
        const steps = stepsOf(codec, requestOf(), [...before, created, ...waits]);
        expect(steps.slice(1, 1 + requests.length).map(requestIn)).toEqual(requests);
        const pauses = steps.slice(requests.length).map((step) => step.type === 'request' && step.afterMs);
        expect(pauses).toEqual(PAUSES_MS);
        const { state } = codec.begin(requestOf());
        const hear = (body: object) => codec.read(state, { status: 200, headers: {}, body: JSON.stringify(body) });
        before.forEach(hear);
        expect(codec.abandon?.(state)).toMatchObject(abandonedBefore);
        hear(created);
        expect(codec.abandon?.(state)).toMatchObject(abandoned);
      });

    if (job !== undefined)
      it.each([
        ['an id that is a path', [withMember(job.created, 'id', '../x')]],
        ['an unknown status', [job.created, withMember(job.waiting, 'status', 'lost')]],
      ])('fail where a job has %s', (_, said) => {
        const step = lastOf({}, [...before, ...said]);
        expect(step).toMatchObject({ type: 'failed', failure: { kind: 'next', code: 'bad_answer' } });
      });

    it('survive any answer', () => {
      const all = [...before, ...Object.values(fixtures.answers).flatMap(([, each]) => each)];
      const objects = all.filter((body): body is JsonObject => typeof body === 'object' && body !== null);
      const spoilt = fc
        .tuple(fc.constantFrom(...objects), fc.nat(60), fc.jsonValue())
        .map(([body, at, value]) => withSpoilt(body, at, value));
      fc.assert(
        fc.property(
          fc.array(fc.oneof({ weight: 4, arbitrary: spoilt }, fc.jsonValue()), { minLength: 5, maxLength: 5 }),
          (given) => {
            for (const step of stepsOf(codec, requestOf(), given)) {
              if (step.type === 'request' || step.type === 'failed') continue;
              if (step.type !== 'done') expect.fail(`a step of no kind: ${JSON.stringify(step)}`);
              for (const { text, start, end } of step.result.utterances)
                if (typeof text !== 'string' || ![start, end].every(Number.isFinite) || end < start)
                  expect.fail(`"${text}" ${start}-${end}`);
            }
          },
        ),
        { numRuns: drawn(2_000) },
      );
    });
  });
}
