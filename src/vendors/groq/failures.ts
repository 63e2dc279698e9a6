// What Groq's refusals mean: https://console.groq.com/docs/errors
import { FailureTable } from '../kit/failures.ts';
import { openaiShapedRefusal } from '../kit/openai-shaped/errors.ts';

export const failures = new FailureTable({
  title: 'Groq',
  rows: [
    { status: 413, code: 'request_too_large', as: 'file_too_large', kind: 'caller' },
    {
      status: 400,
      words: /(valid|supported) media file|corrupt|could not (process|decode)|unsupported/i,
      as: 'audio_unusable',
    },
    // A service behind it failed, or there is no room on this plan.
    { status: [424, 498], kind: 'next' },
    { status: 'any' },
    { name: 'unsupported_format', kind: 'caller', message: 'Groq does not read files of this format.' },
    { name: 'file_too_large', kind: 'caller', message: 'Groq takes no form of more than 25 MB.' },
  ],
  refusal: openaiShapedRefusal,
});
