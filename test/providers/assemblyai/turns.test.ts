// Turns of AssemblyAI: whatever the model and the regime, each ends once, with the words and the position it ended with.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Heard } from '../../../machines/events.ts';
import { Codec, turn, words } from './support.ts';

const ENGLISH = { model: 'universal-streaming-english' };
const FORMATTING = { ...ENGLISH, params: { format_turns: true } };
const WHISPER = { model: 'whisper-rt', params: { format_turns: true } };
const MULTILINGUAL = { model: 'universal-streaming-multilingual' };
const U3 = { model: 'u3-rt-pro' };
const U35 = { model: 'universal-3-5-pro' };

/** What was heard, in short: "partial 0 book a", "ended 0 book a 0.1-0.4", with "+" where a formatted final is to follow. */
function story(steps: readonly { type: string }[]): string[] {
  return (steps as Heard[]).map((step) => {
    if (!('turnId' in step)) return step.type;
    const { utterance } = step;
    const span = `${utterance?.text} ${utterance?.start}-${utterance?.end}`;
    const type =
      step.type === 'turn.ended' ? `ended${step.formattedFollows ? '+' : ''}` : step.type.replace('turn.', '');
    return step.type === 'partial' ? `partial ${step.turnId} ${utterance?.text}` : `${type} ${step.turnId} ${span}`;
  });
}

const BOOK = words(['book', 100, 300], ['it', 300, 400]);
const END = { end_of_turn: true, transcript: 'book it', words: BOOK };
const FORMATTED = {
  end_of_turn: true,
  turn_is_formatted: true,
  transcript: 'Book it.',
  words: words(['Book', 100, 300], ['it.', 300, 400]),
};

