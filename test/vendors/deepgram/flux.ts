// What `/v2/listen` says, and what a leg of Flux makes of it: its turns, its silence, and the end of a stream that has no final
// of its own.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { audio, closed, FINALIZE, FINISH, KEEP_ALIVE, LEAVE, WAKE } from '../../suites/provider/story.ts';

const turn = (event: string, index: number, transcript: string, end: number, more: object = {}) => ({
  type: 'TurnInfo',
  event,
  turn_index: index,
  audio_window_start: 0,
  audio_window_end: end,
  transcript,
  words: [],
  ...more,
});
const word = (text: string, start: number, end: number, confidence = 1) => ({ word: text, confidence, start, end });

const FORCED = ['send ForceEndTurn', 'wake 1000'];
const CLOSE_STREAM = 'send CloseStream';
const FINISHED = [FINISH, 'send 16000 bytes', ...FORCED];
const BYE = [turn('StartOfTurn', 0, 'Bye', 9.5), 'speech 0', 'partial 0 "Bye" 0-9.5'];
const ONE = [turn('StartOfTurn', 0, 'One', 1), 'speech 0', 'partial 0 "One" 0-1'];
const TWO = [turn('StartOfTurn', 1, 'Two', 3), 'speech 0', 'partial 1 "Two" 0-3'];

