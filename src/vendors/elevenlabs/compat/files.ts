// Files of ElevenLabs' `/v1/speech-to-text`: a form, and an answer with every word and what stands between. `additional_formats` add the
// transcript as subtitles or text. https://elevenlabs.io/docs/api-reference/speech-to-text/convert

import { booleanIn } from '../../../api/boolean.ts';
import { isVendorRedaction } from '../../../api/redaction.ts';
import type { VerboseTranscription } from '../../../api/transcriptions.ts';
import type { Answer, ClientRequest, FormEndpoint } from '../../compat/dialect.ts';
import type { Captions } from '../../compat/jobs.ts';
import {
  addRedactions,
  badRequest,
  flagsOf,
  keytermsCut,
  keytermsWithin,
  nearestRedactions,
  optionsInQuery,
  ownParameters,
  refuseAddresses,
  setAll,
  withFlags,
} from '../../compat/params.ts';
import { type Unmet, warningsIn } from '../../compat/request.ts';
import { turnsOf } from '../../compat/transcript.ts';
import { countIn, type JsonObject, jsonOf, objectIn, textIn } from '../../kit/json.ts';
import { languageCode } from '../../kit/languages/whisper-languages.ts';
import { fileAnswer } from '../messages.ts';
import { options } from '../options.ts';
import { plainQuery, tagOf } from './params.ts';
import { spokenWords } from './realtime.ts';

/** What would be told elsewhere or in other ways. */
const UNSERVED = [
  ...['webhook', 'webhook_id', 'use_multi_channel'],
  ...['entity_detection', 'transcript_edit', 'detect_speaker_roles', 'use_speaker_library'],
];
const INSTEAD: Readonly<Record<string, string>> = {
  webhook: 'Leave it out, or make a job with `POST /v1/jobs` and a `webhook_url`.',
};
/** They are requested in the words that all models know. */
const COMMON = ['keyterms', 'temperature'];
const REDACTION = 'entity_redaction';
const MODEL = 'scribe_v2';
const FLAGS = [...flagsOf(options.schema(MODEL)), 'diarize'];
/** Words, of which `null` may be one. */
const TERMS = 'keyterms';

type Fields = Parameters<FormEndpoint['open']>[0];

/** Without what is empty, or the `null` that the vendor's Python SDK sends for a list or an object that its caller leaves out. */
const named = (said: Fields): Fields =>
  said.filter(([name, value]) => value !== '' && (value !== 'null' || name === TERMS || FLAGS.includes(name)));

/** Kinds to redact are repeated, or one JSON list. */
function separated([name, value]: Fields[number]): Fields[number][] {
  const list = name === REDACTION ? jsonOf(value) : undefined;
  return Array.isArray(list) ? list.map((each) => [name, String(each)]) : [[name, value]];
}

const ADDRESSES = ['cloud_storage_url', 'source_url'];

export const files: FormEndpoint = {
  lists: ['keyterms', 'entity_detection', 'entity_redaction'],
  addresses: ADDRESSES,

  open(said, handshake): ClientRequest {
    const query = plainQuery(handshake.query);
    const fields = withFlags(named(said).flatMap(separated), FLAGS);
    const one = new Map(fields);
    refuseAddresses(Object.fromEntries(one), ADDRESSES);
    for (const name of UNSERVED) {
      if (booleanIn(one.get(name) ?? false) !== false)
        throw badRequest(
          name,
          `\`${name}\` is not served: the transcript of the file is the answer. ${INSTEAD[name] ?? 'Leave it out.'}`,
        );
    }
    if ((one.get('file_format') ?? 'other') !== 'other')
      throw badRequest('file_format', '`file_format` has to be other: send samples in a WAV file.');
    const parameters = ownParameters(query);
    const language = one.get('language_code');
    const terms = fields.flatMap(([name, value]) => (name === 'keyterms' ? [value] : []));
    const isLogged = query.get('enable_logging') !== 'false';
    setAll(parameters, {
      language: language === undefined ? undefined : tagOf(language),
      diarization: one.get('diarize') === 'true' ? 'true' : undefined,
      keyterms: keytermsWithin(terms),
      temperature: one.get('temperature'),
      // Whatever model hears it: one that keeps something is refused.
      retention: isLogged ? undefined : 'none',
    });
    const kinds = fields.flatMap(([name, value]) => (name === REDACTION ? [value] : []));
    addRedactions(parameters, nearestRedactions(kinds));
    const ofModel = fields.filter(([name]) => options.honours(name, MODEL, 'batch'));
    // Kinds that only ElevenLabs knows stay options of its own models.
    const common = kinds.every(isVendorRedaction) ? [...COMMON, REDACTION] : COMMON;
    const own = optionsInQuery(ofModel, options.schema(MODEL), common);
    return {
      ...{
        model: one.get('model_id') ?? MODEL,
        parameters,
        unmet: [...keytermsCut('keyterms', terms), ...unservedFormats(fields)],
      },
      own: isLogged ? own : { ...own, enable_logging: false },
    };
  },

  answer(heard: VerboseTranscription, { requestId, fields, captions }): Answer {
    const { text, language, duration, words = [] } = heard;
    // Nobody says how sure a model is of the language.
    const told = { language: languageCode(language) ?? language, probability: 1, text };
    const spoken = spokenWords({ text, start: 0, end: duration, words });
    const more = { ...additionalFormats(heard, fields, captions), ...warningsIn(heard) };
    const answer = fileAnswer({ ...told, words: spoken }, requestId, duration, more);
    return { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(answer) };
  },
};

