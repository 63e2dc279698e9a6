// What a moshi-server says in a session, and what a leg makes of it.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { audio, closed, FINALIZE, FINISH, KEEP_ALIVE, like } from '../../suites/provider/story.ts';

const word = (text: unknown, start_time: unknown) => ({ type: 'Word', text, start_time });
const end = (stop_time: unknown) => ({ type: 'EndWord', stop_time });
const marker = (id: unknown) => ({ type: 'Marker', id });
const step = (...prs: number[]) => ({ type: 'Step', step_idx: 7, prs, buffered_pcm: 0 });
const SPEAKING = step(0.1, 0.1, 0.1, 0.1);
const PAUSING = step(0.9, 0.8, 0.7, 0.1);
/** A marker, and 0.74 s of silence. */
const END = ['send 17 bytes', 'send 17781 bytes'];
const TWO_TEAS = [word('Two', 0.4), end(0.6), word('teas.', 0.7), end(1.1)];

const TURNS: StoryGroup['stories'] = {
  'come word by word, and end at a likely pause once all before it is sent': [
    [word('Two', 0.4), 'partial 0 "Two" 0.4-0.4'],
    [end(0.6), 'piece 0 "Two" 0.4-0.6'],
    [SPEAKING, 'confirmed'],
    [word('teas.', 0.7), 'partial 0 "teas." 0.7-0.7'],
    [end(1.1), 'piece 0 "teas." 0.7-1.1'],
    [...Array(10).fill(PAUSING), ...Array(10).fill('confirmed')],
    [PAUSING, 'ended 0'],
  ],
  'end before the first word behind a pause, and where they are asked to': [
    [SPEAKING, SPEAKING, SPEAKING, 'confirmed', 'confirmed', 'confirmed'],
    [word('Two', 0.04), PAUSING, 'partial 0 "Two" 0.04-0.04', 'confirmed'],
    [word('teas.', 0.06), 'piece 0 "Two" 0.04-0.06', 'partial 0 "teas." 0.06-0.06'],
    [word('Now', 0.7), 'piece 0 "teas." 0.06-0.7', 'ended 0', 'partial 1 "Now" 0.7-0.7'],
    [end(1.1), FINALIZE, 'piece 1 "Now" 0.7-1.1', ...END],
    [marker(2)],
    [marker(1), 'ended 1', 'confirmed'],
    [marker(1)],
  ],
  'have words with their places': [
    [word('Two', 0.4), end(0.6), 'partial 0 "Two" 0.4-0.4', 'piece 0 "Two" 0.4-0.6 (Two 0.4-0.6)'],
  ],
  'settle a word at the next one, or at the end, where it has none': [
    [
      word('Two', 0.4),
      word('teas', 0.7),
      'partial 0 "Two" 0.4-0.4',
      'piece 0 "Two" 0.4-0.7',
      'partial 0 "teas" 0.7-0.7',
    ],
    [FINALIZE, ...END],
    [marker(1), 'piece 0 "teas" 0.7-10', 'ended 0', 'confirmed'],
  ],
  'lie on the leg’s clock behind the silence of an end, and within the audio': [
    [FINALIZE, ...END],
    [audio(1), word('Yes', 11), end(11.8), 'partial 0 "Yes" 10.26-10.26', 'piece 0 "Yes" 10.26-11'],
  ],
  'are placed where the model is, if their times are after all audio sent': [
    [
      ...Array(50).fill(SPEAKING),
      ...Array(46).fill('confirmed'),
      like({ utterance: { text: '' } }),
      ...Array(3).fill('confirmed'),
    ],
    [word('Yes', 3_604), 'partial 1 "Yes" 3.26-3.26'],
    [end(3_605), 'piece 1 "Yes" 3.26-3.26'],
  ],
  'are not ended without words': [[PAUSING, PAUSING, 'confirmed', 'confirmed']],
  'are silence that is reported now and then, except for the delay of the model': [
    [...Array(47).fill(SPEAKING), ...Array(46).fill('confirmed'), like({ utterance: { text: '', start: 0 } })],
  ],
};

const SESSION: StoryGroup['stories'] = {
  'is ready when it says so': [[{ type: 'Ready' }, 'ready']],
  'is over when its last marker has come back': [
    [...TWO_TEAS, FINALIZE, FINISH, ...TWO_TEAS.flatMap(() => [like({})]), ...END, ...END],
    [KEEP_ALIVE],
    [marker(1), 'ended 0', 'confirmed'],
    [marker(2), 'finished'],
    [closed(1000), 'finished'],
  ],
  'was not ended in order while a marker is missing': [
    [FINISH, ...END],
    [closed(1000), 'failed retry final_missing'],
  ],
  'is kept by silence': [[KEEP_ALIVE, 'send 48021 bytes']],
  'has no place': [[{ type: 'Error', message: 'no free channels' }, 'failed next no_free_channels']],
  fails: [[{ type: 'Error', message: 'out of memory' }, 'failed retry error']],
};

export const stories: readonly StoryGroup[] = [{ of: 'a leg', stories: { ...TURNS, ...SESSION } }];
