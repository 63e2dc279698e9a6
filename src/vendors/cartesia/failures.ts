// What the errors of Cartesia mean: the same object in an answer and in a message of a session, with a code for some, and the
// HTTP status of all: https://docs.cartesia.ai/use-the-api/api-errors
import { FailureTable } from '../kit/failures.ts';
import { textIn } from '../kit/json.ts';

const account = { kind: 'account', reason: 'connect_failed' } as const;
const busy = { kind: 'next', reason: 'connect_failed' } as const;

export const failures = new FailureTable({
  title: 'Cartesia',
  rows: [
    {
      ...{ file: true, status: [400, 415, 422], words: /decod|corrupt|audio (file|format)|unsupported/i },
      ...{ as: 'audio_unusable', kind: 'caller' },
    },
    { code: 'quota_exceeded', ...account, message: 'The Cartesia account has no credits left.' },
    { code: 'plan_upgrade_required', ...account, message: 'The plan of the Cartesia account does not have this.' },
    { code: 'concurrency_limited', ...busy, message: 'The Cartesia account has too many sessions open.' },
    { status: 'any' },
    { code: '400', kind: 'caller', message: 'Cartesia does not take this request.' },
    { code: ['401', '403'], ...account, message: 'Cartesia does not accept the API key.' },
    { code: '402', ...account, message: 'The Cartesia account has no credits left.' },
    { code: '429', ...busy, message: 'Cartesia limits the requests of this account.' },
  ],
  refusal: ({ error_code, title, message }) => ({
    code: textIn(error_code) || undefined,
    words: [textIn(title), textIn(message)].filter((text) => text).join(': '),
  }),
});
