// The WebSocket of a Vosk server: each message of audio has one answer, which is what is heard of the turn so far, or the turn at its
// end. https://alphacephei.com/vosk/server
import { bearer, modelAt, providerApi } from '../kit/api.ts';
import { partial } from '../kit/heard.ts';
import { fractionIn, type JsonObject, listIn, objectIn, textIn, timeOr } from '../kit/json.ts';
import { LegClock } from '../kit/leg-clock.ts';
import type { LegRequest, LiveCodec, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { TurnsFromPieces } from '../kit/turns/turns-from-pieces.ts';
import { meanConfidence, utteranceOf, wordOf } from '../kit/words.ts';
import { failures } from './failures.ts';
import { options } from './options.ts';

/** Its own port, for a request that was given no address: https://alphacephei.com/vosk/server */
export const api = providerApi({ url: 'ws://localhost:2700', headers: bearer });

interface State {
  clock: LegClock;
  turns: TurnsFromPieces;
  /** Where the messages end that have no answer yet. Times here are the server's. */
  unanswered: number[];
  /** Up to where it has answered, and up to where turns have ended. */
  heardSeconds: number;
  settledSeconds: number;
  /** The words of the turn, as they were told last. */
  shown: string;
  finishing: boolean;
}

/** Taken by the letter: with another space it is audio. */
const EOF = '{"eof" : 1}';
/** Not all servers know `reset`, and some break at it; silence ends a turn at each. Its rules wait 2 s at most. */
const FINALIZE_SECONDS = 2.5;
/** A server that has said all of it closes; the one in C++ waits for another message. */
const CLOSING_MS = 300;
/** Silence that is told of. */
const EMPTY_SECONDS = 1;

const TIMING = liveTiming({
  // A server of one's own, which is content with answers to its pings.
  isIdleFree: true,
  // A message has one answer, with one end of a turn at most: no long ones.
  frame: { minMs: 50, idealMs: 100, maxMs: 200, tail: 'short' },
  // As fast as it answers.
  speedMax: Number.POSITIVE_INFINITY,
  unconfirmedMax: 50,
  drainMs: 10_000,
  turnPauseMs: 1_000,
  stallMs: 8_000,
  // It answers whether there are words or not.
  answers: 'words',
});

export const live: LiveCodec<State> = {
  timing: () => TIMING,

  open: (request) => ({
    state: {
      clock: new LegClock(request.sampleRate),
      turns: new TurnsFromPieces(),
      unanswered: [],
      heardSeconds: 0,
      settledSeconds: 0,
      shown: '',
      finishing: false,
    },
    endpoint: {
      kind: 'websocket',
      url: api.websocket(request.access, '', { model: modelAt(request) }),
      headers: api.headers(request.access),
    },
    hello: [{ config: configOf(request) }],
  }),

  // It takes audio from then on; the configuration has no answer.
  opened: () => [{ type: 'ready' }],

  audio: (state, frame) => {
    state.clock.audio(frame);
    state.unanswered.push(state.clock.sentSeconds);
    return frame;
  },

  unconfirmed: ({ unanswered }) => unanswered.length,

  read: (state, message) => ('json' in message ? answered(state, objectIn(message.json)) : []),

  finalize: (state) => {
    const frame = state.clock.silence(FINALIZE_SECONDS);
    state.unanswered.push(state.clock.sentSeconds);
    return [{ type: 'send', frame }];
  },

  finish: (state) => {
    state.finishing = true;
    state.unanswered.push(state.clock.sentSeconds);
    return [{ type: 'send', frame: EOF }];
  },

  // The host's pings are enough.
  keepAlive: () => [],

  wake: (state) => (state.unanswered.length === 0 ? [live.closed(state, 1000, '')] : []),

  refused: (refusal) => failures.ofRefusal(refusal),

  // One that goes before it has answered all messages has not said all, however politely it goes.
  closed: ({ finishing, turns, unanswered }, code, reason) =>
    failures.heardOfClose(code, reason, {
      finishing,
      open: turns.open || unanswered.length > 0,
      orderly: [1000, 1005],
    }),
};

const configOf = ({ model, sampleRate, params }: LegRequest) => ({
  sample_rate: sampleRate,
  words: true,
  ...options.wire(params, model, 'live'),
});

function answered(state: State, message: JsonObject): Step[] {
  const [best] = listIn(message.alternatives);
  const result = best === undefined ? message : objectIn(best);
  const text = textIn(result.text);
  const said = text ?? textIn(message.partial);
  if (said === undefined) return [];
  const before = state.heardSeconds;
  state.heardSeconds = state.unanswered.shift() ?? before;
  const steps =
    text === undefined
      ? unsettled(state, said.trim())
      : text.trim() === ''
        ? silent(state, before)
        : settled(state, result);
  const isLast = state.finishing && state.unanswered.length === 0;
  return isLast ? [...steps, { type: 'wake', afterMs: CLOSING_MS }] : steps;
}

/** The turn so far, where it has changed; else it is a sign of life. */
function unsettled(state: State, text: string): Step[] {
  const { clock, turns, settledSeconds, heardSeconds } = state;
  const [start, end] = [clock.legSeconds(settledSeconds), clock.legSeconds(heardSeconds)];
  if (text === state.shown) return [partial(turns.turnId, utteranceOf('', end, end))];
  state.shown = text;
  return [turns.partial(utteranceOf(text, start, Math.max(start, end)))];
}

/** A turn without words. Servers that count an answer too much are trusted one message less. */
function silent(state: State, until: number): Step[] {
  const { clock, turns, settledSeconds } = state;
  if (!turns.open && until - settledSeconds < EMPTY_SECONDS) return unsettled(state, '');
  const [start, end] = [clock.legSeconds(settledSeconds), clock.legSeconds(Math.max(settledSeconds, until))];
  state.settledSeconds = Math.max(settledSeconds, until);
  state.shown = '';
  return [turns.piece(utteranceOf('', start, end))];
}

function settled(state: State, { text, result }: JsonObject): Step[] {
  const { clock, turns, settledSeconds, heardSeconds } = state;
  let last = settledSeconds;
  const words = listIn(result)
    .map(objectIn)
    .flatMap(({ word, start, end, conf }) => {
      const from = timeOr(start, last) ?? last;
      last = Math.max(from, timeOr(end, from) ?? from);
      const said = textIn(word)?.trim() ?? '';
      return said === '' ? [] : [wordOf(said, clock.legSeconds(from), clock.legSeconds(last), fractionIn(conf))];
    });
  const hasWords = words.length > 0;
  // Turns have no names: one at the same place with the same words is the same one. Without a place nobody can tell.
  if (hasWords && turns.isRepeated(JSON.stringify(words))) return [];
  const until = hasWords ? last : heardSeconds;
  const start = words[0]?.start ?? clock.legSeconds(settledSeconds);
  const utterance = utteranceOf(String(text).trim(), start, Math.max(start, clock.legSeconds(until)), {
    ...{ confidence: meanConfidence(words), words: hasWords ? words : undefined },
  });
  state.settledSeconds = Math.max(settledSeconds, until);
  state.shown = '';
  return [turns.piece(utterance), ...turns.end()];
}
