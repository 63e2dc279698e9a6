// Mistral: what its service says and what that must become, for the suite of every provider.
import { inRegion, socketAt } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { files } from './files.ts';
import { appended, CREATED, stories, UPDATED } from './stories.ts';

const FILES = ['voxtral-mini-2602', 'voxtral-mini-transcribe-3', 'voxtral-small-transcribe-3'];
const LIVE_2 = 'voxtral-mini-transcribe-realtime-2602';
const LIVE_3 = 'voxtral-mini-transcribe-realtime-3';
const headers = { authorization: 'Bearer key-of-the-suite' };
const PATH = 'v1/audio/transcriptions/realtime?model=';
const refused = (message: string, code: string | null = null) => ({ object: 'error', message, type: 'x', code });
const detail = (...loc: string[]) => ({ detail: [{ loc, msg: 'their words', type: 'value_error' }] });
const update = (session: object) => ({ type: 'session.update', session });
const REFUSED = { code: 1011, last: { error: { code: 3051 } } };

testProvider({
  provider: 'mistral',
  options: {
    rows: {
      turn_detection: {
        takes: [{ min_silence_ms: 300, end_timeout_ms: null }, {}],
        refuses: [true, { threshold: 1 }],
        live: [LIVE_3],
      },
      target_streaming_delay_ms: { takes: [80, 2_400], refuses: [79, 2_401], live: [LIVE_3, LIVE_2] },
      context_bias: { takes: [['Voxgate']], refuses: ['x', ['']], live: [LIVE_3], batch: FILES },
      temperature: { takes: [0, 1], refuses: [1.1], batch: FILES },
    },
    checks: [
      [LIVE_3, { context_bias: ['two words'], target_streaming_delay_ms: 100, turn_detection: null }, true],
      [LIVE_2, { target_streaming_delay_ms: 100 }, false],
      ['voxtral-mini-2602', { context_bias: ['two words'] }, false],
    ],
  },
  live: {
    model: LIVE_3,
    sampleRate: 16_000,
    openings: [
      [{}, socketAt(`wss://api.mistral.ai/${PATH}${LIVE_3}`)],
      [{ access: inRegion('eu') }, socketAt(`wss://api.eu.mistral.ai/${PATH}${LIVE_3}`)],
    ],
    begin: [CREATED, UPDATED],
    asked: (endpoint, [update]) => ({
      ...Object.fromEntries(new URL((endpoint as { url: string }).url).searchParams),
      ...(JSON.parse(JSON.stringify(update)) as { session: object }).session,
    }),
    written: (value) => value,
    requests: [
      [{ language: 'pt-BR' }, { language: 'pt' }],
      [{ language: 'auto', diarization: true }, {}],
      [{ model: LIVE_2, language: 'de' }, {}],
      [{ sampleRate: 8_000 }, { audio_format: { encoding: 'pcm_s16le', sample_rate: 8_000 } }],
      [{ params: { turn_detection: null } }, { turn_detection: undefined }],
    ],
    audio: (frame) => appended(frame),
    timings: [
      [{}, { turnPauseMs: 1_500, endpointing: { silenceMs: Number.POSITIVE_INFINITY, longestMs: 40_000 } }],
      [{ params: { turn_detection: { min_silence_ms: 200 } } }, { turnPauseMs: 1_200 }],
      [{ params: { turn_detection: null } }, { endpointing: { silenceMs: 500, longestMs: 25_000 } }],
      [{ model: LIVE_2 }, { keepAliveMs: 8_000, endpointing: { silenceMs: 500, longestMs: 25_000 } }],
    ],
    stories,
  },
  batch: files,
  refusals: [
    [400, refused('no such model'), 'caller http_400', { message: /no such model/ }],
    [400, refused('File could not be decoded'), 'caller http_400', { file: 'caller audio_unusable' }],
    [400, refused('Input is too long'), 'caller http_400', { file: 'caller audio_too_long' }],
    [401, refused('their words', '401'), 'account 401', { message: /^(?!.*their words)/ }],
    [422, detail('body', 'context_bias'), 'caller http_422', { message: /`context_bias`.*their words/ }],
    [429, refused('slow down', '1300'), 'next 1300'],
  ],
  simulated: {
    whole: [
      [LIVE_3, ['phantom-turns'], {}],
      [LIVE_3, [], { turn_detection: null }, 1],
    ],
    ends: [[LIVE_2, ['error-after=0ms'], 1, 'retry 3000']],
    rules: {
      path: `/${PATH}${LIVE_3}`,
      headers,
      rows: {
        'a field that the model does not have': [{ query: { model: LIVE_2 } }, [update({ language: 'en' })], REFUSED],
        'speakers next to ends of turns': [{}, [update({ diarize: true, turn_detection: {} })], REFUSED],
        'a change behind audio': [{}, [appended(new Uint8Array(3)), update({})], REFUSED],
        'too much at once': [{}, [appended(new Uint8Array(262_145))], REFUSED],
        'what it does not know': [{}, [{ type: 'input_audio_buffer.commit' }], REFUSED],
      },
    },
  },
});
