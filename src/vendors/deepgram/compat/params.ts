// What clients of Deepgram request in the query of an address.

import { booleanIn } from '../../../api/boolean.ts';
import { printable } from '../../../api/errors.ts';
import { pairOf } from '../../../api/replacements.ts';
import type { ClientRequest, Unmet } from '../../compat/dialect.ts';
import {
  addRedactions,
  addReplacements,
  addTags,
  badRequest,
  fittingRules,
  flagsOf,
  keytermsCut,
  keytermsWithin,
  nearestRedactions,
  OWN_PARAMETERS,
  optionsInQuery,
  ownParameters,
  replacementsCut,
  setAll,
  tagsCut,
  tagsIn,
  withFlags,
} from '../../compat/params.ts';
import { options } from '../options.ts';

/** Encodings of Deepgram that are taken under the same name; rates that stand for a missing `sample_rate`. */
const ENCODINGS: Readonly<Record<string, string | undefined>> = {
  linear16: undefined,
  mulaw: '8000',
  alaw: '8000',
  opus: '48000',
  'ogg-opus': '48000',
};
/** They are requested in the words that all models know. */
const COMMON = ['keyterm', 'keywords', 'redact', 'replace'];
/** Of files: where the transcript is sent to, in the place of the answer. */
const ELSEWHERE = ['callback', 'callback_method'];

const FLAGS = [
  ...flagsOf(options.schema('nova-3')),
  ...['interim_results', 'diarize', 'multichannel', 'utterances', 'sentiment', 'topics', 'intents', 'measurements'],
];
/** Booleans or something else. */
const MIXED = ['detect_language', 'redact', 'endpointing', 'summarize'];
const WORD = /^[a-z]+$/i;

/** The query with `true` and `false` for booleans. Throws an ApiError. */
export function plainQuery(query: URLSearchParams): URLSearchParams {
  const plain = withFlags(query, FLAGS).map(([name, value]): [string, string] => {
    const read = MIXED.includes(name) && WORD.test(value) ? booleanIn(value) : undefined;
    return [name, read === undefined ? value : String(read)];
  });
  return new URLSearchParams(plain);
}

/** Those of `/v1/listen` of Deepgram. */
export const novaRequest = (query: URLSearchParams): ClientRequest => ({
  model: query.get('model') ?? undefined,
  parameters: new Map([
    ...shared(onSocket(query)),
    ...audioOf(query),
    ...channelsOf(query),
    ...languageOf(query),
    ['interim_results', query.get('interim_results') ?? 'false'],
  ]),
  ...optionsOf(query, 'nova-3'),
});

/** Those of its `/v2/listen`. */
export const fluxRequest = (query: URLSearchParams): ClientRequest => ({
  model: query.get('model') ?? undefined,
  parameters: new Map([
    ...shared(onSocket(query)),
    ...audioOf(oneChannel(query)),
    ['turn_events', 'true'],
    ...listed('languages', query.getAll('language_hint')),
  ]),
  ...optionsOf(query, 'flux-general-multi'),
});

/** Those of a file. Paragraphs are made here, of what any model heard; they are of sentences, and those of punctuation. */
export function fileRequest(query: URLSearchParams): ClientRequest {
  const { own, ...more } = optionsOf(query, 'nova-3');
  const { paragraphs, ...options } = own;
  return {
    model: query.get('model') ?? undefined,
    parameters: new Map([...shared(query), ...languageOf(query)]),
    own: paragraphs === true ? { punctuate: true, ...options } : options,
    ...more,
  };
}

/** Throws an ApiError. */
function onSocket(query: URLSearchParams): URLSearchParams {
  for (const name of ELSEWHERE) {
    if (query.has(name))
      throw badRequest(
        name,
        `\`${name}\` is for files: the transcript of a live session comes on its WebSocket. Leave it out.`,
      );
  }
  return query;
}

function shared(query: URLSearchParams): Map<string, string> {
  // `redact` and `replace` of the address are Deepgram's own.
  const parameters = ownParameters(query, false);
  addRedactions(parameters, redactions(query));
  addReplacements(parameters, fittingRules(replacementsOf(query)));
  addTags(parameters, tagsIn(tagTexts(query)).tags);
  const isDiarized = query.get('diarize') === 'true' || query.has('diarize_model');
  setAll(parameters, {
    keyterms: keytermsWithin(termsOf(query)),
    diarization: isDiarized ? 'true' : undefined,
  });
  return parameters;
}

const tagTexts = (query: URLSearchParams): string[] => query.getAll('tag').filter((text) => text.trim() !== '');

/** A word without another is left out, as at Deepgram. */
const replacementsOf = (query: URLSearchParams) =>
  query.getAll('replace').flatMap((text) => (text === '' ? [] : (pairOf(text) ?? { from: text, to: '' })));

