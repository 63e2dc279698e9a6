// `additional_formats` of a file: the transcript once more, as subtitles or text.
// https://elevenlabs.io/docs/api-reference/speech-to-text/convert
import type { VerboseTranscription } from '../../../api/transcriptions.ts';
import { booleanIn } from '../../../api/values/boolean.ts';
import type { Captions } from '../../compat/jobs.ts';
import { badRequest } from '../../compat/params.ts';
import type { Unmet } from '../../compat/request.ts';
import { turnsOf } from '../../compat/transcript.ts';
import { countIn, type JsonObject, jsonOf, objectIn, textIn } from '../../kit/json.ts';

type Fields = readonly (readonly [name: string, value: string])[];

const FIELD = 'additional_formats';
const SERVED = ['srt', 'txt'] as const;
const FORMATS_MAX = 10;

/** JSON: a list, or one object of it in each field. Throws a Refusal. */
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

/** Throws a Refusal. */
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

/** Theirs names speakers where nothing else is asked for. */
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