describe('a turn', () => {
  it.each<[string, object, object[], string[]]>([
    [
      'of regime A ends unformatted, and its formatted version follows',
      FORMATTING,
      [END, FORMATTED],
      ['ended+ 0 book it 0.1-0.4', 'formatted 0 Book it. 0.1-0.4'],
    ],
    [
      'of regime A and Whisper does as well',
      WHISPER,
      [END, FORMATTED],
      ['ended+ 0 book it 0.1-0.4', 'formatted 0 Book it. 0.1-0.4'],
    ],
    [
      'of regime B ends once, and no formatted version is waited for',
      FORMATTING,
      [FORMATTED],
      ['ended 0 Book it. 0.1-0.4'],
    ],
    ['of regime C ends once, unformatted', ENGLISH, [END], ['ended 0 book it 0.1-0.4']],
    [
      'of regime D ends once, whatever it says of its format',
      MULTILINGUAL,
      [END, FORMATTED],
      ['ended 0 book it 0.1-0.4'],
    ],
    ['of regime D and Universal-3 ends once, formatted', U3, [FORMATTED, FORMATTED], ['ended 0 Book it. 0.1-0.4']],
    [
      'never waits for a formatted version that was not asked for',
      ENGLISH,
      [END, FORMATTED],
      ['ended 0 book it 0.1-0.4'],
    ],
    [
      'said twice unformatted ends once',
      FORMATTING,
      [END, END, FORMATTED, FORMATTED],
      ['ended+ 0 book it 0.1-0.4', 'formatted 0 Book it. 0.1-0.4'],
    ],
    [
      'keeps its words when the formatted version has lost them',
      FORMATTING,
      [END, { ...FORMATTED, transcript: '', words: [] }],
      ['ended+ 0 book it 0.1-0.4'],
    ],
    [
      'may get its formatted version while the next is under way',
      FORMATTING,
      [END, { turn_order: 1, words: words(['now', 900, 950, false]) }, FORMATTED],
      ['ended+ 0 book it 0.1-0.4', 'partial 1 now', 'formatted 0 Book it. 0.1-0.4'],
    ],
    [
      'without words ends empty where words were last heard, and has no formatted version',
      FORMATTING,
      [{ words: words(['hm', 100, 250, false]) }, { end_of_turn: true }],
      ['partial 0 hm', 'ended 0  0.25-0.25'],
    ],
    [
      'without words and without a transcript ends with the words it has',
      ENGLISH,
      [{ ...END, transcript: '' }],
      ['ended 0 book it 0.1-0.4'],
    ],
    [
      'with a transcript and no words ends where words were last heard',
      ENGLISH,
      [{ words: words(['book', 100, 300]) }, { end_of_turn: true, transcript: 'book it' }],
      ['partial 0 book', 'ended 0 book it 0.3-0.3'],
    ],
    [
      'that is over hears nothing more',
      ENGLISH,
      [
        { ...END, turn_order: 1 },
        { turn_order: 0, words: BOOK },
        { ...END, turn_order: 0 },
        { turn_order: 1, words: BOOK },
      ],
      ['ended 1 book it 0.1-0.4'],
    ],
  ])('%s', (_, request, messages, expected) => {
    const codec = new Codec(request);
    expect(story(codec.hear(...messages.map((each) => turn(each as Record<string, unknown>))))).toEqual(expected);
  });

  it('shows every word of an interim, though `transcript` leaves the last ones out', () => {
    const shown = turn({
      transcript: 'book a',
      words: words(['book', 160, 320], ['a', 320, 400], ['tab', 400, 520, false]),
    });
    expect(story(new Codec(ENGLISH).hear(shown))).toEqual(['partial 0 book a tab']);
    expect(story(new Codec(WHISPER).hear(shown))).toEqual(['partial 0 book a tab']);
    expect(story(new Codec(ENGLISH).hear(turn({ transcript: 'book a' })))).toEqual(['partial 0 book a']);
  });

  it('shows the transcript of Universal-3 without the dash of what goes on', () => {
    const shown = turn({
      transcript: 'My name is—',
      words: words(['My', 0, 100, false], ['name', 100, 200, false], ['is—', 200, 300, false]),
    });
    for (const request of [U3, U35]) {
      const [partial] = new Codec(request).hear(shown);
      expect(partial).toMatchObject({ type: 'partial', utterance: { text: 'My name is', end: 0.3 } });
      expect(partial).toMatchObject({ utterance: { words: [{ word: 'My' }, { word: 'name' }, { word: 'is' }] } });
    }
    expect(
      story(new Codec(U3).hear(turn({ transcript: 'wait —', words: words(['wait', 0, 100], ['—', 100, 110]) }))),
    ).toEqual(['partial 0 wait']);
    // In a final a dash is the speaker's.
    const final = turn({ ...FORMATTED, transcript: 'So—', words: words(['So—', 0, 100]) });
    expect(story(new Codec(U3).hear(final))).toEqual(['ended 0 So— 0-0.1']);
  });

  it('never reaches beyond the audio that was sent', () => {
    const codec = new Codec(ENGLISH, 0.35);
    const [ended] = codec.hear(turn(END));
    expect(ended).toMatchObject({
      utterance: { start: 0.1, end: 0.35, words: [{ end: 0.3 }, { start: 0.3, end: 0.35 }] },
    });
  });

  it('tells confidence, language and speakers, numbered as they first appear', () => {
    const spoken = (order: number, label: string) =>
      turn({
        ...END,
        turn_order: order,
        speaker_label: label,
        language_code: 'en',
        words: BOOK.map((word) => ({ ...word, speaker: label })),
      });
    const [first, unknown, second, again] = new Codec(ENGLISH).hear(
      spoken(0, 'B'),
      spoken(1, 'UNKNOWN'),
      spoken(2, 'A'),
      spoken(3, 'B'),
    );
    expect(first).toMatchObject({
      utterance: { speaker: 0, confidence: 0.5, language: 'en', words: [{ speaker: 0 }, {}] },
    });
    expect(unknown).not.toHaveProperty('utterance.speaker');
    expect(unknown).not.toHaveProperty('utterance.words.0.speaker');
    expect([second, again]).toMatchObject([{ utterance: { speaker: 1 } }, { utterance: { speaker: 0 } }]);
    expect(first).not.toHaveProperty('utterance.words.0.settled');
  });

  it('names no more speakers than there can be', () => {
    const codec = new Codec(ENGLISH);
    const labels = Array.from({ length: 70 }, (_, index) => `S${index}`);
    codec.hear(...labels.map((label, order) => turn({ ...END, turn_order: order, speaker_label: label })));
    const [known, beyond] = codec.hear(
      turn({ ...END, turn_order: 100, speaker_label: 'S63' }),
      turn({ ...END, turn_order: 101, speaker_label: 'S64' }),
    );
    expect(known).toMatchObject({ utterance: { speaker: 63 } });
    expect(beyond).not.toHaveProperty('utterance.speaker');
  });
});

