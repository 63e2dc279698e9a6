// Subtitles of any transcript read back to the same words in the same order, in cues that fit, rise and never overlap.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Utterance, Word } from '../../../machines/events.ts';
import { type Cues, cuesOf, srtOf, vttOf } from '../../../src/files/subtitles.ts';

interface Read {
  start: number;
  end: number;
  speaker: string | undefined;
  lines: string[];
}

const TIME = /^(\d{2,}):([0-5]\d):([0-5]\d)[,.](\d{3})$/;

function secondsOf(text: string): number {
  const [, hours, minutes, seconds, ms] = (TIME.exec(text) ?? []).map(Number) as [0, number, number, number, number];
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
}

const timesOf = (line: string): Pick<Read, 'start' | 'end'> => {
  const [start, end] = line.split(' --> ').map(secondsOf) as [number, number];
  return { start, end };
};

/** A reader as players have them: blocks between empty lines. */
function readSrt(text: string): Read[] {
  const blocks = text.split('\n\n');
  expect(blocks.pop()).toBe('');
  return blocks.map((block, index) => {
    const [number, times = '', ...lines] = block.split('\n');
    expect(number).toBe(String(index + 1));
    const [, speaker, first = lines[0] as string] = /^(?:(Speaker \d+): )?(.*)$/u.exec(lines[0] as string) ?? [];
    return { ...timesOf(times), speaker, lines: [first, ...lines.slice(1)] };
  });
}

function readVtt(text: string): Read[] {
  const [head, ...blocks] = text.split('\n\n');
  expect([head, blocks.pop()]).toEqual(['WEBVTT', '']);
  return blocks.map((block) => {
    const [times = '', ...lines] = block.split('\n');
    const [, speaker, first = ''] = /^(?:<v (Speaker \d+)>)?(.*)$/u.exec(lines[0] as string) ?? [];
    const plain = [first, ...lines.slice(1)].map((line) => {
      // Nothing is left that a player would take for a tag, a reference or an arrow.
      expect(line).not.toMatch(/[<>]|&(?!(?:amp|lt|gt);)/u);
      return line.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
    });
    return { ...timesOf(times), speaker, lines: plain };
  });
}

