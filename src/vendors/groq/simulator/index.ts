// Groq as its clients meet it: one endpoint for files in the form of OpenAI, with its own limits and words.
import { Type } from '@sinclair/typebox';
import { members, oneOf } from '../../kit/simulator/checks.ts';
import type { KeyFault } from '../../kit/simulator/credentials.ts';
import { answerIn, invalid, type Refusal, refuse, refuseWith } from '../../kit/simulator/openai-answers.ts';
import { openaiShapedSimulator } from '../../kit/simulator/openai-service.ts';

const form = members(
  { file: Type.Unknown(), model: oneOf('whisper-large-v3', 'whisper-large-v3-turbo') },
  {
    language: Type.String({ pattern: '^[a-z]{2,3}$' }),
    prompt: Type.String(),
    response_format: oneOf('json', 'text', 'verbose_json'),
    temperature: Type.Number({ minimum: 0, maximum: 1 }),
    timestamp_granularities: Type.Array(oneOf('word', 'segment')),
  },
);

const KEY_REFUSALS: Readonly<Record<KeyFault, Refusal>> = {
  missing: { status: 401, code: 'invalid_api_key', message: 'Invalid API Key' },
  bad: { status: 401, code: 'invalid_api_key', message: 'Invalid API Key' },
  broke: { status: 402, code: 'insufficient_funds', message: 'The organization has no credit left.' },
  limited: {
    ...{ status: 429, code: 'rate_limit_exceeded', type: 'seconds', message: 'Rate limit reached for model.' },
    headers: { 'retry-after': '2', 'x-ratelimit-remaining-requests': '0' },
  },
};
const BY_STATUS: Readonly<Record<number, Refusal>> = {
  401: KEY_REFUSALS.bad,
  404: { status: 404, code: 'unknown_url', message: 'Unknown request URL.' },
  429: KEY_REFUSALS.limited,
};

export const simulator = openaiShapedSimulator({
  provider: 'groq',
  base: '/openai/v1',
  keyRefusal: (fault) => refuse(KEY_REFUSALS[fault]),
  refusal: (status) => refuseWith(status, BY_STATUS),
  files: {
    form,
    bytesMax: 25_000_000,
    refusals: {
      tooLarge: refuse({ status: 413, code: 'request_too_large', message: 'Request Entity Too Large' }),
      faulty: ({ member, message }) =>
        refuse(
          member === 'model'
            ? { status: 404, code: 'model_not_found', message: 'The model does not exist.' }
            : invalid(member, `${member}: ${message}`),
        ),
      unreadable: refuse(invalid('file', 'could not process file - is it a valid media file?')),
    },
    answer(heard, _, tools) {
      const answer = answerIn(heard);
      if (typeof answer.body !== 'object') return answer;
      const { usage, text, ...rest } = answer.body as Record<string, unknown>;
      return { ...answer, body: { ...rest, text: ` ${String(text)}`, x_groq: { id: `req_${tools.newId()}` } } };
    },
  },
});
