// What Fireworks' refusals mean: https://docs.fireworks.ai/guides/inference-error-codes
import { FailureTable } from '../kit/failures.ts';
import { openaiShapedRefusal } from '../kit/openai-shaped/errors.ts';

export const failures = new FailureTable({
  title: 'Fireworks',
  rows: [
    {
      status: 401,
      kind: 'account',
      message: 'Fireworks does not accept the API key, or has ended this model: it answers both in the same way.',
    },
    {
      status: 412,
      as: 'account_suspended',
      kind: 'account',
      reason: 'connect_failed',
      message: 'The Fireworks account is suspended, or has spent its limit.',
    },
    {
      ...{ file: true, status: [400, 422], words: /decod|corrupt|audio (file|format)|unsupported|media file/i },
      ...{ as: 'audio_unusable', kind: 'caller' },
    },
    { status: 'any' },
  ],
  refusal: openaiShapedRefusal,
});
