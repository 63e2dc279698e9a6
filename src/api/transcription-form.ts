// The form of `POST /v1/audio/transcriptions` as a schema, for documents: what each field means. Reading and checking what
// arrives is the edge's work, with words of its own; the two are compared by a test.
import { type TSchema, Type } from '@sinclair/typebox';
import { FALLBACKS_MAX } from './listen/aliases.ts';
import { LANGUAGE_TAG, Vocabulary } from './listen/vocabulary.ts';
import { ProviderParams } from './listen.ts';
import { REGIONS } from './places/place-rule.ts';

const flag = (usual: boolean, description: string) => Type.Optional(Type.Boolean({ default: usual, description }));

const texts = (description: string) =>
  Type.Optional(Type.Array(Type.String(), { description: `${description} May be repeated.` }));

const OPENAIS = 'Of OpenAI’s own API: handed to models that take it, else warned about.';

/** A list as it stands in a query or a form. */
const inOneText = ({ description = '' }: TSchema, examples: string[]) =>
  Type.Optional(
    Type.String({
      description: `${description} Separated by commas, or a JSON array; in a form also a field for each.`,
      examples,
    }),
  );

/** BCP-47 as far as its shape goes, or `auto`. */
const LANGUAGE_FORM = `^(auto|${LANGUAGE_TAG})$`;

/** What a chain of models is made of, in a form and in a query. */
export const chainMembers = {
  model: Type.String({
    description: 'Slug `<provider>/<model>`; `GET /v1/models` lists them. Or an alias of your key or organisation.',
    maxLength: 128,
    examples: ['local/commands-en'],
  }),
  fallbacks: Type.Optional(
    Type.String({
      description: `Models to use when the first one fails, in order, at most ${FALLBACKS_MAX}: slugs separated by commas, or a JSON array of slugs and objects of the schema \`Candidate\`.`,
      examples: ['deepgram/nova-3,openai/whisper-1', '[{"model":"deepgram/nova-3","credential":"service"}]'],
    }),
  ),
  language: Type.Optional(
    Type.String({
      pattern: LANGUAGE_FORM,
      description: 'BCP-47 tag of the spoken language, or `auto`; the model’s default when absent.',
      examples: ['en', 'fr-CA', 'auto'],
    }),
  ),
  diarization: flag(false, 'Whether to distinguish speakers.'),
  languages: inOneText(Vocabulary.properties.languages, ['en,fr']),
  prompt: Vocabulary.properties.prompt,
  keyterms: inOneText(Vocabulary.properties.keyterms, ['Voxgate,Zoë', '["Smith, Inc.","Zoë"]']),
  redact: inOneText(Vocabulary.properties.redact, ['true', 'pii,pci']),
  vocabulary_boost: Vocabulary.properties.vocabulary_boost,
  region: Type.Optional(
    Type.String({
      description: `Where audio may be processed: one or more of ${REGIONS.join(', ')}, separated by commas. A model or fallback that does not promise this is refused. The rule also chooses the provider’s endpoint.`,
      examples: ['eu', 'eu,uk'],
    }),
  ),
  retention: Type.Optional(
    Type.Literal('none', {
      description: '`none`: the provider keeps neither audio nor text. A model that does not promise this is refused.',
    }),
  ),
  strict: flag(
    false,
    'Whether options that the model cannot honour are refused with 422, instead of causing a warning.',
  ),
};

export const TranscriptionForm = Type.Object(
  {
    file: Type.String({
      format: 'binary',
      contentMediaType: 'application/octet-stream',
      description:
        'The audio: WAV, MP3, FLAC, OGG or Opus, WebM, M4A or MP4; or headerless 16-bit samples with the content type `audio/l16;rate=16000` (little-endian, one channel).',
    }),
    ...chainMembers,
    response_format: Type.Optional(
      Type.Union(
        [
          Type.Literal('json'),
          Type.Literal('text'),
          Type.Literal('verbose_json'),
          Type.Literal('srt'),
          Type.Literal('vtt'),
          Type.Literal('diarized_json'),
        ],
        {
          default: 'json',
          description:
            'What the answer looks like; `srt` and `vtt` are subtitles. `diarized_json` is OpenAI’s, and asks for `diarization`.',
        },
      ),
    ),
    temperature: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'Of sampling; the model’s own when absent.' }),
    ),
    'timestamp_granularities[]': Type.Optional(
      Type.Array(Type.Union([Type.Literal('word'), Type.Literal('segment')]), {
        description: 'Times that `verbose_json` shows; both when absent. May be repeated.',
      }),
    ),
    provider_params: Type.Optional(ProviderParams),
    stream: flag(false, 'Whether the text is sent as server-sent events while it is made.'),
    chunking_strategy: Type.Optional(
      Type.String({
        description: `How the file is cut: \`auto\`, or a JSON object; also as members, \`chunking_strategy[type]\`. ${OPENAIS}`,
      }),
    ),
    'include[]': texts(`\`logprobs\` shows what each token was worth. ${OPENAIS}`),
    'known_speaker_names[]': texts(`Names of speakers. ${OPENAIS}`),
    'known_speaker_references[]': texts(`A data URL of each known speaker, in the order of their names. ${OPENAIS}`),
    'languages[]': texts('Of `languages`, one.'),
    'keyterms[]': texts('Of `keyterms`, one.'),
    'redact[]': texts('Of `redact`, one.'),
    'keywords[]': texts('What OpenAI calls `keyterms`; here as there up to 500.'),
  },
  {
    additionalProperties: false,
    // Of `deepObject` and the like: what client libraries make of an object or a list.
    patternProperties: {
      '^(provider_params|fallbacks|chunking_strategy)\\[': Type.Unknown({
        description: 'A member of that field, as client libraries write objects and lists into forms.',
      }),
    },
    description: 'A field that is empty counts as absent. Fields of OpenAI’s own API are never unknown.',
  },
);
