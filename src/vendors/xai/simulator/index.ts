// xAI's speech to text as its clients meet it: who is let in, where requests go, and how it refuses. Sessions are live.ts.
import { Type } from '@sinclair/typebox';
import type { ProviderSimulator, SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../kit/simulation.ts';
import { fileIn, formOf, members, oneOf, valuesOf, wrongIn } from '../../kit/simulator/checks.ts';
import type { KeyFault } from '../../kit/simulator/credentials.ts';
import { keyRefused } from '../../kit/simulator/openai-service.ts';
import { routed } from '../../kit/simulator/routes.ts';
import { textOf } from '../../kit/simulator/words.ts';
import { ASKED, GrokSession, sessionFault, wireWord } from './live.ts';

const Form = members(
  { file: Type.Unknown() },
  { ...ASKED, format: Type.Boolean(), audio_format: oneOf('pcm', 'mulaw', 'alaw') },
  'ignored',
);

/** A wrong key was seen to be no 401; the last two are as its other services answer. */
const KEYS: Readonly<Record<KeyFault, readonly [status: number, words: string]>> = {
  missing: [401, 'No credentials presented.'],
  bad: [400, 'Incorrect API key provided. You can obtain an API key from https://console.x.ai.'],
  broke: [403, 'Your team has no credits left, or is at its monthly spending limit.'],
  limited: [429, 'Too many requests.'],
};

/** The code of a refusal is what its gRPC status means. */
const CODES: Readonly<Record<number, string>> = {
  400: 'Client specified an invalid argument',
  401: 'The request does not have valid authentication credentials',
  403: 'The caller does not have permission to execute the specified operation',
  404: 'Some requested entity was not found',
  429: 'Some resource has been exhausted',
};

export const simulator: ProviderSimulator = {
  provider: 'xai',
  quirks: {
    'tail-ends': 'the end of an utterance says only what was not locked of it',
    'locks-only': 'finalize is answered by a locked chunk; its utterance ends with the next, and says it again',
    'whole-done': 'the last message says the whole session once more',
    'no-words': 'text comes without its words and their times',
    'no-finalize': 'finalize is a message that it does not know',
  },
  refusal: (status) => refusal(status),
  failure: () => ({
    messages: [{ type: 'error', message: 'The transcription failed.' }],
    close: { code: 1011, reason: 'internal error' },
  }),
  isFinal: ({ type, is_final, text }) => is_final === true || (type === 'transcript.done' && text !== ''),

  upgrade(request, tools) {
    const refused = keyRefused(request, keyRefusal);
    if (refused !== undefined) return { refuse: refused };
    if (request.url.pathname !== '/v1/stt') return { refuse: refusal(404) };
    const fault = sessionFault(request.url.searchParams);
    if (fault !== undefined) return { refuse: refusal(400, fault) };
    return { connect: (peer) => new GrokSession(peer, tools, request.url.searchParams) };
  },

  async http(request, tools) {
    const refused = keyRefused(request, keyRefusal);
    if (refused !== undefined) return refused;
    const answer = await routed(request, {
      'GET /v1/api-key': () => ({ status: 200, body: { name: 'key', team_blocked: false, api_key_blocked: false } }),
      'POST /v1/stt': () => transcribe(request, tools),
    });
    return answer ?? refusal(404);
  },
};

const refusal = (status: number, error = 'The request was refused.'): SimulatedAnswer => ({
  status,
  ...(status === 429 ? { headers: { 'retry-after': '5' } } : {}),
  body: { code: CODES[status] ?? 'Internal error', error },
});

const keyRefusal = (fault: KeyFault) => refusal(...KEYS[fault]);

async function transcribe(request: SimulatedRequest, tools: SimulatorTools): Promise<SimulatedAnswer> {
  const form = await formOf(request);
  const asked = valuesOf(form ?? new FormData(), Form);
  const fault = wrongIn(Form, asked);
  if (fault !== undefined) return refusal(400, fault);
  if (asked.format === true && asked.language === undefined) return refusal(400, 'format requires language.');
  // What stands behind the file may not be read.
  if ([...(form?.keys() ?? [])].at(-1) !== 'file') return refusal(400, 'file must be the last field.');
  const bytes = (await fileIn(form, 'file')) ?? new Uint8Array();
  const heard = await tools.transcribe(bytes, asked.language as string | undefined).catch(() => undefined);
  if (heard === undefined) return refusal(400, 'Unsupported audio format.');
  const isDiarized = asked.diarize === true;
  const words = heard.turns.flatMap((turn, index) =>
    turn.words.map((word) => wireWord(word, isDiarized ? index % 2 : undefined)),
  );
  const body = { text: textOf(heard.turns), language: 'en', duration: heard.seconds };
  return { status: 200, body: words.length === 0 ? body : { ...body, words } };
}
