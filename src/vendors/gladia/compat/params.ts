// What clients of Gladia request in `POST /v2/live`, or of a file.
import { CHANNELS } from '../../../api/listen.ts';
import type { Mode } from '../../../api/models.ts';
import type { ClientRequest, Unmet } from '../../compat/dialect.ts';
import {
  addRedactions,
  addReplacements,
  badRequest,
  fittingRules,
  flagPlacesOf,
  keytermsCut,
  keytermsWithin,
  optionsIn,
  ownParameters,
  replacementsCut,
  setAll,
  withFlagsAt,
} from '../../compat/params.ts';
import { type JsonObject, listIn, objectIn, textIn } from '../../kit/json.ts';
import { options } from '../options.ts';

const ENCODINGS: Readonly<Record<string, { encoding: string; bits: number }>> = {
  'wav/pcm': { encoding: 'linear16', bits: 16 },
  'wav/alaw': { encoding: 'alaw', bits: 8 },
  'wav/ulaw': { encoding: 'mulaw', bits: 8 },
};
/** They are requested in the words that all models know. */
const COMMON = ['languages', 'custom_spelling'];
/** What would be made of the transcript, or sent to an address that the client names. */
const UNSERVED: Readonly<Record<string, readonly string[]>> = {
  realtime_processing: ['translation', 'named_entity_recognition', 'sentiment_analysis'],
  post_processing: ['summarization', 'chapterization'],
};

const LIVE_FLAGS = [
  ...flagPlacesOf(options.rows, 'live'),
  ...Object.entries(UNSERVED).flatMap(([place, names]) => names.map((name) => `${place}.${name}`)),
  ...['callback', 'realtime_processing.custom_vocabulary', 'realtime_processing.custom_spelling'],
  ...['partial_transcripts', 'final_transcripts', 'speech_events', 'acknowledgments', 'errors', 'lifecycle_events']
    .concat(['pre_processing_events', 'realtime_processing_events', 'post_processing_events'])
    .map((name) => `messages_config.receive_${name}`),
];
const FILE_FLAGS = [
  ...flagPlacesOf(options.rows, 'batch'),
  ...[
    'callback',
    'diarization',
    'pii_redaction',
    'custom_vocabulary',
    'custom_spelling',
    'subtitles',
    'detect_language',
  ],
];

export interface Asked {
  request: ClientRequest;
  /** Bytes of a second. */
  rate: number;
  channels: number;
  language: string;
  messages: Messages;
}

/** What the client is told of. */
export interface Messages {
  partials: boolean;
  finals: boolean;
  speech: boolean;
  acknowledgments: boolean;
  errors: boolean;
  lifecycle: boolean;
  whole: boolean;
}

/** @throws ApiError */
export function liveRequest(query: URLSearchParams, said: JsonObject): Asked {
  const config = withFlagsAt(said, LIVE_FLAGS);
  refuseUnserved(config);
  const { encoding, bytes, channels } = audioOf(config);
  const { sample_rate = 16_000 } = config;
  const messages = messagesOf(objectIn(config.messages_config));
  const processing = objectIn(config.realtime_processing);
  const parameters = ownParameters(query);
  setAll(parameters, {
    encoding,
    sample_rate: String(sample_rate),
    channels: channels === 1 ? undefined : String(channels),
    interim_results: String(messages.partials),
    turn_events: messages.speech ? 'true' : undefined,
    region: query.get('region')?.replace(/^(eu|us)-west$/, '$1'),
    ...languagesOf(config),
    keyterms: processing.custom_vocabulary === false ? undefined : keytermsWithin(termsOf(processing)),
  });
  addReplacements(parameters, fittingRules(spellingsOf(processing)));
  return {
    request: {
      model: textIn(config.model),
      parameters,
      own: optionsOf(config, processing, 'live'),
      unmet: cutOf(processing),
    },
    rate: Number(sample_rate) * bytes * channels,
    channels,
    language: textIn(listIn(objectIn(config.language_config).languages)[0]) ?? '',
    messages,
  };
}

function refuseUnserved(config: JsonObject): void {
  if (config.callback === true)
    throw badRequest('callback', '`callback` is not served: what is heard comes on the WebSocket. Leave it out.');
  for (const [place, names] of Object.entries(UNSERVED)) {
    const asked = names.find((name) => objectIn(config[place])[name] === true);
    if (asked !== undefined)
      throw badRequest(asked, `\`${place}.${asked}\` is not served: transcripts alone are told. Leave it out.`);
  }
}

