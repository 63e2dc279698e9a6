// What xAI says on a connection, and what a leg makes of it: the orders of messages that its clients have recorded, and those that
// its documents allow.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { audio, closed, FINALIZE, FINISH, KEEP_ALIVE, LEAVE, WAKE } from '../../suites/provider/story.ts';

type Times = readonly (readonly [word: string, start: number, end: number])[];
const words = (...times: Times) => ({ words: times.map(([text, start, end]) => ({ text, start, end })) });
const said = (text: string, start: number, end: number, more: object = {}) => ({
  ...{ type: 'transcript.partial', text, is_final: false, speech_final: false, start, duration: end - start },
  ...more,
});
const locked = (text: string, start: number, end: number, more: object = {}) =>
  said(text, start, end, { is_final: true, ...more });
const end = (text: string, start: number, until: number, more: object = {}) =>
  locked(text, start, until, { speech_final: true, ...more });
const done = (text = '', more: object = {}) => ({ type: 'transcript.done', text, words: [], duration: 10, ...more });
const error = (message: string) => ({ type: 'error', message });
const ASK = 'send finalize';
const DONE = 'send audio.done';

const TURNS: StoryGroup['stories'] = {
  'takes the end for the final, which says its chunks again with other punctuation': [
    [{ type: 'transcript.created', id: 'x' }, 'ready'],
    [said('please', 0, 1), 'partial 0 "please" 0-1'],
    [locked('please book', 0, 1.5), 'partial 0 "please book" 0-1.5'],
    [said('a table', 1.5, 2), 'partial 0 "please book a table" 0-2'],
    [locked(', a table at eight', 1.5, 3), 'partial 0 "please book , a table at eight" 0-3'],
    [end('Please book a table at 8.', 0, 3.5), 'ended 0 "Please book a table at 8." 0-3.5'],
    [end('Please book a table at 8.', 0, 3.5)],
    [said('Yes', 4, 5), 'partial 1 "Yes" 4-5'],
    [end('Yes.', 4, 5), 'ended 1 "Yes." 4-5'],
    // Said again, and not heard again.
    [end('Yes.', 5.5, 6), 'ended 2 "Yes." 5.5-6'],
  ],
  'keeps chunks in front of an end that does not say them again': [
    [locked('One two', 0, 3), 'partial 0 "One two" 0-3'],
    [locked('three', 3, 4), 'partial 0 "One two three" 0-4'],
    [end('four.', 4, 5), 'ended 0 "One two three four." 0-5'],
    [locked('One', 5, 6), 'partial 1 "One" 5-6'],
    [end('', 5, 6.5), 'ended 1 "One" 5-6'],
  ],
  'takes an end with the place of its last chunk for what it says': [
    [locked('One two', 0, 3), 'partial 0 "One two" 0-3'],
    [locked('three', 3, 4), 'partial 0 "One two three" 0-4'],
    [end('One, two, three.', 3, 4), 'ended 0 "One, two, three." 0-4'],
    [locked('Five', 5, 6), 'partial 1 "Five" 5-6'],
    [locked('six', 6, 7), 'partial 1 "Five six" 5-7'],
    [end('six seven.', 6, 8), 'ended 1 "Five six seven." 5-8'],
  ],
  'has words with their times, speakers and confidence': [
    [
      end('Hi there.', 1, 2, {
        words: [
          { text: 'Hi', start: 1.2, end: 1.4, confidence: 0.8, speaker: 3 },
          { text: 'there.', start: 1.4, end: 2, confidence: 0.6, speaker: 3 },
        ],
        end_of_turn_confidence: 0.98,
      }),
      'ended 0 "Hi there." 1-2 speaker 0 @0.7 (Hi 1.2-1.4 @0.8, there. 1.4-2 @0.6)',
    ],
    [end('Own.', 3, 4, words(['Own.', 0.2, 0.8])), 'ended 1 "Own." 3-4 (Own. 3.2-3.8)'],
  ],
  'reports locked silence as a separate turn, and no other': [
    [said('', 0, 2)],
    [locked('', 0, 3), 'ended 0 "" 0-3'],
    [end('', 3, 4), 'ended 1 "" 3-4'],
    [end('', 3, 4)],
  ],
  'gives the late end of an earlier turn as a separate turn': [
    [said('One', 0, 2), 'partial 0 "One" 0-2'],
    [said('two', 2, 4), 'partial 0 "two" 2-4'],
    [end('Two.', 2, 4), 'ended 0 "Two." 2-4'],
    [end('One.', 0, 2), 'ended 1 "One." 0-2'],
  ],
  'makes nothing of what it cannot read, and no word reach beyond the audio': [
    [{ type: 'transcript.partial' }, { type: 'transcript.partial', text: 7, speech_final: true }],
    [end('far', 9, 1e9), 'ended 0 "far" 9-10'],
  ],
};

