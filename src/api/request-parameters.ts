// The query and the start message of `GET /v1/listen` and the form of `POST /v1/audio/transcriptions` as schemas, for documents: what
// each parameter means. Requests are read and checked by `live/socket` and `files/routes`, with messages of their own; a test compares
// the two.
import { type TSchema, Type } from '@sinclair/typebox';
import { FALLBACKS_MAX } from './bounds.ts';
import { Prefer, PriceOrder } from './choice.ts';
import {
  Candidate,
  CHANNELS,
  Encoding,
  Latency,
  ProviderParams,
  SAMPLE_RATE,
  SpeechGateMode,
  SUSPEND_SECONDS,
} from './listen.ts';
import { REDACT_HOLD_MS } from './redaction.ts';
import { REPLACEMENTS_MAX, Replacements } from './replacements.ts';
import { MAX_SECONDS, USD_FORM } from './request-limits.ts';
import { REGIONS } from './residency-rule.ts';
import { Tags } from './tags.ts';
import { LANGUAGE_TAG, Vocabulary } from './vocabulary.ts';

const flag = (usual: boolean, description: string) => Type.Optional(Type.Boolean({ default: usual, description }));

const texts = (description: string) =>
  Type.Optional(Type.Array(Type.String(), { description: `${description} May be repeated.` }));

const OPENAIS = 'Of OpenAI’s own API: handed to models that take it, else warned about.';

const TAGS = `By which usage is added up, and lists are filtered. ${Tags.description} Tags of the API key and the client token are added.`;

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
const chainMembers = {
  model: Type.String({
    description:
      'Slug `<provider>/<model>`; `GET /v1/models` lists them. Or an alias of your key or organisation. Or `auto`: the gateway chooses the model, and fallbacks if you name none.',
    maxLength: 128,
    examples: ['local/dictation-en'],
  }),
  fallbacks: Type.Optional(
    Type.String({
      description: `Models to use when the first one fails, in order, at most ${FALLBACKS_MAX}: slugs separated by commas, or a JSON array of slugs and objects of the schema \`Candidate\`. \`auto\` adds up to two models of other providers.`,
      examples: ['deepgram/nova-3,openai/whisper-1', '[{"model":"deepgram/nova-3","credential":"service"}]'],
    }),
  ),
  prefer: Type.Optional(Prefer),
  price: Type.Optional(PriceOrder),
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
  redact: inOneText(Vocabulary.properties.redact, ['true', 'card,email', 'pii,pci']),
  vocabulary_boost: Vocabulary.properties.vocabulary_boost,
  replace: Type.Optional(
    Type.String({
      description: `Words and phrases that are written in another way, with any model: \`from:to\`, or JSON with an object of the schema \`Replacement\` or a list of them, at most ${REPLACEMENTS_MAX} rules. May be repeated. A backslash before a colon makes it part of \`from\`. An empty \`to\` leaves the words out. Times of words follow. Rules of the API key follow these.`,
      examples: ['vox gate:Voxgate', '[{"from":"gift","to":"poison","language":"de"}]'],
    }),
  ),
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
  max_cost: Type.Optional(
    Type.String({
      pattern: USD_FORM,
      description:
        'The most that this request may be charged, in USD. A live session ends when the next audio would cost more. A file that may cost more is refused before it is sent to a provider. Your own provider keys cost nothing.',
      examples: ['0.25'],
    }),
  ),
  max_seconds: Type.Optional(
    Type.Integer({
      minimum: MAX_SECONDS.min,
      maximum: MAX_SECONDS.max,
      description: 'The longest duration of the live session, in seconds. A longer file is refused.',
      examples: [600],
    }),
  ),
  strict: flag(
    false,
    'Whether options that the model cannot honour are refused with 422, instead of causing a warning.',
  ),
  tags: Type.Optional(
    Type.String({
      description: `${TAGS} Pairs separated by commas, the first colon of each after its key, or a JSON object.`,
      examples: ['customer:acme,project:x', '{"customer":"Smith, Inc."}'],
    }),
  ),
};

