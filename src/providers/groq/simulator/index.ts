// Groq as its clients meet it: one endpoint for files in the form of OpenAI, with its own limits and words.
import { Type } from '@sinclair/typebox';
import { faultIn, formOf, members, oneOf, valuesOf } from '../../kit/simulator/checks.ts';
import { authorizationOf, type KeyFault, keyFault } from '../../kit/simulator/credentials.ts';
import { answerIn } from '../../kit/simulator/openai-answers.ts';
import { invalid, type Refusal, refuse } from '../../kit/simulator/openai-refusals.ts';
import { routed } from '../../kit/simulator/routes.ts';
import type { ProviderSimulator, SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';

const BYTES_MAX = 25_000_000;

const Form = members(
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

export const simulator: ProviderSimulator = {
  provider: 'groq',
  quirks: {},
  refusal: (status) =>
    refuse(
      status === 401
        ? KEY_REFUSALS.bad
        : status === 429
          ? KEY_REFUSALS.limited
          : { status, code: null, message: 'The request was refused.', type: 'internal_server_error' },
    ),
  failure: () => ({ messages: [], close: { code: 1011, reason: '' } }),
  isFinal: () => false,
  upgrade: () => ({ refuse: unknownUrl }),

  async http(request, tools) {
    const key = keyFault(authorizationOf(request, 'bearer'));
    if (key !== undefined) return refuse(KEY_REFUSALS[key]);
    const answer = await routed(request, {
      // A configured base may be without the path of the service's own.
      'GET /models': () => ({ status: 200, body: { object: 'list', data: [] } }),
      'GET /openai/v1/models': () => ({ status: 200, body: { object: 'list', data: [] } }),
      'POST /audio/transcriptions': () => transcribe(request, tools),
      'POST /openai/v1/audio/transcriptions': () => transcribe(request, tools),
    });
    return answer ?? unknownUrl;
  },
};

const unknownUrl = refuse({ status: 404, code: 'unknown_url', message: 'Unknown request URL.' });

async function transcribe(request: SimulatedRequest, tools: SimulatorTools): Promise<SimulatedAnswer> {
  if (request.body.length > BYTES_MAX)
    return refuse({ status: 413, code: 'request_too_large', message: 'Request Entity Too Large' });
  const form = await formOf(request);
  const asked = valuesOf(form ?? new FormData(), Form);
  const fault = faultIn(Form, asked);
  if (fault?.member === 'model')
    return refuse({ status: 404, code: 'model_not_found', message: 'The model does not exist.' });
  if (fault !== undefined) return refuse(invalid(fault.member, `${fault.member}: ${fault.message}`));
  const file = form?.get('file');
  const bytes = file instanceof Blob ? new Uint8Array(await file.arrayBuffer()) : new Uint8Array();
  const language = asked.language as string | undefined;
  const heard = await tools.transcribe(bytes, language).catch(() => undefined);
  if (heard === undefined) return refuse(invalid('file', 'could not process file - is it a valid media file?'));
  const { response_format: format = 'json', timestamp_granularities: granularities = [] } = asked;
  const answer = answerIn({
    ...{ format: format as string, language, speakers: [], usage: {}, extras: {} },
    ...heard,
    wordTimes: (granularities as string[]).includes('word'),
  });
  if (typeof answer.body !== 'object' || Array.isArray(answer.body)) return answer;
  const { usage, text, ...rest } = answer.body as Record<string, unknown>;
  return { ...answer, body: { ...rest, text: ` ${String(text)}`, x_groq: { id: `req_${tools.newId()}` } } };
}
