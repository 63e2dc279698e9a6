// `provider_params` of AssemblyAI.
import { type TSchema, Type } from '@sinclair/typebox';
import { exactly, flag, fraction, honouredBy, integer, oneOf, optionTable, text, texts } from '../kit/options.ts';
import type { Place } from '../kit/vocabulary/conversions.ts';
import { toBaseLanguages, toRedactions } from '../kit/vocabulary/conversions.ts';
import { FILE_MODELS, hasLive, LIVE_MODELS } from './models.ts';

const UNIVERSAL_3 = ['u3-rt-pro', 'universal-3-5-pro', 'universal-3-6-pro'];
const FORMATTED = ['universal-streaming-english', 'whisper-rt'];
const FILES_ALONE = FILE_MODELS.filter((model) => !hasLive(model));

const streaming = honouredBy({ live: LIVE_MODELS });
const universal3 = honouredBy({ live: UNIVERSAL_3 });
const everywhere = honouredBy({ live: LIVE_MODELS, batch: FILE_MODELS });
const files = honouredBy({ batch: FILE_MODELS });

const list = (items: TSchema, maxItems: number, description: string) =>
  Type.Array(items, { minItems: 1, maxItems, description });

const keyTerms = (maxItems: number) =>
  texts(maxItems, 'Words and phrases to listen for. At an extra price of AssemblyAI.', { minItems: 1, maxLength: 200 });

const SILENCE_MS_MAX = 60_000;
const FILE_MS_MAX = 36_000_000;
/** https://www.assemblyai.com/docs/pre-recorded-audio/redact-pii-from-transcripts, by what each is. */
const POLICIES = {
  pii: [
    ...['person_name', 'email_address', 'phone_number', 'location', 'date_of_birth', 'us_social_security_number'],
    ...['passport_number', 'drivers_license', 'ip_address', 'username', 'password', 'account_number'],
  ],
  pci: ['credit_card_number', 'credit_card_expiration', 'credit_card_cvv', 'banking_information'],
  phi: ['medical_condition', 'medical_process', 'drug', 'injury', 'blood_type', 'healthcare_number'],
  numbers: ['number_sequence'],
};

/** Longer ones are not listened for: 6 words, and live 50 characters. https://www.assemblyai.com/docs/keyterms-prompting */
const heardTerms = (terms: readonly string[], _: unknown, { mode }: Place) =>
  terms.every((term) => term.split(/\s+/).length <= 6 && (mode === 'batch' || term.length <= 50)) ? terms : undefined;

const CODEC_WRITES = { wire: false } as const;

