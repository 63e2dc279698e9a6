// `GET /v1/models`: the shape of a model record, as clients see it and as provider folders declare it.
import { type Static, Type } from '@sinclair/typebox';
import { FILE_FORMATS } from './audio-formats.ts';
import { Processing } from './processing.ts';

export const Capabilities = Type.Object(
  {
    diarization: Type.Boolean({ description: 'Tells speakers apart.' }),
    word_timestamps: Type.Boolean({ description: 'Tells the times of words.' }),
    segment_timestamps: Type.Optional(
      Type.Boolean({
        description: 'False where a file is answered with its text alone, without any times. True when absent.',
      }),
    ),
    interim_results: Type.Boolean({ description: 'Shows text while a turn goes on.' }),
    formatting: Type.Boolean({ description: 'Writes punctuation, casing and digits.' }),
    redaction: Type.Boolean({ description: 'Can take personal data out.' }),
    language_detection: Type.Boolean({ description: 'Finds out which language is spoken.' }),
  },
  { description: 'What a model can do.' },
);

const Decimal = (description: string) => Type.String({ pattern: '^\\d+(\\.\\d+)?$', description });

export const AddOn = Type.Object({
  name: Type.String({ description: 'What it is, for people.' }),
  amount: Decimal('USD for each minute beside the price, decimal.'),
  asked_by: Type.Array(Type.String(), {
    description:
      'What of a request asks for it, any of them: `diarization`, a member with a value as `language=auto`, or `provider_params.<name>`.',
  }),
});
export type AddOn = Static<typeof AddOn>;

export const Price = Type.Object(
  {
    unit: Type.Union([Type.Literal('minute'), Type.Literal('session')], {
      description: 'Per minute of audio, counted in milliseconds; or once for each session.',
    }),
    amount: Decimal('USD for each unit, decimal.'),
    minimum: Type.Optional(
      Decimal(
        'USD, decimal: the least that is charged once anything was heard; where add-ons are asked for, more by the same part.',
      ),
    ),
    metered: Type.Optional(
      Type.Literal('connection', {
        description:
          'Where present, minutes are those that the connection to the provider is open, or of the audio where that is more. It is let go of while you send no audio.',
      }),
    ),
    add_ons: Type.Optional(
      Type.Array(AddOn, {
        description: 'What costs more where it is asked for; each is charged once for each minute.',
      }),
    ),
    byok: Type.Literal('0.00', { description: 'USD that is billed where your own provider key is used.' }),
    // A price of zero without it is a mistake in the catalogue.
    free: Type.Optional(Type.Boolean({ description: 'True where the price is zero on purpose.' })),
  },
  { description: 'What a model costs in a mode.' },
);

export const Mode = Type.Union([Type.Literal('batch'), Type.Literal('live')], {
  description: '`batch`: files; `live`: `/v1/listen`.',
});
export type Mode = Static<typeof Mode>;

export const Model = Type.Object({
  id: Type.String({ description: 'Slug `<provider>/<model>`, or an alias of the caller’s.' }),
  object: Type.Literal('model'),
  created: Type.Integer({ description: 'Epoch seconds.' }),
  owned_by: Type.String({ description: 'The provider; `alias` of an alias, which is shown as its first model is.' }),
  name: Type.String({ description: 'For people.' }),
  description: Type.String({ description: 'A short description.' }),
  modes: Type.Array(Mode),
  live_turns: Type.Optional(
    Type.Union([Type.Literal('model'), Type.Literal('gateway')], {
      description:
        'Of models with a live mode. `gateway`: the model hears files only; the gateway cuts the audio at silences, and each utterance is one turn, with a final and no interim results.',
    }),
  ),
  languages: Type.Array(Type.String(), { description: 'BCP-47, or ["*"].' }),
  capabilities: Capabilities,
  processing: Type.Array(Processing, { description: 'Where its audio is processed, and what is kept of it.' }),
  audio: Type.Object({
    sample_rates: Type.Array(Type.Integer(), { description: 'Hertz that it is sent; other rates are resampled.' }),
    encodings: Type.Array(Type.String(), { description: 'What it is sent; the gateway converts.' }),
    max_file_bytes: Type.Union([Type.Integer(), Type.Null()], { description: 'Largest file, or null.' }),
    max_seconds: Type.Union([Type.Integer(), Type.Null()], { description: 'Longest audio, or null.' }),
    file_formats: Type.Optional(
      Type.Array(Type.Union(FILE_FORMATS.map((format) => Type.Literal(format))), {
        description:
          'Kinds of files that it takes, by their usual extension: others are refused before they are sent. Absent where the provider does not list them.',
      }),
    ),
  }),
  pricing: Type.Object({
    currency: Type.Literal('USD'),
    batch: Type.Optional(Price),
    live: Type.Optional(Price),
  }),
  provider_params: Type.Unknown({ description: 'JSON Schema of `provider_params` for this model.' }),
  available: Type.Boolean({ description: 'A credential exists for the caller, its own or the service’s.' }),
  status: Type.Union([Type.Literal('up'), Type.Literal('degraded'), Type.Literal('down')], {
    description: 'How it has been doing for your organisation: `down` models are skipped for a while.',
  }),
});
export type Model = Static<typeof Model>;
export type Capabilities = Static<typeof Capabilities>;
export type Price = Static<typeof Price>;

export const ModelList = Type.Object({ object: Type.Literal('list'), data: Type.Array(Model) });
export type ModelList = Static<typeof ModelList>;

/** The members of `view=short`. */
export const SHORT_MEMBERS = [
  ...(['id', 'object', 'created', 'owned_by', 'name', 'modes', 'live_turns', 'pricing'] as const),
  ...(['available', 'status'] as const),
] as const;
export const ShortModel = Type.Pick(Model, SHORT_MEMBERS);
export const ShortModelList = Type.Object({ object: Type.Literal('list'), data: Type.Array(ShortModel) });

/** Which models are listed; without any, all. */
export const ModelsQuery = Type.Object(
  {
    mode: Type.Optional(Mode),
    provider: Type.Optional(Type.String({ description: 'The part of the slug before the slash.' })),
    language: Type.Optional(
      Type.String({ description: 'BCP-47: models that know the language, and those that know any.', examples: ['fr'] }),
    ),
    max_price: Type.Optional(
      Type.String({
        pattern: '^\\d{1,6}(\\.\\d{1,9})?$',
        description: 'USD a minute: models that cost no more in `mode`, or in one of theirs.',
        examples: ['0.005'],
      }),
    ),
    region: Type.Optional(
      Type.String({
        description: 'Models that a request with this `region` may use, as it would be made with your keys.',
      }),
    ),
    retention: Type.Optional(Type.Literal('none', { description: 'The same of a request with this `retention`.' })),
    available: Type.Optional(
      Type.Union([Type.Literal('true'), Type.Literal('false')], {
        description: '`true`: models that you can use now; `false`: the others.',
      }),
    ),
    view: Type.Optional(
      Type.Union([Type.Literal('full'), Type.Literal('short')], {
        description: `\`short\`: of each model only ${SHORT_MEMBERS.map((name) => `\`${name}\``).join(', ')}.`,
      }),
    ),
  },
  { additionalProperties: false },
);
