// What the refusals and errors of vLLM mean, as its source has them: https://github.com/vllm-project/vllm
import { FailureTable } from '../kit/failures.ts';
import { openaiShapedRefusal } from '../kit/openai-shaped/errors.ts';

export const failures = new FailureTable({
  title: 'The vLLM server',
  rows: [
    { file: true, status: 400, words: /maximum file ?size|too (large|long)/i, as: 'file_too_large', kind: 'caller' },
    {
      file: true,
      status: 400,
      words: /decod|corrupt|unsupported|invalid audio/i,
      as: 'audio_unusable',
      kind: 'caller',
    },
    { status: 'any' },
    { code: 'model_not_found', kind: 'next', message: 'The vLLM server does not have this model.' },
    {
      code: ['model_not_validated', 'invalid_event', 'unknown_event', 'invalid_json', 'invalid_audio'],
      ...{ kind: 'caller', message: 'The vLLM server does not take this request.' },
    },
    { code: 'processing_error', kind: 'retry', message: 'The vLLM server could not transcribe a turn.' },
    { name: 'file_too_large', kind: 'caller', message: 'The vLLM server takes no form of more than 25 MiB.' },
  ],
  refusal: openaiShapedRefusal,
});
