// What is shown again of what a client asked for: all that is small, so that the transcript keeps its shape, and never more than its bound.
import { describe, expect, it } from 'vitest';
import { bytesOf, SHOWN_BYTES_MAX, shownAgain } from '../../src/jobs/shown-again.ts';

const large = (bytes: number) => 'é'.repeat(bytes / 2);
const deep = (levels: number): object => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);

describe('stored request options', () => {
  it('stay complete where they are small', () => {
    const asked = { model: 'm', list: [1, { two: 2 }], text: large(SHOWN_BYTES_MAX - 100) };
    expect(shownAgain(asked)).toBe(asked);
  });

  it('lose large members, at the top and in objects', () => {
    const config = { vocabulary: [large(9_000)], language: 'de', diarization: 'speaker' };
    const asked = { title: large(60_000), tracking: { title: large(9_000) }, config, type: 'transcription' };
    expect(shownAgain(asked)).toEqual({
      ...{ type: 'transcription', tracking: {}, config: { language: 'de', diarization: 'speaker' } },
    });
  });

  it.each<[string, object]>([
    ['many members', Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`m${at}`, large(40)]))],
    ['members of objects', Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`m${at}`, { a: large(400) }]))],
    ['a long name', { [large(60_000)]: { a: 1 } }],
    ['depth', { a: deep(3_000) }],
    ['depth that cannot be written', { a: deep(200_000), b: 1 }],
    ['a prototype', JSON.parse(`{"__proto__":{"a":"${large(3_000)}","b":"${large(3_000)}"}}`)],
  ])('stay within the bound, for %s', (_, asked) =>
    expect(bytesOf(shownAgain(asked as Record<string, unknown>))).toBeLessThanOrEqual(SHOWN_BYTES_MAX),
  );
});
