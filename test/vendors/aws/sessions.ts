// What Amazon Transcribe says in a session, and what a leg makes of it: events as its simulator frames them, and as the service does.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { audio, closed, FINALIZE, FINISH, failing, KEEP_ALIVE, LEAVE } from '../../suites/provider/story.ts';

const word = (Content: string, StartTime: number, EndTime: number) => ({
  ...{ Content, Type: 'pronunciation', StartTime, EndTime, Confidence: 0.5, Stable: true, Speaker: '1' },
});
const mark = (Content: string) => ({ Content, Type: 'punctuation', StartTime: 1, EndTime: 1 });
const result = (...[ResultId, IsPartial, Transcript, StartTime, EndTime]: readonly unknown[]) => ({
  ...{ ResultId, IsPartial, StartTime, EndTime },
  Alternatives: [{ Transcript, Items: [] }],
});
const said = (...Results: object[]) => ({ TranscriptEvent: { Transcript: { Results } } });
const partial = (id: string, text: string, from: number, to: number) => said(result(id, true, text, from, to));
const final = (id: string, text: string, from: number, to: number) => said(result(id, false, text, from, to));
const exception = (name: string, Message: unknown = 'Because.') => ({ [name]: { Message } });
/** Frames that the service's own codec made: a result without words, and an exception. */
const RECORDED = [
  '0000008200000055b50599e00d3a6d6573736167652d747970650700056576656e740b3a6576656e742d7479706507000f5472616e7363726970744576656e740d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e7b225472616e736372697074223a7b22526573756c7473223a5b5d7d7dc4a72c92',
  '0000008600000064115b3f1a0d3a6d6573736167652d74797065070009657863657074696f6e0f3a657863657074696f6e2d747970650700164c696d69744578636565646564457863657074696f6e0d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e7b224d657373616765223a2262757379227dd88849bf',
].map((hex) => new Uint8Array(Buffer.from(hex, 'hex')));
/** An event of so many bytes of audio. */
const sent = (bytes: number) => `send ${bytes + 104} bytes`;

const TURNS: StoryGroup['stories'] = {
  'are results, each sent whole under its name': [
    [partial('id-1', 'two', 0.4, 0.6), 'partial id-1 "two" 0.4-0.6'],
    [partial('id-1', 'two teas', 0.4, 1.1), 'partial id-1 "two teas" 0.4-1.1'],
    [final('id-1', 'Two teas.', 0.4, 1.9), 'ended id-1 "Two teas." 0.4-1.9'],
    [
      said(result('id-2', false, 'Yes.', 2, 2.6), result('id-3', true, 'no', 3, 3.3)),
      ...['ended id-2 "Yes." 2-2.6', 'partial id-3 "no" 3-3.3'],
    ],
  ],
  'have words with the marks after each, and a speaker and language where these are sent': [
    [
      said({
        ...result('id-1', false, 'Two teas.', 0.4, 1.9),
        Alternatives: [{ Transcript: 'Two teas.', Items: [word('Two', 0.4, 0.6), word('teas', 0.7, 1.1), mark('.')] }],
        LanguageCode: 'en-US',
      }),
      'ended id-1 "Two teas." 0.4-1.9 speaker 0 en-US @0.5 (Two 0.4-0.6 @0.5, teas. 0.7-1.1 @0.5)',
    ],
  ],
  'are not reported for settled audio': [
    [final('id-1', 'Two.', 0.4, 1.9), partial('id-2', 'late', 1, 1.5), 'ended id-1 "Two." 0.4-1.9'],
  ],
  'keep a result whose place cannot be read': [
    [said(result('id-1', false, 'Yes', 'x', null)), 'ended id-1 "Yes" 0-10', 'warned place_estimated'],
    [said(result('id-2', 'no', 'Yes', 1, 2), result(7, false, 'Yes', 1, 2), result('id-3', false, 7, 1, 2))],
  ],
  'end where silence is sent, and lie on the leg’s clock behind it': [
    [FINALIZE, sent(32_000)],
    [KEEP_ALIVE, sent(3_200)],
    [audio(1)],
    [final('id-1', 'One', 1, 2), 'ended id-1 "One" 1-2'],
    [final('id-2', 'Two', 11.2, 11.6), 'ended id-2 "Two" 10.1-10.5'],
  ],
};

const SESSION: StoryGroup['stories'] = {
  'is ended by an event without audio, and over with a close in order': [
    [FINISH, sent(0)],
    [KEEP_ALIVE, FINALIZE, LEAVE],
    [exception('BadRequestException', 'The complete signal was sent without the preceding empty frame.')],
    [final('id-1', 'Two.', 0.4, 1.9), closed(1000), 'ended id-1 "Two." 0.4-1.9', 'finished'],
  ],
  'fails with an exception': [
    [
      exception('BadRequestException', 'Your request timed out because no new audio was received.'),
      'failed retry idle',
    ],
    [exception('InternalFailureException', 7), 'failed retry InternalFailureException'],
    ...failing(exception, {
      caller: ['BadRequestException', 'ResourceNotFoundException'],
      next: ['LimitExceededException'],
      retry: ['ConflictException', 'ServiceUnavailableException', 'UnheardOfException'],
      account: [
        'AccessDeniedException',
        'UnrecognizedClientException',
        'ExpiredTokenException',
        'InvalidSignatureException',
        'IncompleteSignatureException',
        'MissingAuthenticationTokenException',
        'SubscriptionRequiredException',
      ],
    }),
  ],
  'reads what the service’s own codec has written': [[...RECORDED, 'failed next LimitExceededException']],
};

export const stories: readonly StoryGroup[] = [
  { of: 'turns', stories: TURNS },
  { of: 'a session', stories: SESSION },
];
