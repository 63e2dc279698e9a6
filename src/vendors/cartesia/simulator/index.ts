// Cartesia as its clients meet it: who is let in, where requests go, and how it refuses. Sessions are live.ts.
import { Type } from '@sinclair/typebox';
import { authorizationOf } from '../../kit/offered-keys.ts';
import type { ProviderSimulator, SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../kit/simulation.ts';
import { fileIn, formOf, members, oneOf, valuesOf, wrongIn } from '../../kit/simulator/checks.ts';
import { keyRefusal } from '../../kit/simulator/credentials.ts';
import { ok, routed } from '../../kit/simulator/routes.ts';
import { textOf } from '../../kit/simulator/words.ts';
import { errorOf, InkSession, sessionFault } from './live.ts';

const Form = members(
  { file: Type.Unknown(), model: oneOf('ink-whisper', 'ink-whisper-2025-06-04') },
  { language: Type.String({ pattern: '^[a-z]{2,3}$' }), timestamp_granularities: Type.Array(Type.Literal('word')) },
  'ignored',
);

export const simulator: ProviderSimulator = {
  provider: 'cartesia',
  quirks: {
    'mark-first': 'the mark of an end comes before the text that it ends',
    'no-mark': 'ends that are asked for before the close have no mark',
    'no-words': 'text comes without its words and their times',
  },
  refusal: (status) => refusal(status),
  failure: () => ({ messages: [errorOf(500)], close: { code: 1011, reason: 'internal error' } }),
  // A mark never overtakes the text that it ends.
  isFinal: ({ type, is_final }) => type === 'flush_done' || (type === 'transcript' && is_final === true),

  upgrade(request, tools) {
    const { pathname, searchParams } = request.url;
    const refused = keyRefusal(keyOf(request), refusal, 402);
    if (refused !== undefined) return { refuse: refused };
    if (pathname !== '/stt/websocket') return { refuse: refusal(404) };
    const fault = sessionFault(searchParams);
    if (fault !== undefined) return { refuse: refusal(400, fault) };
    return { connect: (peer) => new InkSession(peer, tools, searchParams) };
  },

  async http(request, tools) {
    const refused = keyRefusal(keyOf(request), refusal, 402);
    if (refused !== undefined) return refused;
    const answer = await routed(request, {
      'GET /voices': () => ok({ data: [], has_more: false }),
      'POST /access-token': () => ok({ token: `token-${tools.newId()}` }),
      'POST /stt': () => transcribe(request, tools),
    });
    return answer ?? refusal(404);
  },
};

const keyOf = (request: SimulatedRequest): string | undefined =>
  authorizationOf(request.headers.authorization) ??
  request.headers['x-api-key'] ??
  request.url.searchParams.get('access_token') ??
  request.url.searchParams.get('api_key') ??
  undefined;

function refusal(status: number, message?: string): SimulatedAnswer {
  const { type, status_code, ...body } = errorOf(status, message);
  return { status, ...(status === 429 ? { headers: { 'retry-after': '5' } } : {}), body };
}

async function transcribe(request: SimulatedRequest, tools: SimulatorTools): Promise<SimulatedAnswer> {
  const form = await formOf(request);
  const asked = valuesOf(form ?? new FormData(), Form);
  const wrong = wrongIn(Form, asked);
  if (wrong !== undefined) return refusal(400, wrong);
  const file = (await fileIn(form, 'file')) ?? new Uint8Array();
  const language = (asked.language as string | undefined) ?? 'en';
  const heard = await tools.transcribe(file, language).catch(() => undefined);
  if (heard === undefined) return refusal(400, 'The audio file could not be decoded.');
  const words = heard.turns.flatMap((turn) => turn.words.map(({ word, start, end }) => ({ word, start, end })));
  const times = asked.timestamp_granularities === undefined ? {} : { words };
  const told = { type: 'transcript', text: textOf(heard.turns), language, duration: heard.seconds, ...times };
  return ok({ ...told, request_id: `request-${tools.newId()}` });
}
