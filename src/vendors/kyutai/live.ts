// The WebSocket of a moshi-server: audio goes as floats, words come one by one and never change, and each step of the model has a
// message, which says how likely a pause is. An end is requested by a marker and silence behind it, as long as the model is behind the
// speaker: it comes back when all before it is told. https://github.com/kyutai-labs/moshi/tree/main/rust/moshi-server

import { decode, encode } from '@msgpack/msgpack';
import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';
import { providerApi } from '../kit/api.ts';
import { type JsonObject, listIn, numberIn, objectIn, textIn, timeOr } from '../kit/json.ts';
import { LegClock } from '../kit/leg-clock.ts';
import type { LiveCodec, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { TurnsFromPieces } from '../kit/turns/turns-from-pieces.ts';
import { utteranceOf, wordOf } from '../kit/words.ts';
import { failures } from './failures.ts';

/** Of its sample configurations, for a server whose operator gave it no other. */
const SAMPLE_ID = 'public_token';
const named = (id: string) => ({ 'kyutai-api-key': id });

const server = providerApi({ url: 'ws://localhost:8080', headers: named });

export const api: typeof server = {
  ...server,
  headers: (access) => (access.credential === undefined ? named(SAMPLE_ID) : server.headers(access)),
};

const FULL_SCALE = 32_768;
/** A map of two, up to the list of samples. */
const HEAD = encode({ type: 'Audio', pcm: 0 }).slice(0, -1);
const ARRAY_32 = 0xdd;
const FLOAT_32 = 0xca;

/** Linear16 as the floats that it wants, written by hand: this runs for every sample. Zeros are whole numbers, so that silence is short. */
export function audioMessage(linear16: Uint8Array): Uint8Array {
  const samples = Math.floor(linear16.byteLength / BYTES_PER_SAMPLE);
  const from = new DataView(linear16.buffer, linear16.byteOffset, linear16.byteLength);
  const message = new Uint8Array(HEAD.length + 5 * (1 + samples));
  const view = new DataView(message.buffer);
  message.set(HEAD);
  message[HEAD.length] = ARRAY_32;
  view.setUint32(HEAD.length + 1, samples);
  let end = HEAD.length + 5;
  for (let at = 0; at < samples; at++) {
    const sample = from.getInt16(at * BYTES_PER_SAMPLE, true);
    if (sample === 0) {
      end++;
      continue;
    }
    message[end] = FLOAT_32;
    view.setFloat32(end + 1, sample / FULL_SCALE);
    end += 5;
  }
  return message.subarray(0, end);
}

/** It comes back when all audio before it is told of. */
export const markerMessage = (id: number): Uint8Array => encode({ type: 'Marker', id });

/** The members of a message; none of what is not a map. */
export function membersIn(bytes: Uint8Array): JsonObject {
  try {
    return objectIn(decode(bytes));
  } catch {
    return {};
  }
}

interface State {
  clock: LegClock;
  turns: TurnsFromPieces;
  /** The last word, until it is told where it ends. */
  word: { said: string; start: number } | undefined;
  /** Steps of the model. */
  steps: number;
  /** A pause is likely: a turn before it ends with this step, when all of it is told. */
  end: { step: number; pauseSeconds: number } | undefined;
  /** Up to where turns have ended, and silence was told of, on the server's clock. */
  settledSeconds: number;
  /** Markers that were sent, and that have come back. */
  asked: number;
  reached: number;
  finishing: boolean;
}

const SAMPLE_RATE = 24_000;
const STEPS_PER_SECOND = 12.5;
/** https://github.com/kyutai-labs/unmute: a pause of two seconds is so likely that the turn has ended. */
const PAUSE = { head: 2, threshold: 0.6, leastSeconds: 0.2 } as const;
/** By how much the model is behind the speaker, and a little more. */
const BEHIND_SECONDS = 0.5 + 0.24;
/** Nothing is told without audio, not even of what was said before. */
const KEEP_ALIVE = { afterMs: 3_000, seconds: 2 } as const;
/** Silence that is told of, except for what may be the beginning of a word: it is told when it is over. */
const EMPTY_SECONDS = 1;
const WORD_SECONDS = 2;
/** Ends that wait; what is asked for beyond that is not. */
const ASKED_MAX = 32;

const TIMING = liveTiming({
  // A message is taken at each step of the model, whatever is in it.
  frame: { minMs: 80, idealMs: 80, maxMs: 400, tail: 'short' },
  // As fast as it steps.
  speedMax: Number.POSITIVE_INFINITY,
  unconfirmedMax: 100,
  drainMs: 8_000,
  turnPauseMs: 1_000,
  keepAliveMs: KEEP_ALIVE.afterMs,
  stallMs: 10_000,
  // A context of 54 minutes in the sample configurations.
  sessionMaxMs: 2_700_000,
});

export const live: LiveCodec<State> = {
  timing: () => TIMING,

  open: ({ model, access }) => ({
    state: {
      clock: new LegClock(SAMPLE_RATE),
      turns: new TurnsFromPieces(),
      word: undefined,
      steps: 0,
      end: undefined,
      settledSeconds: 0,
      asked: 0,
      reached: 0,
      finishing: false,
    },
    endpoint: {
      kind: 'websocket',
      url: api.websocket(access, '/api/asr-streaming', { model }),
      headers: api.headers(access),
    },
    hello: [],
  }),

  audio: ({ clock }, frame) => {
    clock.audio(frame);
    return audioMessage(frame);
  },

  unconfirmed: ({ clock, steps }) => Math.max(0, Math.floor(clock.sentSeconds * STEPS_PER_SECOND) - steps),

  read: (state, message) => ('bytes' in message ? heard(state, membersIn(message.bytes)) : []),

  finalize: (state) => askForEnd(state),

  finish: (state) => {
    const steps = askForEnd(state);
    state.finishing = true;
    return steps;
  },

  keepAlive: ({ clock, finishing }) => (finishing ? [] : [audioMessage(clock.silence(KEEP_ALIVE.seconds))]),

  refused: (refusal) => failures.ofRefusal(refusal),

  closed: ({ finishing, turns, asked, reached }, code, reason) =>
    failures.heardOfClose(code, reason, { finishing, open: turns.open || asked > reached }),
};

/** Silence lets the model come to the marker. */
function askForEnd(state: State): Step[] {
  const { clock, asked, reached, finishing } = state;
  if (finishing || asked - reached >= ASKED_MAX) return [];
  state.asked++;
  return [
    { type: 'send', frame: markerMessage(state.asked) },
    { type: 'send', frame: audioMessage(clock.silence(BEHIND_SECONDS)) },
  ];
}

function heard(state: State, message: JsonObject): Step[] {
  const { clock, turns } = state;
  switch (message.type) {
    case 'Ready':
      return [{ type: 'ready' }];
    case 'Word': {
      const said = textIn(message.text)?.trim() ?? '';
      const told = timeOr(message.start_time, state.settledSeconds);
      if (said === '' || told === undefined) return [];
      const start = possibleSeconds(state, told);
      // The first word behind a pause: all before it is told.
      const isNext = start === told && state.end !== undefined && start >= state.end.pauseSeconds - PAUSE.leastSeconds;
      const last = isNext ? turnEnded(state, start) : settled(state, start);
      state.word = { said, start: clock.legSeconds(start) };
      return [...last, turns.partial(utteranceOf(said, state.word.start, state.word.start))];
    }
    case 'EndWord': {
      const end = numberIn(message.stop_time);
      return end === undefined ? [] : settled(state, possibleSeconds(state, end));
    }
    case 'Step':
      return stepped(state, listIn(message.prs)[PAUSE.head]);
    case 'Marker':
      return reached(state, message.id);
    case 'Error':
      return failures.heardOfError(undefined, textIn(message.message));
    default:
      return [];
  }
}

/** The time of a word. A time after all audio sent is wrong: the word is then placed where the model is, less its delay. */
function possibleSeconds({ clock, steps, settledSeconds }: State, seconds: number): number {
  if (seconds <= clock.sentSeconds + PAUSE.leastSeconds) return seconds;
  return Math.max(settledSeconds, steps / STEPS_PER_SECOND - BEHIND_SECONDS);
}

/** The last word stays as it is. */
function settled(state: State, end: number): Step[] {
  const { clock, turns, word } = state;
  if (word === undefined) return [];
  state.word = undefined;
  state.settledSeconds = Math.max(state.settledSeconds, end);
  const made = wordOf(word.said, word.start, clock.legSeconds(end));
  return [turns.piece(utteranceOf(word.said, made.start, made.end, { words: [made] }))];
}

function stepped(state: State, pause: unknown): Step[] {
  const { clock, turns, settledSeconds } = state;
  state.steps++;
  const heardSeconds = clock.heardSeconds(state.steps / STEPS_PER_SECOND);
  if (typeof pause === 'number' && pause > PAUSE.threshold)
    state.end ??= { step: state.steps + BEHIND_SECONDS * STEPS_PER_SECOND, pauseSeconds: heardSeconds };
  if (state.end !== undefined && state.steps >= state.end.step) {
    const steps = turnEnded(state, heardSeconds);
    if (steps.length > 0) return steps;
  }
  // Words of what it has stepped over are told, except for those that it is behind by.
  const quiet = heardSeconds - BEHIND_SECONDS - WORD_SECONDS;
  if (turns.open) return [{ type: 'confirmed' }];
  if (quiet - settledSeconds < EMPTY_SECONDS) return [{ type: 'confirmed' }];
  state.settledSeconds = quiet;
  return [turns.piece(utteranceOf('', clock.legSeconds(settledSeconds), clock.legSeconds(quiet)))];
}

function turnEnded(state: State, endSeconds: number): Step[] {
  state.end = undefined;
  return [...settled(state, endSeconds), ...state.turns.end()];
}

/** All words before the marker are told. */
function reached(state: State, id: unknown): Step[] {
  if (typeof id !== 'number' || id <= state.reached || id > state.asked) return [];
  state.reached = id;
  const steps = turnEnded(state, state.clock.sentSeconds);
  const isLast = state.finishing && state.reached === state.asked;
  return isLast ? [...steps, { type: 'finished' }] : [...steps, { type: 'confirmed' }];
}
