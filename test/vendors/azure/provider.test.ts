// Azure: what its service says and what that must become, for the suite of every provider.
import type { Endpoint, Outgoing, SocketEndpoint } from '../../../src/vendors/kit/provider.ts';
import { socketAt } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { files } from './files.ts';
import { stories } from './sessions.ts';

const KEY = 'key-of-the-suite';
const ID = '0123456789ABCDEF0123456789ABCDEF';
const AT = 'X-RequestId: 0123456789ABCDEF0123456700000001\r\nX-Timestamp: 2026-11-23T12:00:00.000Z\r\n';
const MODELS = ['speech'];
const LIVE = { live: MODELS };
const BATCH = { batch: MODELS };
const BOTH = { ...LIVE, ...BATCH };
const at = (base: string, more = '', key = KEY): SocketEndpoint =>
  socketAt(
    `${base}/speech/recognition/conversation/cognitiveservices/v1?language=en-US&format=detailed&wordLevelTimestamps=true${more}`,
    { 'Ocp-Apim-Subscription-Key': key, 'X-ConnectionId': ID },
  );
const text = (path: string, body: object) =>
  `Path: ${path}\r\n${AT}Content-Type: application/json\r\n\r\n${JSON.stringify(body)}`;
const source = {
  ...{ bitspersample: 16, channelcount: 1, connectivity: 'Unknown', manufacturer: 'Voxgate', model: 'Voxgate' },
  ...{ samplerate: 16_000, type: 'Stream' },
};
const HELLO: Outgoing[] = [
  text('speech.config', {
    context: {
      system: { name: 'Voxgate', version: '1', build: 'JavaScript', lang: 'JavaScript' },
      os: { platform: 'Node', name: 'Voxgate', version: '1' },
      audio: { source },
    },
    recognition: 'conversation',
  }),
  text('speech.context', {
    phraseDetection: { language: 'en-US', mode: 'Conversation', conversation: { segmentation: { mode: 'Normal' } } },
    phraseOutput: { format: 'Detailed', detailed: { options: ['WordTimings'] } },
  }),
  Buffer.concat([
    Buffer.from([0, 126]),
    Buffer.from(`Path: audio\r\n${AT}Content-Type: audio/x-wav\r\n`),
    Buffer.from('524946460000000057415645666d74201000000001000100803e0000007d00000200100064617461' + '00000000', 'hex'),
  ]),
];
const access = (fields: Record<string, string>) => ({ access: { baseUrl: undefined, credential: undefined, fields } });

/** The query, and of the context what no query says. */
function asked(endpoint: Endpoint, frames: readonly Outgoing[]): Record<string, unknown> {
  if (endpoint.kind !== 'websocket') throw new Error('It has no WebSocket.');
  const url = new URL(endpoint.url);
  const query = Object.fromEntries(url.searchParams);
  const context = JSON.parse(String(frames[1]).split('\r\n\r\n')[1] ?? '');
  return {
    path: url.pathname,
    ...query,
    true_text: query.postprocessing === 'TrueText' ? 'true' : 'false',
    segmentation: context.phraseDetection.conversation.segmentation,
    phrases: context.dgi?.groups[0].items.map((item: { text: string }) => item.text),
    'language of phrases': context.phraseDetection.language,
  };
}

