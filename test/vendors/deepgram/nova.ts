// What `/v1/listen` says, and what a leg of Nova makes of it: which windows make a turn, and where it ends.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { audio, closed, FINALIZE, FINISH, KEEP_ALIVE, LEAVE, like, WAKE } from '../../suites/provider/story.ts';

/** A `Results`. Flags: `f` is_final, `s` speech_final, `z` from_finalize. */
const results = (transcript: string, start: number, end: number, flags = '', more: object = {}) => ({
  type: 'Results',
  channel_index: [0, 1],
  start,
  duration: end - start,
  is_final: flags.includes('f'),
  speech_final: flags.includes('s'),
  from_finalize: flags.includes('z'),
  channel: { alternatives: [{ transcript, confidence: 0.9, ...more }] },
});

const METADATA = { type: 'Metadata', duration: 4 };
const END = { type: 'UtteranceEnd', channel: [0, 1], last_word_end: 1.5 };
const CLOSE_STREAM = 'send CloseStream';
const FINALIZED = [FINALIZE, 'send Finalize', 'wake 1000'];
const FINISHED = [FINISH, CLOSE_STREAM];

const TURNS: StoryGroup['stories'] = {
  'joins the windows of a turn, up to its end of speech': [
    [{ type: 'SpeechStarted', channel: [0], timestamp: 0.25 }, 'speech 0.25'],
    [results('book', 0, 0.5), 'partial 0 "book" 0-0.5'],
    [results('Book a', 0, 1, 'f'), 'piece 0 "Book a" 0-1'],
    [results('table', 1, 1.5), 'partial 0 "table" 1-1.5'],
    [results('table.', 1, 2, 'fs'), 'piece 0 "table." 1-2', 'ended 0'],
    [END],
    [results('Yes.', 2, 3, 'fs'), 'piece 1 "Yes." 2-3', 'ended 1'],
  ],
  'ends a turn at UtteranceEnd where noise hides the end of speech': [
    [results('Hello', 0, 1, 'f'), 'piece 0 "Hello" 0-1'],
    [END, 'ended 0'],
    [END],
  ],
  'ends a turn where its last window does, though that has no words': [
    [results('Hello', 0, 1, 'f'), 'piece 0 "Hello" 0-1'],
    [results('', 1, 2, 'f'), 'piece 0 "" 1-2'],
    [results('', 2, 2.5, 'fs'), 'piece 0 "" 2-2.5', 'ended 0'],
  ],
  'ends a turn at an end of speech that comes after its words': [
    [results('Hello', 0, 1, 'f'), 'piece 0 "Hello" 0-1'],
    [results('', 1, 1, 'fs'), 'piece 0 "" 1-1', 'ended 0'],
  ],
  'makes a turn of each settled window of silence': [
    [results('', 0, 1), 'partial 0 "" 0-1'],
    [results('', 0, 3, 'f'), 'ended 0 "" 0-3'],
    [results('', 3, 6, 'fs'), 'ended 1 "" 3-6'],
  ],
  'takes a window said twice once, and two turns with the same words twice': [
    [results('Yes.', 0, 1, 'fs'), 'piece 0 "Yes." 0-1', 'ended 0'],
    [results('Yes.', 0, 1, 'fs'), results('Yes', 0, 0.5)],
    [results('Yes.', 1, 2, 'fs'), 'piece 1 "Yes." 1-2', 'ended 1'],
  ],
  'ends a turn at once when its end was requested': [
    FINALIZED,
    [results('Hello', 0, 1, 'fz'), 'piece 0 "Hello" 0-1', 'ended 0'],
    [WAKE],
  ],
  'ends a settled turn when Finalize is not answered': [
    [results('Hello', 0, 1, 'f'), 'piece 0 "Hello" 0-1'],
    FINALIZED,
    [WAKE, 'ended 0'],
  ],
  'never ends a turn whose words are not settled, also when Finalize is not answered': [
    [results('Hello', 0, 1, 'f'), 'piece 0 "Hello" 0-1'],
    [results('wor', 1, 1.5), 'partial 0 "wor" 1-1.5'],
    FINALIZED,
    [WAKE],
  ],
  'has failed with an error message: a close may never follow': [
    [
      { type: 'Error', description: 'odd' },
      like({ failure: { kind: 'next', message: 'Deepgram reported an error: odd' } }),
    ],
    [{ type: 'Error', variant: 'NET-0000', message: 'x' }, 'failed retry NET-0000'],
  ],
  'makes nothing of what it cannot read': [
    [
      { type: 'SpeechStarted', timestamp: 'now' },
      { ...results('x', 0, 1, 'fs'), channel: { alternatives: [] } },
      { ...results('', 0, 1, 'f'), duration: Number.POSITIVE_INFINITY },
      { ...results('x', 0, 1), start: Number.POSITIVE_INFINITY },
    ],
  ],
  'keeps the text of a final whose numbers cannot be read, and places it behind what was settled': [
    [results('One.', 0, 1, 'fs'), 'piece 0 "One." 0-1', 'ended 0'],
    [results('two', 1, 2), 'partial 1 "two" 1-2'],
    [
      { ...results('Two.', 1, 2, 'fs'), start: Number.POSITIVE_INFINITY },
      ...['piece 1 "Two." 1-2', 'warned place_estimated', 'ended 1'],
    ],
    [{ ...results('Three.', 2, 3, 'fs'), duration: '1' }, 'piece 2 "Three." 2-10', 'ended 2'],
  ],
  'keeps the places of words when one of them has none': [
    [
      results('a b', 0, 2, 'f', {
        words: [
          { word: 'a', start: 0.5, end: 1 },
          { word: 'b', start: Number.POSITIVE_INFINITY, end: 1.5 },
        ],
      }),
      'piece 0 "a b" 0.5-2 @0.9 (a 0.5-1, b 1-1.5)',
    ],
  ],
  'keeps words whose times are below zero': [
    [{ ...results('x', 0, 1, 'fs'), start: -1 }, 'piece 0 "x" 0-1', 'ended 0'],
  ],
  'keeps words within the audio that was sent, and continues': [
    [results('far', 9, 1e9, 'fs'), 'piece 0 "far" 9-10', 'ended 0'],
    [audio(2), results('on', 10, 11), 'partial 1 "on" 10-11'],
    [results('on', 10, 12, 'fs'), 'piece 1 "on" 10-12', 'ended 1'],
  ],
  'names the language of most words when languages switch': [
    [results('hola', 0, 1, 'f', { languages: ['es', 'en'] }), 'piece 0 "hola" 0-1 es'],
    [
      results('hola my friend', 1, 2, 'f', {
        languages: ['es', 'en'],
        words: ['es', 'en', 'en'].map((language) => ({ word: 'x', start: 1, end: 2, language })),
      }),
      'piece 0 "hola my friend" 1-2 en',
    ],
  ],
  'reads formatted words, with speakers from 0 in order of appearance, and begins where they do': [
    [
      results('Yes. no', 1, 2, 'f', {
        words: [
          { word: 'yes', punctuated_word: 'Yes.', start: 1.25, end: 1.5, confidence: 0.75, speaker: 7 },
          { word: 'no', start: 1.5, end: 2, speaker: 2 },
        ],
      }),
      'piece 0 "Yes. no" 1.25-2 @0.9 (Yes. 1.25-1.5 speaker 0 @0.75, no 1.5-2 speaker 1)',
    ],
    [results('no', 2, 3, 'f', { words: [{ word: 'no', start: 2, end: 3, speaker: 2 }] }), 'piece 0 "no" 2-3 speaker 1'],
  ],
};

