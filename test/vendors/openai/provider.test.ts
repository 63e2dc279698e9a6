// OpenAI: what its service says and what that must become, for the suite of every provider.
import type { Endpoint, Outgoing } from '../../../src/vendors/kit/provider.ts';
import type { RefusalRow } from '../../suites/provider/fixtures.ts';
import { socketAt } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { files } from './files.ts';
import { itemStories } from './items.ts';
import { options } from './options.ts';
import { CREATED, sessionStories } from './sessions.ts';

const ACCOUNT_CODES = [
  'billing_not_active',
  'billing_hard_limit_reached',
  'account_deactivated',
  'invalid_organization',
  'invalid_project',
  'authentication_error',
  'permission_error',
];

const at = (origin: string, key = 'key-of-the-suite'): Endpoint =>
  socketAt(`${origin}/v1/realtime?intent=transcription`, { authorization: `Bearer ${key}` });
const below = (baseUrl: string) => ({ access: { baseUrl, credential: 'sk-1' } });

const refusal = (status: number, error: object | undefined, is: string, message = /./): RefusalRow => [
  ...([status, error === undefined ? '<html>' : { error }, is] as const),
  { message },
];
const invalid = (error: object) => ({ type: 'invalid_request_error', code: 'invalid_value', param: 'file', ...error });
const TOO_MANY_TOKENS = 'Total number of tokens in instructions + audio is too large for this model';
/** Refusals quote the key so. */
const MASKED_KEY = 'sk-proj-********************4711';
const UNQUOTED = /^(?!.*(?:4711|sk-proj))/;

const SERVER_TURNS = { model: 'gpt-4o-transcribe' };
const BY_GATEWAY = { endpointing: { silenceMs: 500, longestMs: 30_000 } };

