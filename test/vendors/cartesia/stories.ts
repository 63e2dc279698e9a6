// What Ink says on a connection, and what a leg makes of it: text that is settled piece by piece, and the marks of ends.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { audio, closed, FINALIZE, FINISH, failing, KEEP_ALIVE, LEAVE, WAKE } from '../../suites/provider/story.ts';

const said = (text: string, is_final: boolean, more: object = {}) => ({ type: 'transcript', text, is_final, ...more });
const words = (...times: readonly (readonly [string, number, number])[]) => ({
  words: times.map(([word, start, end]) => ({ word, start, end })),
});
const MARK = { type: 'flush_done', request_id: 'x' };
const DONE = { type: 'done', request_id: 'x' };
const error = (status_code: number, error_code: string | null = null) => ({
  ...{ type: 'error', status_code, error_code, title: 'Refused', message: 'their words' },
});
const ASK = 'send "finalize"';
const CLOSE = 'send "close"';

const TURNS: StoryGroup['stories'] = {
  'joins settled text as it is, with words and their times, and ends where it was asked to': [
    [said('Two', false), 'partial 0 "Two" 0-10'],
    [said('Two cof', true, words(['Two', 1, 1.5], ['cof', 1.5, 2])), 'partial 0 "Two cof" 1-2'],
    [said('fees', false), 'partial 0 "Two coffees" 1-10'],
    [FINALIZE, ASK],
    [
      said('fees to go.', true, words(['fees', 2, 2.5], ['to', 2.5, 3], ['go.', 3, 3.5])),
      'partial 0 "Two coffees to go." 1-3.5',
    ],
    [MARK, 'ended 0 "Two coffees to go." 1-10 (Two 1-1.5, coffees 1.5-2.5, to 2.5-3, go. 3-3.5)'],
    [WAKE],
    [audio(2), said(' Yes', true, words(['Yes', 11, 12])), 'partial 1 "Yes" 11-12'],
  ],
  'waits a little for text behind the mark of an end': [
    [FINALIZE, ASK],
    [MARK, 'wake 300'],
    [said('One.', true, words(['One.', 1, 2])), 'partial 0 "One." 1-2'],
    [WAKE, 'ended 0 "One." 1-10'],
  ],
  'ends the turn before at the mark of the next': [
    [FINALIZE, ASK],
    [said('One.', false), 'partial 0 "One." 0-10'],
    [MARK, 'wake 300'],
    [said('One.', true), 'partial 0 "One." 0-10'],
    [audio(2), FINALIZE, ASK],
    [MARK, 'ended 0 "One." 0-10', 'wake 300'],
    [WAKE, 'ended 1 "" 10-12'],
  ],
  'fails where recognised words are neither settled by the mark nor withdrawn': [
    [said('One', false), 'partial 0 "One" 0-10'],
    [FINALIZE, ASK],
    [MARK, 'wake 300'],
    [WAKE, 'failed retry final_missing'],
  ],
  'forgets words that are said to be none': [
    [said('One', false), 'partial 0 "One" 0-10'],
    [FINALIZE, ASK],
    [said('', true), 'partial 0 "" 0-10'],
    [MARK, 'wake 300'],
    [WAKE, 'ended 0 "" 0-10'],
  ],
  'asks once for the end of the same audio': [[FINALIZE, ASK], [FINALIZE]],
  'ignores a mark that was not requested, and unreadable messages': [
    [MARK, { type: 'transcript' }, { type: 'transcript', text: 7, is_final: true }],
    [said('', true)],
  ],
  'keeps a connection by a little silence': [[KEEP_ALIVE, 'send 3200 bytes']],
  'finishes with the text of the last end': [
    [FINISH, ASK, CLOSE],
    [KEEP_ALIVE, LEAVE],
    [said('Bye.', true), 'partial 0 "Bye." 0-10'],
    [MARK, 'ended 0 "Bye." 0-10'],
    [DONE, 'finished'],
    [closed(1000), 'finished'],
  ],
  'finishes without the mark of the last end': [
    [FINISH, ASK, CLOSE],
    [said('Bye.', true), 'partial 0 "Bye." 0-10'],
    [DONE, 'ended 0 "Bye." 0-10', 'finished'],
  ],
  'fails when it ends with text that is not settled': [
    [said('Bye', false), 'partial 0 "Bye" 0-10'],
    [FINISH, ASK, CLOSE],
    [DONE, 'failed retry final_missing'],
  ],
  'fails when the connection closes before its end': [[FINISH, closed(1000), ASK, CLOSE, 'failed retry final_missing']],
  'fails when it ends before it was asked to': [[DONE, 'failed retry closed']],
  'takes an error behind the end of a session without text for its end': [
    [FINISH, ASK, CLOSE],
    [error(500), 'finished'],
  ],
  'closes the session on release': [[LEAVE, CLOSE]],
};

export const stories: readonly StoryGroup[] = [
  { of: 'Ink', stories: TURNS },
  {
    of: 'An error of Ink',
    stories: {
      'knows errors by their code, or else by their status': [
        ...failing(error, { caller: [400], account: [401, 402, 403], next: [429], retry: [500] }),
        ...failing((code: string) => error(0, code), {
          account: ['quota_exceeded', 'plan_upgrade_required'],
          next: ['concurrency_limited'],
        }),
        // As versions before 2026-03-01 had it.
        [{ type: 'error', code: 429, message: 'their words' }, 'failed next 429'],
      ],
    },
  },
];
