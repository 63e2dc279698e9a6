// `GET /v1/models`: the shape of a model record, as clients see it and as provider folders declare it.
import { type Static, Type } from '@sinclair/typebox';

const Capabilities = Type.Object({
  diarization: Type.Boolean(),
  word_timestamps: Type.Boolean(),
  interim_results: Type.Boolean(),
  formatting: Type.Boolean(),
  redaction: Type.Boolean(),
  language_detection: Type.Boolean(),
});

const Price = Type.Object({
  unit: Type.Union([Type.Literal('minute'), Type.Literal('session')]),
  /** Decimal string in USD. */
  amount: Type.String({ pattern: '^\\d+(\\.\\d+)?$' }),
  /** Decimal string in USD: the least that is charged once anything was heard. */
  minimum: Type.Optional(Type.String({ pattern: '^\\d+(\\.\\d+)?$' })),
  /** What the service bills when the customer's own provider key is used: always "0.00". */
  byok: Type.Literal('0.00'),
  /** True where the price is zero on purpose. A price of zero without it is a mistake in the catalogue. */
  free: Type.Optional(Type.Boolean()),
});

export const Mode = Type.Union([Type.Literal('batch'), Type.Literal('live')]);
export type Mode = Static<typeof Mode>;

export const Model = Type.Object({
  id: Type.String({ description: 'Slug `<provider>/<model>`.' }),
  object: Type.Literal('model'),
  created: Type.Integer({ description: 'Epoch seconds.' }),
  owned_by: Type.String({ description: 'The provider.' }),
  name: Type.String(),
  description: Type.String(),
  modes: Type.Array(Mode),
  languages: Type.Array(Type.String(), { description: 'BCP-47, or ["*"].' }),
  capabilities: Capabilities,
  audio: Type.Object({
    sample_rates: Type.Array(Type.Integer()),
    encodings: Type.Array(Type.String()),
    max_file_bytes: Type.Union([Type.Integer(), Type.Null()]),
    max_seconds: Type.Union([Type.Integer(), Type.Null()]),
  }),
  pricing: Type.Object({
    currency: Type.Literal('USD'),
    batch: Type.Optional(Price),
    live: Type.Optional(Price),
  }),
  provider_params: Type.Unknown({ description: 'JSON Schema of `provider_params` for this model.' }),
  available: Type.Boolean({ description: 'A credential exists for the caller, its own or the service’s.' }),
  status: Type.Union([Type.Literal('up'), Type.Literal('degraded'), Type.Literal('down')]),
});
export type Model = Static<typeof Model>;
export type Capabilities = Static<typeof Capabilities>;
export type Price = Static<typeof Price>;

export const ModelList = Type.Object({ object: Type.Literal('list'), data: Type.Array(Model) });
export type ModelList = Static<typeof ModelList>;
