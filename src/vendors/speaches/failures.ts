// What the refusals and errors of speaches mean, as its source has them: https://github.com/speaches-ai/speaches
import { FailureTable } from '../kit/failures.ts';
import { itemRows, openaiShapedRefusal } from '../kit/openai-shaped/errors.ts';

export const failures = new FailureTable({
  title: 'The speaches server',
  rows: [
    { file: true, status: 415, as: 'audio_unusable', kind: 'caller' },
    { file: true, status: 400, words: /empty|decod/i, as: 'audio_unusable', kind: 'caller' },
    // Any update of turn detection is answered with this, and works.
    { words: /prefix_padding_ms/, survives: true },
    {
      ...{ words: /not (installed|found)|download/i, as: 'model_not_found', kind: 'next' },
      message: 'The speaches server does not have this model.',
    },
    { status: 'any' },
    // Of its own limit of half an hour nothing is said but the end of the connection.
    { code: 'server_error', kind: 'retry', message: 'The speaches server could not transcribe a turn.' },
    { code: 'invalid_request_error', kind: 'caller', message: 'The speaches server does not take this request.' },
    { close: 1008, kind: 'account', message: 'The speaches server does not accept the API key.' },
    ...itemRows('The speaches server'),
  ],
  refusal: openaiShapedRefusal,
});
