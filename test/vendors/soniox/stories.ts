// What Soniox says on a connection, and what a leg makes of it: tokens that are parts of words, and the marks that end turns.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { closed, FINALIZE, FINISH, failing, KEEP_ALIVE, LEAVE } from '../../suites/provider/story.ts';

type Token = readonly [text: string, startMs: number, endMs: number, more?: object];

const wire =
  (is_final: boolean) =>
  ([text, start_ms, end_ms, more]: Token) => ({
    ...{ text, start_ms, end_ms, confidence: 0.9, is_final },
    ...more,
  });
/** Final tokens, then those that may change, then how far the audio was worked on. */
const said = (final: readonly Token[], rest: readonly Token[] = [], totalMs = 0, more: object = {}) => ({
  tokens: [...final.map(wire(true)), ...rest.map(wire(false))],
  ...{ final_audio_proc_ms: 0, total_audio_proc_ms: totalMs },
  ...more,
});
const mark = (text: string) => ({ text, confidence: 1, is_final: true });
const marked = (final: readonly Token[], text = '<end>', ...behind: object[]) => ({
  ...said([]),
  tokens: [...final.map(wire(true)), mark(text), ...behind],
});
const error = (error_code: unknown, error_message: string) => ({ tokens: [], error_code, error_message });

const HOW: Token = ['How', 600, 760];
const ARE: Token = [' are', 800, 950];
const FINALIZED = [FINALIZE, 'send 6400 bytes', 'send finalize {"trailing_silence_ms":200}'];
const LEAVING = 'send ""';
const END = ['send finalize', LEAVING];

const TURNS: StoryGroup['stories'] = {
  'joins tokens to words and a turn, and says none of the marks': [
    [said([], [HOW]), 'partial 0 "How" 0.6-0.76'],
    [said([HOW], [ARE]), 'partial 0 "How" 0.6-0.76', 'partial 0 "How are" 0.6-0.95'],
    [said([], [ARE, [' y', 1000, 1100], ['ou', 1100, 1500]]), 'partial 0 "How are you" 0.6-1.5'],
    [
      marked([ARE, [' y', 1000, 1100], ['ou?', 1100, 1500]]),
      'partial 0 "How are you?" 0.6-1.5',
      'ended 0 "How are you?" 0.6-1.5 @0.9 (How 0.6-0.76 @0.9, are 0.8-0.95 @0.9, you? 1-1.5 @0.9)',
    ],
  ],
  'ends a turn and begins the next in one message': [
    [
      marked([HOW], '<end>', wire(true)([' Fine', 2000, 2500]), wire(false)([' thanks', 2500, 3000])),
      ...['partial 0 "How" 0.6-0.76', 'ended 0 "How" 0.6-0.76'],
      ...['partial 1 "Fine" 2-2.5', 'partial 1 "Fine thanks" 2-3'],
    ],
  ],
  'keeps a word that is said again at once, however short': [
    [marked([HOW, [' no', 800, 950]]), 'partial 0 "How no" 0.6-0.95', 'ended 0 "How no" 0.6-0.95'],
    [marked([['No', 950, 957]]), 'partial 1 "No" 0.95-0.957', 'ended 1 "No" 0.95-0.957'],
    [marked([['No', 957, 957]]), 'partial 2 "No" 0.957-0.957', 'ended 2 "No" 0.957-0.957'],
    [marked([['No', 957, 957]])],
  ],
  'ends a turn when it is asked to, behind a little silence': [
    FINALIZED,
    [marked([HOW], '<fin>'), 'partial 0 "How" 0.6-0.76', 'ended 0 "How" 0.6-0.76'],
  ],
  'makes nothing of a mark behind a mark': [
    [marked([HOW]), 'partial 0 "How" 0.6-0.76', 'ended 0 "How" 0.6-0.76'],
    [marked([], '<fin>')],
  ],
  'waits for words that are said no more, and forgets them with the turn': [
    [said([], [HOW]), 'partial 0 "How" 0.6-0.76'],
    [said([], [], 9_000)],
    [marked([]), 'ended 0 "" 0-0'],
    [said([], [], 9_000), 'ended 1 "" 0-8'],
  ],
  'leaves translations out': [
    [
      said([HOW, ['Wie', 600, 760, { translation_status: 'translation', start_ms: undefined, end_ms: undefined }]]),
      'partial 0 "How" 0.6-0.76',
    ],
    [marked([]), 'ended 0 "How" 0.6-0.76'],
  ],
  'keeps the text of final tokens whose times cannot be read, and places them behind what was settled': [
    [said([HOW]), 'partial 0 "How" 0.6-0.76'],
    [
      marked([[' are', Number.NaN, Number.NaN]]),
      ...['partial 0 "How are" 0.6-0.76', 'warned place_estimated', 'ended 0 "How are" 0.6-0.76'],
    ],
  ],
  'reports silence about once a second, and only up to a second ago': [
    [said([], [], 1_500)],
    [said([], [], 2_500), 'ended 0 "" 0-1.5'],
    [said([], [], 3_000)],
    [said([HOW]), 'partial 1 "How" 0.6-0.76'],
    [said([], [], 9_000)],
  ],
  'numbers speakers in order of appearance, and names the language': [
    [
      marked([
        ['Yes', 0, 500, { speaker: '3', language: 'en' }],
        [' oui', 500, 900, { speaker: '1', language: 'fr' }],
      ]),
      'partial 0 "Yes oui" 0-0.9 en',
      'ended 0 "Yes oui" 0-0.9 en @0.9 (Yes 0-0.5 speaker 0 @0.9, oui 0.5-0.9 speaker 1 @0.9)',
    ],
  ],
  'makes nothing of what it cannot read': [[{ tokens: 'x' }, { tokens: [7, { text: 3 }] }, { finished: 'x' }]],
  'keeps a connection by a message': [[KEEP_ALIVE, 'send keepalive']],
};

