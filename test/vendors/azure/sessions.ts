// What Azure says in a session, and what a leg makes of it: messages as its simulator encodes them.
import { expect } from 'vitest';
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { audio, closed, FINALIZE, FINISH, failing, KEEP_ALIVE, like } from '../../suites/provider/story.ts';

const ticks = (seconds: number) => Math.round(seconds * 10_000_000);
const place = (start: number, end: number) => ({ Offset: ticks(start), Duration: ticks(end) - ticks(start) });
const FIRST = '0123456789ABCDEF0123456700000001';
const SECOND = '0123456789ABCDEF0123456700000002';
const said = (Path: string, body: object = {}, requestId = FIRST) => ({ Path, requestId, body });
const hypothesis = (text: string, start: number, end: number, requestId?: string) =>
  said('speech.hypothesis', { Text: text, ...place(start, end) }, requestId);
const phrase = (text: string, start: number, end: number, more: object = {}, requestId?: string) =>
  said(
    'speech.phrase',
    { RecognitionStatus: 'Success', ...place(start, end), NBest: [{ Confidence: 0.5, Display: text, ...more }] },
    requestId,
  );
const status = (RecognitionStatus: unknown, start = 0, end = 0) =>
  said('speech.phrase', { RecognitionStatus, ...place(start, end) });
const END = said('turn.end');
/** A new context, and the audio from where all was told. */
const begun = (...frames: number[]) => [
  like({
    type: 'send',
    frame: expect.stringContaining('Path: speech.context\r\nX-RequestId: 0123456789ABCDEF01234567000000'),
  }),
  'send 172 bytes',
  ...frames.map((bytes) => `send ${bytes} bytes`),
];
const HEAD = 101;
const FRAME = HEAD + 3_200;

const TURNS: StoryGroup['stories'] = {
  'are phrases: what was thought before is interim': [
    [
      said('turn.start', { context: { serviceTag: 'tag' } }),
      said('speech.startDetected', { Offset: ticks(0.4) }),
      'speech 0.4',
    ],
    [hypothesis('two', 0.4, 0.6), 'partial 0 "two" 0.4-0.6'],
    [said('speech.fragment', { Text: 'two tea', ...place(0.4, 1) }), 'partial 0 "two tea" 0.4-1'],
    [phrase('Two teas.', 0.4, 1.9), 'piece 0 "Two teas." 0.4-1.9', 'ended 0'],
    [{ ...phrase('Yes.', 2, 2.6), compact: true }, 'piece 1 "Yes." 2-2.6', 'ended 1'],
    [
      said('speech.phrase', { RecognitionStatus: 'Success', ...place(3, 4), DisplayText: 'No.' }),
      'piece 2 "No." 3-4',
      'ended 2',
    ],
  ],
  'have words as written where these are sent, or else as spoken': [
    [
      phrase('Two.', 0.4, 1.9, { Words: [{ Word: 'two', ...place(0.4, 0.6) }] }),
      'piece 0 "Two." 0.4-1.9 @0.5 (two 0.4-0.6)',
      'ended 0',
    ],
    [
      phrase('Teas.', 2, 3, {
        Words: [{ Word: 'teas', ...place(2, 3) }],
        DisplayWords: [{ DisplayText: 'Teas.', ...place(2, 3) }],
      }),
      'piece 1 "Teas." 2-3 @0.5 (Teas. 2-3)',
      'ended 1',
    ],
  ],
  'are not said twice, and not beyond the audio': [
    [phrase('Two.', 0.4, 1.9), phrase('Two.', 0.4, 1.9), 'piece 0 "Two." 0.4-1.9', 'ended 0'],
    [hypothesis('late', 1, 1.5), phrase('End.', 9, 12), 'piece 1 "End." 9-10', 'ended 1'],
  ],
  'are silence where no words were found': [
    [status('InitialSilenceTimeout', 0, 4), 'ended 0 "" 0-4'],
    [status('NoMatch', 5, 6), 'ended 1 "" 4-6'],
    [status('BabbleTimeout', 0, 0), status('EndOfDictation', 6, 6)],
  ],
  'keep a phrase whose place cannot be read': [
    [
      said('speech.phrase', { RecognitionStatus: 'Success', Offset: 'x', DisplayText: 'Yes.' }),
      ...['piece 0 "Yes." 0-10', 'ended 0', 'warned place_estimated'],
    ],
  ],
  'end where silence is sent, and lie on the leg’s clock behind it': [
    [FINALIZE, ...Array.from({ length: 10 }, () => `send ${FRAME} bytes`), `send ${HEAD + 1_600} bytes`],
    [KEEP_ALIVE, `send ${FRAME} bytes`],
    [audio(1)],
    [phrase('Two.', 11.15, 12.15), 'piece 0 "Two." 10-11', 'ended 0'],
  ],
};

