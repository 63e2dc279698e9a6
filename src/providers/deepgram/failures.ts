// What Deepgram's refusals, errors and close codes mean. Refused requests have three shapes: `category`, `err_code`, text.
import type { LegFailure } from '../../../machines/events.ts';
import type { FailureTable, ProviderRefusal } from '../provider.ts';
import { failureOfStatus, objectOf, providerWords, retryAfterOf } from '../refusals.ts';
import { finalMissing } from '../turn-text.ts';

const { code: FINAL_MISSING, ...finalMissingRow } = finalMissing;

const closed: FailureTable[string] = {
  kind: 'retry',
  reason: 'upstream_closed',
  message: 'Deepgram closed the connection.',
};
const unknownError: FailureTable[string] = {
  kind: 'retry',
  reason: 'upstream_error',
  message: 'Deepgram reported an error.',
};

export const failures: FailureTable = {
  INVALID_AUTH: { kind: 'account', reason: 'connect_failed', message: 'Deepgram does not accept the API key.' },
  INSUFFICIENT_PERMISSIONS: {
    kind: 'account',
    reason: 'connect_failed',
    message: 'The Deepgram API key may not use this model.',
  },
  ASR_PAYMENT_REQUIRED: {
    kind: 'account',
    reason: 'connect_failed',
    message: 'The Deepgram account has no credit left.',
  },
  TOO_MANY_REQUESTS: {
    kind: 'next',
    reason: 'connect_failed',
    message: 'The Deepgram account has too many requests open.',
  },
  'DATA-0000': {
    kind: 'caller',
    reason: 'upstream_error',
    message: 'Deepgram cannot decode the audio in its declared encoding.',
  },
  'NET-0000': { kind: 'retry', reason: 'upstream_error', message: 'Deepgram failed to deliver its results.' },
  'NET-0001': { kind: 'retry', reason: 'upstream_closed', message: 'Deepgram received no audio for ten seconds.' },
  INTERNAL_SERVER_ERROR: { kind: 'retry', reason: 'upstream_error', message: 'Deepgram failed.' },
  // A deployment without `ForceEndTurn`: the request is not to blame, and once more would fail again.
  UNPARSABLE_CLIENT_MESSAGE: {
    kind: 'next',
    reason: 'upstream_error',
    message: 'Deepgram does not know a message of the gateway.',
  },
  bad_answer: {
    kind: 'next',
    reason: 'upstream_error',
    message: 'Deepgram gave an answer that cannot be read.',
  },
  policy: { kind: 'next', reason: 'upstream_closed', message: 'Deepgram refused to go on.' },
  [FINAL_MISSING]: finalMissingRow,
  closed,
};

/** The failure of a code of the provider, with its words. An unknown code is an error worth a retry. */
export function failureOfCode(code: string, words = ''): LegFailure {
  const row = Object.hasOwn(failures, code) ? (failures[code] as FailureTable[string]) : unknownError;
  return { ...row, code: providerWords(code) || 'error', message: withWords(row, words) };
}

/** The failure of a refused upgrade or request. */
export function failureOfRefusal(refusal: ProviderRefusal): LegFailure {
  const body = objectOf(refusal.body);
  const category = textOf(body.category) || textOf(body.err_code);
  const shown = refusal.headers['dg-error'] ?? (textOf(body.message) || textOf(body.err_msg));
  const words = shown || (category === '' && !refusal.body.trimStart().startsWith('<') ? refusal.body : '');
  if (Object.hasOwn(failures, category)) {
    const retryAfterMs = retryAfterOf(refusal);
    return { ...failureOfCode(category, words), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  }
  const failure = failureOfStatus(refusal, words);
  // Said by Deepgram itself it is the model that is not there; otherwise it is the address.
  return refusal.status === 404 && category !== '' ? { ...failure, kind: 'caller', reason: 'upstream_error' } : failure;
}

/** The failure of a refused file. One that cannot be decoded is as bad for any other model. */
export function failureOfFileRefusal(refusal: ProviderRefusal): LegFailure {
  const failure = failureOfRefusal(refusal);
  const isAudio = failure.kind === 'caller' && /corrupt or unsupported|DATA-0000/i.test(refusal.body);
  return isAudio ? { ...failure, code: 'audio_unusable' } : failure;
}

/** The failure of a close that was not asked for. The code of the cause is in its reason, where there is one. */
export function failureOfClose(code: number, reason: string): LegFailure {
  const found = /\b(DATA|NET)-?(\d{4})\b/i.exec(reason);
  if (found !== null) return failureOfCode(`${found[1]?.toUpperCase()}-${found[2]}`, reason);
  const row = code === 1008 || code === 1009 ? (failures.policy as FailureTable[string]) : closed;
  return { ...row, code: `close_${code}`, message: withWords(row, reason) };
}

/** What is said to an account's owner names no more than the row: words about credentials may quote them. */
function withWords(row: FailureTable[string], words: string): string {
  const said = row.kind === 'account' ? '' : providerWords(words);
  return said === '' ? row.message : `${row.message.replace(/\.$/, '')}: ${said}`;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
