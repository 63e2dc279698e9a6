// What a Vosk server says in a session, and what a leg makes of it.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { audio, closed, FINALIZE, FINISH, KEEP_ALIVE, LEAVE, WAKE } from '../../suites/provider/story.ts';

const word = (said: string, start: unknown, end: unknown, conf = 0.5) => ({ conf, end, start, word: said });
const TWO_TEAS = { result: [word('two', 1.14, 1.62, 0.75), word('teas', 1.62, 2.07, 0.25)], text: 'two teas' };

const EOF = 'send  {"eof":1}';

const TURNS: StoryGroup['stories'] = {
  'are sent so far, and whole at their end': [
    [audio(1), { partial: '' }, 'partial 0 "" 1-1'],
    [audio(1), { partial: 'two' }, 'partial 0 "two" 0-2'],
    [audio(0.5), TWO_TEAS, 'piece 0 "two teas" 1.14-2.07', 'ended 0'],
    [audio(0.5), { partial: 'yes' }, 'partial 1 "yes" 2.07-3'],
    [FINISH, EOF],
    [{ result: [word('yes', 2.5, 2.9)], text: 'yes' }, ...['piece 1 "yes" 2.5-2.9', 'ended 1', 'wake 300']],
    [closed(1000), 'finished'],
  ],
  'give a sign of life where nothing is new': [
    [audio(1), audio(1), { partial: 'two' }, { partial: 'two' }, 'partial 0 "two" 0-1', 'partial 0 "" 2-2'],
  ],
  'have words, and how sure each is': [
    [audio(3), TWO_TEAS, 'piece 0 "two teas" 1.14-2.07 @0.5 (two 1.14-1.62 @0.75, teas 1.62-2.07 @0.25)', 'ended 0'],
  ],
  'are the best of what may have been said, which has no confidence': [
    [
      audio(3),
      {
        alternatives: [
          { text: ' two teas', confidence: 207.1, result: [{ word: 'two', start: 1, end: 1.5 }] },
          { text: 'to tease', confidence: 205.3 },
        ],
      },
      ...['piece 0 "two teas" 1-1.5', 'ended 0'],
    ],
    [audio(1), { alternatives: [{ text: '', confidence: 1 }] }, 'ended 1 "" 1.5-3'],
  ],
  'are not said twice, and not beyond the audio': [
    [audio(3), TWO_TEAS, TWO_TEAS, 'piece 0 "two teas" 1.14-2.07', 'ended 0'],
    [{ result: [word('end', 9, 12)], text: 'end' }, 'piece 1 "end" 3-3', 'ended 1'],
  ],
  'lie between the last and the answer where words have no place': [
    [audio(1), audio(1), { text: 'one' }, 'piece 0 "one" 0-1', 'ended 0'],
    [{ result: [word('two', 'x', null)], text: 'two' }, 'piece 1 "two" 1-1', 'ended 1'],
  ],
  'are silence that is reported now and then, as far as it was surely processed': [
    [audio(0.5), { text: '' }, 'partial 0 "" 0.5-0.5'],
    [audio(5), { partial: '' }, 'partial 0 "" 5.5-5.5'],
    [audio(0.2), { text: '' }, 'ended 0 "" 0-5.5'],
    [audio(0.2), { text: '' }, 'partial 1 "" 5.9-5.9'],
  ],
  'come to nothing where their words were none': [
    [audio(1), { partial: 'the' }, 'partial 0 "the" 0-1'],
    [audio(1), { text: '' }, 'ended 0 "" 0-1'],
  ],
  'end where silence is sent, and lie on the leg’s clock behind it': [
    [audio(2.5), FINALIZE, 'send 80000 bytes'],
    [{ partial: 'two' }, 'partial 0 "two" 0-2.5'],
    [TWO_TEAS, 'piece 0 "two teas" 1.14-2.07', 'ended 0'],
    [audio(1), { result: [word('yes', 5.5, 6)], text: 'yes' }, 'piece 1 "yes" 3-3.5', 'ended 1'],
  ],
};

const SESSION: StoryGroup['stories'] = {
  'is over where all was answered, though the server does not close': [
    [audio(3), FINISH, EOF],
    [TWO_TEAS, 'piece 0 "two teas" 1.14-2.07', 'ended 0'],
    [{ text: '' }, 'partial 1 "" 3-3', 'wake 300'],
    [KEEP_ALIVE, LEAVE, WAKE, 'finished'],
  ],
  'is not over while an answer is missing': [[audio(3), FINISH, EOF], [WAKE]],
  'was not ended in order while an answer is missing': [
    [audio(3), FINISH, EOF],
    [closed(1000), 'failed retry final_missing'],
  ],
  'was not ended in order while words are open': [
    [audio(1), { partial: 'two' }, FINISH, 'partial 0 "two" 0-1', EOF],
    [closed(1000), 'failed retry final_missing'],
  ],
};

export const stories: readonly StoryGroup[] = [
  { of: 'turns', seconds: 0, stories: TURNS },
  { of: 'a session', seconds: 0, stories: SESSION },
];
