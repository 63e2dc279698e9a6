// The scripted provider's wire: `start`, raw audio, `finalize`, `finish` out; `ready`, `interim`, `final`, `finished`,
// `error` in. It is the smallest complete codec, and the one to copy for a new provider.
import type { Heard, Utterance } from '../../../machines/events.ts';
import { ended, partial } from '../kit/heard.ts';
import { countIn, type Members, numberIn, objectIn, textIn } from '../kit/json.ts';
import { liveTiming } from '../kit/timing.ts';
import { utteranceOf, wordOf } from '../kit/words.ts';
import type { Incoming, LegRequest, LiveCodec } from '../provider.ts';
import { failures } from './failures.ts';

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
  timing: () => liveTiming({ speedMax: Number.POSITIVE_INFINITY, burstMs: 0, drainMs: 10_000, stallMs: 8_000 }),

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

  closed: ({ finishing }, code) => failures.heardOfClose(code, '', { finishing }),
};

function heard(json: unknown): Heard[] {
  const message = objectIn(json);
  switch (message.type) {
    case 'ready':
    case 'finished':
      return [{ type: message.type }];
    case 'speech_started': {
      const start = numberIn(message.start);
      return start === undefined ? [] : [{ type: 'speech.started', start }];
    }
    case 'interim':
    case 'final':
      return turn(message);
    case 'error':
      return failures.heardOfError(textIn(message.code) ?? 'unknown');
    default:
      return [];
  }
}

/** What came over a network is what it says it is only once that was looked at. */
function turn({ type, turn, text: said, start: from, end: until }: Members): Heard[] {
  const [number, text, start, end] = [countIn(turn), textIn(said), numberIn(from), numberIn(until)];
  if (number === undefined || text === undefined || start === undefined || end === undefined) return [];
  const turnId = String(number);
  const utterance = spread(text, start, end);
  return type === 'final' ? [ended(turnId, utterance)] : [partial(turnId, utterance)];
}

/** Words share the time of their turn evenly: a script has no better times. */
function spread(text: string, start: number, end: number): Utterance {
  const words = text.split(' ').filter((word) => word !== '');
  const share = (end - start) / Math.max(1, words.length);
  const placed = words.map((word, index) => wordOf(word, start + index * share, start + (index + 1) * share, 1));
  return utteranceOf(text, start, end, { confidence: 1, words: placed });
}
