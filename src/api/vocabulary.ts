// What a request may say of its speech in the same words for every vendor: the gateway maps each member to the way of each model
// of the chain. What is left are options of one vendor, in `provider_params`.
import { type Static, Type } from '@sinclair/typebox';
import { REDACTION_CLASSES, type RedactionClass, VENDOR_REDACTIONS, type VendorRedaction } from './redaction.ts';

export const KEYTERMS_MAX = 100;
export const KEYTERM_LENGTH_MAX = 128;
export const LANGUAGES_MAX = 32;
export const PROMPT_LENGTH_MAX = 10_000;

/** BCP-47 as far as its shape goes. */
export const LANGUAGE_TAG = '[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}';

export type Redaction = VendorRedaction | RedactionClass;
export const REDACTIONS: readonly Redaction[] = [...VENDOR_REDACTIONS, ...REDACTION_CLASSES];
export const Redaction = Type.Unsafe<Redaction>(Type.Union(REDACTIONS.map((each) => Type.Literal(each))));

/** Members of a request that are absent where they are not requested. */
export const Vocabulary = Type.Object({
  languages: Type.Optional(
    Type.Array(Type.String({ pattern: `^${LANGUAGE_TAG}$`, examples: ['en', 'fr-CA'] }), {
      maxItems: LANGUAGES_MAX,
      description:
        'BCP-47 tags of the languages that may be spoken. If `language` is also set, it comes first. A model that accepts only one language detects it, or gets the first.',
    }),
  ),
  prompt: Type.Optional(
    Type.String({
      maxLength: PROMPT_LENGTH_MAX,
      description: 'Text in the expected style or with the expected words.',
    }),
  ),
  keyterms: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: KEYTERM_LENGTH_MAX }), {
      maxItems: KEYTERMS_MAX,
      description: 'Names and terms that may occur. Put the most important first: some models accept fewer.',
    }),
  ),
  redact: Type.Optional(
    Type.Array(Redaction, {
      description:
        'The data to redact. By the model, if it can: personal data (`pii`, or `true`), card data (`pci`), health data (`phi`), `numbers`. By the gateway, with any model: `card`, `iban`, `phone`, `email`, `national_id`, `date_of_birth`; `name` and `address`, if the operator has a service for them. `pii` includes all of these, and `pci` includes `card`. A key or an organisation may demand more.',
    }),
  ),
  vocabulary_boost: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'How strongly to favour `keyterms`, if the model supports it; the model’s default when absent.',
    }),
  ),
});
export type Vocabulary = Static<typeof Vocabulary>;

/** The same, with those fields of OpenAI's form that are options of some models. */
export interface Common extends Vocabulary {
  temperature?: number;
  chunking_strategy?: unknown;
  'include[]'?: unknown;
  'known_speaker_names[]'?: unknown;
  'known_speaker_references[]'?: unknown;
}

/** A member of the request that a model is not asked as it stands. */
const Member = Type.Object({
  param: Type.String({ description: 'Its name.' }),
  message: Type.String({ description: 'A message for people. It may change.' }),
});

export const AskedOfModels = Type.Array(
  Type.Object({
    model: Type.String({ description: 'Slug `<provider>/<model>`.' }),
    honoured: Type.Array(Type.String(), { description: 'Applied as requested, under the provider’s own name.' }),
    mapped: Type.Array(Member, { description: 'Applied in another way or in part. The message says how.' }),
    dropped: Type.Array(Member, { description: 'Not sent to the model.' }),
    redaction: Type.Optional(
      Type.Object(
        {
          by_model: Type.Array(Type.String(), { description: 'Kinds that the model redacts.' }),
          by_gateway: Type.Array(Redaction, { description: 'Classes that the gateway redacts in its text.' }),
        },
        { description: 'Who redacts what. Absent if nothing is redacted.' },
      ),
    ),
  }),
  {
    description:
      'How the first model, and then each fallback, applies `language`, `languages`, `prompt`, `keyterms`, `diarization`, `redact` and `vocabulary_boost`, if the request has them.',
  },
);
