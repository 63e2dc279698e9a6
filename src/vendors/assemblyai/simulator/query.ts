// What a session of the simulated AssemblyAI is asked for on its URL, and what is refused of it.
import { Type } from '@sinclair/typebox';
import { members, valuesOf, wrongIn } from '../../kit/simulator/checks.ts';
import { hasLive, liveTraitsOf } from '../models.ts';

export interface SessionOptions {
  model: string;
  sampleRate: number;
  language: string | undefined;
  formatTurns: boolean;
  /** The U3 family: nothing is settled before the end of a turn, and speech is announced. */
  isUniversal3: boolean;
  /** Finals are formatted by the model. */
  formatsItself: boolean;
  speakerLabels: boolean;
  /** Who has said the last word of a turn is told behind its end. */
  speakersPending: boolean;
  languageDetection: boolean;
}

const flag = Type.Boolean();
const texts = Type.Array(Type.String());

/** What is not named here is ignored, as by the service. Its ears hear one encoding. */
const Query = members(
  {},
  {
    sample_rate: Type.Integer({ minimum: 8_000, maximum: 48_000 }),
    encoding: Type.Literal('pcm_s16le'),
    ...{ format_turns: flag, language_detection: flag, speaker_labels: flag, redact_pii: flag, filter_profanity: flag },
    ...{ keyterms_prompt: texts, language_codes: texts, redact_pii_policies: texts },
  },
  'ignored',
);

const milliseconds = Type.Integer({ minimum: 0 });
const share = Type.Number({ minimum: 0, maximum: 1 });

/** Lists are lists here, and no JSON text. */
export const Update = members(
  { type: Type.Literal('UpdateConfiguration') },
  {
    ...{ end_of_turn_confidence_threshold: share, vad_threshold: share, format_turns: flag, filter_profanity: flag },
    ...{ min_turn_silence: milliseconds, max_turn_silence: milliseconds, interruption_delay: milliseconds },
    ...{ keyterms_prompt: texts, language_codes: texts, prompt: Type.String(), agent_context: Type.String() },
  },
  'ignored',
);

const DEFAULT_MODEL = 'universal-3-6-pro';
/** It knows no confidence, and has words for silence. */
export const WHISPER = 'whisper-rt';
const ENGLISH = 'universal-streaming-english';

/** The options of a query, or what is wrong with it, in one line. */
export function optionsOf(query: URLSearchParams): SessionOptions | string {
  const model = query.get('speech_model') ?? DEFAULT_MODEL;
  if (!hasLive(model)) return `unknown speech_model ${model}`;
  const values = valuesOf(query, Query, 'json');
  const wrong = wrongIn(Query, values);
  if (wrong !== undefined) return wrong;
  const { partials, formatTurns } = liveTraitsOf(model);
  const [code] = (values.language_codes ?? []) as string[];
  return {
    model,
    sampleRate: (values.sample_rate as number | undefined) ?? 16_000,
    language: code ?? (model === ENGLISH ? 'en' : undefined),
    formatTurns: values.format_turns === true,
    isUniversal3: partials === 'transcript',
    formatsItself: !formatTurns,
    speakerLabels: values.speaker_labels === true,
    speakersPending: false,
    languageDetection: values.language_detection === true,
  };
}