const STORIES: StoryGroup['stories'] = {
  'is ready when the provider says so': [[{ type: 'Connected', request_id: 'x', sequence_id: 0 }, 'ready']],
  'takes the whole text each time, and EndOfTurn alone for a final': [
    [turn('StartOfTurn', 0, 'Book', 0.5), 'speech 0', 'partial 0 "Book" 0-0.5'],
    [turn('Update', 0, 'Book a', 0.75), 'partial 0 "Book a" 0-0.75'],
    [turn('EagerEndOfTurn', 0, 'Book a table', 1.5), 'partial 0 "Book a table" 0-1.5 eager_end'],
    [turn('TurnResumed', 0, 'Book a table', 1.75), 'partial 0 "Book a table" 0-1.75 resumed'],
    [turn('EndOfTurn', 0, 'Book a table for two', 2.5), 'ended 0 "Book a table for two" 0-2.5'],
    [turn('EndOfTurn', 0, 'Book a table for two', 2.5), turn('Update', 0, 'Book', 2.5)],
    [turn('StartOfTurn', 1, 'Yes', 3), 'speech 0', 'partial 1 "Yes" 0-3'],
  ],
  'reports silence about once a second, and only up to a second ago': [
    [turn('Update', 0, '', 0.5), 'partial silence-0 "" 0-0'],
    [turn('Update', 0, '', 1.75), 'partial silence-0 "" 0-0'],
    [turn('Update', 0, '', 2), 'ended silence-0 "" 0-1'],
    [turn('Update', 0, '', 2.25), 'partial silence-1 "" 1-1'],
    [turn('Update', 0, '', 3.5), 'ended silence-1 "" 1-2.5'],
    [turn('StartOfTurn', 0, 'Yes', 3.75), 'speech 0', 'partial 0 "Yes" 0-3.75'],
    [turn('Update', 0, '', 9), 'partial 0 "" 0-9'],
    [turn('EndOfTurn', 0, 'Yes', 9), 'ended 0 "Yes" 0-9'],
    [turn('Update', 1, '', 9.5), 'partial silence-2 "" 9-9'],
  ],
  'counts no silence as reported that was not sent': [
    [turn('Update', 0, '', 1e9), 'ended silence-0 "" 0-9'],
    [audio(2), turn('Update', 0, '', 12), 'ended silence-1 "" 9-11'],
  ],
  'ends a turn when it is asked to': [[FINALIZE, 'send ForceEndTurn']],
  'finishes with the end of the last turn': [
    BYE,
    FINISHED,
    [turn('EndOfTurn', 0, 'Bye', 10.25, { trigger: 'manual' }), 'ended 0 "Bye" 0-10', CLOSE_STREAM, 'finished'],
  ],
  'waits for what was still on its way when an earlier turn ends': [
    [turn('StartOfTurn', 0, 'Hello', 7), 'speech 0', 'partial 0 "Hello" 0-7'],
    FINISHED,
    [turn('EndOfTurn', 0, 'Hello', 8), 'ended 0 "Hello" 0-8'],
    [turn('StartOfTurn', 1, 'Bye', 10.5), 'speech 0', 'partial 1 "Bye" 0-10'],
    [WAKE, ...FORCED],
    [turn('EndOfTurn', 1, 'Bye', 10.5), 'ended 1 "Bye" 0-10', CLOSE_STREAM, 'finished'],
  ],
  'closes after a second in which no turn was open, and is finished when the provider closes without a code': [
    FINISHED,
    [turn('Update', 0, '', 10.5), 'ended silence-0 "" 0-9.5'],
    [WAKE, CLOSE_STREAM],
    [KEEP_ALIVE, LEAVE, WAKE],
    [closed(1005), 'finished'],
  ],
  'never makes a final of an update: words without their end are a failure': [
    BYE,
    FINISHED,
    [WAKE, ...FORCED],
    [WAKE, CLOSE_STREAM],
    [turn('Update', 0, 'Bye now', 10), 'partial 0 "Bye now" 0-10'],
    [closed(1005), 'failed retry final_missing'],
  ],
  'takes an end of turn after CloseStream as well': [
    FINISHED,
    [WAKE, CLOSE_STREAM],
    [turn('EndOfTurn', 0, 'Bye', 10), 'ended 0 "Bye" 0-10'],
    [closed(1000), 'finished'],
  ],
  'takes a close before CloseStream as a failure': [FINISHED, [closed(1005), 'failed retry close_1005']],
  'notifies the provider on release': [[LEAVE, CLOSE_STREAM]],
  'fails when a turn with words is passed over': [
    ONE,
    TWO,
    [turn('EndOfTurn', 1, 'Two', 4), 'failed retry final_missing'],
  ],
  'fails when a turn with words is passed over by the end of another': [
    ONE,
    [turn('EndOfTurn', 1, 'Two', 4), 'failed retry final_missing'],
  ],
  'takes an end of turn that comes after the beginning of the next': [
    ONE,
    TWO,
    [turn('EndOfTurn', 0, 'One', 2), 'ended 0 "One" 0-2'],
    [turn('EndOfTurn', 1, 'Two', 4), 'ended 1 "Two" 0-4'],
  ],
  'takes an error message as the end': [
    [{ type: 'Error', code: 'INTERNAL_SERVER_ERROR', description: 'x' }, 'failed retry INTERNAL_SERVER_ERROR'],
  ],
  'learns that a deployment has no ForceEndTurn': [
    [{ type: 'Error', code: 'UNPARSABLE_CLIENT_MESSAGE' }, 'failed next UNPARSABLE_CLIENT_MESSAGE'],
  ],
  'leaves an error of no known code to the next model, and calls one without a code "error"': [
    [{ type: 'Error', code: 'toString' }, { type: 'Error' }, 'failed next toString', 'failed next error'],
  ],
  'makes nothing of what it cannot read': [
    [{ type: 'ConfigureSuccess' }, turn('Novelty', 0, 'x', 1), turn('Update', 0.5, 'x', 1)],
    [turn('EndOfTurn', 0, '', Number.NaN), turn('Update', -1, 'x', 1)],
    [{ ...turn('EndOfTurn', 0, 'x', 1), transcript: 5 }],
  ],
  'keeps the text of a final with unreadable numbers for the open turn, as far as it was recognised': [
    ONE,
    [
      turn('EndOfTurn', Number.POSITIVE_INFINITY, 'One.', Number.POSITIVE_INFINITY),
      ...['ended 0 "One." 0-1', 'warned place_estimated'],
    ],
    [
      turn('EndOfTurn', 1, 'Two.', Number.POSITIVE_INFINITY, { words: [word('Two.', 1.5, 2)], audio_window_start: 1 }),
      'ended 1 "Two." 1.5-10',
    ],
  ],
  'keeps the text of a final whose number has fallen, once': [
    ...[1, 0].map((index) => {
      const said = turn('EndOfTurn', index, 'Yes.', 3 - index, {
        words: [word('Yes.', 2 - index, 3 - index)],
        audio_window_start: 2 - index,
      });
      const name = index === 1 ? '1' : '0-1';
      const warned = index === 1 ? [] : ['warned place_estimated'];
      return [said, said, `ended ${name} "Yes." ${2 - index}-${3 - index}`, ...warned];
    }),
  ],
  'passes on what it is warned of': [
    [{ type: 'Warning', code: 'SLOW', description: 'x' }, 'warned deepgram_SLOW'],
    [{ type: 'Warning', code: 'SLOW', description: 'x' }],
  ],
  'learns that no turn is open, and waits for nothing once all audio is processed': [
    [FINALIZE, 'send ForceEndTurn'],
    [{ type: 'Warning', code: 'FORCE_END_TURN_NO_ACTIVE_TURN', description: 'x' }],
    FINISHED,
    [{ type: 'Warning', code: 'FORCE_END_TURN_NO_ACTIVE_TURN', description: 'x' }],
    [turn('Update', 0, '', 10.5), 'ended silence-0 "" 0-9.5', CLOSE_STREAM],
    [WAKE],
    [closed(1005), 'finished'],
  ],
  'reads words with their times, their mean confidence and the first language; words without times are left out': [
    [
      turn('EndOfTurn', 0, 'Yes no', 2.5, {
        words: [word('Yes', 1, 1.5, 0.5), word('no', 1.5, 2)],
        ...{ languages: ['fr', 'en'], audio_window_start: 0.5 },
      }),
      'ended 0 "Yes no" 1-2.5 fr @0.75 (Yes 1-1.5 @0.5, no 1.5-2 @1)',
    ],
    [turn('EndOfTurn', 1, 'Yes', 3, { words: [{ word: 'Yes', confidence: 1 }] }), 'ended 1 "Yes" 0-3'],
  ],
};

