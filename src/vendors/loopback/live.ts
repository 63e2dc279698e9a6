// The scripted provider's wire: `start`, raw audio, `finalize`, `finish` out; `ready`, `interim`, `final`, `finished`,
// `error` in. It is the smallest complete codec, and the one to copy for a new provider.
import type { Heard, TurnBoundary, Utterance } from '../../../machines/events.ts';
import { ended, partial, Warnings } from '../kit/heard.ts';
import { countIn, type JsonObject, objectIn, textIn, timeIn } from '../kit/json.ts';
import { LegClock } from '../kit/leg-clock.ts';
import type { Incoming, LegRequest, LiveCodec } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { utteranceOf, wordOf } from '../kit/words.ts';
import { failures } from './failures.ts';

interface State {
  finishing: boolean;
  clock: LegClock;
  warnings: Warnings;
  /** The turn that is open, or comes next. */
  turn: number;
  /** Up to here turns have ended. */
  settledSeconds: number;
}

/** What the simulator says. */
export type LoopbackMessage =
  | { type: 'ready' }
  | { type: 'speech_started'; start: number }
  | { type: 'interim'; turn: number; text: string; start: number; end: number; boundary?: TurnBoundary }
  | { type: 'final'; turn: number; text: string; start: number; end: number }
  | { type: 'finished' }
  | { type: 'error'; code: string };

const BOUNDARIES: Readonly<Record<string, TurnBoundary>> = { eager_end: 'eager_end', resumed: 'resumed' };

export const live: LiveCodec<State> = {
  timing: () => liveTiming({ speedMax: Number.POSITIVE_INFINITY, burstMs: 0, drainMs: 10_000, stallMs: 8_000 }),

  open: (request: LegRequest) => ({
    state: {
      finishing: false,
      clock: new LegClock(request.sampleRate),
      warnings: new Warnings(),
      turn: 0,
      settledSeconds: 0,
    },
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
        ...(request.turnEvents ? { bounds: true } : {}),
        params: request.params,
      },
    ],
  }),

  audio: ({ clock }, frame) => {
    clock.audio(frame);
    return frame;
  },

  read: (state, message: Incoming) => ('json' in message ? heard(state, objectIn(message.json)) : []),

  finalize: () => [{ type: 'send', frame: { type: 'finalize' } }],

  finish: (state) => {
    state.finishing = true;
    return [{ type: 'send', frame: { type: 'finish' } }];
  },

  keepAlive: () => [],

  closed: ({ finishing }, code) => failures.heardOfClose(code, '', { finishing }),
};

function heard(state: State, message: JsonObject): Heard[] {
  switch (message.type) {
    case 'ready':
    case 'finished':
      return [{ type: message.type }];
    case 'speech_started': {
      const start = timeIn(message.start);
      return start === undefined ? [] : [{ type: 'speech.started', start }];
    }
    case 'interim':
    case 'final':
      return turn(state, message);
    case 'error':
      return failures.heardOfError(textIn(message.code) ?? 'unknown');
    default:
      return [];
  }
}

/** What came over a network is what it says it is only once that was looked at. A final keeps its text, whatever its numbers. */
function turn(state: State, message: JsonObject): Heard[] {
  const text = textIn(message.text);
  const told = { turn: countIn(message.turn), start: timeIn(message.start), end: timeIn(message.end) };
  const [unreadable] = Object.entries(told).find(([, value]) => value === undefined) ?? [];
  const isFinal = message.type === 'final';
  if (text === undefined || (unreadable !== undefined && (!isFinal || text === ''))) return [];
  const number = told.turn ?? state.turn;
  const start = told.start ?? state.settledSeconds;
  const end = Math.max(start, told.end ?? state.clock.sentSeconds);
  const utterance = spread(text, start, end);
  state.turn = isFinal ? number + 1 : number;
  if (!isFinal) return [partial(number, utterance, { boundary: BOUNDARIES[textIn(message.boundary) ?? ''] })];
  state.settledSeconds = Math.max(state.settledSeconds, end);
  return [
    ended(number, utterance),
    ...(unreadable === undefined ? [] : state.warnings.estimated('The scripted provider', unreadable)),
  ];
}

/** Words share the time of their turn evenly: a script has no better times. */
function spread(text: string, start: number, end: number): Utterance {
  const words = text.split(' ').filter((word) => word !== '');
  const share = (end - start) / Math.max(1, words.length);
  const placed = words.map((word, index) => wordOf(word, start + index * share, start + (index + 1) * share, 1));
  return utteranceOf(text, start, end, { confidence: 1, words: placed });
}
