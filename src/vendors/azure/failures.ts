// What Azure's statuses of recognition, closes and refusals mean.
import { FailureTable } from '../kit/failures.ts';
import { objectIn, textIn } from '../kit/json.ts';

export const failures = new FailureTable({
  title: 'Azure',
  rows: [
    // A locale or a file that fast transcription does not take; the words say which.
    {
      status: 422,
      file: true,
      code: /Audio|Decod/i,
      as: 'audio_unusable',
      kind: 'caller',
      message: 'Azure cannot use the audio of this file.',
    },
    { status: 'any' },
    { code: 'TooManyRequests', kind: 'next', message: 'The Azure resource has too many sessions open.' },
    { code: 'BadRequest', kind: 'caller', message: 'Azure refused an option or the audio.' },
    { code: 'Forbidden', kind: 'account', message: 'Azure does not allow this to the account.' },
    { code: 'Error', kind: 'retry', message: 'Azure could not go on.' },
    // Its own client does not try these again.
    { close: [1002, 1003, 1007, 4000], kind: 'caller', message: 'Azure refused an option or the audio.' },
    { name: 'bad_answer', kind: 'next', message: 'An answer of Azure could not be read.' },
  ],
  refusal(body) {
    const { code, message, innerError } = { ...body, ...objectIn(body.error) };
    const words = textIn(message);
    return { code: textIn(objectIn(innerError).code) ?? textIn(code), words };
  },
});
