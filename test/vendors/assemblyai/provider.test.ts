// AssemblyAI: what its service says and what that must become, for the suite of every provider.
import type { RefusalRow } from '../../suites/provider/fixtures.ts';
import { socketAt } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { files } from './files.ts';
import { options } from './options.ts';
import { sessionStories } from './sessions.ts';
import { turnStories } from './turns.ts';

const MULTILINGUAL = { model: 'universal-streaming-multilingual' };
const U3 = { model: 'u3-rt-pro' };
const U35 = { model: 'universal-3-5-pro' };
const ENGLISH_URL = '/v3/ws?speech_model=universal-streaming-english&sample_rate=16000&encoding=pcm_s16le';

const said = (error: string) => ({ error });
const REFUSALS: readonly RefusalRow[] = [
  [400, said('bad request'), 'caller http_400'],
  [400, said('Your current account balance is negative.'), 'account http_400'],
  [401, said('Authentication error, API token missing/invalid'), 'account http_401'],
  // Of a file 403 is an upload of another account, and 404 a job that is not there.
  [403, said('Cannot access uploaded file'), 'account http_403', { file: 'next http_403' }],
  [403, said('Account temporarily disabled'), 'account http_403'],
  [404, said('Not found'), 'next http_404'],
  [403, said('Too many concurrent sessions'), 'next http_403'],
  [500, said('balance service is down'), 'retry http_500'],
];

