// `model=auto` and `fallbacks=auto`: the gateway chooses the models. What a request may prefer, and how the choice is explained.
import { type Static, Type } from '@sinclair/typebox';

/** In the place of a model that the request names. An alias of this name comes first. */
export const AUTO = 'auto';

export const PREFERENCES = ['reliability', 'latency', 'price', 'accuracy'] as const;
export type Preference = (typeof PREFERENCES)[number];

export const Prefer = Type.Unsafe<Preference>(
  Type.Union(
    PREFERENCES.map((each) => Type.Literal(each)),
    {
      default: 'reliability',
      description:
        'With `model=auto` or `fallbacks=auto`, the first criterion of the choice. `reliability`: the fewest failures and empty answers. `latency`: live the earliest first words, for files the fastest answer. `price`: the lowest price with the requested add-ons. `accuracy`: the fewest errors in the language of the request, as the operator has measured them with `voxgate accuracy`; models without a measurement come last, and without any the request is refused.',
    },
  ),
);

export const PRICE_RULES = ['never_dearer', 'cheapest'] as const;
export type PriceRule = (typeof PRICE_RULES)[number];

export const PriceOrder = Type.Unsafe<PriceRule>(
  Type.Union(
    PRICE_RULES.map((each) => Type.Literal(each)),
    {
      description:
        'What prices decide about the models of the request. `never_dearer`: a fallback that costs more per minute than the first model is left out, with the warning `model_left_out`. `cheapest`: the model with the lowest price comes first. A model on your own provider key is free, and a price per session counts as that of ten minutes.',
    },
  ),
);

export const ChosenModel = Type.Object({
  model: Type.String({ description: 'Slug `<provider>/<model>`.' }),
  reason: Type.String({ description: 'Why it precedes the next candidate, for people. It may change.' }),
  price_per_minute: Type.Optional(
    Type.String({ description: 'USD, decimal, with the requested add-ons; absent where the price is per session.' }),
  ),
  first_word_ms: Type.Optional(
    Type.Number({ description: 'Live: median time from the first audio of a turn until its first words.' }),
  ),
  answer_ms_per_second: Type.Optional(
    Type.Number({ description: 'Files: median time until the answer, for each second of audio.' }),
  ),
  error_rate: Type.Optional(
    Type.Number({ description: 'Share of attempts that failed or were empty, from 0 to 1; absent without attempts.' }),
  ),
  accuracy: Type.Optional(
    Type.Object(
      {
        error_rate: Type.Number({ description: 'Errors for each word or character.' }),
        unit: Type.Union([Type.Literal('words'), Type.Literal('characters')]),
        units: Type.Integer({ description: 'Number of words or characters that were compared.' }),
      },
      {
        description:
          'With `prefer=accuracy`: what the operator has measured in the language of the request; absent for a model without a measurement.',
      },
    ),
  ),
  measured: Type.Integer({
    description: 'Number of attempts at it in the last six hours, on all nodes; 1000 stands for 1000 or more.',
  }),
});
export type ChosenModel = Static<typeof ChosenModel>;

export const Choice = Type.Array(ChosenModel, {
  description: 'The models that the gateway chose, in order. Absent without `auto`.',
});
