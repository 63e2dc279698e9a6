// vLLM as its clients meet it: files in the form of OpenAI, sessions in live.ts. It asks for a key where it was given one: here
// everybody without a key is let in.
import { Type } from '@sinclair/typebox';
import type { ProviderSimulator } from '../../kit/simulation.ts';
import { members, oneOf } from '../../kit/simulator/checks.ts';
import type { KeyFault } from '../../kit/simulator/credentials.ts';
import { answerIn, errorOf, invalid, type Refusal, refuse } from '../../kit/simulator/openai-answers.ts';
import { keyRefused, openaiShapedSimulator } from '../../kit/simulator/openai-service.ts';
import { RealtimeSession } from './live.ts';

const form = members(
  { file: Type.Unknown(), model: Type.String() },
  {
    ...{ language: Type.String(), prompt: Type.String(), hotwords: Type.String() },
    response_format: oneOf('text', 'json', 'verbose_json'),
    temperature: Type.Number(),
    timestamp_granularities: Type.Array(oneOf('segment', 'word')),
    ...{ stream: Type.Boolean(), seed: Type.Integer(), repetition_penalty: Type.Number() },
    max_completion_tokens: Type.Integer({ minimum: 1 }),
  },
  'ignored',
);

const WORDS: Readonly<Record<number, string>> = { 401: 'Unauthorized', 404: 'Not Found', 429: 'Too Many Requests' };
const refusal = (status: number) =>
  refuse({ status, code: null, message: WORDS[status] ?? 'The request was refused.', type: 'BadRequestError' });
const keyRefusal = (fault: KeyFault) => (fault === 'missing' ? undefined : refusal(fault === 'limited' ? 429 : 401));
const unknown = (model: unknown): Refusal => ({
  ...{ status: 404, code: null, type: 'NotFoundError', message: `The model \`${model}\` does not exist.` },
});
export const isServed = (model: unknown): boolean => typeof model === 'string' && !model.includes('none');

export const simulator: ProviderSimulator = {
  ...openaiShapedSimulator({
    provider: 'vllm',
    base: '/v1',
    keyRefusal,
    refusal,
    files: {
      form,
      bytesMax: 25 * 1_048_576,
      rule({ model, response_format: format }) {
        if (!isServed(model)) return refuse(unknown(model));
        const isWhisper = String(model).includes('whisper');
        if (format !== 'verbose_json' || isWhisper) return undefined;
        return refuse(invalid('response_format', `verbose_json is not supported for ${model}`));
      },
      refusals: {
        tooLarge: refuse(invalid('file', 'Maximum file size exceeded')),
        faulty: ({ member, message }) => refuse(invalid(member, `${member}: ${message}`)),
        unreadable: refuse(invalid('file', 'Invalid or unsupported audio file.')),
      },
      // Words are never filled in, and a language is told by its code.
      answer(heard) {
        const usage = { type: 'duration', seconds: Math.ceil(heard.seconds) };
        const answer = answerIn({ ...heard, usage, wordTimes: false });
        const { language = 'en' } = heard;
        if (heard.format !== 'verbose_json') return answer;
        return { ...answer, body: { ...(answer.body as object), language, words: null } };
      },
    },
  }),
  quirks: {
    'ends-early': '=<n>: the n-th generation of a session ends by itself, at the limit of the model’s context',
  },
  failure: () => ({
    messages: [{ type: 'error', error: errorOf(unknown('m')).message, code: 'processing_error' }],
    close: { code: 1011, reason: '' },
  }),
  isFinal: ({ type }) => type === 'transcription.done',

  upgrade(request, tools) {
    const refused = keyRefused(request, keyRefusal);
    if (refused !== undefined) return { refuse: refused };
    if (request.url.pathname !== '/v1/realtime') return { refuse: refusal(404) };
    return { connect: (peer) => new RealtimeSession(peer, tools, isServed) };
  },
};
