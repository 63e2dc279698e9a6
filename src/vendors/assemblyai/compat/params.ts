// What clients of AssemblyAI request in the query of an address, and change by `UpdateConfiguration`.
import { Type } from '@sinclair/typebox';
import type { ClientRequest } from '../../compat/dialect.ts';
import {
  addRedactions,
  badRequest,
  flagsOf,
  optionsInQuery,
  ownParameters,
  setAll,
  withFlags,
  withFlagsAt,
} from '../../compat/params.ts';
import { type JsonObject, jsonOf, listIn, textIn } from '../../kit/json.ts';
import { faultIn, members } from '../../kit/simulator/checks.ts';
import { hasLive } from '../models.ts';
import { options } from '../options.ts';

/** By the names that clients give encodings; rates that stand for a missing `sample_rate`. */
const ENCODINGS: Readonly<Record<string, { encoding: string; sampleRate?: string }>> = {
  pcm_s16le: { encoding: 'linear16', sampleRate: '16000' },
  pcm_mulaw: { encoding: 'mulaw', sampleRate: '16000' },
  opus: { encoding: 'opus' },
  ogg_opus: { encoding: 'ogg-opus' },
};
/** They are requested in the words that all models know. */
const COMMON = ['keyterms_prompt', 'prompt', 'language_codes', 'speaker_labels'];
/** What would be done beside the transcript. */
const ELSEWHERE = ['webhook_url', 'llm_gateway'];
/** Whose options are looked up where a model has none of its own. */
const NEWEST = 'universal-3-6-pro';

const FLAGS = [
  ...flagsOf(options.schema(NEWEST)),
  ...['speaker_labels', 'redact_pii', 'include_partial_turns', 'language_detection'],
];

export function streamRequest(said: URLSearchParams): ClientRequest {
  const query = new URLSearchParams(withFlags(said, FLAGS));
  for (const name of ELSEWHERE) {
    if (query.has(name))
      throw badRequest(name, `\`${name}\` is not served: the transcript is told on this connection. Leave it out.`);
  }
  const parameters = new Map([...ownParameters(query), ...audioOf(query), ...languagesOf(query)]);
  const isSet = (name: string) => query.get(name) === 'true';
  setAll(parameters, {
    keyterms: query.get('keyterms_prompt'),
    prompt: query.get('prompt'),
    diarization: isSet('speaker_labels') ? 'true' : undefined,
    interim_results: query.get('include_partial_turns') === 'false' ? 'false' : undefined,
  });
  addRedactions(parameters, isSet('redact_pii') ? ['pii'] : []);
  return { model: query.get('speech_model') ?? undefined, parameters, own: optionsOf(query) };
}

function audioOf(query: URLSearchParams): [string, string][] {
  const named = query.get('encoding') ?? 'pcm_s16le';
  const known = Object.hasOwn(ENCODINGS, named) ? ENCODINGS[named] : undefined;
  if (known === undefined) {
    const names = Object.keys(ENCODINGS).join(', ');
    throw badRequest('encoding', `\`encoding\` is one of ${names}. Send other audio as files.`);
  }
  // Opus is decoded to the usual rate, whatever it was recorded at.
  if (known.sampleRate === undefined) return [['encoding', known.encoding]];
  return [
    ['encoding', known.encoding],
    ['sample_rate', query.get('sample_rate') ?? known.sampleRate],
  ];
}

/** `language_codes` is JSON; one alone is the language itself. */
function languagesOf(query: URLSearchParams): [string, string][] {
  const text = query.get('language_codes');
  if (text !== null) return languagesIn(codesIn(text));
  const code = query.get('language_code');
  if (code !== null) return [['language', code]];
  return query.get('language_detection') === 'true' ? [['language', 'auto']] : [];
}

export const languagesIn = (codes: readonly string[]): [string, string][] =>
  codes.length === 1 ? [['language', codes[0] as string]] : [['languages', JSON.stringify(codes)]];

function codesIn(text: string): string[] {
  const codes = listIn(jsonOf(text)).filter((code) => typeof code === 'string' && code !== '');
  if (codes.length > 0) return codes as string[];
  throw badRequest('language_codes', '`language_codes` is a JSON array of codes, such as ["en","es"].');
}

/** Options of AssemblyAI's own models, by the names that they have there. */
function optionsOf(query: URLSearchParams): ClientRequest['own'] {
  const model = query.get('speech_model') ?? NEWEST;
  const schema = options.schema(hasLive(model) ? model : NEWEST);
  const named = [...query].map(([name, value]): [string, string] => [RENAMED[name] ?? name, value]);
  return optionsInQuery(named, schema, COMMON, 'json');
}

export const RENAMED: Readonly<Record<string, string>> = { min_end_of_turn_silence_when_confident: 'min_turn_silence' };

const texts = Type.Array(Type.String());
/** What all models know. */
const Common = members({}, { keyterms_prompt: texts, prompt: Type.String(), language_codes: texts }, 'ignored');
/** Options of AssemblyAI's own models. */
const OWN = [
  ...['end_of_turn_confidence_threshold', 'min_turn_silence', 'max_turn_silence', 'vad_threshold', 'format_turns'],
  ...['filter_profanity', 'agent_context', 'interruption_delay'],
];

/** What is not named stays; an empty list or text is none. Throws an ApiError. */
export function updated({ model, parameters, own }: ClientRequest, said: JsonObject): ClientRequest {
  const message = withFlagsAt(said, ['format_turns', 'filter_profanity']);
  const fault = faultIn(Common, message);
  if (fault !== undefined) {
    const param = fault.member.slice(0, 120);
    throw badRequest(param, `\`${param}\` cannot be updated so: ${fault.message}. Nothing of the message is changed.`);
  }
  const { keyterms_prompt: terms, prompt, language_codes: codes } = message as Readonly<Record<string, string[]>>;
  const next = new Map(parameters);
  if (terms !== undefined) setOrClear(next, 'keyterms', terms.length === 0 ? undefined : JSON.stringify(terms));
  if (prompt !== undefined) setOrClear(next, 'prompt', textIn(prompt) || undefined);
  if (codes !== undefined) {
    for (const name of ['language', 'languages']) next.delete(name);
    for (const [name, value] of codes.length === 0 ? [] : languagesIn(codes)) next.set(name, value);
  }
  const asked = Object.entries(message).map(([name, value]) => [RENAMED[name] ?? name, value] as const);
  return {
    model,
    parameters: next,
    own: { ...own, ...Object.fromEntries(asked.filter(([name]) => OWN.includes(name))) },
  };
}

/** Members that nothing here knows; at most ten of them are named. */
export const unservedIn = (message: JsonObject): string[] =>
  Object.keys(message)
    .filter(
      (name) => name !== 'type' && !Object.hasOwn(Common.properties, name) && !OWN.includes(RENAMED[name] ?? name),
    )
    .slice(0, 10)
    .map((name) => name.slice(0, 40));

function setOrClear(to: Map<string, string>, name: string, value: string | undefined): void {
  if (value === undefined) to.delete(name);
  else to.set(name, value);
}
