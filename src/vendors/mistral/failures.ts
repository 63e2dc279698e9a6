// What Mistral's refusals and the errors of its sessions mean: https://docs.mistral.ai/api
import { FailureTable } from '../kit/failures.ts';
import { openaiShapedRefusal } from '../kit/openai-shaped/errors.ts';

export const failures = new FailureTable({
  title: 'Mistral',
  rows: [
    {
      ...{ file: true, status: [400, 422], words: /too (long|large)|context length|exceeds/i },
      ...{ as: 'audio_too_long', kind: 'caller' },
    },
    {
      ...{ file: true, status: [400, 422], words: /decod|corrupt|unsupported|audio (file|format)/i },
      ...{ as: 'audio_unusable', kind: 'caller' },
    },
    { status: 'any' },
    { code: '3051', kind: 'caller', message: 'Mistral does not take this request.' },
    { code: '3804', kind: 'retry', message: 'Mistral waited too long for audio.' },
    // Reported of its engine, under several codes.
    { code: /./, words: /too ?many ?requests|capacity/i, as: 'rate_limited', kind: 'next' },
  ],
  refusal: openaiShapedRefusal,
});
