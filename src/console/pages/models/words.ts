// How models are put into words.
import type { Model, Price } from '../../../api/models.ts';
import type { Tone } from '../../controls/notice.tsx';
import { usd } from '../../data/format.ts';

/** Capabilities that are worth a word. */
export const ABILITIES = {
  diarization: 'speakers',
  word_timestamps: 'word times',
  interim_results: 'interims',
  formatting: 'formatting',
  redaction: 'redaction',
  language_detection: 'language detection',
} as const;

export const STATUS_TONES: Record<Model['status'], Tone> = { up: 'good', degraded: 'warn', down: 'bad' };

/** `$0.0043 / min`; a dash where the mode is not offered. */
export function priceOf(price: Price | undefined): string {
  if (price === undefined) return '–';
  if (price.free === true) return 'free';
  return `${usd(price.amount)} / ${price.unit === 'minute' ? 'min' : 'session'}`;
}

/** `key terms +$0.0013`: what costs more where it is asked for. */
export const addOnsOf = (price: Price | undefined): string[] =>
  (price?.add_ons ?? []).map(({ name, amount }) => `${name.toLowerCase()} +${usd(amount)}`);

/** What a model can, in words. */
export function abilitiesOf(capabilities: Model['capabilities']): string {
  const known = Object.entries(ABILITIES) as [keyof typeof ABILITIES, string][];
  return known.flatMap(([name, text]) => (capabilities[name] ? [text] : [])).join(', ');
}
