// Items of OpenAI's Realtime transcription, and what a leg makes of them: which audio each final covers, in which order they
// come, and how a leg ends.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { audio, FINALIZE, FINISH } from '../../suites/provider/story.ts';
import {
  appended,
  commit,
  committed,
  completed,
  delta,
  empty,
  error,
  LAST_TURN,
  SERVER_TURNS,
  started,
  stopped,
  timeout,
  UPDATED,
} from './sessions.ts';

/** The gateway ends the turns. */
const OWN_TURNS: StoryGroup['stories'] = {
  'a commit covers what was sent since the one before': [
    [audio(1), delta('a', 'Book '), delta('a', 'a'), 'partial a "Book" 0-1', 'partial a "Book a" 0-1'],
    [audio(0.5), FINALIZE, committed('a'), delta('a', ' table'), commit(1), 'partial a "Book a table" 0-1.5'],
    [completed('a', 'Book a table.'), 'ended a "Book a table." 0-1.5'],
    [audio(0.25), FINALIZE, committed('b', 'a'), completed('b', ' Now. '), commit(2), 'ended b "Now." 1.5-1.75'],
  ],
  'the item is named before its commit, and its first piece begins with the space before a word': [
    [audio(1), delta('a', ' Book'), delta('a', ' a table'), 'partial a "Book" 0-1', 'partial a "Book a table" 0-1'],
    [FINALIZE, committed('a'), completed('a', 'Book a table.'), commit(1), 'ended a "Book a table." 0-1'],
  ],
  'silence that was committed is a turn without words, billed in whole seconds': [
    [audio(1.2), FINALIZE, committed('a'), commit(1)],
    [completed('a', '', { usage: { type: 'duration', seconds: 2 } }), 'ended a "" 0-1.2'],
  ],
  'commits in progress keep their own positions': [
    [audio(1), FINALIZE, audio(1), FINALIZE, audio(1), commit(1), commit(2)],
    [committed('a'), committed('b', 'a'), completed('a', 'one'), 'ended a "one" 0-1'],
    [completed('b', 'two'), 'ended b "two" 1-2'],
  ],
  'less than 100 ms is not committed, and stays for the next': [
    [audio(0.099), FINALIZE],
    [audio(0.001), FINALIZE, commit(1)],
    [committed('a'), completed('a', 'x'), 'ended a "x" 0-0.1'],
  ],
  'finals come in the order of the commits, and interims of one turn at a time': [
    [
      audio(1),
      FINALIZE,
      committed('a'),
      audio(1),
      delta('b', 'two'),
      FINALIZE,
      committed('b', 'a'),
      commit(1),
      commit(2),
    ],
    [completed('b', 'Two.'), audio(1), delta('c', 'thr')],
    [completed('a', ''), 'ended a "" 0-1', 'ended b "Two." 1-2', 'partial c "thr" 2-3'],
    [delta('c', 'ee'), 'partial c "three" 2-3'],
  ],
  'an item said twice is one turn': [
    [audio(1), FINALIZE, committed('a'), committed('a'), completed('a', 'x'), commit(1), 'ended a "x" 0-1'],
    [completed('a', 'y'), delta('a', 'z'), committed('a')],
    [started('a', 5), 'speech 0.005'],
  ],
  'a final without its commit takes the position of the oldest': [
    [audio(1), FINALIZE, completed('a', 'x'), committed('a'), commit(1), 'ended a "x" 0-1'],
    [completed('b', 'y'), 'ended b "y" 1-1'],
  ],
  'the end commits what is left, and waits for every final': [
    [audio(1), FINALIZE, audio(1), FINISH, commit(1), commit(2)],
    [committed('a'), committed('b', 'a'), completed('b', '2')],
    [completed('a', '1'), 'ended a "1" 0-1', 'ended b "2" 1-2', 'finished'],
  ],
  'the end fills up what is too short for a commit, and does not count the silence': [
    [audio(0.04), FINISH, appended(1_440), commit(1)],
    [committed('a'), completed('a', 'x'), 'ended a "x" 0-0.04', 'finished'],
  ],
  'with everything committed the end only waits': [
    [audio(1), FINALIZE, FINISH, commit(1)],
    [committed('a'), completed('a', 'x'), 'ended a "x" 0-1', 'finished'],
    [UPDATED],
  ],
  'shows interim words up to a length': [[delta('a', 'x'.repeat(100_000)), `partial a "${'x'.repeat(65_536)}" 0-0`]],
};

const NINE = [
  ...Array.from({ length: 9 }, (_, at) => started(`i${at}`, at * 1_000)),
  ...Array.from({ length: 9 }, (_, at) => `speech ${at}`),
];

