// What clients of ElevenLabs request in the query of an address.
import { booleanIn } from '../../../api/boolean.ts';
import type { ClientRequest } from '../../compat/dialect.ts';
import {
  badRequest,
  flagsOf,
  keytermsCut,
  keytermsWithin,
  optionsInQuery,
  ownParameters,
  setAll,
  withFlags,
} from '../../compat/params.ts';
import { languageTag } from '../api.ts';
import { options } from '../options.ts';

/** They are requested in the words that all models know. */
const COMMON = ['keyterms', 'secondary_languages'];
/** What would be told in messages that there are none of here. */
const NOT_TOLD = ['entity_detection', 'transcript_edit'];

export interface RealtimeRequest extends ClientRequest {
  audioFormat: string;
  sampleRate: number;
}

const FLAGS = [...flagsOf(options.schema('scribe_v2_realtime')), 'include_timestamps', 'enable_logging'];

/** The query with `true` and `false` for booleans. Throws an ApiError. */
export const plainQuery = (query: URLSearchParams): URLSearchParams => new URLSearchParams(withFlags(query, FLAGS));

export function realtimeRequest(query: URLSearchParams): RealtimeRequest {
  for (const name of NOT_TOLD) {
    if (booleanIn(query.get(name)) !== false && query.has(name))
      throw badRequest(name, `\`${name}\` is not served: only transcripts are told. Leave it out.`);
  }
  const model = query.get('model_id') ?? undefined;
  const audioFormat = query.get('audio_format') ?? 'pcm_16000';
  const [, kind, rate] = /^(pcm|ulaw)_(\d{4,5})$/.exec(audioFormat) ?? [];
  if (rate === undefined || (kind === 'ulaw' && rate !== '8000'))
    throw badRequest('audio_format', '`audio_format` is pcm_16000, or pcm_ with another rate in hertz, or ulaw_8000.');
  const parameters = ownParameters(query);
  const language = query.get('language_code');
  const others = query.getAll('secondary_languages').map(tagOf);
  const terms = query.getAll('keyterms');
  setAll(parameters, {
    encoding: kind === 'ulaw' ? 'mulaw' : 'linear16',
    sample_rate: rate,
    language: language === null ? undefined : tagOf(language),
    languages: others.length === 0 ? undefined : JSON.stringify(others),
    keyterms: keytermsWithin(terms),
    // Whatever model hears it: one that keeps something is refused.
    retention: query.get('enable_logging') === 'false' ? 'none' : undefined,
  });
  const unmet = keytermsCut('keyterms', terms);
  return { model, parameters, own: optionsOf(query), unmet, audioFormat, sampleRate: Number(rate) };
}

/** `eng` is `en`. */
export const tagOf = (code: string): string => languageTag(code) ?? code;

/** Options of ElevenLabs' own models, by the names that they have there; those of files alone mean nothing here. */
function optionsOf(query: URLSearchParams): ClientRequest['own'] {
  const live = [...query].filter(([name]) => options.honours(name, 'scribe_v2_realtime', 'live'));
  return optionsInQuery(live, options.schema('scribe_v2_realtime'), COMMON);
}