/** As they were seen. */
const RECORDED: StoryGroup['stories'] = {
  'one turn of 19 words, whose predecessor’s UtteranceEnd comes late': [
    [results('and he said that', 9.6, 11.2), 'partial 0 "and he said that" 9.6-11.2'],
    [{ ...END, last_word_end: 8.8 }],
    [
      results('And he said that he would come back before the end', 9.6, 14.36, 'f'),
      'piece 0 "And he said that he would come back before the end" 9.6-14.36',
    ],
    [
      { ...END, last_word_end: 8.8 },
      { ...END, last_word_end: -1 },
      { ...END, last_word_end: undefined },
    ],
    [
      results('of the week if nothing went wrong again.', 14.36, 17.04, 'fs'),
      ...['piece 0 "of the week if nothing went wrong again." 14.36-17.04', 'ended 0'],
    ],
  ],
  'the answer to Finalize is an end of speech as well': [
    FINALIZED,
    [results('Hello', 0, 1, 'fsz'), 'piece 0 "Hello" 0-1', 'ended 0'],
    [WAKE],
  ],
  'an interim shrinks, and loses its first word': [
    [results('so I think', 0, 1.5), 'partial 0 "so I think" 0-1.5'],
    [results('I think', 0.5, 1.5), 'partial 0 "I think" 0.5-1.5'],
    [results('I think.', 0.5, 2, 'fs'), 'piece 0 "I think." 0.5-2', 'ended 0'],
  ],
  'an idle connection receives Metadata, and is closed': [
    [{ type: 'Metadata', sha256: 'incomplete', duration: 0, channels: 0 }],
    [closed(1011, 'Deepgram did not receive audio data. See https://dpgr.am/net0001'), 'failed retry NET-0001'],
  ],
};

const ENDS: StoryGroup['stories'] = {
  'finishes at Metadata, and ends the turn that is settled by then': [
    FINISHED,
    [results('Bye', 0, 1, 'f'), 'piece 0 "Bye" 0-1'],
    [METADATA, 'ended 0', 'finished'],
  ],
  'finishes when the provider closes without Metadata': [
    FINISHED,
    [results('Bye.', 0, 1, 'fs'), 'piece 0 "Bye." 0-1', 'ended 0'],
    [closed(1000), 'finished'],
  ],
  'fails when the provider closes with words that are not final': [
    FINISHED,
    [results('Bye', 0, 1), 'partial 0 "Bye" 0-1'],
    [closed(1005), 'failed retry final_missing'],
  ],
  'fails when the provider closes with a turn that was not ended': [
    [results('Bye', 0, 1, 'f'), 'piece 0 "Bye" 0-1'],
    FINISHED,
    [closed(1000), 'failed retry final_missing'],
  ],
  'stops the provider’s meter on release, once': [[LEAVE, CLOSE_STREAM], FINISHED, [LEAVE], [KEEP_ALIVE]],
};

/** Before any audio. */
const BEGINNINGS: StoryGroup['stories'] = {
  'keeps a connection by a message once audio was sent, before that by silence that its times do not show': [
    [KEEP_ALIVE, KEEP_ALIVE, 'send 3200 bytes', 'send KeepAlive'],
    [
      ...[audio(2), results('x', 0, 1.1, 'f', { words: [{ word: 'x', start: 0.6, end: 1.1 }] })],
      'piece 0 "x" 0.5-1 @0.9 (x 0.5-1)',
    ],
  ],
};

export const novaStories: readonly StoryGroup[] = [
  { of: 'Nova', stories: { ...TURNS, ...ENDS } },
  { of: 'Nova as recorded', seconds: 20, stories: RECORDED },
  { of: 'Nova at its beginning', seconds: 0, stories: BEGINNINGS },
];
