// What OpenAI's error codes, HTTP refusals and close codes mean for a leg or a file.
import type { LegFailure } from '../../../machines/events.ts';
import type { FailureTable, ProviderRefusal } from '../provider.ts';
import { failureOfStatus, objectOf, providerWords } from '../refusals.ts';

type Row = FailureTable[string];

const retry = (message: string): Row => ({ kind: 'retry', reason: 'upstream_error', message });
const next = (message: string): Row => ({ kind: 'next', reason: 'upstream_error', message });
const account = (message: string): Row => ({ kind: 'account', reason: 'upstream_error', message });
const closed = (kind: Row['kind'], message: string): Row => ({ kind, reason: 'upstream_closed', message });

export const failures: FailureTable = {
  insufficient_quota: account('The credential of OpenAI has no credit left.'),
  invalid_api_key: account('OpenAI does not accept the credential.'),
  rate_limit_exceeded: next('OpenAI limits the rate of this credential.'),
  session_expired: closed('retry', 'OpenAI ended the session at its limit of time.'),
  server_error: retry('OpenAI failed.'),
  invalid_request_error: { kind: 'caller', reason: 'upstream_error', message: 'OpenAI does not take this request.' },
  // Its words were heard and never became final: the audio is sent again, here or to the next.
  item_failed: retry('OpenAI could not transcribe a turn.'),
  too_many_items: retry('OpenAI leaves too many turns without a final.'),
  audio_too_long: next('The audio is longer than the model takes.'),
  unsupported_format: next('OpenAI does not read files of this format.'),
  bad_answer: next('OpenAI answered with something that is no transcription.'),
  closed: closed('retry', 'OpenAI closed the connection.'),
  close_1008: closed('next', 'OpenAI closed the connection for its policy.'),
  close_1009: closed('next', 'OpenAI closed the connection for the size of a message.'),
};

/** Error types that stand for a code of the table. */
const TYPES: Readonly<Record<string, string>> = {
  insufficient_quota: 'insufficient_quota',
  rate_limit_error: 'rate_limit_exceeded',
  server_error: 'server_error',
  invalid_request_error: 'invalid_request_error',
};
/** Codes of OpenAI's that decide whatever the type; others are only passed on. */
const CODES = ['insufficient_quota', 'invalid_api_key', 'rate_limit_exceeded', 'session_expired', 'server_error'];
const CODE_MAX = 64;

/** An `error` object of OpenAI's, as far as it can be read. */
export interface ProviderError {
  type: string;
  code: string | undefined;
  message: string;
  eventId: string | undefined;
  param: string | undefined;
}

/** Reads the member `error` of an event or of an HTTP answer. */
export function errorOf(json: unknown): ProviderError | undefined {
  const { error } = (typeof json === 'object' && json !== null ? json : {}) as { error?: unknown };
  if (typeof error !== 'object' || error === null) return undefined;
  const { type, code, message, event_id, param } = error as Record<string, unknown>;
  return {
    type: typeof type === 'string' ? type : '',
    code: typeof code === 'string' && code !== '' ? code : undefined,
    message: typeof message === 'string' ? message : '',
    eventId: typeof event_id === 'string' ? event_id : undefined,
    param: typeof param === 'string' ? param : undefined,
  };
}

/**
 * The failure of a row of the table.
 *
 * @param words what OpenAI said beside
 * @param code what the failure is called, where OpenAI has a name of its own
 */
export function failureOf(row: string, words = '', code = row): LegFailure {
  const { message, ...rest } = (Object.hasOwn(failures, row) ? failures[row] : failures.server_error) as Row;
  const said = providerWords(words);
  return {
    ...rest,
    code: code.slice(0, CODE_MAX),
    message: said === '' ? message : `${message.slice(0, -1)}: ${said}`,
  };
}

/** The failure of an error, or undefined for one that the session survives. */
export function failureOfError({ type, code, message }: ProviderError): LegFailure | undefined {
  const row = rowOf(type, code);
  return row === undefined ? undefined : failureOf(row, message, code ?? row);
}

/** The failure of an item that failed. Whatever the reason, the words are not lost: its audio is sent again. */
export function failureOfItem(error: ProviderError | undefined): LegFailure {
  const row = error === undefined ? undefined : rowOf(error.type, error.code);
  const known = row === undefined || row === 'invalid_request_error' || row === 'server_error' ? 'item_failed' : row;
  return failureOf(known, error?.message);
}

function rowOf(type: string, code: string | undefined): string | undefined {
  if (code !== undefined && CODES.includes(code)) return code;
  return Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
}

/** The failure of a refused upgrade or request. */
export function failureOfRefusal(refusal: ProviderRefusal): LegFailure {
  const error = errorOf(objectOf(refusal.body));
  if (error === undefined) return failureOfStatus(refusal);
  const failure = failureOfStatus(refusal, error.message);
  const code = error.code?.slice(0, CODE_MAX);
  if (code === undefined) return failure;
  // Another model may have no such limit; every other fault of a file is the caller's everywhere.
  if (refusal.status === 400 && /longer than [\d.]+ seconds/.test(error.message)) {
    return { ...failure, kind: 'next', code: 'audio_too_long' };
  }
  if (refusal.status === 400 && error.param === 'file') return { ...failure, code: 'audio_unusable' };
  if (refusal.status === 404) return { ...failure, kind: 'caller', reason: 'upstream_error', code };
  const { kind } = CODES.includes(code) ? (failures[code] as Row) : failure;
  return { ...failure, kind, code };
}

/** The failure of a close that nobody asked for. */
export function failureOfClose(code: number, reason: string): LegFailure {
  const name = `close_${code}`;
  return failureOf(Object.hasOwn(failures, name) ? name : 'closed', reason, name);
}
