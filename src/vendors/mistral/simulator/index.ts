// Mistral as its clients meet it: files in a form like OpenAI's, sessions in live.ts; and how it refuses.
import { Type } from '@sinclair/typebox';
import type { ProviderSimulator, SimulatedAnswer } from '../../kit/simulation.ts';
import { members, oneOf } from '../../kit/simulator/checks.ts';
import type { KeyFault } from '../../kit/simulator/credentials.ts';
import { faultInDetail } from '../../kit/simulator/credentials.ts';
import type { FileAnswer } from '../../kit/simulator/openai-answers.ts';
import { keyRefused, openaiShapedSimulator } from '../../kit/simulator/openai-service.ts';
import { textOf } from '../../kit/simulator/words.ts';
import { FILES } from '../models.ts';
import { RealtimeSession, SESSIONS, usageOf } from './live.ts';

const form = members(
  { file: Type.Unknown(), model: oneOf(...FILES) },
  {
    language: Type.String({ pattern: '^[a-z]{2}$' }),
    temperature: Type.Number(),
    diarize: Type.Boolean(),
    stream: Type.Literal(false),
    context_bias: Type.Array(Type.String({ pattern: '^[^\\s,]+$' }), { maxItems: 100 }),
    timestamp_granularities: Type.Array(oneOf('segment', 'word')),
  },
);

const STATUS_OF: Readonly<Record<KeyFault, number>> = { missing: 401, bad: 401, broke: 402, limited: 429 };
const WORDS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  402: 'You have no credits left.',
  404: 'no Route matched with those values',
  429: 'Requests rate limit exceeded',
};

const refusal = (status: number): SimulatedAnswer => ({
  status,
  headers: status === 429 ? { 'retry-after': '2' } : {},
  body: {
    ...{ object: 'error', message: WORDS[status] ?? 'The request was refused.', type: 'invalid_request' },
    ...{ param: null, code: String(status) },
  },
});
const keyRefusal = (fault: KeyFault) => refusal(STATUS_OF[fault]);

function answer(heard: FileAnswer, asked: Readonly<Record<string, unknown>>): SimulatedAnswer {
  const { turns, wordTimes, language = null } = heard;
  const { model, diarize, timestamp_granularities: times } = asked;
  const parts = wordTimes ? turns.flatMap(({ words }) => words.map((each) => ({ ...each, text: each.word }))) : turns;
  const segments = parts.map(({ text, start, end }, index) => ({
    ...{ type: 'transcription_segment', text, start, end, score: null },
    ...(diarize === true ? { speaker_id: `speaker_${(index % 2) + 1}` } : {}),
  }));
  const text = textOf(turns);
  return {
    status: 200,
    body: { model, text, language, segments: times === undefined ? [] : segments, usage: usageOf(text) },
  };
}

export const simulator: ProviderSimulator = {
  ...openaiShapedSimulator({
    provider: 'mistral',
    base: '/v1',
    keyRefusal,
    refusal,
    files: {
      form,
      rule: ({ language, timestamp_granularities: times }) =>
        language === undefined || times === undefined
          ? undefined
          : faultInDetail({ kind: 'invalid', member: 'language', message: 'Not beside timestamp_granularities.' }),
      refusals: { faulty: faultInDetail, unreadable: refuseFile('Audio file could not be decoded.') },
      answer,
    },
  }),
  quirks: {
    'lose-done': '=<n>: the n-th flush is never said to be done',
    'no-flush-done': 'a model that ends turns by itself never says that a flush is done',
    'phantom-turns': 'turns end in which nothing was said',
  },
  failure: () => ({
    messages: [{ type: 'error', error: { message: 'Internal server error.', code: 3000 } }],
    close: { code: 1011, reason: '' },
  }),
  isFinal: ({ type }) => type === 'transcription.done' || type === 'turn.end',
  keepsOrder: true,

  upgrade(request, tools) {
    const refused = keyRefused(request, keyRefusal);
    if (refused !== undefined) return { refuse: refused };
    const { pathname, searchParams } = request.url;
    if (pathname !== '/v1/audio/transcriptions/realtime') return { refuse: refusal(404) };
    const model = searchParams.get('model') ?? '';
    if (!Object.hasOwn(SESSIONS, model)) return { refuse: refuseFile(`Invalid model: ${model}`) };
    return { connect: (peer) => new RealtimeSession(peer, tools, model) };
  },
};

function refuseFile(message: string): SimulatedAnswer {
  return { status: 400, body: { ...(refusal(400).body as object), message } };
}