const ENDS: StoryGroup['stories'] = {
  'finishes with the tokens that were left': [
    [FINISH, ...END],
    [KEEP_ALIVE, LEAVE],
    [said([HOW]), 'partial 0 "How" 0.6-0.76'],
    [said([], [], 0, { finished: true }), 'ended 0 "How" 0.6-0.76', 'finished'],
    [closed(1000), 'finished'],
  ],
  'fails when it ends with words that are not final': [
    [said([], [HOW]), 'partial 0 "How" 0.6-0.76'],
    [FINISH, ...END],
    [said([], [ARE], 0, { finished: true }), 'partial 0 "are" 0.8-0.95', 'failed retry final_missing'],
  ],
  'fails when the connection closes with a turn that was not ended': [
    [said([HOW]), 'partial 0 "How" 0.6-0.76'],
    [FINISH, ...END],
    [closed(1000), 'failed retry final_missing'],
  ],
  'fails when it ends before it was asked to': [[said([], [], 0, { finished: true }), 'failed retry closed']],
  'is finished when there was no audio': [
    [FINISH, ...END],
    [error(400, 'No audio received.'), 'finished'],
  ],
  'ends the stream on release: it is charged while it is open': [[LEAVE, LEAVING]],
};

/** As they were seen, or as the documents word them. */
const ERRORS: StoryGroup['stories'] = {
  'gives the tokens that come with an error before it': [
    [
      { ...marked([HOW]), error_code: 503, error_message: 'Cannot continue request (code 11). Please restart.' },
      ...['partial 0 "How" 0.6-0.76', 'ended 0 "How" 0.6-0.76', 'failed retry 503'],
    ],
  ],
  'takes error members that are null for none': [[{ ...said([HOW]), error_code: null }, 'partial 0 "How" 0.6-0.76']],
  'knows errors by their code and their words': [
    [error(400, 'Invalid model specified.'), 'failed caller 400'],
    [error(400, 'Audio decode error'), 'failed next 400'],
    [error(400, 'Audio is too long.'), 'failed retry session_expired'],
    [error('401', 'Incorrect API key provided.'), 'failed account 401'],
    ...failing((code: unknown) => error(code, 'their words'), {
      account: [402, 403],
      retry: [408, 500, 'odd'],
      next: [429],
    }),
  ],
};

export const stories: readonly StoryGroup[] = [
  { of: 'Soniox', stories: { ...TURNS, ...ENDS } },
  { of: 'An error of Soniox', stories: ERRORS },
];
