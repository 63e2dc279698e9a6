// Google: what its service says and what that must become, for the suite of every provider.
import { streamingRecognize } from '../../../src/vendors/google/proto.ts';
import type { Endpoint, Outgoing } from '../../../src/vendors/kit/provider.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { files, options, written } from './options.ts';
import { stories } from './stories.ts';

const calling = (host: string, recognizer: string, headers: Record<string, string>): Endpoint => ({
  kind: 'grpc',
  url: `${host}/google.cloud.speech.v2.Speech/StreamingRecognize`,
  headers: { ...headers, 'x-goog-request-params': `recognizer=${encodeURIComponent(recognizer)}` },
  method: streamingRecognize,
  pingMs: 30_000,
});
const hello = (recognizer: string, config: object): Outgoing => ({
  recognizer,
  streamingConfig: {
    config: {
      explicitDecodingConfig: { encoding: 'LINEAR16', sampleRateHertz: 16_000, audioChannelCount: 1 },
      ...config,
    },
    streamingFeatures: { interimResults: true, enableVoiceActivityEvents: true },
  },
});
const times = { enableWordTimeOffsets: true, enableWordConfidence: true };
const fields = { project_id: 'acme', region: 'eu' };
const said = (code: number, status: string, message: string) => ({ error: { code, message, status } });
const ACME = 'projects/acme/locations/eu/recognizers/_';
const NOBODY = 'projects/-/locations/global/recognizers/_';

testProvider({
  provider: 'google',
  options,
  live: {
    model: 'long',
    sampleRate: 16_000,
    openings: [
      [
        {},
        calling('https://speech.googleapis.com', NOBODY, { 'x-goog-api-key': 'key-of-the-suite' }),
        [
          hello(NOBODY, {
            ...{ model: 'long', languageCodes: ['en-US'] },
            features: { enableAutomaticPunctuation: true, ...times },
          }),
        ],
      ],
      [
        { model: 'chirp_3', access: { baseUrl: undefined, credential: 'a.signed.token', fields } },
        calling('https://eu-speech.googleapis.com', ACME, { authorization: 'Bearer a.signed.token' }),
        [
          hello(ACME, {
            ...{ model: 'chirp_3', languageCodes: ['auto'] },
            features: { enableAutomaticPunctuation: true },
          }),
        ],
      ],
    ],
    asked: (_, [first]) => {
      const { streamingConfig } = first as { streamingConfig: { config: object; streamingFeatures: object } };
      return { ...streamingConfig.config, ...streamingConfig.streamingFeatures };
    },
    written,
    requests: [
      [{ language: 'fr' }, { languageCodes: ['fr-FR'] }],
      [{ language: 'en-GB' }, { languageCodes: ['en-GB'] }],
      [{ language: 'zh' }, { languageCodes: ['cmn-Hans-CN'] }],
      [{ language: 'zh-TW' }, { languageCodes: ['cmn-Hant-TW'] }],
      [{ language: 'xx-nonsense-0' }, { languageCodes: ['xx-nonsense-0'] }],
      [{ model: 'chirp_2', language: 'auto' }, {}],
      [{ language: 'de', params: { language_codes: ['fr-FR', 'de-DE'] } }, { languageCodes: ['de-DE', 'fr-FR'] }],
      [
        { params: { phrases: ['Acme'], boost: 7 } },
        { adaptation: { phraseSets: [{ inlinePhraseSet: { phrases: [{ value: 'Acme' }], boost: 7 } }] } },
      ],
    ],
    timings: [
      [{}, { sessionMaxMs: 300_000, turnPauseMs: 1_500, keepAliveMs: 4_000 }],
      [{ params: { endpointing_sensitivity: 'SUPERSHORT' } }, { turnPauseMs: 500 }],
    ],
    stories,
    closes: [
      [4003, 'INVALID_ARGUMENT: Invalid value', 'caller INVALID_ARGUMENT'],
      [4003, 'INVALID_ARGUMENT: API key not valid.', 'account INVALID_ARGUMENT'],
      [4005, 'NOT_FOUND: no model', 'next NOT_FOUND'],
      [4007, 'PERMISSION_DENIED: no', 'account PERMISSION_DENIED'],
      [4008, 'RESOURCE_EXHAUSTED: quota', 'next RESOURCE_EXHAUSTED'],
      [4009, 'FAILED_PRECONDITION: no', 'next FAILED_PRECONDITION'],
      [4010, 'ABORTED: Stream timed out', 'retry ABORTED'],
      [4011, 'OUT_OF_RANGE: Exceeded', 'retry OUT_OF_RANGE'],
      [4012, 'UNIMPLEMENTED: no', 'next UNIMPLEMENTED'],
      [4013, 'INTERNAL: failed', 'retry INTERNAL'],
      [4014, 'UNAVAILABLE: Connection dropped', 'retry UNAVAILABLE'],
      [4001, 'CANCELLED: by the server', 'retry CANCELLED'],
      [4004, 'DEADLINE_EXCEEDED: late', 'retry DEADLINE_EXCEEDED'],
      [4002, 'UNKNOWN: what', 'retry UNKNOWN'],
      [4016, 'UNAUTHENTICATED: no', 'account UNAUTHENTICATED'],
    ],
  },
  batch: files,
  refusals: [
    [
      400,
      said(400, 'INVALID_ARGUMENT', "Invalid value at 'config.model'."),
      'caller INVALID_ARGUMENT',
      { message: /config\.model/ },
    ],
    [
      400,
      said(400, 'INVALID_ARGUMENT', 'Audio can be of a maximum of 60 seconds.'),
      'caller INVALID_ARGUMENT',
      { file: 'caller audio_too_long' },
    ],
    [
      400,
      said(400, 'INVALID_ARGUMENT', 'Request payload size exceeds the limit: 10485760 bytes.'),
      'caller INVALID_ARGUMENT',
      { file: 'caller file_too_large' },
    ],
    [
      400,
      said(400, 'INVALID_ARGUMENT', 'Audio data is not in a supported encoding.'),
      'caller INVALID_ARGUMENT',
      { file: 'caller audio_unusable' },
    ],
    [400, said(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'), 'account INVALID_ARGUMENT'],
    [401, said(401, 'UNAUTHENTICATED', 'No token'), 'account UNAUTHENTICATED'],
    [403, said(403, 'PERMISSION_DENIED', 'No billing'), 'account PERMISSION_DENIED'],
    [404, said(404, 'NOT_FOUND', 'No such model'), 'next NOT_FOUND'],
    [429, said(429, 'RESOURCE_EXHAUSTED', 'Quota'), 'next RESOURCE_EXHAUSTED'],
    [503, said(503, 'UNAVAILABLE', 'Not now'), 'retry UNAVAILABLE'],
  ],
  simulated: {
    whole: [
      ['long', ['no-words', 'no-voice-activity']],
      ['chirp_3', [], { endpointing_sensitivity: 'SHORT', phrases: ['Acme'], denoise_audio: true }],
    ],
    ends: [
      ['long', ['invalid-config'], 1, 'caller INVALID_ARGUMENT'],
      ['long', ['close-after=1s:4010'], 2, 'retry close_4010'],
      ['long', ['error-after=500ms'], 2, 'retry INTERNAL'],
    ],
  },
});
