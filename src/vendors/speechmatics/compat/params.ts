// What clients of Speechmatics request in `StartRecognition` and in the query of its address, change by `SetRecognitionConfig`, or request
// of a file.

import type { Mode } from '../../../api/models.ts';
import { KEYTERMS_MAX } from '../../../api/vocabulary.ts';
import type { ClientRequest, Unmet } from '../../compat/dialect.ts';
import {
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
import { heardLanguage } from '../models.ts';
import { options } from '../options.ts';

/** Encodings of headerless audio; `pcm_f32le` is converted. */
const ENCODINGS: Readonly<Record<string, string>> = { pcm_s16le: 'linear16', pcm_f32le: 'linear16', mulaw: 'mulaw' };

/** Between the words of a language, by its code. */
export const delimiterOf = (language: unknown): string =>
  typeof language === 'string' && /^(cmn|zh|ja|yue|th)\b/.test(language) ? '' : ' ';

export interface Asked {
  request: ClientRequest;
  isFloat: boolean;
  partials: boolean;
  /** Ends of utterances are told. */
  utterances: boolean;
  /** Between words, and between finals. */
  delimiter: string;
}

/** @throws ApiError */
export function liveRequest(query: URLSearchParams, { audio_format, transcription_config }: JsonObject): Asked {
  const config = withFlagsAt(objectIn(transcription_config), ['enable_partials']);
  const format = objectIn(audio_format);
  const language = textIn(config.language) ?? '';
  const { end_of_utterance_silence_trigger: silence } = objectIn(config.conversation_config);
  const isPartial = config.enable_partials === true;
  const request = requestOf(query, config, 'live');
  setAll(request.parameters, {
    ...audioOf(format),
    interim_results: String(isPartial),
  });
  return {
    request,
    isFloat: format.type === 'raw' && format.encoding === 'pcm_f32le',
    partials: isPartial,
    utterances: typeof silence === 'number' && silence > 0,
    delimiter: delimiterOf(language),
  };
}

/**
 * What is requested of sessions and files in the same members.
 *
 * @throws ApiError
 */
export function requestOf(query: URLSearchParams, said: JsonObject, mode: Mode) {
  const config = withFlagsAt(said, flagPlacesOf(options.rows, mode));
  const parameters = ownParameters(query);
  setAll(parameters, {
    diarization: isDiarized(config) ? 'true' : undefined,
    ...languagesOf(textIn(config.language) ?? '', textIn(config.output_locale)),
    keyterms: keytermsWithin(termsOf(config)),
  });
  addReplacements(parameters, fittingRules(replacementsOf(config)));
  // What its own clients send of themselves cannot be changed in some of them; the address can.
  const model = query.get('model') ?? textIn(config.model) ?? textIn(config.operating_point);
  const unmet = [
    ...keytermsCut('additional_vocab', termsOf(config), 'other'),
    ...replacementsCut('replacements', replacementsOf(config)),
    ...expressionsIn(config),
  ];
  return { model, parameters, own: optionsOf(config, mode), unmet } satisfies ClientRequest;
}

function audioOf({ type, encoding, sample_rate }: JsonObject): Record<string, string | undefined> {
  if (type === 'file') return { encoding: 'auto' };
  if (type !== 'raw')
    throw badRequest(
      'audio_format',
      '`audio_format` is {"type":"raw","encoding":"pcm_s16le","sample_rate":16000}, or {"type":"file"} for WebM or Ogg with Opus, or WAV.',
      'unsupported_audio',
    );
  if (typeof encoding !== 'string' || !Object.hasOwn(ENCODINGS, encoding))
    throw badRequest(
      'audio_format',
      `\`audio_format.encoding\` is one of ${Object.keys(ENCODINGS).join(', ')}.`,
      'unsupported_audio',
    );
  if (typeof sample_rate !== 'number')
    throw badRequest('audio_format', '`audio_format.sample_rate` is missing: name it, in hertz.');
  return { encoding: ENCODINGS[encoding], sample_rate: String(sample_rate) };
}

function isDiarized({ diarization = 'none' }: JsonObject): boolean {
  if (diarization === 'none') return false;
  if (diarization === 'speaker') return true;
  throw badRequest(
    'diarization',
    '`diarization` is none or speaker: channels are not told apart. Send each in a session, or a file, of its own.',
  );
}

/** Packs of two languages are named by both: `cmn_en`. */
function languagesOf(language: string, locale: string | undefined): Record<string, string | undefined> {
  const [first, ...more] = language.split('_').map((each) => heardLanguage(each) ?? each);
  if (first === 'multi') return { language: 'auto' };
  if (more.length > 0) return { languages: JSON.stringify([first, ...more]) };
  return { language: locale ?? (first === '' ? undefined : first) };
}

/** Words that are to be expected; what they sound like is for Speechmatics' own models. */
const termsOf = ({ additional_vocab }: JsonObject): string[] =>
  listIn(additional_vocab).flatMap((each) => textIn(each) ?? textIn(objectIn(each).content) ?? []);

const EXPRESSION = /^\/.*\/\w*$/s;

/** Throws an ApiError. */
function rulesOf({ transcript_filtering_config }: JsonObject): { from: string; to: string }[] {
  const { replacements: asked } = objectIn(transcript_filtering_config);
  if (asked === undefined || asked === null) return [];
  if (!Array.isArray(asked)) throw badRequest('replacements', REPLACEMENTS);
  return asked.map((each) => {
    const { from, to } = objectIn(each);
    if (typeof from === 'string' && from !== '' && typeof to === 'string') return { from, to };
    throw badRequest('replacements', REPLACEMENTS);
  });
}

const REPLACEMENTS = '`transcript_filtering_config.replacements` is a list such as [{"from":"heard","to":"written"}].';

/** Words alone are replaced for all models; expressions between slashes by Speechmatics' own. */
const replacementsOf = (config: JsonObject) => rulesOf(config).filter(({ from }) => !EXPRESSION.test(from));

function expressionsIn(config: JsonObject): Unmet[] {
  if (rulesOf(config).every(({ from }) => !EXPRESSION.test(from))) return [];
  const message =
    'Regular expressions in `replacements` are for Speechmatics’ own models: they are not applied. Name words instead.';
  return [{ code: 'parameter_ignored', message, param: 'replacements', models: 'other' }];
}

/** Members of the configuration that are options of Speechmatics' own models. */
const optionsOf = (config: JsonObject, mode: Mode): ClientRequest['own'] =>
  Object.fromEntries(
    Object.entries(optionsIn(options.rows, config, mode))
      .map(([name, value]) => [name, name === 'replacements' ? expressionsOf(value) : value] as const)
      .filter(([name, value]) => !isUsual(name, value)),
  );

const expressionsOf = (rules: unknown): unknown[] =>
  listIn(rules).filter((rule) => EXPRESSION.test(textIn(objectIn(rule).from) ?? ''));

/** Said already in words that all models know; or zero, which is "none" there. */
function isUsual(name: string, value: unknown): boolean {
  if (name === 'output_locale') return true;
  if (name === 'end_of_utterance_silence_trigger') return value === 0;
  if (name === 'replacements') return listIn(value).length === 0;
  if (name !== 'additional_vocab') return false;
  const terms = listIn(value);
  return terms.length <= KEYTERMS_MAX && terms.every((term) => objectIn(term).sounds_like === undefined);
}

/** What Speechmatics changes in mid-session, and the language, which it does not. */
const CHANGEABLE = [
  ...['language', 'max_delay', 'max_delay_mode', 'audio_filtering_config', 'conversation_config', 'enable_partials'],
];

/** The message that the session might have begun with. What is not named stays. Throws an ApiError. */
export function changedConfig(start: JsonObject, message: JsonObject): JsonObject {
  const asked = objectIn(message.transcription_config);
  if (asked !== message.transcription_config) throw badRequest('transcription_config', SHAPE);
  const { language = 'en' } = asked;
  if (typeof language !== 'string' || language === '')
    throw badRequest('language', '`language` is a code, such as en.');
  const before = objectIn(start.transcription_config);
  const changes = CHANGEABLE.filter((name) => asked[name] !== undefined).map((name) => [name, asked[name]] as const);
  return { ...start, transcription_config: { ...before, ...Object.fromEntries(changes) } };
}

/** At most ten of them are named. */
export const unchangeableIn = ({ transcription_config }: JsonObject): string[] =>
  Object.keys(objectIn(transcription_config))
    .filter((name) => !CHANGEABLE.includes(name))
    .slice(0, 10)
    .map((name) => name.slice(0, 40));

const SHAPE = 'The message is {"message":"SetRecognitionConfig","transcription_config":{…}}, with what is to change.';
