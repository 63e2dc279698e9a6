// `provider_params` of OpenAI's models, and which model honours which of them in which mode.
import { type Static, Type } from '@sinclair/typebox';
import type { Mode } from '../../api/models.ts';

const strict = { additionalProperties: false };

export const ServerVad = Type.Object(
  {
    type: Type.Literal('server_vad'),
    threshold: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'How loud speech must be; 0.5 when absent.' }),
    ),
    prefix_padding_ms: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 10_000, description: 'Audio kept before speech; 300 when absent.' }),
    ),
    silence_duration_ms: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 60_000, description: 'Silence that ends a turn; 500 when absent.' }),
    ),
  },
  strict,
);

export const SemanticVad = Type.Object(
  {
    type: Type.Literal('semantic_vad'),
    eagerness: Type.Optional(
      Type.Union([Type.Literal('low'), Type.Literal('medium'), Type.Literal('high'), Type.Literal('auto')], {
        description: 'How soon a turn is taken for complete; `auto` when absent.',
      }),
    ),
  },
  strict,
);

const TurnDetection = Type.Union([ServerVad, SemanticVad, Type.Null()], {
  description:
    'Who ends turns in a live session, and when; null leaves it to the gateway, by silence. `semantic_vad` may be refused by OpenAI.',
});

export const Delay = Type.Union(
  [Type.Literal('minimal'), Type.Literal('low'), Type.Literal('medium'), Type.Literal('high'), Type.Literal('xhigh')],
  { description: 'How long the model waits for more before it writes: later words are better words.' },
);

export const NoiseReduction = Type.Union([Type.Literal('near_field'), Type.Literal('far_field')], {
  description: 'Where the microphone is. None is applied when absent.',
});

const Hint = Type.String({ minLength: 1, maxLength: 200 });

export const Options = Type.Object(
  {
    turn_detection: Type.Optional(TurnDetection),
    noise_reduction: Type.Optional(NoiseReduction),
    delay: Type.Optional(Delay),
    prompt: Type.Optional(
      Type.String({ maxLength: 8_192, description: 'Text in the style, or with the words, that are expected.' }),
    ),
    languages: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-zA-Z]{2,3}$' }), {
        minItems: 1,
        maxItems: 32,
        description: 'ISO-639-1 codes of the languages that are spoken.',
      }),
    ),
    keywords: Type.Optional(
      Type.Array(Hint, { minItems: 1, maxItems: 500, description: 'Names and terms that may come up.' }),
    ),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Of sampling; 0 when absent.' })),
    timestamp_granularities: Type.Optional(
      Type.Array(Type.Union([Type.Literal('word'), Type.Literal('segment')]), {
        minItems: 1,
        maxItems: 2,
        description: 'Times that are asked for; those of segments always are.',
      }),
    ),
    chunking_strategy: Type.Optional(
      Type.Union([Type.Literal('auto'), ServerVad], {
        description: 'How a file is cut. Models that tell speakers apart are always given one; `auto` when absent.',
      }),
    ),
    known_speaker_names: Type.Optional(
      Type.Array(Hint, {
        minItems: 1,
        maxItems: 4,
        description: 'Names of speakers, in the order of their references.',
      }),
    ),
    known_speaker_references: Type.Optional(
      Type.Array(Type.String({ pattern: '^data:', maxLength: 4_194_304 }), {
        minItems: 1,
        maxItems: 4,
        description: 'Data URLs of 2 to 10 seconds of each of the known speakers.',
      }),
    ),
    include: Type.Optional(
      Type.Array(Type.Literal('logprobs'), {
        minItems: 1,
        maxItems: 1,
        description: '`logprobs` gives the transcription a confidence.',
      }),
    ),
  },
  strict,
);
export type Options = Static<typeof Options>;

const LIVE_TURNS = ['gpt-transcribe', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe', 'whisper-1'];
const LIVE_HINTS = ['gpt-live-transcribe', 'gpt-transcribe'];
const FILE_4O = ['gpt-4o-transcribe', 'gpt-4o-mini-transcribe'];
const DIARIZE = ['gpt-4o-transcribe-diarize'];
const PROMPTED = ['gpt-transcribe', ...FILE_4O, 'whisper-1'];

/** Models that honour an option, by mode. */
const HONOURED: Readonly<Record<keyof Options, Partial<Record<Mode, readonly string[]>>>> = {
  turn_detection: { live: LIVE_TURNS },
  noise_reduction: { live: [...LIVE_TURNS, 'gpt-live-transcribe', 'gpt-realtime-whisper'] },
  // OpenAI's types name this model alone; others may refuse the session for it.
  delay: { live: ['gpt-realtime-whisper'] },
  prompt: { live: [...LIVE_TURNS, 'gpt-live-transcribe'], batch: PROMPTED },
  languages: { live: LIVE_HINTS, batch: ['gpt-transcribe'] },
  keywords: { live: LIVE_HINTS, batch: ['gpt-transcribe'] },
  temperature: { batch: [...PROMPTED, ...DIARIZE] },
  timestamp_granularities: { batch: ['whisper-1'] },
  chunking_strategy: { batch: [...FILE_4O, ...DIARIZE] },
  known_speaker_names: { batch: DIARIZE },
  known_speaker_references: { batch: DIARIZE },
  include: { batch: FILE_4O },
};

/** Whether a model honours an option in a mode. */
export function honours(option: string, model: string, mode: Mode): boolean {
  const models = Object.hasOwn(HONOURED, option) ? HONOURED[option as keyof Options][mode] : undefined;
  return models?.includes(model) === true;
}

/** Those of the options that the model honours in the mode. */
export function honoured(params: Readonly<Record<string, unknown>>, model: string, mode: Mode): Options {
  return Object.fromEntries(Object.entries(params).filter(([option]) => honours(option, model, mode)));
}
