// `provider_params` of OpenAI's models.
import { Type } from '@sinclair/typebox';
import {
  exactly,
  honouredBy,
  integer,
  number,
  oneOf,
  optionTable,
  text,
  texts,
  timestampGranularities,
} from '../kit/options.ts';
import type { CommonMember } from '../kit/vocabulary/conversions.ts';
import { PROMPT_WITH_TERMS, toBaseLanguages } from '../kit/vocabulary/conversions.ts';

export const ServerVad = exactly({
  type: Type.Literal('server_vad'),
  threshold: Type.Optional(number(0, 1, 'How loud speech must be; 0.5 when absent.')),
  prefix_padding_ms: Type.Optional(integer(0, 10_000, 'Audio kept before speech; 300 when absent.')),
  silence_duration_ms: Type.Optional(integer(0, 60_000, 'Silence that ends a turn; 200 when absent.')),
});

export const SemanticVad = exactly({
  type: Type.Literal('semantic_vad'),
  eagerness: Type.Optional(
    oneOf(['low', 'medium', 'high', 'auto'], 'How soon a turn is taken for complete; `auto` when absent.'),
  ),
});

const TurnDetection = Type.Union([ServerVad, SemanticVad, Type.Null()], {
  description:
    'Who ends turns in a live session, and when; null leaves it to the gateway, by silence. `semantic_vad` may be refused by OpenAI.',
});

export const Delay = oneOf(
  ['minimal', 'low', 'medium', 'high', 'xhigh'],
  'How long the model waits for more before it writes: later words are better words.',
);

export const NoiseReduction = oneOf(
  ['near_field', 'far_field'],
  'Where the microphone is. None is applied when absent.',
);

const SOME = { minItems: 1, maxLength: 200 };

const LIVE_TURNS = ['gpt-transcribe', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe', 'whisper-1'];
const FILE_4O = ['gpt-4o-transcribe', 'gpt-4o-mini-transcribe'];
const DIARIZE = ['gpt-4o-transcribe-diarize'];
const PROMPTED = ['gpt-transcribe', ...FILE_4O, 'whisper-1'];

const hints = honouredBy({ live: ['gpt-live-transcribe', 'gpt-transcribe'], batch: ['gpt-transcribe'] });
const diarize = honouredBy({ batch: DIARIZE });
/** Lists have another name in a form. */
const listed = (name: string) => ({ wire: { batch: `${name}[]` } });
/** A list of OpenAI's form, which the gateway's own form has as well. */
const field = (name: CommonMember) => ({ wire: { batch: name }, common: name });

export const options = optionTable({
  turn_detection: honouredBy({ live: LIVE_TURNS })(TurnDetection, { wire: false }),
  noise_reduction: honouredBy({ live: [...LIVE_TURNS, 'gpt-live-transcribe', 'gpt-realtime-whisper'] })(
    NoiseReduction,
    { wire: false },
  ),
  // OpenAI's types name gpt-realtime-whisper alone; gpt-live-transcribe was seen to be faster with it.
  delay: honouredBy({ live: ['gpt-live-transcribe', 'gpt-realtime-whisper'] })(Delay),
  prompt: honouredBy({ live: [...LIVE_TURNS, 'gpt-live-transcribe'], batch: PROMPTED })(
    text(8_192, 'Text in the expected style or with the expected words.'),
    { common: PROMPT_WITH_TERMS },
  ),
  languages: hints(
    Type.Array(Type.String({ pattern: '^[a-zA-Z]{2,3}$', examples: ['en'] }), {
      minItems: 1,
      maxItems: 32,
      description: 'ISO-639-1 codes of the languages that are spoken.',
    }),
    { ...listed('languages'), common: { languages: { to: toBaseLanguages } } },
  ),
  keywords: hints(texts(500, 'Names and terms that may come up.', SOME), { ...listed('keywords'), common: 'keyterms' }),
  temperature: honouredBy({ batch: [...PROMPTED, ...DIARIZE] })(number(0, 1, 'Of sampling; 0 when absent.'), {
    common: 'temperature',
  }),
  timestamp_granularities: honouredBy({ batch: ['whisper-1'] })(timestampGranularities, { wire: false }),
  chunking_strategy: honouredBy({ batch: [...FILE_4O, ...DIARIZE] })(
    Type.Union([Type.Literal('auto'), ServerVad], {
      description: 'How a file is cut. Models that tell speakers apart are always given one; `auto` when absent.',
    }),
    { common: 'chunking_strategy' },
  ),
  known_speaker_names: diarize(
    texts(4, 'Names of speakers, in the order of their references.', SOME),
    field('known_speaker_names[]'),
  ),
  known_speaker_references: diarize(
    Type.Array(Type.String({ pattern: '^data:', maxLength: 4_194_304, examples: ['data:audio/wav;base64,…'] }), {
      minItems: 1,
      maxItems: 4,
      description: 'Data URLs of 2 to 10 seconds of each of the known speakers.',
    }),
    field('known_speaker_references[]'),
  ),
  include: honouredBy({ batch: FILE_4O })(
    Type.Array(Type.Literal('logprobs'), {
      minItems: 1,
      maxItems: 1,
      description: '`logprobs` gives the transcription a confidence.',
    }),
    field('include[]'),
  ),
});
