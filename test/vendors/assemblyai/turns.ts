// `Turn` messages of AssemblyAI, and what a leg makes of them: whatever the model and the regime, each turn ends once, with the
// words and the position it ended with.
import { expect } from 'vitest';
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { like } from '../../suites/provider/story.ts';

/** [text, start ms, end ms], and whether the word is settled (so it is, where nothing is said). */
type WordRow = readonly [text: string, start: number, end: number, settled?: boolean];

export const words = (...rows: readonly WordRow[]) =>
  rows.map(([text, start, end, settled = true]) => ({ text, start, end, confidence: 0.5, word_is_final: settled }));

/** A `Turn`; an interim of turn 0 without words unless told otherwise. */
export const turn = (changes: Record<string, unknown> = {}) => ({
  type: 'Turn',
  turn_order: 0,
  turn_is_formatted: false,
  end_of_turn: false,
  transcript: '',
  utterance: '',
  end_of_turn_confidence: 0.1,
  words: [],
  ...changes,
});

const ENGLISH = { model: 'universal-streaming-english' };
const U3 = { model: 'u3-rt-pro' };
const U35 = { model: 'universal-3-5-pro' };
const asked = (model: string) => ({ model, params: { format_turns: true } });

const BOOK = words(['book', 100, 300], ['it', 300, 400]);
const ended = (changes: object = {}) => turn({ end_of_turn: true, transcript: 'book it', words: BOOK, ...changes });
const formatted = (changes: object = {}) =>
  ended({
    ...{ turn_is_formatted: true, transcript: 'Book it.', words: words(['Book', 100, 300], ['it.', 300, 400]) },
    ...changes,
  });
const PLAIN = 'ended 0 "book it" 0.1-0.4';
const FORMATTED = 'ended 0 "Book it." 0.1-0.4';
const TWIN = ['ended+ 0 "book it" 0.1-0.4', 'formatted 0 "Book it." 0.1-0.4'];
/** The next turn, begun and ended. */
const begun = (order = 1) => turn({ turn_order: order, words: words(['now', 900 + order, 950, false]) });
const NEXT = formatted({ turn_order: 1, transcript: 'Now.', words: words(['Now.', 900, 950]) });
const HALF = [turn({ words: words(['book', 100, 300], ['it', 300, 400, false]) }), 'partial 0 "book it" 0.1-0.4'];

const silent = words(['[', 1_000, 1_500, false], ['Silence]', 1_500, 2_000, false]);
const revision = (turn_order: number) => ({
  type: 'SpeakerRevision',
  revisions: [{ turn_order, speaker_label: 'B', words: BOOK.map((word, at) => ({ ...word, speaker: 'AB'[at] })) }],
});

const FORMATTING: StoryGroup['stories'] = {
  'ends unformatted, and its formatted version follows (A)': [[ended(), formatted(), ...TWIN]],
  'ends once formatted, and no other version is waited for (B)': [[formatted(), FORMATTED]],
  'said twice unformatted ends once': [[ended(), ended(), formatted(), formatted(), ...TWIN]],
  'keeps its words when the formatted version has lost them': [
    [ended(), formatted({ transcript: '', words: [] }), TWIN[0]],
  ],
  'may get its formatted version while the next is in progress': [
    [ended(), begun(), formatted(), TWIN[0], 'partial 1 "now" 0.901-0.95', TWIN[1]],
  ],
  'without words ends empty at the last word, and has no formatted version': [
    [turn({ words: words(['hm', 100, 250, false]) }), 'partial 0 "hm" 0.1-0.25'],
    [turn({ end_of_turn: true }), 'ended 0 "" 0.25-0.25'],
  ],
  'that a later one has overtaken ends with its words where all were settled': [
    [turn({ words: BOOK }), 'partial 0 "book it" 0.1-0.4'],
    [NEXT, PLAIN, 'ended 1 "Now." 0.9-0.95'],
  ],
  'still ends when its end comes late, before the next one has ended': [
    HALF,
    [begun(), 'partial 1 "now" 0.901-0.95'],
    [formatted(), NEXT, FORMATTED, 'ended 1 "Now." 0.9-0.95'],
  ],
};