const ASKED: StoryGroup['stories'] = {
  'ends a turn where it is asked to': [
    [said('One', 0, 2), 'partial 0 "One" 0-2'],
    [FINALIZE, ASK, 'wake 1000'],
    [end('One.', 0, 3), 'ended 0 "One." 0-3'],
    [WAKE],
  ],
  'ends it with what was locked, where its end does not come, and does not say that again': [
    [FINALIZE, ASK, 'wake 1000'],
    [locked('One two', 0, 3, words(['One', 0, 1], ['two', 1, 2])), 'partial 0 "One two" 0-3'],
    [WAKE, 'ended 0 "One two" 0-3'],
    [said('three', 3, 5), 'partial 1 "three" 3-5'],
    [
      end('One, two, three.', 0, 5, words(['One,', 0, 1], ['two,', 1, 2], ['three.', 3.5, 5])),
      'ended 1 "three." 3.5-5',
    ],
    [end('One, two, three.', 0, 5)],
  ],
  'fails where new words cannot be separated from old ones': [
    [FINALIZE, ASK, 'wake 1000'],
    [locked('One two', 0, 3), 'partial 0 "One two" 0-3'],
    [WAKE, 'ended 0 "One two" 0-3'],
    [end('One, two, three.', 0, 5), 'failed retry final_missing'],
  ],
};

const ENDS: StoryGroup['stories'] = {
  'finishes with an end, and a last message that says nothing': [
    [said('Bye', 0, 2), 'partial 0 "Bye" 0-2'],
    [FINISH, ASK, DONE],
    [KEEP_ALIVE, LEAVE],
    [end('Bye.', 0, 2), 'ended 0 "Bye." 0-2'],
    [done(), 'finished'],
    [closed(1000), 'finished'],
  ],
  'finishes with the rest in the last message': [
    [locked('One', 0, 2), 'partial 0 "One" 0-2'],
    [FINISH, ASK, DONE],
    [done('two.', words(['two.', 2, 3])), 'ended 0 "One two." 0-3', 'finished'],
  ],
  'finishes with what was locked, where the last message has nothing more': [
    [locked('One', 0, 2), 'partial 0 "One" 0-2'],
    [FINISH, ASK, DONE],
    [done(), 'ended 0 "One" 0-2', 'finished'],
  ],
  'says nothing again of a last message with everything': [
    [end('One.', 0, 2), 'ended 0 "One." 0-2'],
    [end('Two.', 2, 4), 'ended 1 "Two." 2-4'],
    [FINISH, ASK, DONE],
    [done('One. Two. Bye.', words(['One.', 0, 1], ['Two.', 3, 4], ['Bye.', 5, 6])), 'ended 2 "Bye." 5-6', 'finished'],
  ],
  'finds a word of some milliseconds in a last message with everything': [
    [end('Yes.', 0, 2), 'ended 0 "Yes." 0-2'],
    [FINISH, ASK, DONE],
    [done('Yes. Yes.', words(['Yes.', 0, 2], ['Yes.', 2, 2.01])), 'ended 1 "Yes." 2-2.01', 'finished'],
  ],
  'knows the same in a last message without words': [
    [end('One.', 0, 2), 'ended 0 "One." 0-2'],
    [end('Two.', 2, 4), 'ended 1 "Two." 2-4'],
    [FINISH, ASK, DONE],
    [done('One, two.'), 'finished'],
  ],
  'takes a last message alone for the whole of a short session': [
    [FINISH, ASK, DONE],
    [done('Yes.'), 'ended 0 "Yes." 0-10', 'finished'],
  ],
  'fails when it ends with words that have no final': [
    [said('Bye', 0, 2), 'partial 0 "Bye" 0-2'],
    [FINISH, ASK, DONE],
    [done(), 'failed retry final_missing'],
  ],
  'fails when the connection closes before its end': [
    [locked('Bye', 0, 2), 'partial 0 "Bye" 0-2'],
    [FINISH, ASK, DONE],
    [closed(1000), 'failed retry final_missing'],
  ],
  'fails when it ends before it was asked to': [[done(), 'failed retry closed']],
  'is kept open by a little silence, and ended on release': [
    [KEEP_ALIVE, 'send 3200 bytes'],
    [audio(1), LEAVE, DONE],
  ],
};

const ERRORS: StoryGroup['stories'] = {
  'survives one about a message': [[error('Invalid message: expected {"type": "audio.done"}')]],
  'fails with any other': [
    [error('Stream timed out.'), 'failed retry error'],
    [error('their words'), 'failed retry error'],
  ],
};

export const stories: readonly StoryGroup[] = [
  { of: 'Grok', stories: TURNS },
  { of: 'An end that is asked for', stories: { ...ASKED, ...ENDS } },
  { of: 'An error', stories: ERRORS },
];
