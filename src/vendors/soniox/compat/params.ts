// What clients of Soniox request in the first message of a connection, or of a file.
import type { Mode } from '../../../api/models.ts';
import type { ClientRequest } from '../../compat/dialect.ts';
import {
  badRequest,
  flagPlacesOf,
  keytermsCut,
  keytermsWithin,
  optionsIn,
  ownParameters,
  setAll,
  withFlagsAt,
} from '../../compat/params.ts';
import { type JsonObject, listIn, objectIn, textIn } from '../../kit/json.ts';
import { options } from '../options.ts';

/** Encodings of headerless audio; `pcm_f32le` is converted. */
const ENCODINGS: Readonly<Record<string, string>> = {
  pcm_s16le: 'linear16',
  pcm_f32le: 'linear16',
  mulaw: 'mulaw',
  alaw: 'alaw',
};
/** Of audio that says itself what it is: neither a rate nor channels are named. */
const CONTAINERS: readonly unknown[] = ['auto', 'ogg', 'wav', 'webm'];
/** They are requested in the words that all models know. */
const COMMON = ['language_hints', 'context'];

export const FLAGS = ['enable_speaker_diarization', 'enable_language_identification'];

export interface AskedLive {
  request: ClientRequest;
  isFloat: boolean;
  /** The ends of turns are marked. */
  marksEnds: boolean;
}

/** @throws ApiError */
export function startRequest(query: URLSearchParams, said: JsonObject): AskedLive {
  const start = withFlagsAt(said, ['enable_endpoint_detection']);
  const parameters = ownParameters(query);
  setAll(parameters, audioOf(start));
  return {
    request: requestOf(start, parameters, 'live'),
    isFloat: start.audio_format === 'pcm_f32le',
    marksEnds: start.enable_endpoint_detection === true,
  };
}

function audioOf({ audio_format, sample_rate, num_channels }: JsonObject): Record<string, string | undefined> {
  if (CONTAINERS.includes(audio_format)) return { encoding: 'auto' };
  if (typeof audio_format !== 'string' || !Object.hasOwn(ENCODINGS, audio_format))
    throw badRequest(
      'audio_format',
      `\`audio_format\` is one of ${Object.keys(ENCODINGS).join(', ')}, or auto for WebM or Ogg with Opus, or WAV. Send other audio as files.`,
      'unsupported_audio',
    );
  if (typeof sample_rate !== 'number')
    throw badRequest('sample_rate', '`sample_rate` is missing: name it with `audio_format`, in hertz.');
  if (num_channels !== 1)
    throw badRequest(
      'num_channels',
      '`num_channels` has to be 1: one channel is heard in a live session. Send each in a session of its own.',
    );
  return { encoding: ENCODINGS[audio_format], sample_rate: String(sample_rate) };
}

/**
 * What is requested of sessions and files in the same members.
 *
 * @throws ApiError
 */
export function requestOf(said: JsonObject, parameters: Map<string, string>, mode: Mode): ClientRequest {
  const asked = withFlagsAt(said, [...flagPlacesOf(options.rows, mode), ...FLAGS]);
  if (asked.translation !== undefined && asked.translation !== null)
    throw badRequest('translation', '`translation` is not served: transcripts alone are told. Leave it out.');
  const context = textIn(asked.context) === undefined ? objectIn(asked.context) : { text: asked.context };
  const terms = listIn(context.terms).flatMap((each) => textIn(each) ?? []);
  setAll(parameters, {
    ...languagesOf(asked),
    diarization: asked.enable_speaker_diarization === true ? 'true' : undefined,
    prompt: textIn(context.text) || undefined,
    keyterms: keytermsWithin(terms),
  });
  const own = Object.entries(optionsIn(options.rows, asked, mode)).filter(([name]) => !COMMON.includes(name));
  // Facts, and terms beyond what is requested of all models, are for Soniox' own.
  const unmet = keytermsCut('context.terms', terms, 'other');
  const isMore = listIn(context.general).length > 0 || unmet.length > 0;
  if (isMore) own.push(['context', asked.context]);
  return { model: textIn(asked.model), parameters, own: Object.fromEntries(own), unmet };
}

/** Without hints, a language that is to be named has to be found. */
function languagesOf({ language_hints, enable_language_identification }: JsonObject): Record<string, string> {
  const hints = listIn(language_hints).flatMap((each) => textIn(each) ?? []);
  if (hints.length > 1) return { languages: JSON.stringify(hints) };
  const [hint = enable_language_identification === true ? 'auto' : undefined] = hints;
  return hint === undefined ? {} : { language: hint };
}