/** Words that were not settled when their turn was overtaken: all of it is heard again. */
const OVERTAKEN: StoryGroup['stories'] = {
  'fails its leg where the next one ends': [HALF, [NEXT, 'failed retry final_missing']],
  'fails its leg where two have begun since': [
    HALF,
    [begun(), begun(2), 'partial 1 "now" 0.901-0.95', 'failed retry final_missing'],
  ],
};

const UNFORMATTED: StoryGroup['stories'] = {
  'ends once, unformatted, and does not wait for a version that was not requested (C)': [[ended(), formatted(), PLAIN]],
  'without words and without a transcript ends with the words it has': [[ended({ transcript: '' }), PLAIN]],
  'with a transcript and no words ends at the last word': [
    [turn({ words: words(['book', 100, 300]) }), 'partial 0 "book" 0.1-0.3'],
    [ended({ words: [] }), 'ended 0 "book it" 0.3-0.3'],
  ],
  'ignores messages after its end': [
    [ended({ turn_order: 1 }), 'ended 1 "book it" 0.1-0.4'],
    [turn({ words: BOOK }), ended(), turn({ turn_order: 1, words: BOOK })],
  ],
  'shows every word of an interim, though `transcript` leaves the last ones out': [
    [
      turn({ transcript: 'book a', words: words(['book', 160, 320], ['a', 320, 400], ['tab', 400, 520, false]) }),
      'partial 0 "book a tab" 0.16-0.52',
    ],
    [turn({ turn_order: 1, transcript: 'book a' }), 'partial 1 "book a" 0.52-0.52'],
  ],
  'leaves nothing where nothing was recognised': [[turn(), NEXT, 'partial 0 "" 0-0', 'ended 1 "Now." 0.9-0.95']],
  'reports confidence, language and speakers, numbered as they first appear': [
    [
      ...['B', 'UNKNOWN', 'A', 'B'].map((label, order) =>
        ended({
          ...{ turn_order: order, speaker_label: label, language_code: 'en' },
          words: BOOK.map((word) => ({ ...word, speaker: label })),
        }),
      ),
      'ended 0 "book it" 0.1-0.4 speaker 0 en @0.5 (book 0.1-0.3 @0.5, it 0.3-0.4 @0.5)',
      'ended 1 "book it" 0.1-0.4 en',
      'ended 2 "book it" 0.1-0.4 speaker 1 en',
      'ended 3 "book it" 0.1-0.4 speaker 0 en',
    ],
  ],
};

/** As they were seen, and what is like them. */
const RECORDED: StoryGroup['stories'] = {
  'has words of speakers that are not separated yet: PENDING is not a speaker': [
    [
      ended({
        speaker_label: 'A',
        words: [...'AAAAA', ...Array(3).fill('PENDING')].map((speaker, at) => ({
          ...(words(['so', at * 100, at * 100 + 90])[0] as object),
          speaker,
        })),
      }),
      like({
        utterance: {
          speaker: 0,
          words: [...Array(5).fill({ speaker: 0 }), ...Array(3).fill(expect.not.objectContaining({ speaker: 0 }))],
        },
      }),
    ],
  ],
  'keeps the speakers of its final when they are settled later, and says so once': [
    [ended(), PLAIN],
    [revision(0), 'warned speakers_revised'],
    [revision(0)],
  ],
  'begins later than its interims did': [
    [turn({ words: words(['well', 4_480, 4_700, false]) }), 'partial 0 "well" 4.48-4.7'],
    [ended({ words: words(['well', 5_488, 5_700]), transcript: 'well' }), 'ended 0 "well" 5.488-5.7'],
  ],
  'keeps its text when its order has fallen, once': [
    [ended({ turn_order: 5 }), 'ended 5 "book it" 0.1-0.4'],
    ...[0, 1].map((at) => {
      const late = ended({ turn_order: 3, transcript: 'now', words: words(['now', 900, 950]) });
      return at === 0 ? [late, 'ended 3-1 "now" 0.9-0.95', 'warned place_estimated'] : [late];
    }),
    [ended({ turn_order: 5, transcript: 'then', words: words(['then', 990, 999]) }), 'ended 5-2 "then" 0.99-0.999'],
  ],
  'keeps its text when its order cannot be read': [
    [turn({ words: BOOK }), 'partial 0 "book it" 0.1-0.4'],
    [ended({ turn_order: Number.POSITIVE_INFINITY }), PLAIN, 'warned place_estimated'],
    [ended({ turn_order: undefined, transcript: 'now', words: words(['now', 900, 950]) }), 'ended 1 "now" 0.9-0.95'],
    [turn({ turn_order: undefined, end_of_turn: true })],
  ],
};