function audioOf({ encoding = 'wav/pcm', bit_depth, channels = 1 }: JsonObject) {
  const known = typeof encoding === 'string' && Object.hasOwn(ENCODINGS, encoding) ? ENCODINGS[encoding] : undefined;
  if (known === undefined)
    throw badRequest('encoding', `\`encoding\` has to be one of ${Object.keys(ENCODINGS).join(', ')}.`);
  if (bit_depth !== undefined && bit_depth !== known.bits)
    throw badRequest('bit_depth', `\`bit_depth\` of ${encoding} has to be ${known.bits}: other depths are not taken.`);
  if (typeof channels !== 'number' || !Number.isInteger(channels) || channels < CHANNELS.min || channels > CHANNELS.max)
    throw badRequest('channels', `\`channels\` has to be from ${CHANNELS.min} to ${CHANNELS.max}.`);
  return { encoding: known.encoding, bytes: known.bits / 8, channels };
}

/** The configuration of a file with booleans for its flags. Throws an ApiError. */
export const plainFile = (config: JsonObject): JsonObject => withFlagsAt(config, FILE_FLAGS);

/**
 * What is asked for a file, whose configuration has no places for the time of processing.
 *
 * @throws ApiError
 */
export function fileRequest(query: URLSearchParams, config: JsonObject): ClientRequest {
  const parameters = ownParameters(query);
  setAll(parameters, {
    ...languagesOf(config),
    diarization: config.diarization === true ? 'true' : undefined,
    keyterms: config.custom_vocabulary === false ? undefined : keytermsWithin(termsOf(config)),
  });
  addRedactions(parameters, config.pii_redaction === true ? ['pii'] : []);
  addReplacements(parameters, fittingRules(spellingsOf(config)));
  const model = textIn(config.model) ?? query.get('model') ?? undefined;
  return { model, parameters, own: optionsOf(config, config, 'batch'), unmet: cutOf(config) };
}

function languagesOf({ language_config }: JsonObject): Record<string, string | undefined> {
  const languages = listIn(objectIn(language_config).languages).map(String);
  return {
    language: languages.length === 1 ? languages[0] : undefined,
    languages: languages.length > 1 ? JSON.stringify(languages) : undefined,
  };
}

const messagesOf = (config: JsonObject): Messages => ({
  partials: config.receive_partial_transcripts === true,
  finals: config.receive_final_transcripts !== false,
  speech: config.receive_speech_events !== false,
  acknowledgments: config.receive_acknowledgments !== false,
  errors: config.receive_errors !== false,
  lifecycle: config.receive_lifecycle_events === true,
  // It repeats the session: only for who asks for it by name.
  whole: config.receive_post_processing_events === true,
});

function termsOf({ custom_vocabulary_config }: JsonObject): string[] {
  const { vocabulary } = objectIn(custom_vocabulary_config);
  return listIn(vocabulary).flatMap((each) => textIn(each) ?? textIn(objectIn(each).value) ?? []);
}

const cutOf = (config: JsonObject): Unmet[] => [
  ...(config.custom_vocabulary === false ? [] : keytermsCut('custom_vocabulary_config', termsOf(config), 'other')),
  ...replacementsCut('custom_spelling_config', spellingsOf(config)),
];

/** What is heard for each word that is written. Throws an ApiError. */
function spellingsOf({ custom_spelling, custom_spelling_config }: JsonObject): { from: string; to: string }[] {
  const { spelling_dictionary: dictionary = {} } = objectIn(custom_spelling_config);
  if (custom_spelling === false) return [];
  if (typeof dictionary !== 'object' || Array.isArray(dictionary)) throw badRequest('spelling_dictionary', SPELLING);
  return Object.entries(objectIn(dictionary)).flatMap(([to, heard]) => {
    if (!Array.isArray(heard) || !heard.every((from) => typeof from === 'string'))
      throw badRequest('spelling_dictionary', SPELLING);
    return heard.map((from: string) => ({ from, to }));
  });
}

const SPELLING = '`custom_spelling_config.spelling_dictionary` is an object such as {"Written":["heard","herd"]}.';

/** Words alone are requested as all models know them; with pronunciations and the like they are for Gladia's own. */
function optionsOf(config: JsonObject, processing: JsonObject, mode: Mode): ClientRequest['own'] {
  const isPlain = (value: unknown) => listIn(value).every((term) => typeof term === 'string');
  const isOff = (name: string, value: unknown): boolean =>
    COMMON.includes(name) ||
    processing[name] === false ||
    (name === 'custom_vocabulary' && isPlain(value)) ||
    (name === 'code_switching' && value === false);
  return Object.fromEntries(
    Object.entries(optionsIn(options.rows, config, mode)).filter(([name, value]) => !isOff(name, value)),
  );
}
