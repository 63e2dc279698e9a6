// The catalogue rows of a provider, made of what its models have in common and of what sets each apart.

import type { FileFormat } from '../../api/audio-formats.ts';
import type { AddOn, Capabilities, Mode } from '../../api/models.ts';
import type { Processing } from '../../api/processing.ts';
import type { NamedRegion } from '../../api/residency-rule.ts';
import type { ModelCard } from './provider.ts';

interface Common {
  created: number;
  capabilities: Capabilities;
  sampleRates: readonly number[];
  /** Of files: null where the provider names no limit. */
  fileBytesMax?: number;
  fileSecondsMax?: number;
  /** Where the provider lists what it takes. */
  fileFormats?: readonly FileFormat[];
  /** Where the prices were read, and when. */
  priceSource: ModelCard['priceSource'];
  /** What is true of every price. */
  price?: { free?: true };
  livePrice?: { metered?: 'connection'; minimum?: string };
  /** See `processedIn`. */
  processing: readonly Processing[];
}

interface Row {
  /** The part of the slug behind the slash. */
  id: string;
  name: string;
  description: string;
  languages: readonly string[];
  /** USD for a minute; a model has the modes that have a price. `priceDate`: when it was read, where that is another day. */
  live?: string;
  batch?: string;
  priceDate?: string;
  /** USD: the least that a file costs. */
  batchMinimum?: string;
  /** What costs more where it is requested, by mode. */
  addOns?: Partial<Record<Mode, readonly AddOn[]>>;
  /** Capabilities that are not those of all; and those of live sessions that are not those of files. */
  can?: Partial<Capabilities>;
  canLive?: Partial<Capabilities>;
  /** See `ModelCard`; a model whose id says so is one anyway. */
  isWhisper?: boolean;
  /** See `ModelCard`. */
  isForOnePurpose?: true;
  /** See `ModelCard`. */
  switching?: readonly string[];
  created?: number;
  sampleRates?: readonly number[];
  fileSecondsMax?: number;
  processing?: readonly Processing[];
}

type Place = Pick<Processing, 'region'> & { endpoints?: readonly string[] };
type Keeping = Pick<Processing, 'retention' | 'params' | 'agreement'> & { modes?: readonly Mode[] };

/**
 * Where audio is processed and what is kept of it there, as a document of the provider said on that day: each of `keeping` in each of
 * the places. A place without `endpoints` is where audio goes when nothing else is said. A rule takes the first row that keeps to it;
 * what the provider does not promise is `unknown`, and keeps to none.
 */
export const processedIn = (
  source: Processing['source'],
  places: readonly Place[],
  keeping: readonly Keeping[],
): readonly Processing[] =>
  places.flatMap(({ region, endpoints }) =>
    keeping.map(({ modes, ...kept }) => ({
      region,
      ...(endpoints === undefined ? {} : { endpoints: [...endpoints] }),
      ...(modes === undefined ? {} : { modes: [...modes] }),
      ...kept,
      source,
    })),
  );

/** The place of an endpoint that is called by the word for its region. */
export const at = (region: NamedRegion): Place => ({ region, endpoints: [region] });

/** Of what runs in the gateway itself. */
export const processedHere: readonly Processing[] = processedIn(
  { url: 'this project: it runs on your own machine', date: '2026-11-23' },
  [{ region: 'self' }],
  [{ retention: 'none' }],
);

/** Of a server that the operator names by its URL, and says the place of in the configuration. */
export const processedAtUrl: readonly Processing[] = processedIn(
  { url: 'the configuration of the gateway', date: '2026-11-23' },
  [{ region: 'unknown' }],
  [{ retention: 'unknown' }],
);

/** What models have in common that run on your own server. */
export const ownServer = {
  price: { free: true },
  priceSource: { url: 'this project: it runs on your own machine', date: '2026-11-23' },
  processing: processedAtUrl,
} as const satisfies Partial<Common>;

export function modelCards(provider: string, common: Common, rows: readonly Row[]): readonly ModelCard[] {
  return rows.map((row) => {
    const { name, description, live, batch, can, canLive, switching, isForOnePurpose } = row;
    const { isWhisper = /whisper/i.test(row.id) } = row;
    const price = (amount: string) => ({ unit: 'minute', amount, byok: '0.00', ...common.price }) as const;
    const minimum = row.batchMinimum === undefined ? {} : { minimum: row.batchMinimum };
    const addOns = (mode: Mode) => {
      const known = row.addOns?.[mode] ?? [];
      return known.length === 0 ? {} : { add_ons: [...known] };
    };
    const ofFiles = <Value>(limit: Value | undefined): Value | null => (batch === undefined ? null : (limit ?? null));
    return {
      id: `${provider}/${row.id}`,
      created: row.created ?? common.created,
      name,
      description,
      modes: [...(batch === undefined ? [] : (['batch'] as const)), ...(live === undefined ? [] : (['live'] as const))],
      languages: [...row.languages],
      capabilities: { ...common.capabilities, ...can },
      processing: (row.processing ?? common.processing).filter(
        ({ modes }) => !modes || modes.some((mode) => row[mode]),
      ),
      audio: {
        sample_rates: [...(row.sampleRates ?? common.sampleRates)],
        encodings: ['linear16'],
        max_file_bytes: ofFiles(common.fileBytesMax),
        max_seconds: ofFiles(row.fileSecondsMax ?? common.fileSecondsMax),
        ...(batch === undefined || common.fileFormats === undefined ? {} : { file_formats: [...common.fileFormats] }),
      },
      pricing: {
        currency: 'USD',
        ...(batch === undefined ? {} : { batch: { ...price(batch), ...minimum, ...addOns('batch') } }),
        ...(live === undefined ? {} : { live: { ...price(live), ...common.livePrice, ...addOns('live') } }),
      },
      ...(canLive === undefined ? {} : { liveCapabilities: canLive }),
      ...(isWhisper ? { isWhisper } : {}),
      ...(isForOnePurpose === undefined ? {} : { isForOnePurpose }),
      ...(switching === undefined ? {} : { switching }),
      priceSource: { ...common.priceSource, date: row.priceDate ?? common.priceSource.date },
    };
  });
}
