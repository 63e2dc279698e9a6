// What clients of Deepgram ask for in the query of an address, in the gateway's words.
import { REDACTIONS } from '../../api/listen/vocabulary.ts';
import { options } from '../../providers/deepgram/options.ts';
import type { Wish } from '../dialect.ts';
import { badRequest, optionsInQuery, ownParameters, setAll } from '../texts.ts';

/** Encodings of Deepgram that are taken under the same name; rates that stand for a missing `sample_rate`. */
const ENCODINGS: Readonly<Record<string, string | undefined>> = {
  linear16: undefined,
  mulaw: '8000',
  alaw: '8000',
  opus: '48000',
  'ogg-opus': '48000',
};
/** They are asked for in the words that all models know. */
const COMMON = ['keyterm', 'keywords', 'redact'];
/** What would be done without the client, by sending something to an address that it names. */
const ELSEWHERE = ['callback', 'callback_method'];

/** Those of `/v1/listen` of Deepgram. */
export const askedOfNova = (query: URLSearchParams): Wish => ({
  model: query.get('model') ?? undefined,
  parameters: new Map([
    ...shared(query),
    ...audioOf(query),
    ...channelsOf(query),
    ...languageOf(query),
    ['interim_results', query.get('interim_results') ?? 'false'],
  ]),
  own: optionsOf(query, 'nova-3'),
});

/** Those of its `/v2/listen`. */
export const askedOfFlux = (query: URLSearchParams): Wish => ({
  model: query.get('model') ?? undefined,
  parameters: new Map([
    ...shared(query),
    ...audioOf(oneChannel(query)),
    ['turn_events', 'true'],
    ...listed('languages', query.getAll('language_hint')),
  ]),
  own: optionsOf(query, 'flux-general-multi'),
});

/** Those of a file. */
export const askedOfFile = (query: URLSearchParams): Wish => ({
  model: query.get('model') ?? undefined,
  parameters: new Map([...shared(query), ...languageOf(query)]),
  own: optionsOf(query, 'nova-3'),
});

function shared(query: URLSearchParams): Map<string, string> {
  for (const name of ELSEWHERE) {
    if (query.has(name))
      throw badRequest(name, `\`${name}\` is not served: the transcript is the answer itself. Leave it out.`);
  }
  const parameters = ownParameters(query);
  const terms = [...query.getAll('keyterm'), ...query.getAll('keywords').map((term) => term.replace(/:[^:]*$/, ''))];
  for (const [name, value] of [...listed('keyterms', terms), ...listed('redact', redactions(query))])
    parameters.set(name, value);
  const isDiarized = query.get('diarize') === 'true' || query.has('diarize_model');
  setAll(parameters, { diarization: isDiarized ? 'true' : undefined });
  return parameters;
}

/** Kinds of Deepgram's own are told by the nearest word that all models know. */
function redactions(query: URLSearchParams): string[] {
  const kinds = query.getAll('redact').filter((kind) => kind !== 'false' && kind !== '');
  const known = (kind: string): string => {
    if (kind === 'true' || kind === 'aggressive_numbers' || kind === 'numbers') return 'numbers';
    return REDACTIONS.find((each) => each === kind) ?? 'pii';
  };
  return [...new Set(kinds.map(known))];
}

function audioOf(query: URLSearchParams): Map<string, string> {
  const encoding = query.get('encoding') ?? '';
  if (!Object.hasOwn(ENCODINGS, encoding)) {
    const known = Object.keys(ENCODINGS).join(', ');
    throw badRequest(
      'encoding',
      `\`encoding\` has to be named, with \`sample_rate\`: ${known} are taken. Send containers as files.`,
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

/** Each is heard by itself where that is asked for; else there is one. */
function channelsOf(query: URLSearchParams): Map<string, string> {
  if (query.get('multichannel') === 'true') return new Map([['channels', query.get('channels') ?? '1']]);
  oneChannel(query, ', or add `multichannel=true` to have each heard by itself');
  return new Map();
}

function oneChannel(query: URLSearchParams, or = ''): URLSearchParams {
  if (Number(query.get('channels') ?? 1) === 1 && query.get('multichannel') !== 'true') return query;
  throw badRequest('channels', `Channels are not mixed: send one${or}.`);
}

function languageOf(query: URLSearchParams): Map<string, string> {
  const parameters = new Map<string, string>();
  const language = query.get('language');
  const detects = query.get('detect_language');
  const isAuto = language === 'multi' || (detects !== null && detects !== 'false');
  setAll(parameters, { language: isAuto ? 'auto' : language });
  return parameters;
}

const listed = (name: string, texts: readonly string[]): [string, string][] =>
  texts.length === 0 ? [] : [[name, JSON.stringify(texts)]];

/** Options of Deepgram's own models, by the names that they have there. */
const optionsOf = (query: URLSearchParams, model: string): Wish['own'] =>
  optionsInQuery(query, options.schema(model), COMMON);
