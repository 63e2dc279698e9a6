// `provider_params` of AssemblyAI, and which model honours which of them in which mode. How they are written on the wire is
// live.ts and batch.ts.
import { type TObject, Type } from '@sinclair/typebox';
import type { Mode } from '../../api/models.ts';
import { hasLive } from './models.ts';

const fraction = (description: string) => Type.Optional(Type.Number({ minimum: 0, maximum: 1, description }));
const milliseconds = (maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum, description }));
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));
const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Optional(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { description },
    ),
  );

const SILENCE_MS_MAX = 60_000;
const FILE_MS_MAX = 36_000_000;

const TURNS = {
  end_of_turn_confidence_threshold: fraction('Confidence that ends a turn; 0.4 when absent.'),
  min_turn_silence: milliseconds(
    SILENCE_MS_MAX,
    'Milliseconds of silence that end a turn the model is sure of; 400 when absent, 100 with Universal-3.',
  ),
  max_turn_silence: milliseconds(
    SILENCE_MS_MAX,
    'Milliseconds of silence that end a turn in any case; 1280 when absent, 1000 with Universal-3.',
  ),
  vad_threshold: fraction('How sure it must be that there is speech; 0.4 when absent, 0.3 with Universal-3.'),
  format_turns: flag('Punctuation and casing of finals; each is waited for a moment longer. False when absent.'),
  continuous_partials: flag('Interims also while there is no pause.'),
  interruption_delay: milliseconds(1_000, 'Milliseconds of speech before the first interim of a turn.'),
  inactivity_timeout: Type.Optional(
    Type.Integer({
      minimum: 5,
      maximum: 3_600,
      description:
        'Seconds after which AssemblyAI ends, and stops charging, a session that nothing is sent to. The gateway keeps the sessions alive that it still uses.',
    }),
  ),
};

const WORDS = {
  prompt: Type.Optional(
    Type.String({ maxLength: 4_000, description: 'What the audio is about, and how to write it.' }),
  ),
  agent_context: Type.Optional(
    Type.String({ maxLength: 1_500, description: 'What a voice agent has just said to the speaker.' }),
  ),
  mode: oneOf(['min_latency', 'balanced', 'max_accuracy'], "Latency against accuracy; the model's own when absent."),
  language_detection: flag('Detects the language and names it. Ignored where `language` names one.'),
  language_codes: Type.Optional(
    Type.Array(Type.String({ pattern: '^[a-z]{2,3}$' }), {
      minItems: 1,
      maxItems: 20,
      description: 'Languages to expect, such as ["en", "es"]; takes the place of `language`.',
    }),
  ),
  domain: oneOf(['medical-v1'], 'Vocabulary of a field. At an extra price of AssemblyAI.'),
  voice_focus: oneOf(['near-field', 'far-field'], 'Attends to one voice and lowers the others.'),
  filter_profanity: flag('Masks profanity.'),
  speaker_labels: flag('Tells speakers apart, as `diarization` does. At an extra price of AssemblyAI.'),
  max_speakers: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, description: 'At most so many speakers.' })),
  redact_pii: flag('Takes personal data out of finals. Files need `redact_pii_policies` as well.'),
  redact_pii_policies: Type.Optional(
    Type.Array(Type.String({ pattern: '^[a-z_]{1,64}$' }), {
      minItems: 1,
      maxItems: 100,
      description: 'Kinds of personal data, such as "person_name" or "email_address".',
    }),
  ),
  redact_pii_sub: oneOf(['hash', 'entity_name'], 'What stands in place of personal data.'),
};

const FILES = {
  speech_models: Type.Optional(
    Type.Array(Type.Union([Type.Literal('universal-3-pro'), Type.Literal('universal-2')]), {
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      description: 'Models that AssemblyAI falls back to, in order, where the named one does not know the language.',
    }),
  ),
  speakers_expected: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: 'How many speakers there are.' }),
  ),
  multichannel: flag('Transcribes each channel of the file for itself.'),
  disfluencies: flag('Keeps filler words. False when absent.'),
  custom_spelling: Type.Optional(
    Type.Array(
      Type.Object(
        {
          from: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 100 }),
          to: Type.String({ minLength: 1, maxLength: 200 }),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 1_000, description: 'How words are to be spelled: each of `from` as `to`.' },
    ),
  ),
  audio_start_from: milliseconds(FILE_MS_MAX, 'Milliseconds of the file to leave out at its beginning.'),
  audio_end_at: milliseconds(FILE_MS_MAX, 'Milliseconds of the file after which nothing is transcribed.'),
  punctuate: flag('Punctuation. True when absent.'),
  format_text: flag('Casing, and numbers as digits. True when absent.'),
};

