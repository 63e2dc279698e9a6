// What Speechmatics' `Error` messages, closes, refusals and rejected jobs mean. An error is told by its type; a close that comes
// alone by its code. https://docs.speechmatics.com/api-ref/realtime-transcription-websocket
import { FailureTable } from '../kit/failures.ts';
import { textIn } from '../kit/json.ts';

const ours = { kind: 'next', message: 'Speechmatics does not take what the gateway says.' } as const;
const asked = { kind: 'caller', message: 'Speechmatics refused an option.' } as const;
const account = { kind: 'account', message: 'Speechmatics refused the credential or the account.' } as const;
const spent = { kind: 'account', message: 'The contract of the Speechmatics account is used up.' } as const;
const tooMany = { kind: 'next', message: 'The Speechmatics account has too many sessions open.' } as const;
const over = { kind: 'retry', reason: 'upstream_closed', message: 'Speechmatics ended the session.' } as const;
const broken = { kind: 'retry', message: 'Speechmatics failed.' } as const;

export const failures = new FailureTable({
  title: 'Speechmatics',
  rows: [
    { status: 429, kind: 'next' },
    // A job that is gone, or locked: another provider may do it.
    { status: [404, 409, 410, 423], file: true, kind: 'next' },
    { status: 'any' },
    {
      file: true,
      code: 'rejected',
      as: 'audio_unusable',
      kind: 'caller',
      message: 'Speechmatics cannot use the audio of this file.',
    },
    { code: ['invalid_message', 'protocol_error'], close: 1003, ...ours },
    { code: ['invalid_config', 'invalid_audio_type', 'invalid_output_format', 'invalid_language'], ...asked },
    { code: 'invalid_model', kind: 'next', message: 'Speechmatics does not offer this model to the account.' },
    { code: 'not_authorised', close: 4001, ...account },
    { code: 'not_allowed', close: 4003, ...account },
    { close: 4004, ...asked },
    { code: 'quota_exceeded', close: 4005, ...tooMany },
    { code: 'timelimit_exceeded', close: 4006, ...spent },
    { code: 'job_error', close: 4013, ...broken },
    { code: ['idle_timeout', 'session_timeout'], close: 1008, ...over },
    { code: ['internal_error', 'unknown_error'], close: 1011, ...broken },
    { name: 'duration_limit_exceeded', ...spent },
    { name: 'bad_answer', kind: 'next', message: 'An answer of Speechmatics could not be read.' },
  ],
  refusal: ({ error, detail }) => ({ words: textIn(detail) ?? textIn(error) }),
});
