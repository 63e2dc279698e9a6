// One model of a chain, as a request names it.
import { type Static, Type } from '@sinclair/typebox';

/** Typed by the provider; each has a schema of its own. */
export const ProviderParams = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Options of the model’s provider, as a JSON object. The schema for a model is `provider_params` of `GET /v1/models`.',
});

/** One member of the chain: the model and the options typed by its provider. */
export const Candidate = Type.Object(
  {
    model: Type.String({ description: 'Slug `<provider>/<model>`.' }),
    provider_params: Type.Optional(ProviderParams),
    credential: Type.Optional(
      Type.Union([Type.Literal('own'), Type.Literal('service')], {
        description:
          'Whose account at the provider is used: without it your own, where you have saved a key, else the service’s.',
      }),
    ),
  },
  { additionalProperties: false, description: 'A model to fall back to, with options of its own.' },
);
export type Candidate = Static<typeof Candidate>;
