// xAI: what its service says and what that must become, for the suite of every provider.
import { socketAt } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { files } from './files.ts';
import { stories } from './stories.ts';

const MODEL = 'grok-voice-transcribe-2.0';
const BOTH = { live: [MODEL], batch: [MODEL] };
const LIVE = { live: [MODEL] };
const url = (rate: number, more = '') =>
  `wss://api.x.ai/v1/stt?model=${MODEL}&encoding=pcm&sample_rate=${rate}&interim_results=true&endpointing=400${more}`;
const terms = (count: number) => Array.from({ length: count }, (_, index) => `term ${index}`);
/** The shape that clients have recorded; the code is a sentence. */
const refused = (code: string, error: string) => ({ code, error });
const WRONG_KEY = refused('Client specified an invalid argument', 'Incorrect API key provided: ke***te.');

testProvider({
  provider: 'xai',
  options: {
    rows: {
      keyterm: {
        takes: [['Voxgate', 'two words'], terms(100)],
        refuses: ['x', [''], ['x'.repeat(51)], terms(101)],
        ...BOTH,
      },
      filler_words: { takes: [true, false], refuses: ['yes'], ...BOTH },
      vad_threshold: { takes: [0, 0.08, 1], refuses: [-0.1, 1.1, '0.5'], ...BOTH },
      endpointing: { takes: [0, 5_000], refuses: [-1, 5_001, 0.5], ...LIVE },
      smart_turn: { takes: [0, 0.7, 1], refuses: [-0.1, 1.1, true], ...LIVE },
      smart_turn_timeout: { takes: [1, 5_000], refuses: [0, 5_001], ...LIVE },
    },
  },
  live: {
    model: MODEL,
    sampleRate: 16_000,
    openings: [
      [{}, socketAt(url(16_000))],
      [{ sampleRate: 8_000, language: 'fil', diarization: true }, socketAt(url(8_000, '&language=fil&diarize=true'))],
    ],
    requests: [
      [{ language: 'en-GB' }, { language: 'en' }],
      [{ language: 'auto' }, {}],
      [{ params: { smart_turn: 0.7 } }, { smart_turn: '0.7', smart_turn_timeout: '3000' }],
      [{ params: { smart_turn: 0.7, smart_turn_timeout: 900 } }, { smart_turn: '0.7', smart_turn_timeout: '900' }],
    ],
    timings: [
      [{}, { turnPauseMs: 400, keepAliveMs: 5_000 }],
      [{ params: { endpointing: 900 } }, { turnPauseMs: 900 }],
      [{ params: { smart_turn: 0.7 } }, { turnPauseMs: 1_000 }],
      [{ params: { smart_turn: 0.7, smart_turn_timeout: 500 } }, { turnPauseMs: 500 }],
    ],
    stories,
    closes: [[1008, 'gone', 'retry close_1008']],
  },
  batch: files,
  refusals: [
    [400, WRONG_KEY, 'account http_400', { message: /^(?!.*ke\*)/ }],
    [400, refused('', 'format requires language'), 'caller http_400', { message: /format requires/ }],
    [400, { error: { message: 'Unsupported file' } }, 'caller http_400', { file: 'caller audio_unusable' }],
    [401, refused('', 'No credentials presented.'), 'account http_401'],
    [403, refused('', 'Your team is at its monthly spending limit.'), 'account http_403'],
    [429, refused('', 'Your team has no credits left.'), 'account http_429'],
    [429, refused('', 'Too many requests.'), 'next http_429'],
    [503, '', 'retry http_503'],
  ],
  simulated: {
    whole: [
      [MODEL, ['tail-ends']],
      [MODEL, ['whole-done']],
      [MODEL, ['no-words']],
      [MODEL, ['locks-only']],
      [MODEL, ['no-finalize']],
      [MODEL, [], { smart_turn: 0.5 }],
    ],
    ends: [[MODEL, ['error-after=0ms'], 1, 'retry error']],
    rules: {
      path: `/v1/stt?model=${MODEL}&sample_rate=16000`,
      headers: { authorization: 'Bearer good' },
      rows: {
        'a bad key': [{ headers: { authorization: 'Bearer bad' } }, [], { status: 400 }],
        'no key': [{ headers: { authorization: '' } }, [], { status: 401 }],
        'another model': [{ query: { model: 'none' } }, [], { status: 400 }],
        'another rate': [{ query: { sample_rate: '11025' } }, [], { status: 400 }],
        'a language to be found': [{ query: { language: 'auto' } }, [], { status: 400 }],
        'a key term that is too long': [{ query: { keyterm: 'x'.repeat(51) } }, [], { status: 400 }],
        nothing: [{}, [], { code: 1011, last: { type: 'error', message: 'Stream timed out.' } }],
        'an unknown message, which it survives': [
          {},
          [{ type: 'flush' }, { type: 'audio.done' }],
          { code: 1000, last: { type: 'transcript.done', text: '' } },
        ],
      },
    },
  },
});
