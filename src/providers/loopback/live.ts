// The scripted provider's wire: `start`, raw audio, `finalize`, `finish` out; `ready`, `interim`, `final`, `finished`,
// `error` in. It is the smallest complete codec, and the one to copy for a new provider.
import type { Heard, Utterance } from '../../../machines/events.ts';
import type { Incoming, LegRequest, LiveCodec } from '../provider.ts';
import { failureOf } from './failures.ts';

interface State {
  finishing: boolean;
}

/** What the simulator says. */
export type LoopbackMessage =
  | { type: 'ready' }
  | { type: 'speech_started'; start: number }
  | { type: 'interim' | 'final'; turn: number; text: string; start: number; end: number }
  | { type: 'finished' }
  | { type: 'error'; code: string };

export const live: LiveCodec<State> = {
  timing: () => ({
    frame: { minMs: 20, idealMs: 100, maxMs: 1_000, tail: 'short' },
    speedMax: Number.POSITIVE_INFINITY,
    burstMs: 0,
    connectMs: 5_000,
    readyMs: 5_000,
    drainMs: 10_000,
    keepAliveMs: undefined,
    stallMs: 8_000,
    formattedWaitMs: 0,
    sessionMaxMs: undefined,
    endpointing: undefined,
  }),

  open: (request: LegRequest) => ({
    state: { finishing: false },
    endpoint:
      request.access.baseUrl === undefined
        ? { kind: 'embedded', engine: 'loopback', query: {} }
        : { kind: 'websocket', url: request.access.baseUrl, headers: {} },
    hello: [
      {
        type: 'start',
        model: request.model,
        sampleRate: request.sampleRate,
        interims: request.interimResults,
        params: request.params,
      },
    ],
  }),

  audio: (_, frame) => frame,

  read: (_, message: Incoming) => ('json' in message ? heard(message.json) : []),

  finalize: () => [{ type: 'send', frame: { type: 'finalize' } }],

  finish: (state) => {
    state.finishing = true;
    return [{ type: 'send', frame: { type: 'finish' } }];
  },

  keepAlive: () => [],

  closed: (state, code) =>
    state.finishing && code === 1000
      ? { type: 'finished' }
      : { type: 'failed', failure: { ...failureOf('closed'), code: `close_${code}` } },
};

function heard(json: unknown): Heard[] {
  if (typeof json !== 'object' || json === null) return [];
  const message = json as LoopbackMessage;
  switch (message.type) {
    case 'ready':
    case 'finished':
      return [{ type: message.type }];
    case 'speech_started':
      return typeof message.start === 'number' ? [{ type: 'speech.started', start: message.start }] : [];
    case 'interim':
      return isWhole(message)
        ? [{ type: 'partial', turnId: String(message.turn), utterance: utteranceOf(message) }]
        : [];
    case 'final':
      return isWhole(message)
        ? [
            {
              type: 'turn.ended',
              turnId: String(message.turn),
              utterance: utteranceOf(message),
              formattedFollows: false,
            },
          ]
        : [];
    case 'error':
      return [{ type: 'failed', failure: failureOf(typeof message.code === 'string' ? message.code : 'unknown') }];
    default:
      return [];
  }
}

/** What came over a network is what it says it is only once that was looked at. */
const isWhole = ({ turn, text, start, end }: { turn: unknown; text: unknown; start: unknown; end: unknown }): boolean =>
  typeof turn === 'number' && typeof text === 'string' && typeof start === 'number' && typeof end === 'number';

/** Words share the time of their turn evenly: a script has no better times. */
function utteranceOf({ text, start, end }: { text: string; start: number; end: number }): Utterance {
  const words = text.split(' ').filter((word) => word !== '');
  const share = (end - start) / Math.max(1, words.length);
  return {
    text,
    start,
    end,
    confidence: 1,
    words: words.map((word, index) => ({
      word,
      start: start + index * share,
      end: start + (index + 1) * share,
      confidence: 1,
    })),
  };
}