export const options = optionTable({
  end_of_turn_confidence_threshold: honouredBy({ live: [...FORMATTED, 'universal-streaming-multilingual'] })(
    fraction('Confidence that ends a turn; 0.4 when absent.'),
  ),
  min_turn_silence: streaming(
    integer(
      0,
      SILENCE_MS_MAX,
      'Milliseconds of silence that end a turn the model is sure of; 400 when absent, 100 with Universal-3.',
    ),
  ),
  max_turn_silence: streaming(
    integer(
      0,
      SILENCE_MS_MAX,
      'Milliseconds of silence that end a turn in any case; 1280 when absent, 1000 with Universal-3.',
    ),
  ),
  vad_threshold: streaming(
    fraction('How sure it must be that there is speech; 0.4 when absent, 0.3 with Universal-3.'),
  ),
  format_turns: honouredBy({ live: FORMATTED })(
    flag('Punctuation and casing of finals; each is waited for a moment longer. False when absent.'),
  ),
  continuous_partials: universal3(flag('Interims also while there is no pause.')),
  interruption_delay: universal3(integer(0, 1_000, 'Milliseconds of speech before the first interim of a turn.')),
  inactivity_timeout: streaming(
    integer(
      5,
      3_600,
      'Seconds after which AssemblyAI ends, and stops charging, a session that nothing is sent to. The gateway keeps the sessions alive that it still uses.',
    ),
  ),
  prompt: honouredBy({ live: UNIVERSAL_3, batch: UNIVERSAL_3 })(
    text(4_000, 'What the audio is about, and how to write it.'),
    { common: { prompt: { inUrl: ['live'] } } },
  ),
  agent_context: universal3(text(1_500, 'What a voice agent has just said to the speaker.')),
  mode: universal3(
    oneOf(['min_latency', 'balanced', 'max_accuracy'], "Latency against accuracy; the model's own when absent."),
  ),
  language_detection: honouredBy({
    live: LIVE_MODELS.filter((model) => model !== 'universal-streaming-english'),
    batch: FILE_MODELS,
  })(flag('Detects the language and names it. Ignored where `language` names one.'), CODEC_WRITES),
  language_codes: honouredBy({ live: ['universal-3-5-pro', 'universal-3-6-pro'] })(
    list(
      Type.String({ pattern: '^[a-z]{2,3}$', examples: ['en'] }),
      20,
      'Languages to expect, such as ["en", "es"]; takes the place of `language`.',
    ),
    { ...CODEC_WRITES, common: { languages: { to: toBaseLanguages } } },
  ),
  domain: streaming(oneOf(['medical-v1'], 'Vocabulary of a field. At an extra price of AssemblyAI.')),
  voice_focus: universal3(oneOf(['near-field', 'far-field'], 'Attends to one voice and lowers the others.')),
  filter_profanity: everywhere(flag('Masks profanity.')),
  speaker_labels: everywhere(
    flag('Tells speakers apart, as `diarization` does. At an extra price of AssemblyAI.'),
    CODEC_WRITES,
  ),
  max_speakers: streaming(integer(1, 10, 'At most so many speakers.')),
  redact_pii: everywhere(flag('Takes personal data out of finals. Files need `redact_pii_policies` as well.'), {
    common: { redact: { to: () => true } },
  }),
  redact_pii_policies: everywhere(
    list(
      Type.String({ pattern: '^[a-z_]{1,64}$', examples: ['phone_number'] }),
      100,
      'Kinds of personal data, such as "person_name" or "email_address".',
    ),
    { common: { redact: { to: toRedactions(POLICIES) } } },
  ),
  redact_pii_sub: everywhere(oneOf(['hash', 'entity_name'], 'What stands in place of personal data.')),
  speech_models: honouredBy({ batch: ['universal-3-5-pro'] })(
    Type.Array(Type.Union([Type.Literal('universal-3-pro'), Type.Literal('universal-2')]), {
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      description: 'Models that AssemblyAI falls back to, in order, where the named one does not know the language.',
    }),
    CODEC_WRITES,
  ),
  speakers_expected: files(integer(1, 100, 'How many speakers there are.')),
  multichannel: files(flag('Transcribes each channel of the file for itself.'), { wholeFile: true }),
  disfluencies: files(flag('Keeps filler words. False when absent.')),
  custom_spelling: honouredBy({ batch: FILES_ALONE })(
    list(
      exactly({
        from: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 100 }),
        to: Type.String({ minLength: 1, maxLength: 200 }),
      }),
      1_000,
      'How words are to be spelled: each of `from` as `to`.',
    ),
  ),
  audio_start_from: files(integer(0, FILE_MS_MAX, 'Milliseconds of the file to leave out at its beginning.'), {
    wholeFile: true,
  }),
  audio_end_at: files(integer(0, FILE_MS_MAX, 'Milliseconds of the file after which nothing is transcribed.'), {
    wholeFile: true,
  }),
  punctuate: files(flag('Punctuation. True when absent.')),
  format_text: files(flag('Casing, and numbers as digits. True when absent.')),
  // Bounded by what a model's smaller mode takes.
  keyterms_prompt: everywhere(keyTerms(100), {
    other: { models: FILES_ALONE, schema: keyTerms(200) },
    common: { keyterms: { to: heardTerms, inUrl: ['live'] } },
  }),
});
