// `provider_params` of Gladia. Names on the wire have dots where they lie in an object; live they lie elsewhere than for files.
import { type TSchema, Type } from '@sinclair/typebox';
import { flag, fraction, honouredBy, integer, number, oneOf, optionTable, texts } from '../kit/options.ts';
import { toBaseLanguages, toRedactions } from '../kit/vocabulary/conversions.ts';

const everywhere = honouredBy({ live: true, batch: true });
const live = honouredBy({ live: true });
const files = honouredBy({ batch: true });

const term = Type.String({ minLength: 1, maxLength: 128 });
const terms = Type.Array(term, { minItems: 1, maxItems: 20 });
const members = (required: Record<string, TSchema>, optional: Record<string, TSchema>) =>
  Type.Object({ ...required, ...optional }, { additionalProperties: false, required: Object.keys(required) });
const placed = (name: string) => ({ wire: { live: `realtime_processing.${name}`, batch: name } });
const inLanguages = (name: string) => ({ wire: `language_config.${name}` });
const inSpeakers = (name: string) => ({ wire: `diarization_config.${name}` });

/** https://docs.gladia.io/chapters/audio-intelligence/named-entity-recognition, by what each is. */
const ENTITIES = {
  pii: [
    ...['NAME', 'EMAIL_ADDRESS', 'PHONE_NUMBER', 'LOCATION_ADDRESS', 'DOB', 'SSN', 'PASSPORT_NUMBER'],
    ...['DRIVER_LICENSE', 'IP_ADDRESS', 'USERNAME', 'PASSWORD', 'ACCOUNT_NUMBER'],
  ],
  pci: ['CREDIT_CARD', 'CREDIT_CARD_EXPIRATION', 'CVV', 'BANK_ACCOUNT'],
  phi: ['CONDITION', 'MEDICAL_PROCESS', 'DRUG', 'INJURY', 'BLOOD_TYPE', 'HEALTHCARE_NUMBER'],
};

export const options = optionTable({
  endpointing: live(number(0.01, 10, 'Seconds of silence that end a turn; 0.4 when absent.')),
  maximum_duration_without_endpointing: live(
    number(5, 60, 'A turn is ended after so many seconds in any case; 60 when absent.'),
  ),
  languages: everywhere(
    texts(20, 'Languages to expect; one pins it. In place of `language`.', { minItems: 1, maxLength: 3 }),
    { ...inLanguages('languages'), common: { languages: { to: toBaseLanguages } } },
  ),
  code_switching: everywhere(flag('Finds the language of each utterance anew; name the `languages` as well.'), {
    ...inLanguages('code_switching'),
    common: { languages: { to: () => true } },
  }),
  audio_enhancer: live(flag('Cleans the audio before it is heard.'), { wire: 'pre_processing.audio_enhancer' }),
  speech_threshold: live(fraction('How sure it has to be that something is speech.'), {
    wire: 'pre_processing.speech_threshold',
  }),
  custom_vocabulary: everywhere(
    Type.Array(
      Type.Union([
        term,
        members(
          { value: term },
          {
            intensity: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
            pronunciations: Type.Optional(terms),
            language: Type.Optional(term),
          },
        ),
      ]),
      { minItems: 1, maxItems: 100, description: 'Words and names to expect; an intensity of 0.4 to 0.6 is advised.' },
    ),
    {
      ...placed('custom_vocabulary_config.vocabulary'),
      common: {
        keyterms: { to: (terms) => terms.map((value) => ({ value })) },
        vocabulary_boost: {
          to: (intensity, terms) => (terms as object[] | undefined)?.map((term) => ({ ...term, intensity })),
        },
      },
    },
  ),
  custom_spelling: everywhere(
    Type.Record(term, terms, {
      maxProperties: 100,
      description: 'How words are to be spelt, with what is heard for each.',
    }),
    placed('custom_spelling_config.spelling_dictionary'),
  ),
  number_of_speakers: files(integer(1, 100, 'Files: how many speakers there are. Turns diarization on.'), {
    ...inSpeakers('number_of_speakers'),
    wholeFile: true,
  }),
  min_speakers: files(integer(1, 100, 'Files: speakers at least. Turns diarization on.'), {
    ...inSpeakers('min_speakers'),
    wholeFile: true,
  }),
  max_speakers: files(integer(1, 100, 'Files: speakers at most. Turns diarization on.'), {
    ...inSpeakers('max_speakers'),
    wholeFile: true,
  }),
  pii_redaction: files(
    texts(50, 'Files: kinds of personal data that are taken out, such as `NAME`.', { minItems: 1 }),
    {
      wire: 'pii_redaction_config.entity_types',
      common: { redact: { to: toRedactions(ENTITIES) } },
    },
  ),
  pii_format: files(oneOf(['MARKER', 'MASK'], 'Files: what stands in place of personal data.'), {
    wire: 'pii_redaction_config.processed_text_type',
  }),
  punctuation_enhanced: files(flag('Files: punctuation by a larger model.')),
});
