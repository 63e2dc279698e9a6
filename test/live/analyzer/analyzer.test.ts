// Calls to a service that finds names, over real sockets: what is found, what fails, and how much is asked of it at once.
import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import {
  Analyzer,
  CALLS_MAX,
  type CallOutcome,
  FAILURES_MAX,
  PART_CHARS_MAX,
  partsOf,
  WAITING_MAX,
} from '../../../src/live/analyzer/analyzer.ts';
import { AnalyzerService, type Manner } from '../../fakes/network/analyzer-service.ts';

const TIMEOUT_MS = 2_000;
let service: AnalyzerService;
let analyzer: Analyzer;
let clock: SimulatedClock;
let outcomes: CallOutcome[];

beforeEach(async () => {
  service = await AnalyzerService.start();
  clock = new SimulatedClock();
  outcomes = [];
  analyzer = new Analyzer({
    url: `${service.url}/`,
    timeoutMs: TIMEOUT_MS,
    languages: ['en', 'de'],
    clock,
    onCall: (outcome) => outcomes.push(outcome),
  });
});
afterEach(async () => {
  await analyzer.close();
  await service.stop();
});

const never = new AbortController().signal;
setMaxListeners(0, never);
const find = (text: string, more: { organisationId?: string; language?: string; signal?: AbortSignal } = {}) =>
  analyzer.find({
    text,
    language: 'en',
    classes: ['name', 'address'],
    organisationId: 'org_a',
    signal: never,
    ...more,
  });

const failed = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'answered',
    () => 'failed',
  );

describe('a text', () => {
  it('is answered with where names and addresses are', async () => {
    const text = 'I am Zoe Quill from 12 Wicker Lane.';
    const found = await find(text);
    expect(found.map((match) => [match.class, text.slice(match.from, match.to)])).toEqual([
      ['name', 'Zoe Quill'],
      ['address', '12 Wicker Lane'],
    ]);
    expect(service.asked).toEqual([{ text, language: 'en', entities: ['PERSON', 'LOCATION'] }]);
    expect(outcomes).toEqual(['answered']);
  });

  it.each([
    ['de-AT', 'de'],
    ['fr', 'en'],
    ['auto', 'en'],
  ])('in %s is sent as %s', async (language, sent) => {
    await find('Zoe', { language });
    expect(service.asked[0]?.language).toBe(sent);
  });

  it('that is long is sent in parts, and names at their seams are found', async () => {
    const text = 'so then Zoe Quill said it '.repeat(1_200);
    const found = await find(text);
    expect(service.asked.length).toBeGreaterThan(3);
    expect(Math.max(...service.asked.map((each) => each.text.length))).toBeLessThanOrEqual(PART_CHARS_MAX);
    const covered = (at: number) => found.some(({ from, to }) => from <= at && to >= at + 'Zoe Quill'.length);
    for (let at = text.indexOf('Zoe'); at >= 0; at = text.indexOf('Zoe', at + 1))
      expect(covered(at), `${at}`).toBe(true);
    expect(new Set(found.map(({ from, to }) => text.slice(from, to)))).toEqual(new Set(['Zoe Quill']));
  });

  it('is cut into parts that cover it, and within no code point', () => {
    for (const text of ['', 'a', '😀'.repeat(20_001), `${'x'.repeat(9_000)} y`, 'ab '.repeat(9_000)]) {
      let end = 0;
      for (const part of partsOf(text)) {
        expect(part.from).toBeLessThanOrEqual(end);
        expect(part.text).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/);
        end = part.from + part.text.length;
      }
      expect(end).toBe(text.length);
    }
  });
});

it.each<[Manner, CallOutcome]>([
  ['failing', 'failed'],
  ['garbage', 'failed'],
  ['object', 'failed'],
  ['beyond_the_text', 'failed'],
  ['backwards', 'failed'],
  ['huge', 'failed'],
  ['redirect', 'failed'],
  ['hang_up', 'failed'],
])('fails when the service is %s, and is used again after that', async (manner, outcome) => {
  service.manner = manner;
  await expect(find('Zoe')).rejects.toThrow();
  service.manner = 'good';
  expect(await find('Zoe')).toHaveLength(1);
  expect(outcomes).toEqual([outcome, 'answered']);
});

it('fails when there is no answer in time', async () => {
  service.manner = 'silent';
  const answer = failed(find('Zoe'));
  await service.askedTimes(1);
  clock.increment(TIMEOUT_MS);
  expect(await answer).toBe('failed');
  expect(outcomes).toEqual(['timed_out']);
});

it('says nothing of the service when the session ends before the answer', async () => {
  service.manner = 'silent';
  const end = new AbortController();
  const answer = failed(find('Zoe', { signal: end.signal }));
  await service.askedTimes(1);
  end.abort();
  expect(await answer).toBe('failed');
  expect(outcomes).toEqual([]);
});

it('leaves a failing service alone, then tries it with one call', async () => {
  service.manner = 'failing';
  for (let count = 0; count < FAILURES_MAX; count++) await failed(find('Zoe'));
  expect(await failed(find('Zoe'))).toBe('failed');
  expect(service.asked).toHaveLength(FAILURES_MAX);
  expect(outcomes.at(-1)).toBe('resting');
  clock.increment(2_000);
  service.manner = 'late';
  const probe = find('Zoe');
  expect(await failed(find('Zoe'))).toBe('failed');
  await service.askedTimes(FAILURES_MAX + 1);
  service.answerLate();
  expect(await probe).toHaveLength(1);
  expect(await find('Zoe')).toHaveLength(1);
});

it('leaves it alone for longer each time, up to a bound', async () => {
  service.manner = 'failing';
  for (let count = 0; count < FAILURES_MAX; count++) await failed(find('Zoe'));
  for (const restMs of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    const before = service.asked.length;
    clock.increment(restMs - 1);
    await failed(find('Zoe'));
    expect(service.asked).toHaveLength(before);
    clock.increment(1);
    await failed(find('Zoe'));
    expect(service.asked).toHaveLength(before + 1);
  }
});

it('uses connections again, and no more than it may have', async () => {
  service.manner = 'late';
  const answers = Array.from({ length: 2 * CALLS_MAX }, (_, index) => find('Zoe', { organisationId: `org_${index}` }));
  await service.askedTimes(CALLS_MAX);
  expect(analyzer.underWay).toBe(2 * CALLS_MAX);
  service.answerLate();
  await Promise.all(answers);
  expect(analyzer.underWay).toBe(0);
  for (let count = 0; count < 5; count++) await find('Zoe');
  expect(service.connections).toBeLessThanOrEqual(CALLS_MAX);
  expect(service.openMax).toBeLessThanOrEqual(CALLS_MAX);
});

it('has room for another organisation when one asks for all of it, and refuses what cannot wait', async () => {
  service.manner = 'late';
  const answers = Array.from({ length: CALLS_MAX + WAITING_MAX }, () => failed(find('Zoe')));
  const other = find('Zoe', { organisationId: 'org_b' });
  await service.askedTimes(25);
  expect(service.asked.length).toBeLessThan(CALLS_MAX);
  expect(outcomes).toContain('busy');
  service.answerLate();
  expect(await other).toHaveLength(1);
  const all = await Promise.all(answers);
  expect(all.filter((each) => each === 'answered').length).toBeGreaterThan(WAITING_MAX / 2);
  expect(all).toContain('failed');
});
