// NVIDIA Riva: what its servers say and what that must become, for the suite of every provider.
import { objectIn } from '../../../src/vendors/kit/json.ts';
import type { Endpoint, Outgoing } from '../../../src/vendors/kit/provider.ts';
import { streamingRecognize } from '../../../src/vendors/nvidia/proto.ts';
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { closed, FINALIZE, FINISH, KEEP_ALIVE } from '../../suites/provider/story.ts';
import { testProvider } from '../../suites/provider.suite.ts';

const MODELS = ['parakeet-ctc-1.1b', 'parakeet-rnnt-1.1b-multilingual', 'nemotron-asr-streaming'];
const [MODEL = ''] = MODELS;
const everywhere = { live: MODELS, batch: MODELS };
const flags = { takes: [true, false], refuses: ['yes', 1], ...everywhere };
const milliseconds = { takes: [0, 500], refuses: [-1, 0.5, '500'], ...everywhere };
const share = { takes: [0, 0.5], refuses: [-1, 2, 'high'], ...everywhere };

const calling = (url: string, headers: Record<string, string> = {}): Endpoint => ({
  kind: 'grpc',
  url: `${url}/nvidia.riva.asr.RivaSpeechRecognition/StreamingRecognize`,
  headers: { model: MODEL, ...headers },
  method: streamingRecognize,
  pingMs: undefined,
});
const hello = (more: object): Outgoing => ({
  streamingConfig: {
    config: {
      ...{ encoding: 'LINEAR_PCM', sampleRateHertz: 16_000, audioChannelCount: 1, languageCode: 'en-US' },
      ...{ maxAlternatives: 1, enableWordTimeOffsets: true, enableAutomaticPunctuation: true, ...more },
    },
    interimResults: true,
  },
});

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
/** What a first message asks for, by the names of options. */
function asked({ headers }: { headers: Record<string, string> }, first: object): Record<string, unknown> {
  const config = objectIn(objectIn(objectIn(first).streamingConfig).config);
  const { speechContexts, endpointingConfig, diarizationConfig, ...rest } = config;
  const [context] = (speechContexts ?? []) as { phrases: string[]; boost: number }[];
  const { maxSpeakerCount, enableSpeakerDiarization } = objectIn(diarizationConfig);
  const all = {
    ...{ model: headers.model, ...rest, ...objectIn(endpointingConfig) },
    ...{ phrases: context?.phrases, boost: context?.boost, maxSpeakerCount, diarization: enableSpeakerDiarization },
  };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[snake(name), value]])),
  );
}

const word = (text: string, startTime: number, endTime: number, speakerTag = 0) => ({
  ...{ word: text, startTime, endTime, confidence: -0.3, speakerTag },
});
const said = (transcript: string, audioProcessed: number, words: object[] = [], isFinal = words.length > 0) => ({
  results: [{ alternatives: [{ transcript, confidence: -1.2, words }], isFinal, audioProcessed }],
});
const stories: readonly StoryGroup[] = [
  {
    of: 'turns',
    stories: {
      'turns with the times of their words, in milliseconds': [
        [said('two teas ', 1), 'partial 0 "two teas" 0-1'],
        [
          said('Two teas please. ', 2, [
            word('Two', 400, 800),
            word('teas', 800, 1_200),
            word('please.', 1_200, 1_600),
          ]),
          'piece 0 "Two teas please." 0.4-1.6',
          'ended 0',
        ],
        [said('and', 3), 'partial 1 "and" 1.6-3'],
        [said('And milk.', 3.5, [], true), 'piece 1 "And milk." 1.6-3.5', 'ended 1'],
        [FINISH, 'send "half-close"'],
        [closed(1000), 'finished'],
      ],
      'speakers, numbered as they appear': [
        [said('Yes.', 1, [word('Yes.', 0, 500, 2)]), 'piece 0 "Yes." 0-0.5 speaker 0', 'ended 0'],
        [said('No.', 2, [word('No.', 1_000, 1_500, 1)]), 'piece 1 "No." 1-1.5 speaker 1', 'ended 1'],
      ],
      'a final is said once; one without text is silence': [
        [said('Yes.', 1, [word('Yes.', 0, 500)]), 'piece 0 "Yes." 0-0.5', 'ended 0'],
        [said('Yes.', 1, [word('Yes.', 0, 500)])],
        [said('', 4, [], true), 'ended 1 "" 0.5-4'],
      ],
      'times begin again: the text is kept': [
        [said('Yes.', 4, [word('Yes.', 3_000, 4_000)]), 'piece 0 "Yes." 3-4', 'ended 0'],
        [said('No.', 1, [word('No.', 0, 1_000)]), 'warned place_estimated', 'piece 1 "No." 0-4', 'ended 1'],
      ],
      'the end of a turn is silence; words that were not settled are missed at the end': [
        [FINALIZE, ...Array.from({ length: 11 }, () => 'send 4000 bytes')],
        [KEEP_ALIVE, 'send 4000 bytes'],
        [said('two teas', 1), 'partial 0 "two teas" 0-1'],
        [FINISH, 'send "half-close"'],
        [KEEP_ALIVE],
        [closed(1000), 'failed retry final_missing'],
      ],
    },
  },
];

