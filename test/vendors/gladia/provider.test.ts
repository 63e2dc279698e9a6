// Gladia: what its service says and what that must become, for the suite of every provider.
import type { Endpoint } from '../../../src/vendors/kit/provider.ts';
import { inRegion, jsonTo, socketAt } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { files } from './files.ts';
import { options } from './options.ts';
import { stories } from './sessions.ts';

const headers = { 'x-gladia-key': 'key-of-the-suite' };
const RECEIVED = [
  'partial_transcripts',
  'final_transcripts',
  'speech_events',
  'acknowledgments',
  'errors',
  'lifecycle_events',
];
const DECLINED = ['pre_processing_events', 'realtime_processing_events', 'post_processing_events'];
const asking = (url: string, sample_rate: number): Endpoint => ({
  kind: 'request',
  request: jsonTo(
    url,
    {
      ...{ model: 'solaria-1', encoding: 'wav/pcm', bit_depth: 16, sample_rate, channels: 1 },
      ...{ endpointing: 0.4, maximum_duration_without_endpointing: 60 },
      messages_config: Object.fromEntries([
        ...RECEIVED.map((name) => [`receive_${name}`, true]),
        ...DECLINED.map((name) => [`receive_${name}`, false]),
      ]),
    },
    headers,
  ),
});
const said = (message: string, ...validation_errors: string[]) => ({ statusCode: 400, message, validation_errors });
const SOCKET = 'wss://api.gladia.io/v2/live?token=abc';

testProvider({
  provider: 'gladia',
  options,
  live: {
    model: 'solaria-1',
    sampleRate: 16_000,
    openings: [
      [{}, asking('https://api.gladia.io/v2/live', 16_000)],
      [
        {
          sampleRate: 8_000,
          access: inRegion('us-west'),
        },
        asking('https://api.gladia.io/v2/live?region=us-west', 8_000),
      ],
    ],
    sockets: [
      [{ id: 's-1', created_at: '2026', url: SOCKET }, socketAt(SOCKET, {})],
      [{ id: 's-1', url: 'https://api.gladia.io/v2/live' }, 'next bad_answer'],
    ],
    asked: (endpoint) => {
      if (endpoint.kind !== 'request' || endpoint.request.body.kind !== 'json') throw new Error('It asks for nothing.');
      const { realtime_processing, ...json } = endpoint.request.body.json as Record<string, object>;
      return { ...json, ...realtime_processing };
    },
    written: (value) => value,
    requests: [
      [{ language: 'en-GB' }, { language_config: { languages: ['en'] } }],
      [{ language: 'auto' }, {}],
      [
        { language: 'fr', params: { languages: ['en', 'es'], code_switching: true } },
        { language_config: { languages: ['en', 'es'], code_switching: true } },
      ],
      [
        { params: { custom_vocabulary: ['a'] } },
        { custom_vocabulary: true, custom_vocabulary_config: { vocabulary: ['a'] } },
      ],
      [
        { params: { custom_spelling: { a: ['b'] } } },
        { custom_spelling: true, custom_spelling_config: { spelling_dictionary: { a: ['b'] } } },
      ],
      [{ diarization: true, params: { max_speakers: 2, unheard_of: 1 } }, {}],
    ],
    timings: [
      [{}, { unconfirmedMax: 100, connectMs: 8_000, turnPauseMs: 400, sessionMaxMs: 10_800_000, keepAliveMs: 10_000 }],
      [{ params: { endpointing: 1.5 } }, { turnPauseMs: 1_500 }],
    ],
    stories,
    closes: [
      [4401, '', 'account close_4401'],
      [4403, 'Forbidden', 'account close_4403'],
      [4429, '', 'next close_4429'],
      [4408, 'Session timed out', 'next session_refused'],
      [4500, '', 'retry close_4500'],
    ],
  },
  batch: files,
  refusals: [
    [400, said('Invalid parameter(s).', 'endpointing: too large'), 'caller http_400', { message: /endpointing/ }],
    [401, said('gladia key is incorrect'), 'account http_401'],
    [403, said('Your plan'), 'account http_403'],
    [404, said('Not found'), 'next http_404'],
    [409, said('Conflict'), 'next http_409'],
    [422, said('Unprocessable'), 'caller http_422'],
    [429, said('Too many'), 'next http_429'],
  ],
  simulated: {
    whole: [
      ['solaria-1', [], { endpointing: 1, code_switching: true, languages: ['en'] }, 3],
      ['solaria-1', ['no-end-session'], {}, 3],
    ],
    ends: [
      ['solaria-1', ['no-acknowledgments'], 30, 'next audio_unconfirmed'],
      ['solaria-1', ['refuses-audio=3'], 1, 'retry audio_refused'],
      ['solaria-1', ['close-for-good'], 2, 'next session_refused'],
      ['solaria-1', ['error-code=rate_limit_exceeded'], 2, 'next rate_limit_exceeded'],
      ['solaria-1', ['socket-elsewhere'], 1, 'next bad_answer'],
      ['solaria-1', ['refuse=503'], 1, 'retry http_503'],
      ['solaria-1', ['latency=9s'], 1, 'next connect_timeout'],
    ],
  },
});