describe('a turn that a later one has overtaken', () => {
  const next = turn({ ...FORMATTED, turn_order: 1, transcript: 'Now.', words: words(['Now.', 900, 950]) });

  it('ends with its words where all were settled', () => {
    const codec = new Codec(FORMATTING);
    expect(story(codec.hear(turn({ words: BOOK }), next))).toEqual([
      'partial 0 book it',
      'ended 0 book it 0.1-0.4',
      'ended 1 Now. 0.9-0.95',
    ]);
  });

  const half = turn({ words: words(['book', 100, 300], ['it', 300, 400, false]) });
  const begun = turn({ turn_order: 1, words: words(['now', 900, 950, false]) });

  it('still ends when its end comes late, before the next one has ended', () => {
    const ended = turn({ ...FORMATTED, words: words(['Book', 100, 300], ['it.', 300, 400]), transcript: 'Book it.' });
    expect(story(new Codec(FORMATTING).hear(half, begun, ended, next))).toEqual([
      'partial 0 book it',
      'partial 1 now',
      'ended 0 Book it. 0.1-0.4',
      'ended 1 Now. 0.9-0.95',
    ]);
  });

  it.each([
    ['the next one ends', [next]],
    ['two have begun since', [begun, turn({ turn_order: 2, words: words(['well', 990, 999, false]) })]],
  ])('fails its leg where unsettled words have no end when %s: all of it is heard again', (_, later) => {
    for (const request of [FORMATTING, U3]) {
      const steps = new Codec(request).hear(half, ...later);
      expect(steps.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'retry', code: 'final_missing' } });
      expect(story(steps).filter((line) => line.startsWith('ended'))).toEqual([]);
    }
  });

  it('leaves nothing where nothing was heard', () => {
    expect(story(new Codec(ENGLISH).hear(turn(), next))).toEqual(['partial 0 ', 'ended 1 Now. 0.9-0.95']);
  });
});

describe('in any order of well-formed messages', () => {
  const message = fc.record({
    turn_order: fc.integer({ min: 0, max: 6 }),
    end_of_turn: fc.boolean(),
    turn_is_formatted: fc.boolean(),
    transcript: fc.constantFrom('', 'book', 'Book it.'),
    words: fc.array(
      fc
        .tuple(
          fc.constantFrom('book', 'it', '—'),
          fc.integer({ min: 0, max: 90_000 }),
          fc.integer({ min: 0, max: 500 }),
          fc.boolean(),
        )
        .map(([text, start, length, settled]) => words([text, start, start + length, settled])[0]),
      { maxLength: 4 },
    ),
  });

  it('a turn ends at most once, in order, within the audio, and a formatted version follows its own end once', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(ENGLISH, FORMATTING, WHISPER, MULTILINGUAL, U3, U35),
        fc.array(message, { maxLength: 30 }),
        (request, messages) => {
          const ended: number[] = [];
          const awaited: string[] = [];
          for (const step of new Codec(request).hear(...messages.map(turn)) as Heard[]) {
            // The leg is over: nothing is heard of it any more.
            if (step.type === 'failed') break;
            if ('utterance' in step && step.utterance !== undefined) {
              expect(step.utterance.end).toBeGreaterThanOrEqual(step.utterance.start);
              expect(step.utterance.end).toBeLessThanOrEqual(60);
            }
            if (step.type === 'turn.ended') {
              ended.push(Number(step.turnId));
              if (step.formattedFollows) awaited.push(step.turnId);
            }
            if (step.type === 'turn.formatted')
              expect(awaited.splice(awaited.indexOf(step.turnId), 1)).toEqual([step.turnId]);
          }
          expect(ended).toEqual([...new Set(ended)].sort((a, b) => a - b));
        },
      ),
      { numRuns: 500 },
    );
  });
});