/** Printable words without spaces, as awkward as they come; the marks that a reader would need an escape for in SRT aside. */
const token = fc.oneof(
  { weight: 8, arbitrary: fc.stringMatching(/^[a-zA-Z',.?!-]{1,14}$/) },
  fc.constantFrom('-->', '<i>', '&amp;', '&', '</v>', '1', '…', '—', 'é', '🎈', 'WEBVTT', 'NOTE', '%', '00:00:01,000'),
  fc.stringMatching(/^[a-z]{43,120}$/),
);
const time = fc.double({ min: 0, max: 400_000, noNaN: true });

/** One utterance with words that may differ from its text, lie outside of it, or be absent. */
const utterance = fc
  .record({
    tokens: fc.array(token, { minLength: 0, maxLength: 60 }),
    start: time,
    length: fc.double({ min: 0, max: 90, noNaN: true }),
    speaker: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
    words: fc.constantFrom('same', 'none', 'fewer', 'backwards'),
  })
  .map(({ tokens, start, length, speaker, words }): Utterance => {
    const share = length / Math.max(1, tokens.length);
    const all: Word[] = tokens.map((word, index) => ({
      word: word.replace(/[^a-zA-Z]/gu, '') || word,
      start: start + share * (words === 'backwards' ? tokens.length - index : index),
      end: start + share * (words === 'backwards' ? tokens.length - index : index + 1),
    }));
    return {
      text: tokens.join(' '),
      start,
      end: start + length,
      ...(speaker === undefined ? {} : { speaker }),
      ...(words === 'none' ? {} : { words: words === 'fewer' ? all.filter((_, index) => index % 3 === 0) : all }),
    };
  });

const wordsOf = (text: string): string[] => text.split(/\s+/u).filter((word) => word !== '');

describe('subtitles', () => {
  it('parse back to their words, in cues that fit and rise', () => {
    fc.assert(
      fc.property(fc.array(utterance, { maxLength: 8 }), (utterances) => {
        const { cues } = cuesOf(utterances, 400_090, true);
        for (const read of [readSrt(srtOf(cues)), readVtt(vttOf(cues))]) {
          expect(read.flatMap(({ lines }) => wordsOf(lines.join(' ')))).toEqual(
            utterances.flatMap(({ text }) => wordsOf(text)),
          );
          for (const [index, { start, end, lines, speaker }] of read.entries()) {
            expect(start).toBeLessThan(end);
            expect(end - start).toBeLessThanOrEqual(7_000);
            expect(end).toBeLessThanOrEqual(read[index + 1]?.start ?? Number.POSITIVE_INFINITY);
            expect(lines.length).toBeLessThanOrEqual(2);
            const name = speaker === undefined ? 0 : speaker.length + 2;
            for (const [at, line] of lines.entries()) {
              expect(line).not.toBe('');
              const isOneWord = !line.includes(' ');
              if (!isOneWord) expect([...line].length + (at === 0 ? name : 0)).toBeLessThanOrEqual(42);
            }
          }
        }
      }),
      { numRuns: 400, seed: 20_261 },
    );
  });

  it('last at least a fifth of a second when segments overlap in any way', () => {
    const segment = fc.record({
      text: fc.constantFrom('One.', 'Two three.', 'Four'),
      start: fc.integer({ min: 0, max: 20_000 }).map((ms) => ms / 1000),
      length: fc.integer({ min: 0, max: 8_000 }).map((ms) => ms / 1000),
    });
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 12 }), (segments) => {
        const utterances = segments.map(({ text, start, length }): Utterance => ({ text, start, end: start + length }));
        const { cues } = cuesOf(utterances, 30, true);
        if (cues.length !== utterances.length) return;
        for (const [index, { startMs, endMs }] of cues.entries()) {
          const length = Math.round(utterances[index]!.end * 1000) - Math.round(utterances[index]!.start * 1000);
          // What was said in less is told in less, but for what had to wait.
          const isShort = length > 0 && length < 200 && startMs === Math.round(utterances[index]!.start * 1000);
          if (!isShort) expect(endMs - startMs).toBeGreaterThanOrEqual(200);
        }
      }),
      { numRuns: 300, seed: 20_263 },
    );
  });

  it('stand while their words are spoken, where the model says when that is', () => {
    const sentences = fc.array(fc.array(fc.integer({ min: 200, max: 900 }), { minLength: 1, maxLength: 40 }), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(sentences, (lengths) => {
        let at = 0;
        let count = 0;
        const utterances = lengths.map((ms): Utterance => {
          const words = ms.map((length): Word => {
            at += length;
            return { word: `word${count++}`, start: (at - length) / 1000, end: at / 1000 };
          });
          const text = words.map(({ word }) => word).join(' ');
          return { text, start: words[0]?.start ?? 0, end: at / 1000, words };
        });
        const spoken = new Map(utterances.flatMap(({ words = [] }) => words).map((word) => [word.word, word]));
        const { cues, isEstimated } = cuesOf(utterances, at / 1000, true);
        expect(isEstimated).toBe(false);
        for (const { startMs, endMs, lines } of cues) {
          const words = wordsOf(lines.join(' ')).map((word) => spoken.get(word) as Word);
          expect(startMs).toBe(Math.round((words[0] as Word).start * 1000));
          expect(endMs).toBeGreaterThanOrEqual(Math.round((words.at(-1) as Word).end * 1000));
        }
      }),
      { numRuns: 200, seed: 20_262 },
    );
  });

  it.each<[string, Utterance[], string]>([
    ['nothing', [], ''],
    ['a text of spaces', [{ text: '  ', start: 0, end: 1 }], ''],
    [
      'hours beyond 99',
      [{ text: 'late', start: 360_000, end: 360_001 }],
      '1\n100:00:00,000 --> 100:00:01,000\nlate\n\n',
    ],
    [
      'the end of a sentence',
      [{ text: 'This is a whole sentence. And another one.', start: 0, end: 4 }],
      '1\n00:00:00,000 --> 00:00:02,424\nThis is a whole sentence.\n\n2\n00:00:02,424 --> 00:00:04,000\nAnd another one.\n\n',
    ],
    [
      'two speakers in one utterance',
      [
        {
          text: 'Yes. No.',
          start: 0,
          end: 2,
          words: [
            { word: 'yes', start: 0, end: 1, speaker: 0 },
            { word: 'no', start: 1, end: 2, speaker: 1 },
          ],
        },
      ],
      '1\n00:00:00,000 --> 00:00:01,000\nSpeaker 0: Yes.\n\n2\n00:00:01,000 --> 00:00:02,000\nSpeaker 1: No.\n\n',
    ],
    [
      'two people at once: the first leaves when the second comes',
      [
        { text: 'One.', start: 0, end: 5 },
        { text: 'Two.', start: 3, end: 8 },
      ],
      '1\n00:00:00,000 --> 00:00:03,000\nOne.\n\n2\n00:00:03,000 --> 00:00:08,000\nTwo.\n\n',
    ],
    [
      'segments that lie within others: each stands long enough to be read',
      [
        { text: 'One.', start: 0, end: 5 },
        { text: 'Two.', start: 0.1, end: 0.3 },
        { text: 'Three.', start: 0.2, end: 4 },
        { text: 'Four.', start: 4, end: 5 },
      ],
      '1\n00:00:00,000 --> 00:00:00,500\nOne.\n\n2\n00:00:00,500 --> 00:00:00,700\nTwo.\n\n3\n00:00:00,700 --> 00:00:04,000\nThree.\n\n4\n00:00:04,000 --> 00:00:05,000\nFour.\n\n',
    ],
  ])('come out right for %s', (_, utterances, srt) => {
    expect(srtOf(cuesOf(utterances, 10, true).cues)).toBe(srt);
  });

  it('make a valid WebVTT file from nothing too', () => {
    expect(vttOf([])).toBe('WEBVTT\n\n');
  });

  it('name speakers as voices, and show marks as they are', () => {
    const { cues } = cuesOf([{ text: 'a <b> & --> c', start: 0, end: 1, speaker: 2 }], 1, true);
    expect(vttOf(cues)).toBe('WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n<v Speaker 2>a &lt;b&gt; &amp; --&gt; c\n\n');
  });

  it('break a script without spaces between words, and keep every character', () => {
    const text = '今日はとても良い天気ですね。明日は雨が降るかもしれませんが、散歩に行きましょう。'.repeat(3);
    const { cues } = cuesOf([{ text, start: 0, end: 20 }], 20, true);
    expect(cues.flatMap(({ lines }) => lines).join('')).toBe(text);
    expect(cues.length).toBeGreaterThan(2);
    for (const { lines } of cues) for (const line of lines) expect([...line].length).toBeLessThanOrEqual(21);
  });

  const LONG = 'word '.repeat(60).trim();
  it.each<[string, Utterance, boolean, Cues['isEstimated']]>([
    ['one that is short, with its own times', { text: 'short', start: 1, end: 2 }, true, false],
    ['one that has to be cut', { text: LONG, start: 0, end: 30 }, true, true],
    ['one without any time', { text: 'short', start: 0, end: 0 }, true, true],
    ['one of a model that gives no times', { text: 'short', start: 0, end: 3 }, false, true],
    ['one without a text', { text: '', start: 0, end: 3 }, false, false],
    ['words', { text: 'a', start: 0, end: 0, words: [{ word: 'a', start: 0, end: 1 }] }, true, false],
  ])('say that times are made up: %s', (_, only, isTimed, isEstimated) => {
    const made = cuesOf([only], 30, isTimed);
    expect(made.isEstimated).toBe(isEstimated);
  });

  it('share the audio by characters when the words have no times', () => {
    const { cues } = cuesOf([{ text: LONG, start: 0, end: 30 }], 30, false);
    expect(cues[0]?.startMs).toBe(0);
    expect(cues.at(-1)?.endMs).toBe(30_000);
    for (const [index, { endMs }] of cues.entries()) expect(endMs).toBe(cues[index + 1]?.startMs ?? 30_000);
  });
});
