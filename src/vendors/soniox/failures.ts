// What the errors of Soniox mean. They are HTTP statuses in every place: of an answer, of an error message before a close.
// https://soniox.com/docs/stt/rt/error-handling
import type { FailureRow } from '../kit/failure-row.ts';
import { FailureTable } from '../kit/failures.ts';
import { textIn } from '../kit/json.ts';

const UNREADABLE = /decod|corrupt|unsupported (audio|file)|audio (data )?format|not (an )?audio/i;

const account = { kind: 'account', reason: 'connect_failed' } as const;
const over = { kind: 'retry', reason: 'upstream_closed' } as const;

/** Of an error message, whose code is a status. */
const MESSAGES: readonly FailureRow[] = [
  // The encoding of a session's audio is the gateway's, and so is its length.
  { code: '400', words: UNREADABLE, kind: 'next', message: 'Soniox cannot decode the audio.' },
  {
    ...{ code: '400', words: /^audio is too long|too much audio/i, as: 'session_expired', ...over },
    message: 'Soniox ended the session at its limit of audio.',
  },
  { code: '400', kind: 'caller', message: 'Soniox does not take this request.' },
  { code: '401', ...account, message: 'Soniox does not accept the API key.' },
  { code: '402', ...account, message: 'The Soniox account has no balance or budget left.' },
  { code: '403', ...account, message: 'The Soniox key may not do this, or no longer.' },
  { code: '408', ...over, message: 'Soniox received its audio too slowly.' },
  { code: '429', kind: 'next', reason: 'connect_failed', message: 'Soniox limits the requests of this account.' },
  // Sessions that are well are ended so as well: whoever comes again is served.
  { code: '503', ...over, message: 'Soniox asks for the session to be opened anew.' },
];

export const failures = new FailureTable({
  title: 'Soniox',
  rows: [
    { file: true, status: [400, 413, 415, 422], words: UNREADABLE, as: 'audio_unusable', kind: 'caller' },
    { status: 'any' },
    {
      ...{ file: true, words: UNREADABLE, as: 'audio_unusable', kind: 'caller' },
      message: 'Soniox cannot use the audio of this file.',
    },
    { file: true, words: /too long|duration/i, as: 'audio_too_long', kind: 'next' },
    ...MESSAGES,
  ],
  // Its `error_type` names what the status says.
  refusal: ({ message, error_message }) => ({ words: textIn(message) ?? textIn(error_message) }),
});