const FIELD = 'additional_formats';
const SERVED = ['srt', 'txt'] as const;
const FORMATS_MAX = 10;

/** JSON: a list, or one object of it in each field. Throws an ApiError. */
function askedFormats(fields: Fields): JsonObject[] {
  const texts = fields.flatMap(([name, value]) => (name === FIELD && value !== '' ? [value] : []));
  const formats = texts.flatMap((text) => {
    const value = jsonOf(text);
    return Array.isArray(value) ? value : [value];
  });
  if (formats.length > FORMATS_MAX || formats.some((each) => textIn(objectIn(each).format) === undefined))
    throw badRequest(
      FIELD,
      `\`${FIELD}\` is a JSON array of at most ${FORMATS_MAX} objects, such as [{"format":"srt"}].`,
    );
  return formats.map(objectIn);
}

const isServed = ({ format }: JsonObject): boolean => (SERVED as readonly unknown[]).includes(format);

/** Throws an ApiError. */
export const unservedFormats = (fields: Fields): Unmet[] =>
  askedFormats(fields)
    .filter((each) => !isServed(each))
    .map(({ format }) => ({
      code: 'parameter_ignored',
      message: `\`${FIELD}\` has the format ${JSON.stringify(format).slice(0, 40)}. Served are ${SERVED.join(' and ')}.`,
      param: FIELD,
    }));

export function additionalFormats(heard: VerboseTranscription, fields: Fields, captions: Captions): JsonObject {
  const formats = askedFormats(fields).filter(isServed);
  if (formats.length === 0) return {};
  return {
    additional_formats: formats.map((each) =>
      told(each, each.format === 'srt' ? srtOf(heard, each, captions) : textOf(heard, each)),
    ),
  };
}

const told = ({ format }: JsonObject, content: string) => ({
  ...{ requested_format: format, file_extension: format, is_base64_encoded: false, content },
  content_type: format === 'srt' ? 'application/x-subrip' : 'text/plain',
});

/** Theirs names speakers where nothing else is requested. */
const namesSpeakers = ({ include_speakers = true }: JsonObject): boolean => booleanIn(include_speakers) !== false;

const nameOf = (speaker: number): string => `speaker_${speaker}`;

const srtOf = (heard: VerboseTranscription, asked: JsonObject, captions: Captions): string =>
  captions(heard, 'srt', {
    ...{ hasSpeakers: namesSpeakers(asked), nameOf },
    charactersMax: countIn(asked.max_segment_chars) || undefined,
    lineCharactersMax: countIn(asked.max_characters_per_line) || undefined,
  });

function textOf(heard: VerboseTranscription, asked: JsonObject): string {
  const isTimed = booleanIn(asked.include_timestamps) === true;
  return turnsOf(heard)
    .map(({ text, start, end, speaker }) => {
      const time = isTimed ? `[${start.toFixed(3)} - ${end.toFixed(3)}] ` : '';
      return `${time}${speaker === undefined || !namesSpeakers(asked) ? '' : `${nameOf(speaker)}: `}${text}\n`;
    })
    .join('');
}
