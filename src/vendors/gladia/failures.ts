// What Gladia's refusals, errors, closes and failed jobs mean. https://docs.gladia.io/chapters/limits-and-specifications
import { FailureTable } from '../kit/failures.ts';
import { textIn } from '../kit/json.ts';

const account = { kind: 'account', message: 'Gladia refused the key or the account.' } as const;
const tooMany = { kind: 'next', message: 'The Gladia account has too many sessions open.' } as const;

export const failures = new FailureTable({
  title: 'Gladia',
  rows: [
    { status: [404, 409], file: true, kind: 'next' },
    { status: 'any' },
    {
      file: true,
      code: /^4/,
      as: 'audio_unusable',
      kind: 'caller',
      message: 'Gladia cannot use the audio of this file.',
    },
    { code: 'rate_limit_exceeded', close: 4429, ...tooMany },
    { code: 'session_timeout', kind: 'retry', reason: 'upstream_closed', message: 'The Gladia session is over.' },
    { code: 'internal_error', kind: 'retry', message: 'Gladia failed.' },
    // The encoding of a session's audio is the gateway's.
    { code: 'invalid_audio_format', kind: 'next', message: 'Gladia cannot decode the audio.' },
    { close: [4401, 4403], ...account },
    {
      name: 'session_refused',
      kind: 'next',
      reason: 'upstream_closed',
      message: 'Gladia closed the session for good.',
    },
    { name: 'audio_refused', kind: 'retry', message: 'Gladia did not take a piece of audio.' },
    { name: 'bad_answer', kind: 'next', message: 'An answer of Gladia could not be read.' },
  ],
  refusal: ({ message, validation_errors }) => {
    const errors = Array.isArray(validation_errors) ? validation_errors.filter((each) => typeof each === 'string') : [];
    return { words: [textIn(message) ?? '', ...errors].filter((each) => each !== '').join(': ') };
  },
});
