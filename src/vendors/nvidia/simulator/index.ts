// A Riva server as its clients meet it: one call, and no requests. It asks for no key; what is in front of it looks at one that is
// shown. Calls are live.ts.

import { Type } from '@sinclair/typebox';
import { type JsonObject, objectIn } from '../../kit/json.ts';
import { authorizationOf } from '../../kit/offered-keys.ts';
import type { ProviderSimulator } from '../../kit/simulation.ts';
import { faultIn, members } from '../../kit/simulator/checks.ts';
import { keyRefusal } from '../../kit/simulator/credentials.ts';
import { callRefusals, SimulatedCall } from '../../kit/simulator/grpc-call.ts';
import type { HeardTurnText } from '../../kit/simulator/session.ts';
import { millisecondsOf, wordsOf } from '../../kit/simulator/words.ts';
import { PATH, streamingRecognize } from '../proto.ts';

const refusal = callRefusals({
  400: 'Error: Invalid request.',
  401: 'Authentication failed.',
  403: 'The account has no credits left.',
  404: 'Method not found.',
  429: 'Too many concurrent requests.',
  500: 'Triton failed.',
  503: 'Server is not ready.',
});

export const simulator: ProviderSimulator = {
  provider: 'nvidia',
  quirks: {
    'no-words': 'results have no words',
    'no-model': 'the server has no model for streams',
  },
  grpc: { [PATH]: streamingRecognize },

  upgrade(request, tools) {
    if (request.url.pathname !== PATH) return { refuse: refusal(404) };
    const refused = keyRefusal(authorizationOf(request.headers.authorization) ?? 'none', refusal);
    if (refused !== undefined) return { refuse: refused };
    return { connect: (peer) => new StreamingCall(peer, tools) };
  },

  http: async () => refusal(404),
  refusal,
  failure: () => ({ messages: [], close: { code: 4013, reason: 'INTERNAL: Triton failed.' } }),
  isFinal: ({ results }) => Array.isArray(results) && results.some(({ isFinal }) => isFinal === true),
};

const flag = Type.Boolean();
const text = Type.String();
const count = Type.Integer({ minimum: 0 });
const share = Type.Number({ minimum: 0, maximum: 1 });
const Config = members(
  { encoding: Type.Literal('LINEAR_PCM'), languageCode: Type.String({ pattern: '^(?:multi|[a-z]{2}-[A-Z]{2})$' }) },
  {
    sampleRateHertz: Type.Integer({ minimum: 8_000 }),
    maxAlternatives: count,
    audioChannelCount: Type.Literal(1),
    profanityFilter: flag,
    enableWordTimeOffsets: flag,
    enableAutomaticPunctuation: flag,
    verbatimTranscripts: flag,
    speechContexts: Type.Array(members({ phrases: Type.Array(text) }, { boost: Type.Number() })),
    diarizationConfig: members({ enableSpeakerDiarization: flag }, { maxSpeakerCount: count }),
    customConfiguration: Type.Record(text, text),
    endpointingConfig: members(
      {},
      {
        ...{ startHistory: count, startThreshold: share, stopHistory: count },
        ...{ stopThreshold: share, stopHistoryEou: count, stopThresholdEou: share },
      },
    ),
  },
);

export class StreamingCall extends SimulatedCall {
  #config: JsonObject = {};
  #showsInterims = false;

  protected request({ streamingConfig }: JsonObject): void {
    const { config, interimResults } = objectIn(streamingConfig);
    const fault = faultIn(Config, config);
    if (this.isListening) this.refuse('Error: Configuration was already sent.');
    else if (fault !== undefined) this.refuse(`Error: Invalid ${fault.member}.`);
    else if (this.has('no-model')) this.refuse('Error: Model is not available on server: streaming, type online.');
    else {
      this.#config = objectIn(config);
      this.#showsInterims = interimResults === true;
      this.listen({ sampleRate: (this.#config.sampleRateHertz as number | undefined) ?? 16_000, language: undefined });
    }
  }

  protected override audio(bytes: Uint8Array): void {
    if (this.isListening) this.hear(bytes);
    else this.refuse('Error: First message must contain the configuration.');
  }

  protected interim(heard: HeardTurnText): void {
    if (this.#showsInterims) this.#say(heard, { stability: 0.1 });
  }

  protected final(heard: HeardTurnText): void {
    this.#say(heard, { isFinal: true });
  }

  protected failed(): void {
    this.fail(13, 'Triton failed.');
  }

  #say(heard: HeardTurnText, more: object): void {
    const { diarizationConfig, enableWordTimeOffsets } = this.#config;
    const hasWords = enableWordTimeOffsets === true && 'isFinal' in more && !this.has('no-words');
    const speaker = diarizationConfig === undefined ? {} : { speakerTag: 1 + (heard.turn % 2) };
    const words = wordsOf(heard).map(({ word, start, end }) => ({
      ...{ word, startTime: millisecondsOf(start), endTime: millisecondsOf(end), confidence: -0.4, ...speaker },
    }));
    const alternative = { transcript: `${heard.text} `, confidence: -1.5, ...(hasWords ? { words } : {}) };
    this.peer.send({ results: [{ alternatives: [alternative], audioProcessed: heard.end, ...more }] });
  }
}
