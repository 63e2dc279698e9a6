// What a provider says comes through without the credential that it was sent, however it writes it.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Scrubber } from '../../../src/live/upstream/secrets.ts';

const KEY = 'canary/key+with=marks&4711';
const PEM = `-----BEGIN PRIVATE KEY-----\nCanaryLineOne0123456789+/\nCanaryLineTwo0123456789==\n-----END PRIVATE KEY-----\n`;
const scrubber = new Scrubber({ credential: KEY, secrets: ['canary-session-token', PEM] });
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a secret is taken out', () => {
  test.each([
    ['as it is', `The key ${KEY} is wrong.`],
    ['twice', `${KEY}, ${KEY}`],
    ['in a URL', `https://x.test/?key=${encodeURIComponent(KEY)}&y=1`],
    ['in a URL in lower case', `key=${encodeURIComponent(KEY).toLowerCase()}.`],
    ['in base64', `Basic ${base64(KEY)} is wrong.`],
    ['in base64 behind a user name', `Basic ${base64(`user:${KEY}`)} is wrong.`],
    ['in base64 behind a longer user name', `Basic ${base64(`users:${KEY}:more`)} is wrong.`],
    ['in base64 for URLs', `token ${Buffer.from(`u:${KEY}`).toString('base64url')}!`],
    ['cut off with the end of the text', `The key ${KEY.slice(0, 15)}`],
    ['another member of the credential', 'canary-session-token'],
    ['of several lines', `The key ${PEM} is wrong.`],
    ['of several lines in JSON', JSON.stringify({ key: PEM })],
    ['of several lines, made one', `The key ${PEM.replaceAll('\n', ' ')} is wrong.`],
    ['of several lines, one of them', 'Bad line: CanaryLineTwo0123456789=='],
  ])('%s', (_, text) => {
    const clean = scrubber.clean(text);
    expect(clean).toContain('[redacted]');
    const left = [clean, Buffer.from(clean.replace(/^.*?(Basic|token) /, ''), 'base64').toString('latin1')].join('\n');
    expect(left.toLowerCase()).not.toMatch(/canary[/-]|canary%|canaryline|marks/);
  });
});

test('removes every form of any secret in any text', () => {
  const texts = fc.string({ maxLength: 20 });
  const secrets = fc.string({ minLength: 8, maxLength: 60 }).filter((text) => text.trim().length >= 8);
  fc.assert(
    fc.property(secrets, texts, texts, (secret, before, after) => {
      const clean = new Scrubber({ credential: secret, secrets: [] });
      for (const writing of [
        secret,
        encodeURIComponent(secret),
        base64(`${before}${secret}`),
        JSON.stringify(secret),
      ]) {
        const said = clean.clean(`${before} ${writing} ${after}`);
        expect(said).toContain('[redacted]');
      }
    }),
    { numRuns: 300, seed: 9 },
  );
});

test('leaves other text unchanged, and all text without a secret', () => {
  const text = 'The model is overloaded. Try again in 2 s.';
  expect(scrubber.clean(text)).toBe(text);
  expect(new Scrubber({ credential: undefined }).clean(KEY)).toBe(KEY);
  expect(new Scrubber({ credential: '' }).clean(KEY)).toBe(KEY);
});

test('replaces an error that shows a secret, and keeps any other', () => {
  const fine = new Error('Nothing to see.');
  expect(scrubber.cleanError(fine)).toBe(fine);
  for (const error of [
    new Error(`Bad header ${KEY}`),
    Object.assign(new Error('Bad'), { input: `https://x/?k=${KEY}` }),
  ]) {
    const clean = scrubber.cleanError(error) as Error;
    expect(clean).not.toBe(error);
    expect(JSON.stringify([clean.message, clean.stack, Object.entries(clean)])).not.toContain('canary');
  }
});
