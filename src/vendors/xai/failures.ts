// What the errors of xAI mean. A refused request has words, and a code that is a sentence; an error of a session has words alone.
import { FailureTable } from '../kit/failures.ts';
import { objectIn, textIn } from '../kit/json.ts';
import { WRONG_KEY } from './api.ts';

const NO_CREDIT = /credits|spending limit/i;
const account = { kind: 'account', reason: 'connect_failed' } as const;

export const failures = new FailureTable({
  title: 'xAI',
  rows: [
    { status: 400, words: WRONG_KEY, ...account, message: 'xAI does not accept the API key.' },
    {
      status: [402, 403, 429],
      words: NO_CREDIT,
      ...account,
      message: 'The xAI team has no credits left.',
    },
    {
      ...{ file: true, status: [400, 415, 422], words: /decod|corrupt|unsupported|(audio|file) format|no audio/i },
      ...{ as: 'audio_unusable', kind: 'caller' },
    },
    { status: 'any' },
    { words: WRONG_KEY, ...account, message: 'xAI does not accept the API key.' },
    { words: NO_CREDIT, ...account, message: 'The xAI team has no credits left.' },
    // The one error that a session survives: a deployment that does not know a message.
    { words: /^invalid message/i, survives: true },
    { words: /time(d )?-?out/i, kind: 'retry', reason: 'upstream_closed', message: 'xAI waited too long for audio.' },
  ],
  refusal: ({ error, message }) => ({
    words: textIn(error) ?? textIn(objectIn(error).message) ?? textIn(message),
  }),
});
