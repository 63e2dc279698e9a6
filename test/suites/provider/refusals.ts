// What holds of every provider's failures: HTTP refusals of upgrades and files are told apart as the rows say, and where a
// provider says nothing of its own the status decides.
import { describe, expect, it } from 'vitest';
import type { LegFailure } from '../../../machines/events.ts';
import { modelOf } from '../../../src/api/slug.ts';
import type { FailureRow } from '../../../src/vendors/kit/failure-row.ts';
import type { Provider, ProviderRefusal } from '../../../src/vendors/kit/provider.ts';
import type { ProviderFixtures, RefusalRow } from './fixtures.ts';
import { isHttp } from './options.ts';
import { batchRequest } from './requests.ts';

/** Where the body is empty or none of the provider's. */
const BY_STATUS: readonly RefusalRow[] = [
  ...[401, 402].map((status) => [status, '', `account http_${status}`] as const),
  ...[400, 414, 431].map((status) => [status, '', `caller http_${status}`] as const),
  [413, 'too large', 'caller http_413'],
  [429, '', 'next http_429'],
  [404, '<html>', 'next http_404', { file: '*' }],
  ...[500, 502, 503, 504].flatMap((status) =>
    ['', '<html>', '[1]'].map((body) => [status, body, `retry http_${status}`] as const),
  ),
];

const lineOf = ({ kind, code }: LegFailure): string => `${kind} ${code}`;

export function testRefusals(provider: Provider, fixtures: ProviderFixtures): void {
  const { batch, refusals = [] } = fixtures;
  const { name, failures } = provider;
  const readers: [string, (refusal: ProviderRefusal) => LegFailure | undefined][] = [];
  const refusedUpgrade = provider.live?.(modelOf(provider.models[0]?.id ?? '')).refused;
  if (refusedUpgrade !== undefined) readers.push(['an upgrade', refusedUpgrade]);
  if (isHttp(provider.batch) && batch !== undefined) {
    const { state } = provider.batch.begin(batchRequest({ model: batch.model }));
    const { refused } = provider.batch;
    if (refused !== undefined) readers.push(['a file', (refusal) => refused(state, refusal)]);
  }
  const refusalOf = ([status, body, , { headers = {} } = {}]: RefusalRow): ProviderRefusal => ({
    status,
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

  describe.each(readers)(`${name} refuses %s`, (what, read) => {
    it.each([...BY_STATUS, ...refusals].map((row) => [row] as const))('gives its failure for %j', (row) => {
      const [, , is, { file = is, message } = {}] = row;
      const failure = read(refusalOf(row)) as LegFailure;
      const expected = what === 'a file' ? file : is;
      if (expected !== '*') expect(lineOf(failure)).toBe(expected);
      if (message !== undefined) expect(failure.message).toMatch(message);
      expect(failure.reason).toMatch(/^(?:connect_failed|upstream_error|upstream_closed)$/);
    });

    it('retries as late as the answer requests', () => {
      const asking = (status: number, text: string) =>
        read({ status, headers: { 'retry-after': text }, body: '' })?.retryAfterMs;
      expect([asking(429, '30'), asking(503, '1'), asking(429, 'soon')]).toEqual([30_000, 1_000, undefined]);
    });

    it('gives a message in one line of bounded length', () => {
      const text = `Slow\n\u0007down ${'x'.repeat(1_000)}`;
      for (const [status, body, is, more = {}] of refusals.filter(([, each]) => typeof each === 'object')) {
        const { message } = read(refusalOf([status, withText(body, text) as object, is, more])) as LegFailure;
        expect(message).not.toMatch(/\p{C}/u);
        expect(message.length).toBeLessThan(450);
      }
    });
  });

  it(`${name} has a sentence for each of its failures`, () => {
    // Some names begin with a small letter.
    const sentence = new RegExp(`^(?:[A-Z]|${provider.title} ).*\\.$`);
    for (const row of failures) if (row.message !== undefined) expect(row.message).toMatch(sentence);
  });

  it(`${name} has a fixture for each of its failures`, () => {
    const told = JSON.stringify(fixtures);
    const unmet = failures.flatMap(codesOf).filter((code) => !told.includes(`${code}"`));
    expect(unmet, 'Add closes, refusals, answers or stories that come to these.').toEqual([]);
  });
}

/** What the suite itself brings about, and what a codec says where no other row fits. */
const EVERYBODYS = ['bad_answer', 'closed', 'error', 'final_missing', 'job_failed', 'unauthorized'];

/** What the failures of a row are called, where it says so. */
function codesOf({ as, name, code, close }: FailureRow): string[] {
  if (as !== undefined) return [as];
  if (name !== undefined) return EVERYBODYS.includes(name) ? [] : [name];
  if (close !== undefined) return [close].flat().map((each) => `close_${each}`);
  return code === undefined || code instanceof RegExp ? [] : [code].flat();
}

/** The object with that text in place of each message in it. */
function withText(value: unknown, text: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => {
    const isMessage = typeof member === 'string' && /message|msg|error|details/.test(name);
    return [name, isMessage ? text : withText(member, text)];
  });
  return Object.fromEntries(entries);
}
