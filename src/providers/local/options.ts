// `provider_params` of the embedded recogniser. What a schema cannot say (syntax, unknown words, cost) the recogniser checks.
import { type Static, Type } from '@sinclair/typebox';

export const GrammarOptions = Type.Object(
  {
    grammar: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 16_384,
        description:
          'A JSGF grammar to listen for instead of the built-in one; its words must be in the dictionary. No imports, no rule that refers to itself.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type GrammarOptions = Static<typeof GrammarOptions>;

export const AlignOptions = Type.Object(
  {
    align_text: Type.String({
      minLength: 1,
      maxLength: 8_192,
      description: 'The words that are spoken; their times are returned.',
    }),
  },
  { additionalProperties: false },
);
export type AlignOptions = Static<typeof AlignOptions>;
