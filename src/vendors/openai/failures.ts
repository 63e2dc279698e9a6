// What OpenAI's error codes, HTTP refusals and close codes mean for a leg or a file.
import { FailureTable } from '../kit/failures.ts';
import { itemRows, openaiShapedRefusal } from '../kit/openai-shaped/errors.ts';
import { FORM_BYTES_MAX } from './models.ts';

const over = { kind: 'retry', reason: 'upstream_closed' } as const;
const refusedClose = { kind: 'next', reason: 'upstream_closed' } as const;
const NAMED = /./;
/** Of the credential or its account, whatever type they come with. */
const ACCOUNT_CODES = [
  ...['insufficient_quota', 'invalid_api_key', 'billing_not_active', 'billing_hard_limit_reached'],
  ...['account_deactivated', 'invalid_organization', 'invalid_project', 'authentication_error', 'permission_error'],
];
/** The same without a code: the type says `invalid_request_error`, as of any request. */
const ACCOUNT_WORDS =
  /^missing bearer|^you didn't provide an api key|^(incorrect|invalid) api key|^you have insufficient permissions|exceeded your current quota/i;

export const failures = new FailureTable({
  title: 'OpenAI',
  rows: [
    // Refusals. A file that one model finds too long, or cannot read, another may take; of OpenAI it says nothing.
    { status: 400, words: /longer than [\d.]+ seconds/, as: 'audio_too_long' },
    { status: 400, code: 'input_too_large', as: 'audio_too_long' },
    { status: 400, words: /(?:invalid|unsupported|unrecognized) file format/i, as: 'unsupported_format' },
    { status: 400, code: 'unsupported_format' },
    { status: 400, code: NAMED, param: 'file', as: 'audio_unusable' },
    { status: 'any', code: ACCOUNT_CODES, kind: 'account' },
    { status: 'any', words: ACCOUNT_WORDS, kind: 'account' },
    { status: 'any', code: 'rate_limit_exceeded', kind: 'next' },
    { status: 'any', code: ['session_expired', 'server_error'], kind: 'retry' },
    { status: 'any' },
    // Errors of a session, by their code, or else by their type.
    { code: 'insufficient_quota', kind: 'account', message: 'The credential of OpenAI has no credit left.' },
    { code: ACCOUNT_CODES, kind: 'account', message: 'OpenAI does not accept the credential.' },
    { words: ACCOUNT_WORDS, kind: 'account', message: 'OpenAI does not accept the credential.' },
    {
      code: ['rate_limit_exceeded', 'rate_limit_error'],
      kind: 'next',
      message: 'OpenAI limits the rate of this credential.',
    },
    // The service's own limits come out as failures of one item.
    { code: 'server_error', words: /\b429\b|too many requests/i, as: 'rate_limit_exceeded', kind: 'next' },
    {
      code: ['invalid_model', 'model_not_found'],
      kind: 'next',
      message: 'OpenAI does not have this model for this credential.',
    },
    { close: 1001, words: /maximum duration/, as: 'session_expired', ...over },
    { code: 'session_expired', ...over, message: 'OpenAI ended the session at its limit of time.' },
    { code: 'server_error', kind: 'retry', message: 'OpenAI failed.' },
    { code: 'invalid_request_error', kind: 'caller', message: 'OpenAI does not take this request.' },
    { name: 'error', survives: true },
    { close: [3000, 3003], kind: 'account', message: 'OpenAI does not accept the credential.' },
    { close: 1008, ...refusedClose, message: 'OpenAI closed the connection for its policy.' },
    { close: 1009, ...refusedClose, message: 'OpenAI closed the connection for the size of a message.' },
    ...itemRows('OpenAI'),
    { name: 'unsupported_format', kind: 'caller', message: 'OpenAI does not read files of this format.' },
    { name: 'file_too_large', kind: 'caller', message: `OpenAI takes no form of more than ${FORM_BYTES_MAX} bytes.` },
    { name: 'bad_answer', kind: 'next', message: 'OpenAI answered with something that is no transcription.' },
  ],
  refusal: openaiShapedRefusal,
  // `type.code`, or the type alone: the `error` before it may be lost.
  close: (reason) => {
    const [, type, code] = /^(\w+)(?:\.(\w+)?)?$/.exec(reason) ?? [];
    return { type, code };
  },
});
