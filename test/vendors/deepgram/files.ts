// What Deepgram answers for a file, and what it comes to.
import type { BatchFixtures } from '../../suites/provider/fixtures.ts';

const word = (text: string, start: number, speaker?: number) => ({
  ...{ word: text.toLowerCase(), punctuated_word: text, start, end: start + 0.5, confidence: 0.9 },
  ...(speaker === undefined ? {} : { speaker }),
});
const utterance = (transcript: string, start: number, speaker?: number, channel = 0) => ({
  ...{ transcript, start, end: start + 1, confidence: 0.8, channel, words: [word(transcript, start, speaker)] },
  ...(speaker === undefined ? {} : { speaker }),
});
const answer = (utterances: unknown, channel: object = {}) => ({
  metadata: { duration: 12.5, channels: 1 },
  results: { channels: [{ alternatives: [{ transcript: '', confidence: 0, words: [] }], ...channel }], utterances },
});
const whole = (alternative: object) => ({
  metadata: { duration: 5 },
  results: { channels: [{ alternatives: [alternative] }] },
});
const MULTICHANNEL = { params: { multichannel: true } };
/** In the order of time; each channel's speakers are its own. */
const TWO_CHANNELS = {
  utterances: [
    { text: 'a', speaker: 1 },
    { text: 'b', speaker: 0 },
  ],
};

export const files: BatchFixtures = {
  model: 'nova-3',
  opening: {
    method: 'POST',
    url: 'https://api.deepgram.com/v1/listen?model=nova-3&smart_format=true&utterances=true',
    headers: { authorization: 'Token key-of-the-suite', 'content-type': 'audio/wav' },
    body: { kind: 'file' },
  },
  requests: [
    [{ language: 'auto' }, { detect_language: 'true' }],
    [{ language: 'fr-BE' }, { language: 'fr' }],
    [{ diarization: true }, { diarize_model: 'latest' }],
    [{ diarization: true, params: { diarize_model: 'v2' } }, { diarize_model: 'v2' }],
    [{ params: { summarize: 'v2', endpointing: 5, paragraphs: true } }, {}],
    [
      { file: { name: 'a.pcm', contentType: 'audio/l16; rate=8000', bytes: undefined, seconds: undefined } },
      { encoding: 'linear16', sample_rate: '8000' },
    ],
  ],
  answers: {
    'segments, with words, speakers in order of appearance, language and seconds': [
      {},
      [
        answer([utterance('Hello.', 1, 3), utterance('Hi.', 4, 1), utterance('Bye.', 6, 3)], {
          detected_language: 'en',
        }),
      ],
      {
        ...{ language: 'en', seconds: 12.5, warnings: [] },
        utterances: ['"Hello." 1-2 speaker 0 @0.8 (Hello. 1-1.5 @0.9)', '"Hi." 4-5 speaker 1', '"Bye." 6-7 speaker 0'],
      },
    ],
    'channels with speakers': [MULTICHANNEL, [answer([utterance('b', 3, 0), utterance('a', 1, 0, 1)])], TWO_CHANNELS],
    'channels whose speakers were not separated': [
      MULTICHANNEL,
      [answer([utterance('b', 3, undefined, 0), utterance('a', 1, undefined, 1)])],
      TWO_CHANNELS,
    ],
    'what a channel said as a whole, where there are no segments': [
      {},
      [whole({ transcript: 'Hello there', confidence: 0.7, words: [word('Hello', 1), word('there', 2)] })],
      { utterances: ['"Hello there" 1-2.5 @0.7 (Hello 1-1.5 @0.9, there 2-2.5 @0.9)'] },
    ],
    'the language of most words, where languages were switched: the list is in no order to rely on': [
      {},
      [
        whole({
          transcript: 'hola my friend',
          languages: ['es', 'en'],
          words: ['es', 'en', 'en'].map((language, at) => ({ ...word('x', at), language })),
        }),
      ],
      { language: 'en' },
    ],
    'a text without times': [{}, [whole({ transcript: 'x' })], { utterances: ['"x" 0-5'] }],
    'no words, without a failure': [{}, [answer([])], { utterances: [], seconds: 12.5 }],
    'no channels': [{}, [{ results: { channels: [] } }], 'next bad_answer'],
    'channels that are none': [{}, [{ results: { channels: 'x' } }], 'next bad_answer'],
  },
};
