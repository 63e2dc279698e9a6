// What the refusals of whisper.cpp mean: text, of which only that of a 500 is its own. Every other status but 400 comes as a 404, also
// while a model is being loaded.
import { FailureTable } from '../kit/failures.ts';
import { textIn } from '../kit/json.ts';

export const failures = new FailureTable({
  title: 'The whisper.cpp server',
  rows: [
    { file: true, status: 400, words: /Invalid request/i, as: 'audio_unusable', kind: 'caller' },
    { file: true, status: 500, words: /FFmpeg/, as: 'audio_unusable', kind: 'caller' },
    // A number that is none.
    { file: true, status: 500, words: /sto[ifd]/, as: 'invalid_number', kind: 'caller' },
    { status: 'any' },
  ],
  refusal: ({ error }, { body }) => ({ words: textIn(error) ?? body }),
});