testProvider({
  provider: 'nvidia',
  options: {
    rows: {
      profanity_filter: flags,
      enable_automatic_punctuation: flags,
      verbatim_transcripts: flags,
      phrases: { takes: [['Acme', 'Initech']], refuses: [[], [''], 'Acme'], ...everywhere },
      boost: { takes: [], refuses: [-1, 21, 'high'], ...everywhere },
      max_speaker_count: { takes: [1, 8], refuses: [0, 9, '2'], ...everywhere },
      start_history: milliseconds,
      start_threshold: share,
      stop_history: milliseconds,
      stop_threshold: share,
      stop_history_eou: milliseconds,
      stop_threshold_eou: share,
      custom_configuration: { takes: [{ a: 'b' }], refuses: [{ a: 1 }, 'a'], ...everywhere },
    },
  },
  live: {
    model: MODEL,
    sampleRate: 16_000,
    openings: [
      [
        { access: { baseUrl: 'http://10.0.0.5:50051', credential: undefined } },
        calling('http://10.0.0.5:50051'),
        [hello({})],
      ],
      [
        { access: { baseUrl: 'https://grpc.nvcf.nvidia.com/?function-id=f-1', credential: 'nvapi-key' } },
        calling('https://grpc.nvcf.nvidia.com', { authorization: 'Bearer nvapi-key', 'function-id': 'f-1' }),
        [hello({})],
      ],
    ],
    asked: (endpoint, [first]) => asked(endpoint as { kind: 'grpc'; headers: Record<string, string> }, first as object),
    written: (value) => value,
    requests: [
      [{ language: 'de' }, { language_code: 'de-DE' }],
      [{ language: 'en-GB' }, { language_code: 'en-GB' }],
      [{ model: 'parakeet-rnnt-1.1b-multilingual', language: 'auto' }, {}],
      [{ diarization: true }, { diarization: true }],
      [{ params: { max_speaker_count: 3 } }, { diarization: true, max_speaker_count: 3 }],
      [{ params: { phrases: ['Acme'] } }, { phrases: ['Acme'], boost: 10 }],
      [{ params: { phrases: ['Acme'], boost: 7 } }, { phrases: ['Acme'], boost: 7 }],
    ],
    timings: [
      [{}, { turnPauseMs: 800, sessionMaxMs: undefined }],
      [{ params: { stop_history: 400 } }, { turnPauseMs: 400 }],
    ],
    stories,
    closes: [
      [4003, 'INVALID_ARGUMENT: Invalid sample rate', 'caller INVALID_ARGUMENT'],
      [4003, 'INVALID_ARGUMENT: Error: Model is not available on server', 'next model_unavailable'],
      [4005, 'NOT_FOUND: no function', 'next NOT_FOUND'],
      [4007, 'PERMISSION_DENIED: no', 'account PERMISSION_DENIED'],
      [4008, 'RESOURCE_EXHAUSTED: busy', 'next RESOURCE_EXHAUSTED'],
      [4009, 'FAILED_PRECONDITION: no', 'next FAILED_PRECONDITION'],
      [4012, 'UNIMPLEMENTED: no', 'next UNIMPLEMENTED'],
      [4016, 'UNAUTHENTICATED: no', 'account UNAUTHENTICATED'],
      ...[
        ...[[1, 'CANCELLED'] as const, [2, 'UNKNOWN'] as const, [4, 'DEADLINE_EXCEEDED'] as const],
        ...[[10, 'ABORTED'] as const, [11, 'OUT_OF_RANGE'] as const, [13, 'INTERNAL'] as const],
        [14, 'UNAVAILABLE'] as const,
      ].map(([status, name]) => [4_000 + status, `${name}: failed`, `retry ${name}`] as const),
    ],
  },
  refusals: [
    [401, { error: { status: 'UNAUTHENTICATED', message: 'No key' } }, 'account UNAUTHENTICATED'],
    [
      400,
      { error: { status: 'INVALID_ARGUMENT', message: 'Invalid languageCode.' } },
      'caller INVALID_ARGUMENT',
      { message: /languageCode/ },
    ],
  ],
  simulated: {
    whole: [
      [MODEL, ['no-words']],
      [MODEL, [], { stop_history: 300, phrases: ['Acme'], custom_configuration: { a: 'b' }, max_speaker_count: 2 }],
    ],
    ends: [
      [MODEL, ['no-model'], 1, 'next model_unavailable'],
      [MODEL, ['error-after=500ms'], 2, 'retry INTERNAL'],
      [MODEL, ['refuse=503'], 1, 'retry UNAVAILABLE'],
    ],
  },
});