testProvider({
  provider: 'openai',
  options,
  live: {
    model: 'gpt-live-transcribe',
    sampleRate: 24_000,
    openings: [
      [{}, at('wss://api.openai.com')],
      // A model in the URL would make it a session of conversation.
      [{ ...SERVER_TURNS, ...below('https://proxy.example/openai/v1/') }, at('wss://proxy.example/openai', 'sk-1')],
      [below('http://127.0.0.1:8080'), at('ws://127.0.0.1:8080', 'sk-1')],
    ],
    begin: [CREATED],
    asked: (_, [update]) => settingsOf(update),
    written: (value, option) => (option === 'noise_reduction' ? { type: value } : value),
    audio: (frame) =>
      JSON.stringify({ type: 'input_audio_buffer.append', audio: Buffer.from(frame).toString('base64') }),
    requests: [
      [{ ...SERVER_TURNS, language: 'en-GB' }, { language: 'en' }],
      [{ model: 'gpt-transcribe', params: { turn_detection: null }, language: 'auto' }, { turn_detection: null }],
      // As a hint where the model takes those; the client's own hints go before its language.
      [{ language: 'fr-CA' }, { languages: ['fr'] }],
      [
        { language: 'de', params: { languages: ['de', 'en'], prompt: 'p' } },
        { languages: ['de', 'en'], prompt: 'p' },
      ],
      [{ model: 'gpt-realtime-whisper', params: { delay: 'low', turn_detection: {}, unknown: 1 } }, { delay: 'low' }],
    ],
    timings: [
      [{}, BY_GATEWAY],
      [{ model: 'gpt-realtime-whisper' }, BY_GATEWAY],
      [SERVER_TURNS, { endpointing: { silenceMs: Number.POSITIVE_INFINITY, longestMs: 40_000 } }],
      [{ ...SERVER_TURNS, params: { turn_detection: null } }, BY_GATEWAY],
      [{ ...SERVER_TURNS, params: { turn_detection: null } }, { turnPauseMs: Number.POSITIVE_INFINITY }],
      [SERVER_TURNS, { turnPauseMs: 500 }],
      [
        { ...SERVER_TURNS, params: { turn_detection: { type: 'server_vad', silence_duration_ms: 900 } } },
        { turnPauseMs: 900 },
      ],
      [{ ...SERVER_TURNS, params: { turn_detection: { type: 'semantic_vad' } } }, { turnPauseMs: 1_000 }],
    ],
    stories: [...sessionStories, ...itemStories],
    // The reason is `type.code`: the `error` before it may be lost.
    closes: [
      [3000, 'invalid_request_error.invalid_api_key', 'account invalid_api_key'],
      [3000, 'invalid_request_error', 'account close_3000'],
      [3003, '', 'account close_3003'],
      [1013, 'insufficient_quota', 'account close_1013'],
      ...ACCOUNT_CODES.map((code) => [1008, `invalid_request_error.${code}`, `account ${code}`] as const),
      [1013, 'insufficient_quota.insufficient_quota', 'account insufficient_quota'],
      [4000, 'invalid_request_error.invalid_model', 'next invalid_model'],
      [4004, 'invalid_request_error.model_not_found', 'next model_not_found'],
      [1001, 'Your session hit the maximum duration of 60 minutes.', 'retry session_expired'],
      [1001, '', 'retry close_1001'],
      [4000, 'invalid_request_error.invalid_value', 'caller invalid_value'],
      [1011, 'server_error.oops', 'retry oops'],
      [1013, 'tokens.rate_limit_exceeded', 'next rate_limit_exceeded'],
      [1008, 'why', 'next close_1008'],
      [1009, 'why', 'next close_1009'],
    ],
  },
  batch: files,
  refusals: [
    refusal(
      401,
      { code: 'invalid_api_key', message: `Incorrect API key provided: ${MASKED_KEY}.` },
      'account invalid_api_key',
      UNQUOTED,
    ),
    // It is JSON, whatever its content type says, and says its status once more.
    [
      401,
      {
        error: { type: 'invalid_request_error', code: null, param: null, message: `No bearer, or ${MASKED_KEY}.` },
        status: 401,
      },
      'account http_401',
      { message: UNQUOTED, headers: { 'content-type': 'text/plain; charset=utf-8' } },
    ],
    refusal(403, { code: 'model_not_found', message: 'm' }, 'account model_not_found'),
    refusal(404, { code: 'model_not_found', message: 'm' }, 'next model_not_found'),
    refusal(404, undefined, 'next http_404'),
    refusal(429, { code: 'rate_limit_exceeded', type: 'requests' }, 'next rate_limit_exceeded'),
    refusal(
      429,
      { code: 'rate_limit_exceeded', message: 'Slow\n\u0007down' },
      'next rate_limit_exceeded',
      /429: Slow down$/,
    ),
    refusal(429, { code: null }, 'next http_429'),
    refusal(429, { code: 'insufficient_quota', message: `${MASKED_KEY}` }, 'account insufficient_quota', UNQUOTED),
    // Limits of one model, for files.
    refusal(
      400,
      invalid({ message: 'audio duration 1500.2 seconds is longer than 1400 seconds which is the maximum' }),
      'caller audio_too_long',
    ),
    refusal(400, invalid({ message: TOO_MANY_TOKENS, code: 'input_too_large', param: null }), 'caller audio_too_long'),
    refusal(400, invalid({ message: 'Audio file might be corrupted or unsupported' }), 'caller audio_unusable'),
    refusal(400, invalid({ message: 'Unsupported file format bin' }), 'caller unsupported_format'),
    refusal(
      400,
      invalid({ message: 'Unsupported file format bin', code: null, param: null }),
      'caller unsupported_format',
    ),
    refusal(400, invalid({ message: 'm', code: 'unsupported_format' }), 'caller unsupported_format'),
    refusal(
      413,
      { type: 'server_error', code: null, message: 'Maximum content size limit (26214400) exceeded' },
      'caller http_413',
    ),
    refusal(500, { type: 'server_error', code: null }, 'retry http_500'),
  ],
  simulated: {
    whole: [
      ['gpt-live-transcribe', [], {}, 1],
      ...['gpt-transcribe', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe', 'whisper-1'].flatMap((model) => [
        [model, [], {}, 3] as const,
        [model, [], { turn_detection: null }, 1] as const,
      ]),
      ['gpt-4o-transcribe', ['out-of-order'], {}, 3],
      ['whisper-1', ['slow-complete=300'], {}, 3],
      ['gpt-live-transcribe', ['strict-order'], {}, 1],
    ],
    ends: [
      ['whisper-1', ['fail-item=2'], 5, 'retry item_failed'],
      ['whisper-1', ['limit-item=2'], 5, 'next rate_limit_exceeded'],
      ['whisper-1', ['expire-after=2000'], 5, 'retry session_expired'],
    ],
  },
});

/** What a session is set to: of the transcription, and beside it. */
function settingsOf(update: Outgoing | undefined): Readonly<Record<string, unknown>> {
  const { session } = JSON.parse(JSON.stringify(update)) as { session: { audio: { input: Record<string, object> } } };
  const { transcription, ...rest } = session.audio.input;
  return { ...transcription, ...rest };
}
