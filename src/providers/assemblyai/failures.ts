// What AssemblyAI's close codes, `Error` messages, HTTP refusals and failed jobs mean. The docs disagree on the code of some
// (too many sessions is 1008 on one page and 3009 on another), so the text decides where it is clear.
import type { FailureKind, LegFailure } from '../../../machines/events.ts';
import type { FailureTable, ProviderRefusal } from '../provider.ts';
import { failureOfStatus, objectOf, providerWords } from '../refusals.ts';

type Row = FailureTable[string];

const row = (kind: Row['kind'], message: string, reason: Row['reason'] = 'upstream_error'): Row => ({
  kind,
  reason,
  message,
});

/** By close code or `error_code`, and by names of our own for what has none. */
export const failures: FailureTable = {
  '1008': row('account', 'AssemblyAI refused the credential or the account.'),
  '3005': row('retry', 'AssemblyAI had an error of its own.'),
  '3006': row('caller', 'AssemblyAI refused a message or an option.'),
  // The frames and the pace are the gateway's, so the customer's request is not at fault; a new connection starts anew.
  '3007': row('retry', 'AssemblyAI refused the size or the pace of the audio.'),
  '3008': row('retry', 'The AssemblyAI session reached its longest duration.', 'upstream_closed'),
  '3009': row('next', 'AssemblyAI has too many sessions of this account open.'),
  '4000': row('caller', 'AssemblyAI does not take this sample rate.'),
  '4001': row('account', 'AssemblyAI refused the credential.'),
  '4002': row('account', 'The AssemblyAI account has no funds.'),
  '4003': row('account', 'The AssemblyAI account is a free one, and this is not free.'),
  '4004': row('retry', 'AssemblyAI does not know the session.', 'upstream_closed'),
  '4008': row('retry', 'The AssemblyAI session has expired.', 'upstream_closed'),
  '4010': row('retry', 'The AssemblyAI session is closed.', 'upstream_closed'),
  '4029': row('next', 'AssemblyAI limits the rate of this account.'),
  '4030': row('retry', 'AssemblyAI has this session twice.', 'upstream_closed'),
  '4031': row('retry', 'AssemblyAI ended an idle session.', 'upstream_closed'),
  '4032': row('retry', 'AssemblyAI found the audio too short.'),
  '4033': row('retry', 'AssemblyAI found the audio too long.'),
  '4034': row('retry', 'AssemblyAI found the audio too small.'),
  '4101': row('caller', 'AssemblyAI refused the form of the request.'),
  '4102': row('next', 'AssemblyAI has too many streams of this account open.'),
  '4103': row('retry', 'The AssemblyAI session was taken over by another connection.', 'upstream_closed'),
  closed: row('retry', 'AssemblyAI closed the connection.', 'upstream_closed'),
  terminated: row('retry', 'AssemblyAI ended the session before it was asked to.', 'upstream_closed'),
  error: row('retry', 'AssemblyAI reported an error.'),
  bad_answer: row('next', 'An answer of AssemblyAI could not be read.'),
  audio_unusable: row('caller', 'AssemblyAI cannot use the audio of this file.'),
  job_failed: row('next', 'AssemblyAI could not transcribe this file.'),
};

const TOO_MANY = /too many (concurrent|streams)|concurrent sessions|concurrency limit/i;
const ACCOUNT =
  /unauthori[sz]ed|not authori[sz]ed|authentication|api (key|token)|insufficient funds|\bbalance\b|account .*disabled|paid-only/i;

/** Texts of errors that come without a code, or with one that says nothing. */
const TEXTS: readonly (readonly [RegExp, string])[] = [
  [/input duration|transmission rate exceeded/i, '3007'],
  [/session (has )?expired|maximum session duration/i, '3008'],
  [/^invalid (message|json)/i, '3006'],
  [ACCOUNT, '1008'],
];

/** The failure of an `Error` message; many come without a code. */
export const failureOfError = (code: number | undefined, text: string): LegFailure =>
  told(keyOf(code, text) ?? 'error', code === undefined ? 'error' : String(code), text);

/** The failure of a close. */
export const failureOfClose = (code: number, text: string): LegFailure =>
  told(keyOf(code, text) ?? 'closed', `close_${code}`, text);

/** A failure that has a name of ours; what the provider said of it is added. */
export const failureNamed = (name: string, text = ''): LegFailure => told(name, name, text);

function keyOf(code: number | undefined, text: string): string | undefined {
  if (TOO_MANY.test(text)) return '3009';
  if (code !== undefined && Object.hasOwn(failures, String(code))) return String(code);
  return TEXTS.find(([pattern]) => pattern.test(text))?.[1];
}

function told(key: string, code: string, text: string): LegFailure {
  const { kind, reason, message } = failures[key] as Row;
  const words = providerWords(text);
  return { kind, reason, code, message: words === '' ? message : `${message} It said: ${words}` };
}

/** The failure of a refused upgrade or request. A negative balance comes as 400. */
export const failureOfRefusal = (refusal: ProviderRefusal): LegFailure => refused(refusal, {});

/** The same while a file is worked on: 403 is an upload of another account, 404 a job that is not there. */
export const failureOfFileRefusal = (refusal: ProviderRefusal): LegFailure =>
  refused(refusal, { 403: 'caller', 404: 'caller' });

function refused(refusal: ProviderRefusal, kinds: Readonly<Record<number, FailureKind>>): LegFailure {
  const { error, message } = objectOf(refusal.body);
  const text = typeof error === 'string' ? error : typeof message === 'string' ? message : '';
  const failure = failureOfStatus(refusal, text);
  const kind = (refusal.status < 500 ? kindOfText(text) : undefined) ?? kinds[refusal.status];
  return kind === undefined ? failure : { ...failure, kind };
}

function kindOfText(text: string): FailureKind | undefined {
  if (TOO_MANY.test(text)) return 'next';
  return ACCOUNT.test(text) ? 'account' : undefined;
}

const UNUSABLE =
  /(unable to|cannot|could not|failed to)( be)? (download|decode|read)|download error|unreachable|transcoding failed|not (appear to )?contain audio|no (spoken )?audio|too short|unsupported (file|format|codec)|corrupt|file (is )?empty|audio duration/i;

/** The failure of a job whose status is `error`: a bad file is bad for every provider, anything else is not. */
export const failureOfJob = (text: string): LegFailure =>
  failureNamed(UNUSABLE.test(text) ? 'audio_unusable' : 'job_failed', text);
