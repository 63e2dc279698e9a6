// What Google says in its calls, and what that must become. Durations are as a call has them.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { audio, closed, FINALIZE, FINISH, KEEP_ALIVE } from '../../suites/provider/story.ts';

const at = (seconds: number) => ({ seconds: Math.floor(seconds), nanos: Math.round((seconds % 1) * 1e9) });
const word = (text: string, start: number, end: number) => ({ word: text, startOffset: at(start), endOffset: at(end) });

/** Unsettled text, in one part or more. */
const interim = (end: number, ...parts: string[]) => ({
  results: parts.map((transcript, index) => ({
    ...{ alternatives: [{ transcript }], stability: index === 0 ? 0.9 : 0.01 },
    ...{ resultEndOffset: at(end), languageCode: 'en-us' },
  })),
});
const final = (transcript: string, end: number, words: object[] = []) => ({
  results: [{ alternatives: [{ transcript, confidence: 0.94, words }], isFinal: true, resultEndOffset: at(end) }],
});
const silence = (pieces: number) => Array.from({ length: pieces }, () => 'send 4000 bytes');

export const stories: readonly StoryGroup[] = [
  {
    of: 'turns',
    stories: {
      'a turn with the times of its words, and one without': [
        [{ speechEventType: 'SPEECH_ACTIVITY_BEGIN', speechEventOffset: at(0.3) }, 'speech 0.3'],
        [interim(1, 'two teas'), 'partial 0 "two teas" 0-1'],
        [interim(1.4, 'two teas', ' please'), 'partial 0 "two teas please" 0-1.4'],
        [
          final(' Two teas please.', 2, [word('Two', 0.4, 0.8), word('teas', 0.8, 1.2), word('please.', 1.2, 1.6)]),
          'piece 0 "Two teas please." 0.4-2',
          'ended 0',
        ],
        [{ speechEventType: 'SPEECH_ACTIVITY_END', speechEventOffset: at(2) }],
        [interim(3, 'and'), 'partial 1 "and" 2-3'],
        [final(' And milk.', 3.5), 'piece 1 "And milk." 2-3.5', 'ended 1'],
        [FINISH, 'send "half-close"'],
        [closed(1000), 'finished'],
      ],
      'a final is said once, and so is an empty one': [
        [final('Yes.', 1), 'piece 0 "Yes." 0-1', 'ended 0'],
        [final('Yes.', 1)],
        [final('', 4), 'ended 1 "" 1-4'],
        [final('Yes.', 5), 'piece 2 "Yes." 4-5', 'ended 2'],
      ],
      'a final and what follows it come in one message': [
        [
          { results: [...final('Yes.', 1).results, ...interim(2, 'no').results] },
          'piece 0 "Yes." 0-1',
          'ended 0',
          'partial 1 "no" 1-2',
        ],
      ],
      'times begin again: the text is kept': [
        [final('Yes.', 4), 'piece 0 "Yes." 0-4', 'ended 0'],
        [final('No.', 1), 'warned place_estimated', 'piece 1 "No." 4-4', 'ended 1'],
      ],
      'times beyond the audio, and none': [
        [final('Yes.', 400), 'piece 0 "Yes." 0-10', 'ended 0'],
        [
          { results: [{ alternatives: [{ transcript: 'No.' }], isFinal: true }] },
          'warned place_estimated',
          'piece 1 "No." 10-10',
          'ended 1',
        ],
      ],
      'a word without a beginning begins the call': [
        [final('Go.', 1, [{ word: 'Go.', endOffset: at(0.5) }]), 'piece 0 "Go." 0-1', 'ended 0'],
      ],
      'the end of a turn is silence, of which the leg knows nothing': [
        [FINALIZE, ...silence(16)],
        [final('Yes.', 12), 'piece 0 "Yes." 0-10', 'ended 0'],
        [audio(1)],
        [final('No.', 13), 'piece 1 "No." 10-11', 'ended 1'],
        [KEEP_ALIVE, 'send 4000 bytes'],
        [FINISH, 'send "half-close"'],
        [KEEP_ALIVE],
      ],
      'words that were not settled are missed at the end': [
        [interim(1, 'two teas'), 'partial 0 "two teas" 0-1'],
        [FINISH, 'send "half-close"'],
        [closed(1000), 'failed retry final_missing'],
      ],
    },
  },
];
