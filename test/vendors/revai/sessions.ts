// What Rev AI says in a session, and what a leg makes of it.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { audio, closed, FINALIZE, FINISH, KEEP_ALIVE, LEAVE } from '../../suites/provider/story.ts';

const text = (value: string, ts?: unknown, end_ts?: unknown) => ({ type: 'text', value, ts, end_ts, confidence: 0.5 });
const mark = (value: string) => ({ type: 'punct', value });
const partial = (ts: unknown, end_ts: unknown, ...values: string[]) => ({
  ...{ type: 'partial', ts, end_ts },
  elements: values.map((value) => ({ type: 'text', value })),
});
const final = (ts: unknown, end_ts: unknown, elements: object[], more: object = {}) => ({
  ...{ type: 'final', ts, end_ts, elements },
  ...more,
});
const TWO_TEAS = [text('Two', 0.4, 0.6), mark(' '), text('teas', 0.7, 1.1), mark('.')];

const TURNS: StoryGroup['stories'] = {
  'are segments: words of one come bare until they stay': [
    [partial(0.4, 0.6, 'two'), 'partial 0 "two" 0.4-0.6'],
    [partial(0.4, 1.1, 'two', 'tea'), 'partial 0 "two tea" 0.4-1.1'],
    [final(0.4, 1.9, TWO_TEAS), 'piece 0 "Two teas." 0.4-1.9', 'ended 0'],
    [partial(2, 2.5, 'yes'), 'partial 1 "yes" 2-2.5'],
    [final(2, 2.6, [text('Yes', 2, 2.4)]), 'piece 1 "Yes" 2-2.6', 'ended 1'],
  ],
  'have words with the marks after each, and a speaker where one is sent': [
    [
      final(0.4, 1.9, TWO_TEAS, { speaker_id: 4 }),
      'piece 0 "Two teas." 0.4-1.9 speaker 0 @0.5 (Two 0.4-0.6 @0.5, teas. 0.7-1.1 @0.5)',
      'ended 0',
    ],
  ],
  'are not reported for settled audio': [
    [final(0.4, 1.9, TWO_TEAS), partial(1, 1.5, 'late'), 'piece 0 "Two teas." 0.4-1.9', 'ended 0'],
  ],
  'are silence where a segment has no words': [[final(0, 4, []), 'ended 0 "" 0-4']],
  'keep a segment whose place cannot be read': [
    [final('x', null, [text('Yes')]), 'piece 0 "Yes" 0-0', 'ended 0', 'warned place_estimated'],
    [final(null, 3, [])],
  ],
  'end where silence is sent, and lie on the leg’s clock behind it': [
    [FINALIZE, 'send 25600 bytes'],
    [KEEP_ALIVE, 'send 3200 bytes'],
    [audio(1)],
    [final(1, 2, [text('One', 1, 2)]), 'piece 0 "One" 1-2', 'ended 0'],
    [final(11, 11.5, [text('Two', 11, 11.5)]), 'piece 1 "Two" 10.1-10.6', 'ended 1'],
  ],
};

const SESSION: StoryGroup['stories'] = {
  'is ready when a worker was found': [[{ type: 'connected', id: 'j-1' }, 'ready']],
  'is ended by `EOS`, and over with a close in order': [
    [FINISH, 'send "EOS"'],
    [KEEP_ALIVE, LEAVE],
    [final(0.4, 1.9, TWO_TEAS), closed(1000), 'piece 0 "Two teas." 0.4-1.9', 'ended 0', 'finished'],
  ],
  'ends with `EOS` also on release: it is billed as long as it is open': [[LEAVE, 'send "EOS"']],
};

export const stories: readonly StoryGroup[] = [
  { of: 'turns', stories: TURNS },
  { of: 'a session', stories: SESSION },
];