testProvider({
  provider: 'assemblyai',
  options,
  live: {
    model: 'universal-streaming-english',
    sampleRate: 16_000,
    openings: [[{}, socketAt(`wss://streaming.assemblyai.com${ENGLISH_URL}`, { authorization: 'key-of-the-suite' })]],
    written: (value) => (Array.isArray(value) ? JSON.stringify(value) : String(value)),
    requests: [
      [{ sampleRate: 8_000 }, { sample_rate: '8000' }],
      [{ diarization: true }, { speaker_labels: 'true' }],
      [
        { diarization: true, params: { speaker_labels: false, max_speakers: 2 } },
        { speaker_labels: 'true', max_speakers: '2' },
      ],
      [{ params: { speaker_labels: false } }, {}],
      [{ language: 'en-GB' }, {}],
      [{ language: 'auto' }, {}],
      [{ ...MULTILINGUAL, language: 'auto' }, { language_detection: 'true' }],
      [{ ...MULTILINGUAL, language: 'fr' }, {}],
      [{ ...MULTILINGUAL, params: { format_turns: true } }, {}],
      [{ ...U3, language: 'auto' }, { language_detection: 'true' }],
      [{ ...U3, language: 'es-MX' }, {}],
      [{ model: 'whisper-rt', language: 'auto' }, { language_detection: 'true' }],
      [{ ...U35, language: 'pt-BR' }, { language_codes: '["pt"]' }],
      [{ ...U35, language: 'sw' }, {}],
      [{ model: 'universal-3-6-pro', language: 'zu' }, { language_codes: '["zu"]' }],
      [{ ...U35, language: 'fr', params: { language_codes: ['en', 'es'] } }, { language_codes: '["en","es"]' }],
      [{ ...U35, language: 'fr', params: { language_detection: true } }, { language_codes: '["fr"]' }],
      [{ ...U3, params: { format_turns: true, prompt: 'a&b' } }, { prompt: 'a&b' }],
      [{ params: { punctuate: true, unheard_of: 1, prompt: 'x', constructor: 1 } }, {}],
    ],
    timings: [
      // A shorter or longer frame closes a session. It hears at the pace that is sent: nothing waits for it there.
      [{}, { frame: { minMs: 50, idealMs: 100, maxMs: 1_000, tail: 'pad' }, speedMax: 1.25, burstMs: 500 }],
      [{}, { keepAliveMs: undefined, stallMs: 8_000, sessionMaxMs: 10_800_000, formattedWaitMs: 0 }],
      // The silence that ends a turn the model is sure of; where it hears that much all the same, the one that ends any turn.
      [{}, { turnPauseMs: 400 }],
      [{ params: { min_turn_silence: 700, max_turn_silence: 600 } }, { turnPauseMs: 600 }],
      [{ params: { min_turn_silence: 160 } }, { turnPauseMs: 1_280 }],
      [U3, { turnPauseMs: 1_000 }],
      [{ ...U3, params: { max_turn_silence: 3_000 } }, { turnPauseMs: 3_000 }],
      [{ params: { inactivity_timeout: 10 } }, { keepAliveMs: 5_000 }],
      [{ params: { format_turns: true } }, { formattedWaitMs: 700 }],
      [{ model: 'whisper-rt', params: { format_turns: true } }, { formattedWaitMs: 700 }],
      [{ model: 'whisper-rt', params: { format_turns: false } }, { formattedWaitMs: 0 }],
      [{ ...MULTILINGUAL, params: { format_turns: true } }, { formattedWaitMs: 0 }],
      [
        { ...U3, params: { format_turns: true } },
        { formattedWaitMs: 0, stallMs: 20_000 },
      ],
    ],
    finishesOpen: true,
    stories: [...turnStories, ...sessionStories],
    closes: [
      [1008, 'Unauthorized Connection: Missing Authorization header', 'account close_1008'],
      [1008, 'Unauthorized Connection: Insufficient account balance', 'account close_1008'],
      [1008, 'Unauthorized connection: Incorrect padding', 'retry close_1008'],
      [1008, '', 'account close_1008'],
      [1008, 'Unauthorized Connection: Too many concurrent sessions', 'next close_1008'],
      [3005, 'Session Cancelled: An error occurred', 'retry close_3005'],
      [3006, 'Invalid Message Type: Nonsense', 'caller close_3006'],
      [3007, 'Input duration violation: 20 ms. Expected between 50 and 1000 ms', 'retry close_3007'],
      [3007, 'Audio Transmission Rate Exceeded: Received 5 sec. audio in 1 sec', 'retry close_3007'],
      [3008, 'Session Expired: Maximum session duration exceeded', 'retry close_3008'],
      [3009, 'Unauthorized Connection: Too many concurrent sessions', 'next close_3009'],
      [3009, '', 'next close_3009'],
      [4000, '', 'next close_4000'],
      [4001, '', 'account close_4001'],
      [4002, '', 'account close_4002'],
      [4003, '', 'account close_4003'],
      ...[4004, 4008, 4010, 4030, 4032, 4033, 4034].map((code) => [code, '', `retry close_${code}`] as const),
      [4029, '', 'next close_4029'],
      [4031, '', 'retry close_4031'],
      [4101, '', 'caller close_4101'],
      [4102, '', 'next close_4102'],
      [4103, '', 'retry close_4103'],
      [1011, 'Unauthorized Connection: account disabled', 'account close_1011'],
    ],
  },
  batch: files,
  refusals: REFUSALS,
  simulated: {
    whole: [
      ['universal-streaming-english', [], { format_turns: true }, 3],
      ['universal-streaming-english', ['formatted-never'], { format_turns: true }, 3],
      ['universal-streaming-english', ['regime=b'], {}, 3],
      ['universal-streaming-english', [], { inactivity_timeout: 5 }, 3],
      [
        'universal-streaming-english',
        ['pending-speakers', 'other-model=x'],
        { format_turns: true, speaker_labels: true },
        3,
      ],
      ['whisper-rt', [], { format_turns: true }, 3],
      ['whisper-rt', ['swallow-force-endpoint'], { format_turns: true }, 3],
    ],
    ends: [
      ['u3-rt-pro', ['concurrent-1008'], 1, 'next 1008'],
      ['u3-rt-pro', ['concurrent-3009'], 1, 'next 3009'],
      ['u3-rt-pro', ['incorrect-padding'], 1, 'retry 1008'],
      ['u3-rt-pro', ['error-after=0ms'], 1, 'retry 3005'],
    ],
  },
});
