// What a request may say of its speech in the same words for every vendor: the gateway maps each member to the way of each model
// of the chain. What is left are options of one vendor, in `provider_params`.
import { type Static, Type } from '@sinclair/typebox';

export const KEYTERMS_MAX = 100;
export const KEYTERM_LENGTH_MAX = 128;
export const LANGUAGES_MAX = 32;
export const PROMPT_LENGTH_MAX = 10_000;

/** BCP-47 as far as its shape goes. */
export const LANGUAGE_TAG = '[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}';

export const Redaction = Type.Union([
  Type.Literal('pii'),
  Type.Literal('pci'),
  Type.Literal('phi'),
  Type.Literal('numbers'),
]);
export type Redaction = Static<typeof Redaction>;
export const REDACTIONS = Redaction.anyOf.map((each) => each.const);

/** Members of a request that are absent where they are not asked for. */
export const Vocabulary = Type.Object({
  languages: Type.Optional(
    Type.Array(Type.String({ pattern: `^${LANGUAGE_TAG}$`, examples: ['en', 'fr-CA'] }), {
      maxItems: LANGUAGES_MAX,
      description:
        'BCP-47 tags of languages that may be spoken. With `language` as well, that is the first of them; a model that cannot be told several detects, or is told the first.',
    }),
  ),
  prompt: Type.Optional(
    Type.String({
      maxLength: PROMPT_LENGTH_MAX,
      description: 'Text in the style, or with the words, that are expected.',
    }),
  ),
  keyterms: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: KEYTERM_LENGTH_MAX }), {
      maxItems: KEYTERMS_MAX,
      description: 'Names and terms that may come up. Put the ones that matter most first: some models take fewer.',
    }),
  ),
  redact: Type.Optional(
    Type.Array(Redaction, {
      description:
        'What is blacked out: personal data (`pii`; `true` means that), data of cards (`pci`), of health (`phi`), or `numbers`.',
    }),
  ),
  vocabulary_boost: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'How much likelier `keyterms` are made, where a model can be told; its own measure when absent.',
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
  message: Type.String({ description: 'For people: it may change.' }),
});

export const AskedOfModels = Type.Array(
  Type.Object({
    model: Type.String({ description: 'Slug `<provider>/<model>`.' }),
    honoured: Type.Array(Type.String(), { description: 'As it was asked for, whatever the vendor calls it.' }),
    mapped: Type.Array(Member, { description: 'In another way, or less of it, as the message says.' }),
    dropped: Type.Array(Member, { description: 'The model does not hear of it.' }),
  }),
  {
    description:
      'What the first model, and then each fallback, is asked of `language`, `languages`, `prompt`, `keyterms`, `diarization`, `redact` and `vocabulary_boost`, where the request has them.',
  },
);
