// Where a model's audio is processed, and what is kept of it: the words, as the catalogue says them and as rules ask for them.
import { type Static, Type } from '@sinclair/typebox';
import { REGIONS } from './residency-rule.ts';

const words = <Word extends string>(of: readonly Word[], description: string) =>
  Type.Union(
    of.map((word) => Type.Literal(word)),
    { description },
  ) as unknown as ReturnType<typeof Type.Unsafe<Word>>;

export const Region = words(
  [...REGIONS, 'global', 'unknown'],
  'Where audio is processed. `europe`: in the European Economic Area or Switzerland; `self`: on a machine of whoever runs the gateway; `global`: anywhere.',
);
export type Region = Static<typeof Region>;

export const NamedRegion = words(REGIONS, 'A region that is promised.');
export type NamedRegion = Static<typeof NamedRegion>;

export const Retention = words(
  ['none', 'kept', 'unknown'],
  'What the provider keeps of audio and text once the answer is given. `kept`: for a time, or for its own use.',
);
export type Retention = Static<typeof Retention>;

/** One way in which a model's audio is processed. */
export const Processing = Type.Object(
  {
    region: Region,
    endpoints: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'The provider’s own names for its endpoints there, as the field `region` of a provider key has them. Absent: where audio goes without such a name.',
      }),
    ),
    modes: Type.Optional(
      Type.Array(Type.Union([Type.Literal('batch'), Type.Literal('live')]), {
        description: 'Absent: all modes of the model.',
      }),
    ),
    retention: Retention,
    params: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'Members of `provider_params` without which it is not so; the gateway sets them where a rule needs them.',
      }),
    ),
    agreement: Type.Optional(
      Type.Literal(true, { description: 'Only for accounts that have agreed so with the provider.' }),
    ),
    source: Type.Object({
      url: Type.String({ description: 'Where the provider says so.' }),
      date: Type.String({ description: 'When that was read.' }),
    }),
  },
  { description: 'Where audio is processed, and what is kept of it, by endpoint.' },
);
export type Processing = Static<typeof Processing>;
