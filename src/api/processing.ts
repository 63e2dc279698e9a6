// Where a model's audio is processed, and what is kept of it: the words, as the catalogue says them and as rules ask for them.
import { type Static, Type } from '@sinclair/typebox';

/**
 * `europe` is the European Economic Area with Switzerland, where a vendor promises no more than that; `self` is a machine of whoever
 * runs the gateway. Of `global` and `unknown` nothing is promised: no rule is kept by them.
 */
const NAMED = [
  'us',
  'ca',
  'br',
  'eu',
  'europe',
  'uk',
  'ch',
  'no',
  'in',
  'jp',
  'kr',
  'sg',
  'au',
  'za',
  'ae',
  'self',
] as const;
export const REGIONS: readonly NamedRegion[] = NAMED;
export type NamedRegion = (typeof NAMED)[number];
export type Region = NamedRegion | 'global' | 'unknown';

const words = <Word extends string>(of: readonly Word[], description: string) =>
  Type.Union(
    of.map((word) => Type.Literal(word)),
    { description },
  ) as unknown as ReturnType<typeof Type.Unsafe<Word>>;

export const Region = words<Region>(
  [...NAMED, 'global', 'unknown'],
  'Where audio is processed. `europe`: in the European Economic Area or Switzerland; `self`: on a machine of whoever runs the gateway; `global`: anywhere.',
);

export const NamedRegion = words<NamedRegion>(NAMED, 'A region that is promised.');

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

/** What a request may ask for, and what its key and organisation ask for of all their requests. Null: anything. */
export interface PlaceRule {
  regions: readonly NamedRegion[] | null;
  retention: 'none' | null;
}

export const FREE_RULE: PlaceRule = { regions: null, retention: null };

export const isFree = ({ regions, retention }: PlaceRule): boolean => regions === null && retention === null;

export const isNamedRegion = (text: string): text is NamedRegion => (REGIONS as readonly string[]).includes(text);

/** What keeps to all of them. An empty list of regions is kept by nothing. */
export function strictest(rules: readonly PlaceRule[]): PlaceRule {
  return rules.reduce(
    (all, { regions, retention }) => ({
      regions:
        all.regions === null || regions === null
          ? (all.regions ?? regions)
          : all.regions.filter((each) => regions.includes(each)),
      retention: all.retention ?? retention,
    }),
    FREE_RULE,
  );
}

/** Regions separated by commas, each once; undefined where one is none. */
export function regionsIn(text: string): NamedRegion[] | undefined {
  const regions = [...new Set(text.split(',').map((region) => region.trim()))];
  return regions.every(isNamedRegion) ? regions : undefined;
}