const FORMATTED_LATER: StoryGroup['stories'] = {
  'has the speakers that were settled before its formatted version': [
    [ended(), TWIN[0]],
    [revision(0)],
    [formatted(), 'formatted 0 "Book it." 0.1-0.4 speaker 1 @0.5 (Book 0.1-0.3 speaker 0 @0.5, it. 0.3-0.4 @0.5)'],
  ],
};

const WHISPER: StoryGroup['stories'] = {
  'reports silence as silence, without text': [
    [turn({ words: silent }), 'partial 0 "" 2-2'],
    [ended({ transcript: '[ Silence]', words: silent }), 'ended 0 "" 2-2'],
  ],
  'knows no confidence where it says zero': [
    [
      ended({ words: BOOK.map((word) => ({ ...word, confidence: 0 })) }),
      like({ utterance: expect.not.objectContaining({ confidence: 0 }) }),
    ],
  ],
};

const DASHED: StoryGroup['stories'] = {
  'shows its transcript without the dash that means more follows': [
    [
      turn({
        transcript: 'My name is—',
        words: words(['My', 0, 100, false], ['name', 100, 200, false], ['is—', 200, 300, false]),
      }),
      'partial 0 "My name is" 0-0.3 @0.5 (My 0-0.1 @0.5, name 0.1-0.2 @0.5, is 0.2-0.3 @0.5)',
    ],
  ],
  'is never a dash alone': [
    [turn({ transcript: 'wait —', words: words(['wait', 0, 100], ['—', 100, 110]) }), 'partial 0 "wait" 0-0.1'],
  ],
  'keeps a dash in its final, which is the speaker’s': [
    [formatted({ transcript: 'So—', words: words(['So—', 0, 100]) }), 'ended 0 "So—" 0-0.1'],
  ],
  'ends once, formatted (D)': [[formatted(), formatted(), FORMATTED]],
};

export const turnStories: readonly StoryGroup[] = [
  { of: 'a turn', request: asked(ENGLISH.model), stories: { ...FORMATTING, ...OVERTAKEN } },
  { of: 'a turn of Whisper', request: asked('whisper-rt'), stories: FORMATTING },
  { of: 'a turn whose speakers are settled', request: asked(ENGLISH.model), stories: FORMATTED_LATER },
  { of: 'a recorded turn', request: ENGLISH, stories: RECORDED },
  { of: 'a turn of Whisper in silence', request: { model: 'whisper-rt' }, stories: WHISPER },
  { of: 'a turn of which no format was asked', request: ENGLISH, stories: UNFORMATTED },
  {
    of: 'a turn of the multilingual model',
    request: { model: 'universal-streaming-multilingual' },
    stories: { 'ends once, whether or not it is formatted (D)': [[ended(), formatted(), PLAIN]] },
  },
  { of: 'a turn of Universal-3', request: U3, stories: { ...DASHED, ...OVERTAKEN } },
  { of: 'a turn of Universal-3.5', request: U35, stories: DASHED },
  {
    of: 'a turn with little audio',
    seconds: 0.35,
    stories: {
      'never reaches beyond the audio that was sent': [
        [ended(), 'ended 0 "book it" 0.1-0.35 @0.5 (book 0.1-0.3 @0.5, it 0.3-0.35 @0.5)'],
      ],
    },
  },
];