const schema = (keyTermsMax: number): TObject =>
  Type.Object(
    {
      ...TURNS,
      ...WORDS,
      ...FILES,
      keyterms_prompt: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
          minItems: 1,
          maxItems: keyTermsMax,
          description: 'Words and phrases to listen for. At an extra price of AssemblyAI.',
        }),
      ),
    },
    { additionalProperties: false },
  );

const LIVE_OPTIONS = schema(100);
const BATCH_OPTIONS = schema(200);

/** The schema for a model. Key terms are bounded by what the model's smaller mode takes. */
export const optionsOf = (model: string): TObject => (hasLive(model) ? LIVE_OPTIONS : BATCH_OPTIONS);

const UNIVERSAL_3 = ['u3-rt-pro', 'universal-3-5-pro'];
const FORMATTED = ['universal-streaming-english', 'whisper-rt'];
const DETECTING = ['universal-streaming-multilingual', ...UNIVERSAL_3, 'whisper-rt'];
const STREAMING = ['universal-streaming-english', ...DETECTING];
const FILE_MODELS = ['universal-3-5-pro', 'universal-2'];

/** Which models honour an option in each mode. A model that has no such mode is named in vain. */
const HONOURED: Readonly<Record<string, Readonly<Partial<Record<Mode, readonly string[]>>>>> = {
  end_of_turn_confidence_threshold: { live: [...FORMATTED, 'universal-streaming-multilingual'] },
  min_turn_silence: { live: STREAMING },
  max_turn_silence: { live: STREAMING },
  vad_threshold: { live: STREAMING },
  format_turns: { live: FORMATTED },
  continuous_partials: { live: UNIVERSAL_3 },
  interruption_delay: { live: UNIVERSAL_3 },
  inactivity_timeout: { live: STREAMING },
  prompt: { live: UNIVERSAL_3, batch: UNIVERSAL_3 },
  agent_context: { live: UNIVERSAL_3 },
  mode: { live: UNIVERSAL_3 },
  language_detection: { live: DETECTING, batch: FILE_MODELS },
  language_codes: { live: ['universal-3-5-pro'] },
  domain: { live: STREAMING },
  voice_focus: { live: UNIVERSAL_3 },
  filter_profanity: { live: STREAMING, batch: FILE_MODELS },
  speaker_labels: { live: STREAMING, batch: FILE_MODELS },
  max_speakers: { live: STREAMING },
  redact_pii: { live: STREAMING, batch: FILE_MODELS },
  redact_pii_policies: { live: STREAMING, batch: FILE_MODELS },
  redact_pii_sub: { live: STREAMING, batch: FILE_MODELS },
  keyterms_prompt: { live: STREAMING, batch: FILE_MODELS },
  speech_models: { batch: ['universal-3-5-pro'] },
  speakers_expected: { batch: FILE_MODELS },
  multichannel: { batch: FILE_MODELS },
  disfluencies: { batch: FILE_MODELS },
  custom_spelling: { batch: ['universal-2'] },
  audio_start_from: { batch: FILE_MODELS },
  audio_end_at: { batch: FILE_MODELS },
  punctuate: { batch: FILE_MODELS },
  format_text: { batch: FILE_MODELS },
};

/** Whether a model honours an option in a mode. */
export function honours(option: string, model: string, mode: Mode): boolean {
  const row = Object.hasOwn(HONOURED, option) ? HONOURED[option] : undefined;
  return row?.[mode]?.includes(model) ?? false;
}

/** Those of the given options that the model honours in this mode. */
export function honoured(
  params: Readonly<Record<string, unknown>>,
  model: string,
  mode: Mode,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(params).filter(([option]) => honours(option, model, mode)));
}