testProvider({
  provider: 'azure',
  options: {
    rows: {
      phrases: { takes: [['Voxgate', 'two teas']], refuses: ['Voxgate', ['']], ...BOTH },
      profanity: { takes: ['masked', 'removed', 'raw'], refuses: ['none'], ...BOTH },
      segmentation_silence_ms: {
        takes: [100, 5_000],
        refuses: [99, 5_001],
        ...LIVE,
        at: 'segmentationSilenceTimeoutMs',
      },
      segmentation_strategy: {
        takes: ['Default', 'Time', 'Semantic'],
        refuses: ['semantic'],
        ...LIVE,
        at: 'segmentationStrategy',
      },
      stable_partial_threshold: { takes: [1, 20], refuses: [0], ...LIVE, at: 'stableIntermediateThreshold' },
      true_text: { takes: [true, false], refuses: ['yes'], ...LIVE },
      custom_endpoint_id: { takes: ['0f4e'], refuses: [7], ...LIVE, at: 'cid' },
      max_speakers: { takes: [2, 36], refuses: [1, 37], ...BATCH },
      locales: { takes: [['en-US', 'de-DE']], refuses: ['en-US'], ...BATCH },
    },
  },
  live: {
    model: 'speech',
    sampleRate: 16_000,
    openings: [
      [{}, at('wss://eastus.stt.speech.microsoft.com'), HELLO],
      [access({ key: 'own', region: 'westeurope' }), at('wss://westeurope.stt.speech.microsoft.com', '', 'own'), HELLO],
      [access({ key: 'own', region: 'chinaeast2' }), at('wss://chinaeast2.stt.speech.azure.cn', '', 'own'), HELLO],
      [
        access({ key: 'own', region: 'usgovvirginia', resource: 'us', endpoint_id: '4-e' }),
        at('wss://us.cognitiveservices.azure.com/stt', '&cid=4-e', 'own'),
        HELLO,
      ],
    ],
    asked,
    written: (value) => (Array.isArray(value) ? value : String(value)),
    audio: (frame) => Buffer.concat([Buffer.from([0, 99]), Buffer.from(`Path: audio\r\n${AT}`), Buffer.from(frame)]),
    requests: [
      [{ language: 'auto' }, {}],
      [{ language: 'de' }, { language: 'de-DE', 'language of phrases': 'de-DE' }],
      [{ language: 'en-gb' }, { language: 'en-GB', 'language of phrases': 'en-GB' }],
      [{ language: 'no' }, { language: 'nb-NO', 'language of phrases': 'nb-NO' }],
      [{ language: 'tlh' }, { language: 'tlh', 'language of phrases': 'tlh' }],
      [
        { params: { segmentation_silence_ms: 900 } },
        {
          segmentationSilenceTimeoutMs: '900',
          segmentation: { mode: 'Custom', segmentationSilenceTimeoutMs: 900 },
        },
      ],
      [
        { params: { segmentation_strategy: 'Semantic', max_speakers: 2, unheard_of: 1 } },
        {
          segmentationStrategy: 'Semantic',
          segmentation: { mode: 'Semantic' },
        },
      ],
    ],
    timings: [
      [{}, { speedMax: 2, burstMs: 5_000, turnPauseMs: 650, sessionMaxMs: 600_000, keepAliveMs: 60_000 }],
      [{ params: { segmentation_silence_ms: 900 } }, { turnPauseMs: 900 }],
      [{ params: { segmentation_strategy: 'Semantic' } }, { turnPauseMs: 2_000 }],
    ],
    stories,
    closes: [
      [1002, '', 'caller close_1002'],
      [1003, '', 'caller close_1003'],
      [1007, 'Bad request', 'caller close_1007'],
      [4000, '', 'caller close_4000'],
    ],
  },
  batch: files,
  refusals: [
    [400, { code: 'InvalidRequest', message: 'locales: bad' }, 'caller InvalidRequest', { message: /locales/ }],
    [401, { error: { code: '401', message: 'Access denied' } }, 'account 401'],
    [403, { code: 'Forbidden', message: 'No' }, 'account Forbidden'],
    [
      422,
      { code: 'UnprocessableEntity', message: 'No', innerError: { code: 'InvalidAudioFormat' } },
      'caller InvalidAudioFormat',
      { file: 'caller audio_unusable' },
    ],
    [429, { code: 'TooManyRequests', message: 'Resource Exhausted' }, 'next TooManyRequests'],
    [503, { code: 'ServiceUnavailable', message: 'Later' }, 'retry ServiceUnavailable'],
  ],
  simulated: {
    whole: [
      ['speech', ['lower-case'], { segmentation_silence_ms: 500, phrases: ['Voxgate'] }, 3],
      ['speech', ['ends-requests=1.25'], {}, 5],
      ['speech', ['ends-requests=1.25', 'latency=300ms'], {}, 5],
    ],
    ends: [
      ['speech', ['status=TooManyRequests'], 3, 'next TooManyRequests'],
      ['speech', ['refuse=401'], 1, 'account Unauthorized'],
    ],
  },
});
