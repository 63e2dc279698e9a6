// The console's provider keys: a customer's own credentials at providers. Bodies and answers; no answer shows a secret.
import { type Static, Type } from '@sinclair/typebox';

/** `fields` has the members of the provider's form; what is wrong with them is said by name, without what they hold. */
export const ProviderKeyBody = Type.Object(
  {
    provider: Type.String({ maxLength: 50 }),
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$',
        examples: ['Production'],
      }),
    ),
    fields: Type.Record(Type.String(), Type.Unknown()),
  },
  { additionalProperties: false },
);
export type ProviderKeyBody = Static<typeof ProviderKeyBody>;

export const ProviderKeyView = Type.Object({
  id: Type.String(),
  provider: Type.String(),
  name: Type.String(),
  /** The last characters of the secret; empty for a short one. */
  last_four: Type.String(),
  /** Members that are no secret, such as the region; null for a key that was saved before they were noted. */
  fields: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]),
  /** Sessions are refused on a key that is `disabled` or `rejected`. */
  state: Type.Union([
    Type.Literal('untested'),
    Type.Literal('checking'),
    Type.Literal('usable'),
    Type.Literal('failing'),
    Type.Literal('disabled'),
    Type.Literal('rejected'),
  ]),
  created_at: Type.String(),
  tested_at: Type.Union([Type.String(), Type.Null()]),
  used_at: Type.Union([Type.String(), Type.Null()]),
});
export type ProviderKeyView = Static<typeof ProviderKeyView>;

/** A provider that takes keys, and the JSON Schema of its credential: secret members carry `secret: true`. */
export const KeyedProviderView = Type.Object({ name: Type.String(), title: Type.String(), fields: Type.Unknown() });
export type KeyedProviderView = Static<typeof KeyedProviderView>;

export const ProviderKeyList = Type.Object({
  data: Type.Array(ProviderKeyView),
  providers: Type.Array(KeyedProviderView),
});
export type ProviderKeyList = Static<typeof ProviderKeyList>;

/** `warning`: what the test could not find out, or null. */
export const ProviderKeyAnswer = Type.Object({
  key: ProviderKeyView,
  warning: Type.Union([Type.String(), Type.Null()]),
});
export type ProviderKeyAnswer = Static<typeof ProviderKeyAnswer>;
