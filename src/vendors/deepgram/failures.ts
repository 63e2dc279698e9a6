// What Deepgram's refusals, errors and close codes mean. Refused requests have three shapes: `category`, `err_code`, text.
import type { FailureRow } from '../kit/failure-row.ts';
import { FailureTable } from '../kit/failures.ts';
import { textIn } from '../kit/json.ts';

const account = { kind: 'account', reason: 'connect_failed' } as const;
const unreadable = { message: 'Deepgram cannot decode the audio in its declared encoding.' } as const;

const CODES: readonly (Omit<FailureRow, 'code'> & { code: string })[] = [
  { code: 'INVALID_AUTH', ...account, message: 'Deepgram does not accept the API key.' },
  { code: 'INSUFFICIENT_PERMISSIONS', ...account, message: 'The Deepgram API key may not use this model.' },
  { code: 'ASR_PAYMENT_REQUIRED', ...account, message: 'The Deepgram account has no credit left.' },
  {
    code: 'TOO_MANY_REQUESTS',
    kind: 'next',
    reason: 'connect_failed',
    message: 'The Deepgram account has too many requests open.',
  },
  // The encoding of a session's audio is the gateway's.
  { code: 'DATA-0000', kind: 'next', reason: 'upstream_error', ...unreadable },
  { code: 'NET-0000', kind: 'retry', reason: 'upstream_error', message: 'Deepgram failed to deliver its results.' },
  {
    code: 'NET-0001',
    kind: 'retry',
    reason: 'upstream_closed',
    message: 'Deepgram received no audio for ten seconds.',
  },
  { code: 'INTERNAL_SERVER_ERROR', kind: 'retry', reason: 'upstream_error', message: 'Deepgram failed.' },
  // A deployment without `ForceEndTurn`: the request is not to blame, and once more would fail again.
  {
    code: 'UNPARSABLE_CLIENT_MESSAGE',
    kind: 'next',
    reason: 'upstream_error',
    message: 'Deepgram does not know a message of the gateway.',
  },
];
const KNOWN = CODES.map(({ code }) => code);

export const failures = new FailureTable({
  title: 'Deepgram',
  rows: [
    { file: true, status: '4xx', code: 'DATA-0000', as: 'audio_unusable', kind: 'caller', ...unreadable },
    { file: true, status: [400, 413, 415, 422], words: /corrupt or unsupported|DATA-0000/i, as: 'audio_unusable' },
    ...CODES,
    // Of an error that is not known nobody knows whether it passes.
    { name: 'error', kind: 'next', message: 'Deepgram reported an error.' },
    { code: /^(DATA|NET)-/, kind: 'retry', message: 'Deepgram reported an error.' },
    { close: [1008, 1009], kind: 'next', reason: 'upstream_closed', message: 'Deepgram refused to go on.' },
  ],

  refusal({ category, err_code, message, err_msg }, { headers, body }) {
    const code = textIn(category) || textIn(err_code) || '';
    const shown = headers['dg-error'] ?? (textIn(message) || textIn(err_msg));
    return {
      code: KNOWN.includes(code) ? code : undefined,
      words: shown || (code === '' && !body.trimStart().startsWith('<') ? body : ''),
    };
  },

  close(reason) {
    const found = /\b(DATA|NET)-?(\d{4})\b/i.exec(reason);
    return found === null ? {} : { code: `${found[1]?.toUpperCase()}-${found[2]}` };
  },
});