const termsOf = (query: URLSearchParams): string[] => [
  ...query.getAll('keyterm'),
  ...query.getAll('keywords').map((term) => term.replace(/:[^:]*$/, '')),
];

/** Kinds of Deepgram's own are told by the nearest word that all models know. */
function redactions(query: URLSearchParams): string[] {
  const texts = query.getAll('redact').flatMap((text) => text.split(',').map((kind) => kind.trim()));
  const kinds = texts.filter((kind) => kind !== '' && booleanIn(kind) !== false);
  const areNumbers = (kind: string) => booleanIn(kind) === true || kind === 'aggressive_numbers';
  return nearestRedactions(kinds.map((kind) => (areNumbers(kind) ? 'numbers' : kind)));
}

/** Without an encoding the audio has a container, as at Deepgram: then no rate and no channels are read. */
const hasContainer = (query: URLSearchParams): boolean => (query.get('encoding') ?? '') === '';

function audioOf(query: URLSearchParams): Map<string, string> {
  const encoding = query.get('encoding') ?? '';
  if (hasContainer(query)) return new Map([['encoding', 'auto']]);
  if (!Object.hasOwn(ENCODINGS, encoding)) {
    const known = Object.keys(ENCODINGS).join(', ');
    throw badRequest(
      'encoding',
      `\`encoding\` is one of ${known}. Leave it out for WebM or Ogg with Opus, or WAV. Send other audio as files.`,
    );
  }
  const rate = query.get('sample_rate') ?? ENCODINGS[encoding];
  if (rate === undefined)
    throw badRequest('sample_rate', `\`sample_rate\` is missing: ${encoding} needs it, in hertz.`);
  return new Map([
    ['encoding', encoding],
    ['sample_rate', rate],
  ]);
}

/** Each is heard on its own where that is requested; else there is one. */
function channelsOf(query: URLSearchParams): Map<string, string> {
  if (hasContainer(query) && query.get('multichannel') !== 'true') return new Map();
  if (query.get('multichannel') === 'true') return new Map([['channels', query.get('channels') ?? '1']]);
  oneChannel(query, ', or add `multichannel=true` to have each heard by itself');
  return new Map();
}

function oneChannel(query: URLSearchParams, or = ''): URLSearchParams {
  if (hasContainer(query) || (Number(query.get('channels') ?? 1) === 1 && query.get('multichannel') !== 'true'))
    return query;
  throw badRequest('channels', `Channels are not mixed: send one${or}.`);
}

function languageOf(query: URLSearchParams): Map<string, string> {
  const parameters = new Map<string, string>();
  const language = query.get('language');
  const detects = query.get('detect_language');
  const isAuto = language === 'multi' || (detects !== null && booleanIn(detects) !== false);
  setAll(parameters, { language: isAuto ? 'auto' : language });
  return parameters;
}

const listed = (name: string, texts: readonly string[]): [string, string][] =>
  texts.length === 0 ? [] : [[name, JSON.stringify(texts)]];

/** Options of Deepgram's own models, by the names that they have there, and what of the query is not requested. */
function optionsOf(query: URLSearchParams, model: keyof typeof USUAL): Pick<ClientRequest, 'own' | 'unmet'> {
  const schema = options.schema(model);
  const own = optionsInQuery(query, schema, COMMON);
  const isFlux = query.get('model')?.includes('flux') === true;
  return {
    own: isFlux ? own : { ...USUAL[model], ...own },
    unmet: [
      ...keytermsCut(query.has('keyterm') ? 'keyterm' : 'keywords', termsOf(query)),
      ...replacementsCut('replace', replacementsOf(query)),
      ...tagsCut('tag', tagTexts(query)),
      ...unservedIn(query, Object.keys(schema.properties)),
    ],
  };
}

/** Of those that the client says nothing of, what holds at Deepgram, where the gateway has another default. */
const USUAL = { 'nova-3': { smart_format: false }, 'flux-general-multi': {} } as const;

/** Other parameters that are known here. */
const KNOWN: readonly string[] = [
  ...['model', 'encoding', 'sample_rate', 'channels', 'multichannel', 'language', 'detect_language', 'language_hint'],
  ...['interim_results', 'diarize', 'utterances', 'tag'],
  ...[...OWN_PARAMETERS, ...ELSEWHERE, ...COMMON],
];
const UNSERVED_MAX = 10;

function unservedIn(query: URLSearchParams, known: readonly string[]): Unmet[] {
  const isAsked = ([name, value]: [string, string]) =>
    !known.includes(name) && !KNOWN.includes(name) && value !== '' && booleanIn(value) !== false && name !== 'version';
  const names = new Set([...query].filter(isAsked).map(([name]) => printable(name)));
  return [...names].slice(0, UNSERVED_MAX).map((param) => ({
    code: 'parameter_ignored',
    message: `\`${param}\` is not served, and Deepgram is not asked for it. Leave it out.`,
    param,
    models: 'own',
  }));
}
