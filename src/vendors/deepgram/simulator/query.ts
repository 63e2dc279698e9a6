// What the simulated Deepgram takes in the query of an upgrade. Its ears hear linear16, mono.
import { type TObject, Type } from '@sinclair/typebox';
import { faultIn, members, oneOf, valuesOf } from '../../kit/simulator/checks.ts';
import { SWITCHING_LANGUAGES } from '../models.ts';

type Query = URLSearchParams;

/** What is not named here is taken as it comes. */
const Nova = members(
  { encoding: Type.Literal('linear16'), sample_rate: Type.Integer({ minimum: 8_000, maximum: 48_000 }) },
  {
    model: Type.String({ pattern: '^(nova-3(-general|-medical)?|nova-2(-[a-z]+)?|nova|enhanced|base)$' }),
    channels: Type.Literal(1),
    diarize_model: oneOf('latest', 'v1'),
    endpointing: Type.Union([Type.Literal(false), Type.Integer({ minimum: 0 })]),
    utterance_end_ms: Type.Number({ minimum: 1_000 }),
  },
  'ignored',
);

const THRESHOLDS = {
  eot_threshold: Type.Number({ minimum: 0.5, maximum: 1 }),
  eager_eot_threshold: Type.Number({ minimum: 0.3, maximum: 0.9 }),
  eot_timeout_ms: Type.Number({ minimum: 500, maximum: 60_000 }),
};
const hints = Type.Array(oneOf(...SWITCHING_LANGUAGES));

export const Configure = members(
  { type: Type.Literal('Configure') },
  {
    ...{ thresholds: members({}, THRESHOLDS), keyterms: Type.Array(Type.String()) },
    ...{ language_hints: hints, numerals: Type.Boolean() },
  },
);

const Flux = members(
  {
    model: oneOf('flux-general-en', 'flux-general-multi'),
    encoding: Type.Literal('linear16'),
    sample_rate: oneOf(8_000, 16_000, 24_000, 44_100, 48_000),
  },
  {
    ...THRESHOLDS,
    language_hint: hints,
    redact: Type.Array(oneOf('numbers', 'aggressive_numbers')),
    keyterm: Type.Array(Type.String()),
    tag: Type.Array(Type.String()),
    profanity_filter: Type.Boolean(),
    numerals: Type.Boolean(),
    mip_opt_out: Type.Boolean(),
  },
);

/** What is wrong with a query, in one sentence; undefined when nothing is. */
export function novaFault(query: Query): string | undefined {
  const isNova3 = query.get('model')?.startsWith('nova-3') === true;
  if (isNova3 && query.has('keywords')) return 'Keywords are not supported for Nova-3: use keyterm.';
  if (!isNova3 && query.has('keyterm')) return 'Keyterm prompting is only available for Nova-3.';
  if (query.getAll('keyterm').join(' ').split(/\s+/).length > 500) return 'Keyterm limit exceeded: 500 tokens at most.';
  if (query.has('utterance_end_ms') && query.get('interim_results') !== 'true')
    return 'utterance_end_ms needs interim_results=true.';
  return faultOf(query, Nova);
}

export function fluxFault(query: Query): string | undefined {
  if (query.has('language_hint') && query.get('model')?.endsWith('-multi') === false)
    return 'language_hint is for flux-general-multi only.';
  return faultOf(query, Flux);
}

function faultOf(query: Query, schema: TObject): string | undefined {
  const fault = faultIn(schema, valuesOf(query, schema));
  if (fault === undefined) return undefined;
  const { kind, member, message } = fault;
  if (kind === 'unknown') return `Unknown query parameter: ${member}.`;
  if (kind === 'missing') return `Bad Request: ${member} is required.`;
  return member === 'model'
    ? `Bad Request: no such model: ${query.get('model')}.`
    : `Bad Request: ${member}=${query.get(member)}: ${message}.`;
}
