// What an operator has measured of the accuracy of models with their own recordings. What `voxgate accuracy --keep` writes, and
// `prefer=accuracy` ranks by.
import { type Static, Type } from '@sinclair/typebox';

/** Words, or the characters of languages that put no spaces between words. */
export const ACCURACY_UNITS = ['words', 'characters'] as const;
export type AccuracyUnit = (typeof ACCURACY_UNITS)[number];

/** With less, a model is not measured: a few mistakes would decide. */
export const MEASURED_UNITS_MIN: Readonly<Record<AccuracyUnit, number>> = { words: 500, characters: 1_000 };

const count = (minimum: number) =>
  Type.Integer({ minimum, maximum: 1_000_000_000, accepts: `a whole number from ${minimum}` });

export const MeasuredAccuracy = Type.Object(
  {
    model: Type.String({ minLength: 3, maxLength: 256, accepts: 'a model such as "deepgram/nova-3"' }),
    language: Type.Union(
      [Type.String({ pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$', maxLength: 64 }), Type.Null()],
      {
        accepts: 'a language such as "de", or null for recordings without a named one',
      },
    ),
    unit: Type.Union(
      ACCURACY_UNITS.map((each) => Type.Literal(each)),
      { accepts: '"words" or "characters"' },
    ),
    units: count(1),
    errors: count(0),
    files: count(1),
    measured_at: Type.String({ minLength: 1, maxLength: 64, accepts: 'a time' }),
  },
  { additionalProperties: false },
);
export type MeasuredAccuracy = Static<typeof MeasuredAccuracy>;

/** A tag without its script and region; null for none. Accuracy is measured for languages. */
export const languageOf = (tag: string | null | undefined): string | null =>
  tag == null || tag === 'auto' || tag === '*' ? null : (tag.split('-')[0] ?? '').toLowerCase();

export const accuracyName = ({ model, language }: Pick<MeasuredAccuracy, 'model' | 'language'>): string =>
  `${model} ${languageOf(language) ?? ''}`;
