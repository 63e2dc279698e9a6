// The catalogue rows of a provider, made of what its models have in common and of what sets each apart.
import type { Capabilities } from '../../api/models.ts';
import type { ModelCard } from '../provider.ts';

interface Common {
  created: number;
  capabilities: Capabilities;
  sampleRates: readonly number[];
  /** Of files: null where the provider names no limit. */
  fileBytesMax?: number;
  fileSecondsMax?: number;
  /** Where the prices were read, and when. */
  priceSource: ModelCard['priceSource'];
  /** What is true of every price. */
  price?: { free?: true };
  livePrice?: { metered?: 'connection' };
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
  /** Capabilities that are not those of all. */
  can?: Partial<Capabilities>;
  created?: number;
  sampleRates?: readonly number[];
  fileSecondsMax?: number;
}

export function modelCards(provider: string, common: Common, rows: readonly Row[]): readonly ModelCard[] {
  return rows.map((row) => {
    const { name, description, live, batch, can } = row;
    const price = (amount: string) => ({ unit: 'minute', amount, byok: '0.00', ...common.price }) as const;
    const minimum = row.batchMinimum === undefined ? {} : { minimum: row.batchMinimum };
    const ofFiles = <Value>(limit: Value | undefined): Value | null => (batch === undefined ? null : (limit ?? null));
    return {
      id: `${provider}/${row.id}`,
      created: row.created ?? common.created,
      name,
      description,
      modes: [...(batch === undefined ? [] : (['batch'] as const)), ...(live === undefined ? [] : (['live'] as const))],
      languages: [...row.languages],
      capabilities: { ...common.capabilities, ...can },
      audio: {
        sample_rates: [...(row.sampleRates ?? common.sampleRates)],
        encodings: ['linear16'],
        max_file_bytes: ofFiles(common.fileBytesMax),
        max_seconds: ofFiles(row.fileSecondsMax ?? common.fileSecondsMax),
      },
      pricing: {
        currency: 'USD',
        ...(batch === undefined ? {} : { batch: { ...price(batch), ...minimum } }),
        ...(live === undefined ? {} : { live: { ...price(live), ...common.livePrice } }),
      },
      priceSource: { ...common.priceSource, date: row.priceDate ?? common.priceSource.date },
    };
  });
}
