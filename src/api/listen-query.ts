// The query of `GET /v1/listen` and the start message as schemas, for documents: what each parameter means. Reading and checking
// what arrives is the edge's work, with words of its own; the two are compared by a test.
import { Type } from '@sinclair/typebox';
import { FALLBACKS_MAX } from './listen/aliases.ts';
import { Vocabulary } from './listen/vocabulary.ts';
import { Candidate, CHANNELS, Encoding, Latency, ProviderParams, SAMPLE_RATE, SUSPEND_SECONDS } from './listen.ts';
import { chainMembers } from './transcription-form.ts';

/** What a session is asked for, in a query or in a start message. */
const parameters = {
  ...chainMembers,
  model: Type.Optional(
    Type.String({
      ...chainMembers.model,
      description: 'Slug `<provider>/<model>`. Required, in the URL or in a start message.',
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

/** Lists may be lists here. */
const listed = ({ languages, keyterms, redact }: typeof Vocabulary.properties) => ({
  languages: Type.Optional(Type.Union([parameters.languages, languages], { description: `${languages.description}` })),
  keyterms: Type.Optional(Type.Union([parameters.keyterms, keyterms], { description: `${keyterms.description}` })),
  redact: Type.Optional(
    Type.Union([Type.Boolean(), parameters.redact, redact], { description: `${redact.description}` }),
  ),
});

export const StartMessage = Type.Object(
  {
    type: Type.Literal('start'),
    ...parameters,
    ...listed(Vocabulary.properties),
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
