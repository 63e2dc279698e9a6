// What is wrong with the query of an upgrade to a simulated Deepgram, in one sentence; undefined when nothing is.
import { fluxHint } from '../languages.ts';

type Query = URLSearchParams;

const NOVA_MODELS = /^(?:nova-3(?:-general|-medical)?|nova-2(?:-[a-z]+)?|nova|enhanced|base)$/;

export function novaFault(query: Query): string | undefined {
  const model = query.get('model') ?? 'base';
  const isNova3 = model.startsWith('nova-3');
  const endMs = query.get('utterance_end_ms');
  const endpointing = query.get('endpointing') ?? 'false';
  if (!NOVA_MODELS.test(model)) return `Bad Request: no such model: ${model}.`;
  if (isNova3 && query.has('keywords')) return 'Keywords are not supported for Nova-3: use keyterm.';
  if (!isNova3 && query.has('keyterm')) return 'Keyterm prompting is only available for Nova-3.';
  if (query.getAll('keyterm').join(' ').split(/\s+/).length > 500) return 'Keyterm limit exceeded: 500 tokens at most.';
  if (!['latest', 'v1'].includes(query.get('diarize_model') ?? 'v1'))
    return 'diarize_model=v2 is for batch requests only.';
  if (endpointing !== 'false' && !/^\d+$/.test(endpointing)) return `Invalid endpointing: ${endpointing}.`;
  if (endMs !== null && !(Number(endMs) >= 1_000)) return 'utterance_end_ms must be at least 1000.';
  if (endMs !== null && query.get('interim_results') !== 'true') return 'utterance_end_ms needs interim_results=true.';
  if (query.get('multichannel') === 'true' && Number(query.get('channels') ?? 1) > 20) return 'Too many channels.';
  return audioFault(query);
}

/** The simulator's ears hear linear16, mono. */
function audioFault(query: Query): string | undefined {
  if (query.get('encoding') !== 'linear16') return 'The simulator hears encoding=linear16 alone.';
  if (Number(query.get('channels') ?? 1) !== 1) return 'The simulator hears one channel.';
  const sampleRate = Number(query.get('sample_rate'));
  const isRate = Number.isInteger(sampleRate) && sampleRate >= 8_000 && sampleRate <= 48_000;
  return isRate ? undefined : 'sample_rate is required with a raw encoding.';
}

const FLUX_MODELS: readonly string[] = ['flux-general-en', 'flux-general-multi'];
const SAMPLE_RATES = [8_000, 16_000, 24_000, 44_100, 48_000];
const REDACTIONS = ['numbers', 'aggressive_numbers'];
export const THRESHOLDS: Readonly<Record<string, { low: number; high: number }>> = {
  eot_threshold: { low: 0.5, high: 1 },
  eager_eot_threshold: { low: 0.3, high: 0.9 },
  eot_timeout_ms: { low: 500, high: 60_000 },
};
const PARAMETERS = [
  ...Object.keys(THRESHOLDS),
  ...['model', 'encoding', 'sample_rate', 'keyterm', 'language_hint', 'profanity_filter', 'numerals', 'redact'],
  ...['mip_opt_out', 'tag'],
];

export function fluxFault(query: Query): string | undefined {
  const model = query.get('model') ?? '';
  const unknown = [...query.keys()].find((name) => !PARAMETERS.includes(name));
  const hints = query.getAll('language_hint');
  if (unknown !== undefined) return `Unknown query parameter: ${unknown}.`;
  if (!FLUX_MODELS.includes(model)) return `No such model: ${model}.`;
  for (const [name, { low, high }] of Object.entries(THRESHOLDS)) {
    const value = query.get(name);
    if (value !== null && !(Number(value) >= low && Number(value) <= high)) return `${name} must be ${low} to ${high}.`;
  }
  if (hints.length > 0 && !model.endsWith('-multi')) return 'language_hint is for flux-general-multi only.';
  if (hints.some((hint) => fluxHint(hint) === undefined)) return 'Unknown language_hint.';
  if (query.getAll('redact').some((each) => !REDACTIONS.includes(each)))
    return 'redact takes numbers and aggressive_numbers.';
  if (!SAMPLE_RATES.includes(Number(query.get('sample_rate'))))
    return `sample_rate must be ${SAMPLE_RATES.join(', ')}.`;
  return audioFault(query);
}
