// Soniox: what its service says and what that must become, for the suite of every provider.
import { socketAt } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { files } from './files.ts';
import { stories } from './stories.ts';

const LIVE = ['stt-rt-v5'];
const BATCH = ['stt-async-v5'];
const both = { live: LIVE, batch: BATCH };
const FLAG = { takes: [true, false], refuses: ['yes'] };
const START = {
  ...{ model: 'stt-rt-v5', audio_format: 'pcm_s16le', sample_rate: 16_000, num_channels: 1 },
  enable_endpoint_detection: true,
};
const refusal = (error_type: string, message = 'their words') => ({ status_code: 400, error_type, message });
const ended = (error_code: number) => ({ code: 1005, last: { error_code, tokens: [] } });

testProvider({
  provider: 'soniox',
  options: {
    rows: {
      language_hints: { takes: [['en', 'de']], refuses: ['en', ['']], ...both },
      language_hints_strict: { ...FLAG, ...both },
      enable_language_identification: { ...FLAG, ...both },
      context: {
        takes: [{ terms: ['Voxgate'], general: [{ key: 'domain', value: 'speech' }] }, { text: 'before' }],
        refuses: ['text', { unknown: 1 }, { general: [{ key: 'domain' }] }],
        ...both,
      },
      client_reference_id: { takes: ['call 7'], refuses: [7], ...both },
      max_endpoint_delay_ms: { takes: [500, 3_000], refuses: [499, 3_001], live: LIVE },
      endpoint_sensitivity: { takes: [-1, 0.5], refuses: [1.1], live: LIVE },
      endpoint_latency_adjustment_level: { takes: [0, 3], refuses: [4, 0.5], live: LIVE },
      // Known to the provider, of no use here.
      translation: { takes: [{ type: 'one_way', target_language: 'en' }], refuses: ['en'] },
    },
  },
  live: {
    model: 'stt-rt-v5',
    sampleRate: 16_000,
    openings: [
      [{}, socketAt('wss://stt-rt.soniox.com/transcribe-websocket'), [START]],
      [
        { sampleRate: 8_000, diarization: true, params: { unheard_of: 1 } },
        socketAt('wss://stt-rt.soniox.com/transcribe-websocket'),
        [{ ...START, sample_rate: 8_000, enable_speaker_diarization: true }],
      ],
    ],
    asked: (_, [start]) => start as Record<string, unknown>,
    written: (value) => value,
    requests: [
      [{ language: 'auto' }, { enable_language_identification: true }],
      [{ language: 'pt-BR' }, { language_hints: ['pt'] }],
      [{ language: 'fr', params: { language_hints: ['de', 'it'] } }, { language_hints: ['de', 'it'] }],
      [{ diarization: true }, { enable_speaker_diarization: true }],
    ],
    timings: [
      [{}, { turnPauseMs: 1_000, keepAliveMs: 7_000, sessionMaxMs: 18_000_000 }],
      [{ params: { max_endpoint_delay_ms: 500 } }, { turnPauseMs: 500 }],
      [{ params: { max_endpoint_delay_ms: 3_000 } }, { turnPauseMs: 1_000 }],
    ],
    stories,
  },
  batch: files,
  refusals: [
    [400, refusal('invalid_request'), 'caller http_400', { message: /their words/ }],
    [400, refusal('invalid_request', 'Audio decode error'), 'caller http_400', { file: 'caller audio_unusable' }],
    [401, refusal('unauthenticated'), 'account http_401', { message: /^(?!.*their words)/ }],
    [402, refusal('organization_balance_exhausted'), 'account http_402'],
    [403, refusal('temp_api_key_session_expired'), 'account http_403'],
    [408, refusal('request_timeout'), 'next http_408'],
    [429, refusal('rate_limit_exceeded'), 'next http_429'],
    [503, refusal('service_unavailable'), 'retry http_503'],
  ],
  simulated: {
    whole: [['stt-rt-v5', ['one-message'], {}, 3]],
    ends: [
      ['stt-rt-v5', ['cannot-continue'], 3, 'retry 503'],
      ['stt-rt-v5', ['error-after=0ms'], 1, 'retry 500'],
    ],
    rules: {
      path: '/transcribe-websocket',
      headers: { authorization: 'Bearer good' },
      rows: {
        'a bad key': [{ headers: { authorization: 'Bearer bad' } }, [], { status: 401 }],
        nothing: [{}, [], ended(408)],
        'no audio behind a start': [{}, [START], ended(408)],
        'audio before a start': [{}, [new Uint8Array(2)], ended(400)],
        'an unknown message': [{}, [START, { type: 'flush' }], ended(400)],
        'the end before any audio': [{}, [START, ''], ended(400)],
        'languages twice': [{}, [{ ...START, language_hints: ['en', 'en'] }], ended(400)],
        'a start without a rate': [{}, [{ ...START, sample_rate: null }], ended(400)],
      },
    },
  },
});