export const TranscriptionForm = Type.Object(
  {
    file: Type.Optional(
      Type.String({
        format: 'binary',
        contentMediaType: 'application/octet-stream',
        description:
          'The audio: WAV, MP3, FLAC, OGG or Opus, WebM, M4A or MP4; or headerless 16-bit samples with the content type `audio/l16;rate=16000` (little-endian, one channel). Required without `audio_url`.',
      }),
    ),
    audio_url: Type.Optional(
      Type.String({
        maxLength: 8192,
        description:
          'An `https` address of the audio, such as a presigned link, instead of `file`. The gateway fetches it with one GET, without credentials, and follows up to five redirects. Its query is never logged or shown.',
      }),
    ),
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
    speech_gate: Type.Optional(
      Type.Unsafe<SpeechGateMode>({
        ...SpeechGateMode,
        description:
          'What happens to text for audio without speech, which some models invent, Whisper above all (“Thank you.”, “Subtitles by …”). The gateway looks for voices in the file while the model transcribes it. `mark`: segments and words without a voice have `no_speech`. `drop`: they are left out of the answer in every format. `off`: the gateway does not check. The default is `mark` for Whisper models and `off` for all others.',
      }),
    ),
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
    'replace[]': texts('Of `replace`, one.'),
    'keywords[]': texts('What OpenAI calls `keyterms`; here as there up to 500.'),
  },
  {
    additionalProperties: false,
    // Of `deepObject` and the like: what client libraries make of an object or a list.
    patternProperties: {
      '^(provider_params|fallbacks|chunking_strategy|tags)\\[': Type.Unknown({
        description: 'A member of that field, as client libraries write objects and lists into forms.',
      }),
    },
    description: 'A field that is empty counts as absent. Fields of OpenAI’s own API are never unknown.',
  },
);

/** What is requested of a session, in a query or in a start message. */
const parameters = {
  ...chainMembers,
  model: Type.Optional(
    Type.String({
      ...chainMembers.model,
      description: 'Slug `<provider>/<model>`, an alias, or `auto`. Required, in the URL or in a start message.',
    }),
  ),
  sample_rate: Type.Optional(
    Type.Integer({
      minimum: SAMPLE_RATE.min,
      maximum: SAMPLE_RATE.max,
      default: SAMPLE_RATE.default,
      description:
        'Sample rate of your audio, in hertz. The gateway resamples if the provider needs another rate. Opus is decoded to this rate: 8000, 12000, 16000, 24000 or 48000, independent of its recording.',
    }),
  ),
  encoding: Type.Optional(
    Type.Unsafe<Encoding>({
      ...Encoding,
      default: 'linear16',
      description: `Encoding of your audio. ${Encoding.description}`,
    }),
  ),
  channels: Type.Optional(
    Type.Integer({
      minimum: CHANNELS.min,
      maximum: CHANNELS.max,
      default: 1,
      description:
        'Number of interleaved channels in your audio: one sample of each in turn. Not with Opus. Each channel is transcribed separately, and its events contain its number as `channel`. Each takes one of the key’s session slots, holds its own money, and is billed.',
    }),
  ),
  interim_results: Type.Optional(Type.Boolean({ default: true, description: 'False: only final transcripts.' })),
  turn_events: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'True: events report the bounds of turns in the same way for all providers. `speech_started` comes before each turn, `turn_eager_end` and `turn_resumed` if the provider reports them, and `turn_ended` after each final.',
    }),
  ),
  latency: Type.Optional(
    Type.Unsafe<Latency>({
      ...Latency,
      default: 'balanced',
      description:
        'How long your audio may be batched before it is forwarded, because each frame to a provider costs the same. `low`: not at all. `throughput`: up to the provider’s preferred size (mostly 100 ms). `balanced`: not at all while the gateway is not busy, and up to the preferred size when it is. `finalize`, `close` and pauses are never delayed.',
    }),
  ),
  speech_gate: Type.Optional(
    Type.Unsafe<SpeechGateMode>({
      ...SpeechGateMode,
      description:
        'What happens to text for audio without speech: some models, Whisper above all, invent sentences such as “Thank you.” for noise, music or silence. The gateway looks for voices in the audio. `mark`: the final has `no_speech`. `drop`: it also has an empty text and no words, and the turn has no interim results. `off`: the gateway does not check. The default is `mark` for Whisper models and `off` for all others.',
    }),
  ),
  redact_hold_ms: Type.Optional(
    Type.Integer({
      minimum: REDACT_HOLD_MS.min,
      maximum: REDACT_HOLD_MS.max,
      default: REDACT_HOLD_MS.default,
      description:
        'With redaction by the gateway: milliseconds that a final may wait if it ends within what may be a number or an address. The next turn completes it. `finalize` and the end of the session send it at once.',
    }),
  ),
  return_to_primary: Type.Optional(
    Type.Boolean({
      description:
        'True: after a failover, the session returns to its first model at the end of a turn, once a connection to that model works again. It returns at most once a minute, less often if the model fails again, and `failover` reports it with the reason `returned`. The default is false, unless the gateway has another setting.',
    }),
  ),
  standby: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'True: the first fallback stays connected while the first model transcribes, so that a failover needs no dial. Only for providers that neither bill nor end a connection without audio; for others, `warnings` say that it is ignored.',
    }),
  ),
  provider_params: Type.Optional(ProviderParams),
  suspend_seconds: Type.Optional(
    Type.Integer({
      minimum: SUSPEND_SECONDS.min,
      maximum: SUSPEND_SECONDS.max,
      description:
        'Seconds without audio after which the gateway closes the connection to the provider. The next audio opens a new one, and nothing is lost. The default is 20, unless the gateway has another setting.',
    }),
  ),
};

