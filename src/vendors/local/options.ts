// `provider_params` of the embedded recogniser. What a schema cannot say (syntax, unknown words, cost) the recogniser checks.
import { type Static, Type } from '@sinclair/typebox';
import { exactly } from '../kit/options.ts';

export const GrammarOptions = exactly({
  grammar: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 16_384,
      description:
        'A JSGF grammar to listen for instead of the built-in one; its words must be in the dictionary. No imports, no rule that refers to itself.',
    }),
  ),
});
export type GrammarOptions = Static<typeof GrammarOptions>;

export const AlignOptions = exactly({
  align_text: Type.String({
    minLength: 1,
    maxLength: 8_192,
    description: 'The words that are spoken; their times are returned.',
  }),
});
export type AlignOptions = Static<typeof AlignOptions>;
