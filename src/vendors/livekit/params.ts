// What clients of LiveKit Inference ask for when they create a session, or update it, in the gateway's words.

import { booleanIn, readBooleanIn } from '../../api/boolean.ts';
import { apiError } from '../../api/errors.ts';
import { ownerOf } from '../../api/slug.ts';
import type { ClientRequest } from '../compat/dialect.ts';
import {
  addRedactions,
  badRequest,
  flagPlacesOf,
  keytermsCut,
  keytermsWithin,
  nearestRedactions,
  optionsIn,
  ownParameters,
  setAll,
  withFlagsAt,
} from '../compat/params.ts';
import { providers } from '../index.ts';
import { type JsonObject, listIn, objectIn, textIn } from '../kit/json.ts';

/** The client leaves the choice of a model to the gateway. */
export const AUTO = 'auto';

/** Names that are not those of the gateway. */
export const NAMES: Readonly<Record<string, string>> = {
  [AUTO]: 'deepgram/nova-3',
  'deepgram/flux-general': 'deepgram/flux-general-en',
  'deepgram/nova-3-general': 'deepgram/nova-3',
  'deepgram/nova-2-general': 'deepgram/nova-2',
  'assemblyai/universal-streaming': 'assemblyai/universal-streaming-english',
  'xai/stt-1': 'xai/grok-voice-transcribe-2.0',
};

/** They are requested in the words that all models know. */
const TERMS = ['keyterm', 'keyterms_prompt', 'additional_vocab', 'custom_vocabulary', 'keywords'];
const SPEAKERS = ['diarize', 'speaker_labels', 'diarization'];
const LANGUAGES = ['language_hint', 'language_codes', 'detect_language'];
const REDACTION = ['redact', 'redact_pii', 'redact_pii_policies'];
const COMMON = [...TERMS, ...SPEAKERS, ...LANGUAGES, ...REDACTION, 'interim_results'];

const FLAGS = ['detect_language', 'interim_results'];

/** @throws ApiError */
export function askedOfCreate(query: URLSearchParams, create: JsonObject): ClientRequest {
  const settings = objectIn(create.settings);
  const extra = withFlagsAt(objectIn(settings.extra), FLAGS);
  const model = textIn(create.model) ?? query.get('model') ?? AUTO;
  const parameters = ownParameters(query);
  setAll(parameters, {
    ...audioOf(settings),
    language: languageOf(settings, extra),
    ...languagesOf(extra),
    keyterms: keytermsWithin(termsOf(extra)),
    diarization: SPEAKERS.some((name) => isOn(name, extra[name])) ? 'true' : undefined,
    interim_results: extra.interim_results === false ? 'false' : undefined,
    turn_events: 'true',
    fallbacks: fallbacksOf(create) ?? parameters.get('fallbacks'),
  });
  addRedactions(parameters, redactionsOf(extra));
  const unmet = keytermsCut(TERMS.find((name) => name in extra) ?? 'keyterm', termsOf(extra));
  return { model, parameters, own: ownOf(model, extra), ownOf: ownerOf(model), unmet };
}

function audioOf({ encoding = 'pcm_s16le', sample_rate }: JsonObject): Record<string, string> {
  if (encoding !== 'pcm_s16le')
    throw badRequest('settings.encoding', '`settings.encoding` has to be pcm_s16le.', 'unsupported_audio');
  const rate = Number(sample_rate);
  if (!Number.isSafeInteger(rate) || rate <= 0)
    throw badRequest('settings.sample_rate', '`settings.sample_rate` is missing, or no number: name it in hertz.');
  return { encoding: 'linear16', sample_rate: String(rate) };
}

function languageOf({ language }: JsonObject, { detect_language }: JsonObject): string | undefined {
  const named = textIn(language) || undefined;
  return named === 'multi' || (named === undefined && detect_language === true) ? 'auto' : named;
}

function languagesOf({ language_hint, language_codes }: JsonObject): Record<string, string> {
  const hints = [language_hint, ...listIn(language_codes)].flatMap((each) => textIn(each) || []);
  return hints.length === 0 ? {} : { languages: JSON.stringify(hints) };
}

/** A term, a list of such, of `[term, boost]`, or of `{content}`. */
const termsOf = (extra: JsonObject): string[] =>
  TERMS.flatMap((name) => {
    const value = extra[name];
    const all = typeof value === 'string' ? [value] : listIn(value);
    return all.flatMap((each) => textIn(Array.isArray(each) ? each[0] : (objectIn(each).content ?? each)) ?? []);
  });

/** Deepgram's `redact` is a text or a list, AssemblyAI's a flag with policies. */
function redactionsOf({ redact, redact_pii, redact_pii_policies: policies }: JsonObject): string[] {
  const isAssemblyais = booleanIn(redact_pii) === true || listIn(policies).length > 0;
  const kinds = redact === true ? ['numbers'] : textsIn(redact).filter((kind) => booleanIn(kind) !== false);
  return nearestRedactions([...kinds, ...(isAssemblyais ? ['pii'] : [])]);
}

const textsIn = (value: unknown): string[] =>
  (typeof value === 'string' ? [value] : listIn(value)).flatMap((each) => textIn(each) ?? []);

/** `none` and `speaker` are how Speechmatics is asked. Throws an ApiError. */
function isOn(name: string, value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 'none') return false;
  return value === 'speaker' || readBooleanIn(`settings.extra.${name}`, value);
}

function fallbacksOf({ fallback }: JsonObject): string | undefined {
  const candidates = listIn(objectIn(fallback).models).map((each) => {
    const { model, extra } = objectIn(each);
    const named = textIn(each) ?? textIn(model);
    if (named === undefined) throw apiError('invalid_request', NAMELESS, { param: 'fallback.models' });
    const own = ownOf(named, objectIn(extra));
    return { model: slugOf(named), ...(Object.keys(own).length === 0 ? {} : { provider_params: own }) };
  });
  return candidates.length === 0 ? undefined : JSON.stringify(candidates);
}

const NAMELESS = 'Each of `fallback.models` has to name its `model`.';

const slugOf = (name: string): string => (Object.hasOwn(NAMES, name) ? (NAMES[name] as string) : name);

/** Those of a model's options that its provider knows by these names. */
function ownOf(model: string, extra: JsonObject): Record<string, unknown> {
  const { optionRows = {} } = providers.find(({ name }) => name === ownerOf(slugOf(model))) ?? {};
  const plain = withFlagsAt(extra, flagPlacesOf(optionRows, 'live'));
  return Object.fromEntries(
    Object.entries(optionsIn(optionRows, plain, 'live')).filter(([name]) => !COMMON.includes(name)),
  );
}

/** The message that would have created the session as an update wants it: what is named is other, all else stays. */
export function updated(create: JsonObject, { model, language, extra }: JsonObject): JsonObject {
  const settings = objectIn(create.settings);
  return {
    ...create,
    ...(model === undefined ? {} : { model }),
    settings: {
      ...settings,
      ...(language === undefined ? {} : { language }),
      extra: { ...objectIn(settings.extra), ...objectIn(extra) },
    },
  };
}