/** The server ends them. */
const SERVERS: StoryGroup['stories'] = {
  'a turn that the server ended lies where it said': [
    [audio(3), started('a', 500), 'speech 0.5'],
    [stopped('a', 2_100), committed('a'), delta('a', 'Yes'), 'partial a "Yes" 0.5-2.1'],
    [completed('a', 'Yes.', { languages: [{ code: 'en' }, { code: 'de' }] }), 'ended a "Yes." 0.5-2.1 en'],
  ],
  'a commit within a turn of the server ends it where the commit was': [
    [audio(2), started('a', 250), FINALIZE, audio(1), 'speech 0.25', commit(1)],
    [committed('a'), completed('a', 'x'), 'ended a "x" 0.25-2'],
  ],
  'a turn that the server ended first does not take the position of a commit': [
    [audio(2), started('a', 0), FINALIZE, 'speech 0', commit(1)],
    [stopped('a', 1_500), committed('a'), committed('b', 'a'), completed('a', 'x'), 'ended a "x" 0-1.5'],
    [completed('b', ''), 'ended b "" 1.5-2'],
  ],
  'a refused commit leaves its audio to the next': [
    [audio(1), FINALIZE, audio(1), FINALIZE, empty(), commit(1), commit(2)],
    [committed('a'), completed('a', 'x'), 'ended a "x" 0-2'],
  ],
  'a position never lies beyond the audio that was sent, nor before what is covered': [
    [audio(1), stopped('a', 9_000), committed('a'), completed('a', 'x'), 'ended a "x" 0-1'],
    [stopped('b', 10), committed('b', 'a'), completed('b', 'y'), 'ended b "y" 1-1'],
  ],
  'a refusal that comes late, and after the answer of the next commit, gives that its own place': [
    [audio(1), FINALIZE, audio(1), FINALIZE, commit(1), commit(2)],
    [committed('a'), empty('commit-1'), completed('a', 'x'), 'ended a "x" 0-2'],
  ],
  'and so do the answers of all that came behind': [
    [audio(1), FINALIZE, audio(1), FINALIZE, audio(1), FINALIZE, commit(1), commit(2), commit(3)],
    [committed('a'), committed('b', 'a'), empty('commit-1'), audio(1), FINALIZE, commit(4)],
    [completed('a', 'x'), completed('b', 'y'), 'ended a "x" 0-2', 'ended b "y" 2-3'],
    [committed('c', 'b'), completed('c', 'z'), 'ended c "z" 3-4'],
  ],
  'also where that was given in the meantime: the end does not wait for it': [
    [audio(1), FINALIZE, audio(1), FINALIZE, commit(1), commit(2)],
    [committed('a'), completed('a', 'x'), 'ended a "x" 0-1'],
    [FINISH, empty('commit-1'), 'finished'],
  ],
  'a refusal of one commit leaves those before it as they are': [
    [audio(1), FINALIZE, audio(1), FINALIZE, empty('commit-2'), commit(1), commit(2)],
    [committed('a'), completed('a', 'x'), 'ended a "x" 0-1'],
  ],
  'a refusal of nothing that was sent is ignored': [
    [audio(1), FINALIZE, empty('commit-9'), commit(1), committed('a'), completed('a', 'x'), 'ended a "x" 0-1'],
  ],
  'silence that the server timed out is a turn without words': [
    [audio(9), timeout('a', 1_000, 8_000), committed('a'), completed('a', ''), 'ended a "" 1-8'],
  ],
  'what began and was never committed is forgotten': [
    [audio(2), started('a', 100), started('b', 900), 'speech 0.1', 'speech 0.9'],
    [stopped('b', 1_500), committed('b'), delta('b', 'x'), 'partial b "x" 0.9-1.5'],
    [completed('b', 'x'), 'ended b "x" 0.9-1.5'],
  ],
  'of nine items that have begun the oldest is forgotten': [
    NINE,
    [audio(30), stopped('i0', 9_500), committed('i0'), completed('i0', 'x'), 'ended i0 "x" 0-9.5'],
  ],
  'and the newest is not': [
    NINE,
    [audio(30), stopped('i8', 9_500), committed('i8'), completed('i8', 'x'), 'ended i8 "x" 8-9.5'],
  ],
  'the end stops turn detection before it commits': [
    [audio(1), started('a', 0), FINISH, 'speech 0', LAST_TURN, commit(1)],
    [UPDATED, committed('a'), delta('a', 'x'), 'partial a "x" 0-1'],
    [completed('a', 'x'), 'ended a "x" 0-1', 'finished'],
  ],
  'the end is there when the server had committed everything itself': [
    [audio(1), started('a', 0), FINISH, 'speech 0', LAST_TURN, commit(1)],
    [stopped('a', 1_000), committed('a'), empty()],
    [completed('a', 'x'), 'ended a "x" 0-1', 'finished'],
  ],
  'the end does not mind a refusal of the change of turn detection': [
    [audio(1), FINISH, LAST_TURN, commit(1)],
    [error('invalid_request_error', 'invalid_value', { event_id: 'end-turn-detection' })],
    [committed('a'), completed('a', 'x'), 'ended a "x" 0-1', 'finished'],
  ],
  // The last commit is refused where the server ended a turn of its own while the commit was on its way.
  'what that turn left too short is committed with silence behind it, which has no position': [
    [audio(1), FINISH, LAST_TURN, commit(1)],
    [stopped('a', 950), committed('a'), completed('a', 'x'), 'ended a "x" 0-0.95'],
    [empty(), appended(2_400), commit(2)],
    [committed('b', 'a'), completed('b', 'y'), 'ended b "y" 0.95-1', 'finished'],
  ],
  'a commit that is refused again is not made a third time': [
    [audio(1), FINISH, LAST_TURN, commit(1)],
    [empty(), appended(2_400), commit(2)],
    [empty(), 'finished'],
  ],
};

export const itemStories: readonly StoryGroup[] = [
  { of: 'an item', seconds: 0, stories: OWN_TURNS },
  { of: 'an item of a model with turns', request: SERVER_TURNS, seconds: 0, stories: SERVERS },
];