const REQUESTS: StoryGroup['stories'] = {
  'are followed by others, which count from the last reported position': [
    [phrase('One.', 8, 9.8), END, 'piece 0 "One." 8-9.8', 'ended 0', ...begun(FRAME, FRAME)],
    [hypothesis('late', 9, 9.9), phrase('Late.', 9, 9.9)],
    [phrase('Two.', 0, 0.2, {}, SECOND), 'piece 1 "Two." 9.8-10', 'ended 1'],
  ],
  'end in long silence: what is kept of the audio is sent again': [
    [END, ...begun(...Array.from({ length: 20 }, () => FRAME))],
    [phrase('Two.', 1, 2, {}, SECOND), 'piece 0 "Two." 9-10', 'ended 0'],
  ],
  'cannot continue where words are open in audio that is not kept': [
    [hypothesis('two', 1, 2), END, 'partial 0 "two" 1-2', 'failed retry final_missing'],
  ],
  'are not begun without end': [
    [phrase('One.', 9, 10), 'piece 0 "One." 9-10', 'ended 0'],
    [END, ...begun()],
    [said('turn.end', {}, SECOND), ...begun()],
    [said('turn.end', {}, SECOND.replace(/2$/, '3')), ...begun()],
    [said('turn.end', {}, SECOND.replace(/2$/, '4')), 'failed retry Error'],
  ],
};

const SESSION: StoryGroup['stories'] = {
  'is ended by an empty frame, and over with the end of the request': [
    [FINISH, `send ${HEAD} bytes`],
    [KEEP_ALIVE, FINALIZE],
    [phrase('Two.', 0.4, 9), 'piece 0 "Two." 0.4-9', 'ended 0'],
    [said('speech.endDetected', { Offset: ticks(10) }), status('EndOfDictation'), END, 'finished'],
  ],
  'is not over where words are open': [
    [hypothesis('two', 0.4, 0.6), FINISH, 'partial 0 "two" 0.4-0.6', `send ${HEAD} bytes`],
    [status('EndOfDictation'), END, 'failed retry final_missing'],
  ],
  'is not over where the service had ended the request before': [
    [
      phrase('One.', 8, 9.9),
      FINISH,
      END,
      'piece 0 "One." 8-9.9',
      'ended 0',
      `send ${HEAD} bytes`,
      ...begun(FRAME, HEAD),
    ],
    [said('speech.endDetected', {}, SECOND), said('turn.end', {}, SECOND), 'finished'],
  ],
  'is not over with a close': [
    [FINISH, `send ${HEAD} bytes`],
    [closed(1000), 'failed retry final_missing'],
  ],
  'fails with a status that says so': [
    ...failing(status, { next: ['TooManyRequests'], caller: ['BadRequest'], account: ['Forbidden'], retry: ['Error'] }),
    [status(7), said('speech.phrase', { RecognitionStatus: 'Success' })],
  ],
};

export const stories: readonly StoryGroup[] = [
  { of: 'turns', stories: TURNS },
  { of: 'requests of the service', stories: REQUESTS },
  { of: 'a session', stories: SESSION },
];
