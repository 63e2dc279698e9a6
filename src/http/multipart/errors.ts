// What a form is refused for, in words: each names the part at fault and never shows what was in it.
import { type ApiError, apiError } from '../../api/errors.ts';
import type { Shortage } from '../../runtime/limits/quota.ts';

type Fields = readonly (readonly [name: string, value: string])[];

interface WithoutFile<Given> {
  withoutFile?(fields: Given): void;
  fileField?: string;
}

/** The form is not well-formed. */
export function broken(what: string): ApiError {
  return apiError('invalid_request', `The form cannot be read: ${what}. Build it with a library for forms.`);
}

export function fileTooLarge(fileBytesMax: number): ApiError {
  const message = `The file is larger than ${fileBytesMax} bytes. Split it, or send it compressed, as FLAC or Opus.`;
  return apiError('file_too_large', message, { param: 'file' });
}

export function missingFile(what: string, part = 'file'): ApiError {
  const message = `The form has ${what}. Send the audio in the part \`${part}\`: with curl, -F ${part}=@audio.wav.`;
  return apiError('missing_file', message, { param: part });
}

/** Of a form without a file: what its fields are refused for; otherwise the missing file. */
export function withoutFile<Given extends Fields>(
  fields: Given,
  { withoutFile, fileField }: WithoutFile<Given>,
): unknown {
  try {
    withoutFile?.(fields);
  } catch (refusal) {
    return refusal;
  }
  return missingFile('no file', fileField);
}

export function unexpectedFile(name: string, part = 'file'): ApiError {
  return about(name, `is a file. Send the audio in the part \`${part}\`, and fields without a file name`);
}

export function repeatedField(name: string): ApiError {
  return apiError('duplicate_parameter', `The form has \`${shown(name)}\` more than once. Send it once.`, {
    param: shown(name),
  });
}

export function tooManyFields(fieldsMax: number, fieldsBytesMax: number): ApiError {
  const message = `The form has more than ${fieldsMax} fields, or more than ${fieldsBytesMax} bytes in them. Send fewer.`;
  return apiError('invalid_request', message);
}

export function fieldTooLong(name: string, fieldBytesMax: number): ApiError {
  return about(name, `is longer than ${fieldBytesMax} bytes. Shorten it`);
}

export function fieldNotText(name: string): ApiError {
  return about(name, 'is not text in UTF-8. Send it as UTF-8');
}

/** Of the disk. */
export function noRoom(cause?: unknown): ApiError {
  const message =
    'This node has no room for the file right now. Send it again later, with all other fields in front of `file`.';
  return Object.assign(apiError('overloaded', message, { retryAfterSeconds: 30 }), { cause });
}

export function noRoomOf(shortage: Shortage): ApiError {
  if (shortage === 'full') return noRoom();
  const message =
    'The files that your organisation is sending to this node take as much of its disk as one organisation may use. Send this file again when others have ended.';
  return apiError('too_many_sessions', message, { retryAfterSeconds: 30 });
}

/** Of the memory that forms may hold. */
export function noMemoryOf(shortage: Shortage): ApiError {
  if (shortage === 'full') {
    const message = 'This node has no memory left for the fields of forms. Send the request again later.';
    return apiError('overloaded', message, { retryAfterSeconds: 30 });
  }
  const message =
    'The forms that your organisation is sending to this node hold as much of its memory as one organisation may use. Send this one again when others have ended.';
  return apiError('too_many_sessions', message, { retryAfterSeconds: 30 });
}

function about(name: string, what: string): ApiError {
  return apiError('invalid_request', `\`${shown(name)}\` ${what}.`, { param: shown(name) });
}

/** A name as a refusal may repeat it. */
function shown(name: string): string {
  return name.slice(0, 64).replace(/[^\x20-\x7e]/g, '?');
}
