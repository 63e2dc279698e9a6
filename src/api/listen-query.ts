// The query of `GET /v1/listen` as a schema, for documents: what each parameter means. Reading and checking what arrives is the
// edge's work, with words of its own; the two are compared by a test.
import { Type } from '@sinclair/typebox';
import { Encoding, ProviderParams, SAMPLE_RATE, SUSPEND_SECONDS } from './listen.ts';
import { chainMembers } from './transcription-form.ts';

export const ListenQuery = Type.Object(
  {
    ...chainMembers,
    sample_rate: Type.Optional(
      Type.Integer({
        minimum: SAMPLE_RATE.min,
        maximum: SAMPLE_RATE.max,
        default: SAMPLE_RATE.default,
        description: 'Hertz of the audio that you send. It is resampled where the provider needs another rate.',
      }),
    ),
    encoding: Type.Optional(
      Type.Union([...Encoding.anyOf], {
        default: 'linear16',
        description: 'Of the audio that you send: one channel, little-endian.',
      }),
    ),
    interim_results: Type.Optional(
      Type.Boolean({ default: true, description: 'False: only transcripts that are final.' }),
    ),
    provider_params: Type.Optional(ProviderParams),
    suspend_seconds: Type.Optional(
      Type.Integer({
        minimum: SUSPEND_SECONDS.min,
        maximum: SUSPEND_SECONDS.max,
        description:
          'After so many seconds without audio the provider’s connection is let go of in order; the next audio makes another, and nothing is lost. 20 where the gateway has no other setting.',
      }),
    ),
    api_key: Type.Optional(
      Type.String({
        description:
          'The credential, where neither the header nor the subprotocol can be used. Discouraged, and warned about: URLs are logged.',
      }),
    ),
    resume: Type.Optional(
      Type.String({ description: 'Resume token of an interrupted session. Refused until sessions can be resumed.' }),
    ),
  },
  { additionalProperties: false },
);
