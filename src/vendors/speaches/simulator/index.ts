// speaches as its clients meet it: files in the form of OpenAI, sessions in live.ts. It was given a key, and lets in who has none to
// show only where it was not: here everybody without a key is let in.
import { Type } from '@sinclair/typebox';
import type { ProviderSimulator } from '../../kit/simulation.ts';
import { members, oneOf } from '../../kit/simulator/checks.ts';
import type { KeyFault } from '../../kit/simulator/credentials.ts';
import { faultInDetail, refuseInDetail } from '../../kit/simulator/credentials.ts';
import { keyRefused, openaiShapedSimulator } from '../../kit/simulator/openai-service.ts';
import { RealtimeSession } from './live.ts';

const form = members(
  { file: Type.Unknown(), model: Type.String() },
  {
    ...{ language: Type.String(), prompt: Type.String(), hotwords: Type.String() },
    response_format: oneOf('text', 'json', 'verbose_json', 'srt', 'vtt'),
    temperature: Type.Number({ minimum: 0, maximum: 1 }),
    timestamp_granularities: Type.Array(oneOf('segment', 'word')),
    ...{ stream: Type.Boolean(), without_timestamps: Type.Boolean() },
  },
);

const WORDS: Readonly<Record<number, string>> = {
  403: 'Invalid API key',
  404: 'Not Found',
  429: 'Too Many Requests',
};
const refusal = (status: number) => refuseInDetail(status, WORDS[status] ?? 'The request was refused.');
const keyRefusal = (fault: KeyFault) => (fault === 'missing' ? undefined : refusal(fault === 'limited' ? 429 : 403));
const isInstalled = (model: string): boolean => !model.includes('none');

export const simulator: ProviderSimulator = {
  ...openaiShapedSimulator({
    provider: 'speaches',
    base: '/v1',
    keyRefusal,
    refusal,
    files: {
      form,
      rule: ({ model }) =>
        isInstalled(String(model)) ? undefined : refuseInDetail(404, `Model '${model}' is not installed locally.`),
      refusals: { faulty: faultInDetail, unreadable: refuseInDetail(415, 'Failed to decode audio.') },
    },
  }),
  quirks: { 'out-of-order': 'every other item completes behind the one after it' },
  failure: () => ({
    messages: [
      { type: 'error', event_id: 'event_x', error: { type: 'server_error', message: 'Internal Server Error' } },
    ],
    close: { code: 1011, reason: '' },
  }),
  isFinal: ({ type }) => type === 'conversation.item.input_audio_transcription.completed',

  upgrade(request, tools) {
    const refused = keyRefused(request, keyRefusal);
    if (refused !== undefined) return { refuse: refused };
    const { pathname, searchParams } = request.url;
    if (pathname !== '/v1/realtime') return { refuse: refusal(404) };
    const model = searchParams.get('model');
    if (model === null) return { refuse: refuseInDetail(422, 'Field required: model') };
    const language = searchParams.get('language') ?? undefined;
    return { connect: (peer) => new RealtimeSession(peer, tools, { isInstalled: isInstalled(model), language }) };
  },
};