export const ListenQuery = Type.Object(
  {
    ...parameters,
    start: Type.Optional(
      Type.Literal('message', {
        description:
          'The session begins with a first text message `{"type":"start", …}`, which carries the parameters that are not in the URL: for more of them than a URL can hold. `model` may come there as well.',
      }),
    ),
    resume: Type.Optional(
      Type.String({
        default: 'off',
        description:
          '`on`: the session waits for you when the socket breaks, 60 s where the gateway has no other setting, and `session_started` has a `resume_token`. That token: this socket goes on with its session, on any node. Where that is gone a new one is opened with the other parameters, if `model` is among them.',
      }),
    ),
    last_seq: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'With a resume token, required: the `seq` of the last event that you have had; 0 for none.',
      }),
    ),
    heard_seconds: Type.Optional(
      Type.Number({
        minimum: 0,
        description:
          'With a resume token: the `end` of the last final that you have had. A session that is new because the old one is gone says it again in `continues`, with the place in bytes.',
      }),
    ),
    api_key: Type.Optional(
      Type.String({
        description:
          'The credential, where neither the header nor the subprotocol can be used. Discouraged, and warned about: URLs are logged.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** Amounts may be numbers, and lists lists here. */
const listed = ({ languages, keyterms, redact }: typeof Vocabulary.properties) => ({
  languages: Type.Optional(Type.Union([parameters.languages, languages], { description: `${languages.description}` })),
  keyterms: Type.Optional(Type.Union([parameters.keyterms, keyterms], { description: `${keyterms.description}` })),
  redact: Type.Optional(
    Type.Union([Type.Boolean(), parameters.redact, redact], { description: `${redact.description}` }),
  ),
  replace: Type.Optional(
    Type.Union([parameters.replace, Replacements], { description: `${parameters.replace.description}` }),
  ),
  max_cost: Type.Optional(
    Type.Union([parameters.max_cost, Type.Number()], { description: `${parameters.max_cost.description}` }),
  ),
});

const tagsObject = Type.Optional(Type.Union([chainMembers.tags, Tags], { description: TAGS }));

export const StartMessage = Type.Object(
  {
    type: Type.Literal('start'),
    ...parameters,
    ...listed(Vocabulary.properties),
    tags: tagsObject,
    fallbacks: Type.Optional(
      Type.Union([chainMembers.fallbacks, Type.Array(Type.Union([Type.String(), Candidate]))], {
        description: `Models to use when the first one fails, in order, at most ${FALLBACKS_MAX}.`,
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'The first text message of a connection whose URL has `start=message`. It takes any parameter that is not already in the URL. An `error` event reports a refusal.',
  },
);

const ofForm = TranscriptionForm.properties;

/** In the place of the form, where the audio is at an address. */
export const TranscriptionObject = Type.Object(
  {
    audio_url: Type.String({ ...ofForm.audio_url }),
    ...chainMembers,
    ...listed(Vocabulary.properties),
    tags: tagsObject,
    fallbacks: StartMessage.properties.fallbacks,
    response_format: ofForm.response_format,
    temperature: ofForm.temperature,
    timestamp_granularities: ofForm['timestamp_granularities[]'],
    provider_params: ofForm.provider_params,
    speech_gate: ofForm.speech_gate,
    stream: ofForm.stream,
    chunking_strategy: Type.Optional(
      Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())], { description: OPENAIS }),
    ),
    include: ofForm['include[]'],
    known_speaker_names: ofForm['known_speaker_names[]'],
    known_speaker_references: ofForm['known_speaker_references[]'],
    keywords: ofForm['keywords[]'],
  },
  {
    additionalProperties: false,
    description: 'The same as the form, with lists and objects as JSON has them. The body has at most 256 KiB.',
  },
);
