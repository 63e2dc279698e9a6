// The last commit of a leg, refused: the server may have ended a turn of its own while the commit was on its way.
import { expect, it } from 'vitest';
import { type Act, audio, play, said, say } from './stage.ts';

const { stopped, committed, completed, error } = said;
const REFUSED = say(error('invalid_request_error', 'input_audio_buffer_commit_empty'));

const STORIES: [string, Act[], string[]][] = [
  [
    'what a turn of the server left too short is committed with silence behind it, which has no position',
    [
      audio(1),
      'finish',
      say(stopped('a', 950)),
      say(committed('a')),
      say(completed('a', 'x')),
      REFUSED,
      say(committed('b', 'a')),
      say(completed('b', 'y')),
    ],
    ['session.update', 'commit', 'ended a 0-0.95 "x"', 'append 2400', 'commit', 'ended b 0.95-1 "y"', 'finished'],
  ],
  [
    'nothing more is committed when the server had committed everything',
    [audio(1), 'finish', say(stopped('a', 1000)), say(committed('a')), REFUSED, say(completed('a', 'x'))],
    ['session.update', 'commit', 'ended a 0-1 "x"', 'finished'],
  ],
  [
    'a commit that is refused again is not made a third time',
    [audio(1), 'finish', REFUSED, REFUSED],
    ['session.update', 'commit', 'append 2400', 'commit', 'finished'],
  ],
];

it.each(STORIES)('%s', (_, acts, lines) => {
  expect(play({ model: 'gpt-4o-transcribe' }, acts)).toEqual(lines);
});
