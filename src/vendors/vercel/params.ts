// What clients of Vercel's AI Gateway ask for in `providerOptions`, in the gateway's words: options of the model's provider under its
// name, fallbacks under `gateway`, and what any model is asked for under `voxgate`.

import { printable } from '../../api/errors.ts';
import type { Mode } from '../../api/models.ts';
import { ownerOf } from '../../api/slug.ts';
import type { ClientRequest, Unmet } from '../compat/dialect.ts';
import {
  addRedactions,
  badRequest,
  flagPlacesOf,
  keytermsCut,
  keytermsWithin,
  optionsIn,
  ownParameters,
  setAll,
  textsIn,
  withFlagsAt,
} from '../compat/params.ts';
import { providers } from '../index.ts';
import { type JsonObject, listIn, objectIn, textIn } from '../kit/json.ts';

/** Of `voxgate`. */
const OURS = [
  'language',
  'languages',
  'prompt',
  'keyterms',
  'diarization',
  'redact',
  'replace',
  'fallbacks',
  'region',
  'retention',
  'prefer',
  'tags',
  'max_cost',
  'max_seconds',
];
const UNKNOWN_MAX = 10;
/** Options of providers, as their packages of the AI SDK call them, that are requested in the words that all models know. */
const TERMS = ['keyterm', 'keyterms', 'keywords', 'keyterms_prompt', 'word_boost', 'custom_vocabulary'];
const SPEAKERS = ['diarize', 'speaker_labels', 'diarization'];
const LANGUAGE = ['language', 'language_code'];
const COMMON = [...TERMS, ...SPEAKERS, ...LANGUAGE, 'prompt'];

/** @throws ApiError */
export function requestOf(
  model: string | undefined,
  asked: JsonObject,
  mode: Mode,
  query: URLSearchParams,
): ClientRequest {
  if (!model)
    throw badRequest('ai-model-id', 'No model is named: `ai-model-id` has to be one, such as deepgram/nova-3.');
  const provider = ownerOf(model);
  const { optionRows = {} } = providers.find(({ name }) => name === provider) ?? {};
  const flags = [...flagPlacesOf(optionRows, mode), ...SPEAKERS];
  const options = withFlagsAt(inSnakeCase(objectIn(asked[provider])), flags);
  const ours = objectIn(asked.voxgate);
  const parameters = ownParameters(query);
  const models = listIn(objectIn(asked.gateway).models).flatMap((each) => textIn(objectIn(each).model ?? each) ?? []);
  const terms = TERMS.flatMap((name) => termsIn(options[name]));
  setAll(parameters, {
    language: LANGUAGE.map((name) => textIn(options[name])).find(Boolean),
    prompt: textIn(options.prompt) || undefined,
    keyterms: keytermsWithin(terms),
    diarization: SPEAKERS.some((name) => options[name] === true) ? 'true' : undefined,
    fallbacks: models.length === 0 ? undefined : JSON.stringify(models),
  });
  const { redact, ...others } = ours;
  setAll(parameters, Object.fromEntries(OURS.map((name) => [name, written(others[name])])));
  addRedactions(parameters, textsIn(written(redact) ?? ''));
  const own = Object.entries(optionsIn(optionRows, options, mode)).filter(([name]) => !COMMON.includes(name));
  const unknown = Object.keys(ours)
    .filter((name) => !OURS.includes(name))
    .slice(0, UNKNOWN_MAX)
    .map((name): Unmet => {
      const param = `voxgate.${printable(name)}`;
      return { code: 'parameter_ignored', message: `\`${param}\` is not known. Known are ${OURS.join(', ')}.`, param };
    });
  return {
    model,
    parameters,
    own: Object.fromEntries(own),
    ownOf: provider,
    unmet: [...keytermsCut('keyterms', terms), ...unknown],
  };
}

const inSnakeCase = (options: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name.replace(/[A-Z]/g, (each) => `_${each.toLowerCase()}`), value]),
  );

const termsIn = (value: unknown): string[] =>
  (typeof value === 'string' ? [value] : listIn(value)).flatMap((each) => textIn(each) ?? []);

const written = (value: unknown): string | undefined =>
  value === undefined || value === null || typeof value === 'string' ? (value ?? undefined) : JSON.stringify(value);