/** As they were seen: words before the start of their turn, which overlap in time, and silence of the next turn behind its end. */
const RECORDED: StoryGroup['stories'] = {
  'words come before the start of their turn, and overlap': [
    [turn('Update', 0, 'Two', 0.96), 'partial 0 "Two" 0-0.96'],
    [turn('StartOfTurn', 0, 'Two', 1.04), 'speech 0', 'partial 0 "Two" 0-1.04'],
    [
      turn('Update', 0, 'Two of', 1.12),
      turn('Update', 0, 'Two of', 1.2),
      'partial 0 "Two of" 0-1.12',
      'partial 0 "Two of" 0-1.2',
    ],
    [
      turn('EndOfTurn', 0, 'Two of', 1.5, { words: [word('Two', 0.5, 1), word('of', 0.9, 1.2)] }),
      'ended 0 "Two of" 0.5-1.5 @1 (Two 0.5-1 @1, of 0.9-1.2 @1)',
    ],
    [
      turn('Update', 1, '', 1.75),
      turn('Update', 1, '', 2),
      'partial silence-0 "" 1.5-1.5',
      'partial silence-0 "" 1.5-1.5',
    ],
  ],
};

/** On the wire: 0-1 audio, 1-2 silence, 2-4 audio, 4-4.5 silence. */
const SILENCES: StoryGroup['stories'] = {
  'takes the silence it put in out of every time': [
    [KEEP_ALIVE],
    [{ type: 'Connected' }, 'ready'],
    [KEEP_ALIVE, audio(2), KEEP_ALIVE, 'send 32000 bytes', 'send 32000 bytes'],
    [
      turn('EndOfTurn', 0, 'a b', 4.5, { words: [word('a', 0.5, 1.25), word('b', 2.5, 4.25)] }),
      'ended 0 "a b" 0.5-3 @1 (a 0.5-1 @1, b 1.5-3 @1)',
    ],
  ],
};

export const fluxStories: readonly StoryGroup[] = [
  { of: 'Flux', request: { model: 'flux-general-multi' }, stories: STORIES },
  { of: 'Flux as recorded', request: { model: 'flux-general-en' }, stories: RECORDED },
  { of: 'Flux with pauses', request: { model: 'flux-general-en' }, seconds: 1, stories: SILENCES },
];
