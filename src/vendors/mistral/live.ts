// Live Voxtral: text that only grows, without times. The third generation says where turns begin and end, where that is asked
// for; else they end where they are asked to, by a flush: https://docs.mistral.ai/studio/audio/speech-to-text/transcribe-in-realtime
import { failed } from '../kit/heard.ts';
import { type JsonObject, numberIn, objectIn, textIn } from '../kit/json.ts';
import { baseLanguage } from '../kit/languages/whisper-languages.ts';
import { LegClock } from '../kit/leg-clock.ts';
import { GrowingText } from '../kit/openai-shaped/growing-text.ts';
import type { LegRequest, LiveCodec, Outgoing, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { finalMissing } from '../kit/turn-text.ts';
import { failures } from './failures.ts';
import { api, LIVE_3 } from './models.ts';
import { options } from './options.ts';

interface State {
  phase: 'connecting' | 'configuring' | 'ready';
  update: Outgoing;
  /** Whether the model ends turns on its own. */
  detects: boolean;
  clock: LegClock;
  text: GrowingText;
  /** Where the turn was said to end: text may still come; and where the last one did. */
  ending: number | undefined;
  endedSeconds: number;
  /** A turn has begun since. */
  isBegun: boolean;
  /** Ends that were requested and are not there, on the provider's clock; and the last of all. */
  asked: number[];
  askedSeconds: number;
  /** The text that the last flush was done with. */
  before: string;
  finishing: boolean;
  finished: boolean;
}

/** Text may come after the end of a turn. */
const TEXT_MS = 150;
/** How long the end of a flush is waited for. */
const FLUSH_MS = 6_000;
/** Where the model ends turns itself, that may never be told. */
const FLUSH_DETECTING_MS = 1_500;
/** Ends that wait; what is asked for beyond that is not. */
const ASKED_MAX = 32;
const KEEP_ALIVE_SECONDS = 0.1;
/** Measured from the end of speech, where nothing is set. */
const TURN_PAUSE_MS = 1_500;

const COMMON = {
  // No limit is documented, and nobody has measured one.
  speedMax: 1.25,
  drainMs: 8_000,
  // A session that is sent nothing fails after half a minute.
  keepAliveMs: 8_000,
} as const;

const TIMING_DETECTING = liveTiming({
  ...COMMON,
  answers: 'words',
  stallMs: 45_000,
  turnPauseMs: TURN_PAUSE_MS,
  endpointing: { silenceMs: Number.POSITIVE_INFINITY, longestMs: 40_000 },
});
// A flush is done soon, whatever was heard.
const TIMING = liveTiming({ ...COMMON, stallMs: 29_000, endpointing: { silenceMs: 500, longestMs: 25_000 } });

const detectsTurns = ({ model, params }: LegRequest): boolean => model === LIVE_3 && params.turn_detection !== null;

export const live: LiveCodec<State> = {
  timing: (request) => {
    if (!detectsTurns(request)) return TIMING;
    const silenceMs = options.honoured(request.params, request.model, 'live').turn_detection?.min_silence_ms ?? 500;
    return { ...TIMING_DETECTING, turnPauseMs: TURN_PAUSE_MS - 500 + silenceMs };
  },

  open: (request) => ({
    state: {
      phase: 'connecting',
      update: updateOf(request),
      detects: detectsTurns(request),
      clock: new LegClock(request.sampleRate),
      text: new GrowingText('Mistral'),
      ending: undefined,
      endedSeconds: 0,
      isBegun: false,
      asked: [],
      askedSeconds: 0,
      before: '',
      finishing: false,
      finished: false,
    },
    endpoint: {
      kind: 'websocket',
      url: api.websocket(request.access, '/audio/transcriptions/realtime', { model: request.model }),
      headers: api.headers(request.access),
    },
    hello: [],
  }),

  audio: ({ clock }, frame) => {
    clock.audio(frame);
    return appendOf(frame);
  },

  read: (state, message) => ('json' in message ? heard(state, objectIn(message.json)) : []),

  finalize: (state) =>
    askForEnd(state)
      ? [
          { type: 'send', frame: FLUSH },
          { type: 'wake', afterMs: flushMs(state) },
        ]
      : [],

  finish: (state) => {
    askForEnd(state);
    state.finishing = true;
    return [{ type: 'send', frame: END }];
  },

  // A first frame of audio would end the setting up.
  keepAlive: ({ phase, clock, finishing }) =>
    phase !== 'ready' || finishing ? [] : [appendOf(clock.silence(KEEP_ALIVE_SECONDS))],

  wake: (state) => {
    const steps = endToldTurn(state);
    if (steps.length > 0 || state.asked.length === 0 || state.finishing) return [...steps, ...waitOn(state)];
    // The model keeps its last words until a flush is done: what was heard may not be all.
    if (!state.detects) return [failed(finalMissing)];
    return [...endAskedTurn(state, undefined), ...waitOn(state)];
  },

  refused: (refusal) => failures.ofRefusal(refusal),

  // Behind its last message the service drops the connection, and often closes nothing.
  closed: ({ finishing, text, asked }, code, reason) =>
    failures.heardOfClose(code, reason, {
      finishing,
      open: text.open || asked.length > 0,
      orderly: [1000, 1005, 1006],
    }),
};

const FLUSH = { type: 'input_audio.flush' };
const END = { type: 'input_audio.end' };

const appendOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  `{"type":"input_audio.append","audio":"${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}"}`;

const flushMs = ({ detects }: State): number => (detects ? FLUSH_DETECTING_MS : FLUSH_MS);

const waitOn = (state: State): Step[] =>
  state.asked.length > 0 && !state.finishing ? [{ type: 'wake', afterMs: flushMs(state) }] : [];

/** What a model does not know it refuses, with the whole session. */
function updateOf(request: LegRequest): Outgoing {
  const { model, params, sampleRate, language } = request;
  const { turn_detection } = options.honoured(params, model, 'live');
  return {
    type: 'session.update',
    session: {
      audio_format: { encoding: 'pcm_s16le', sample_rate: sampleRate },
      ...(model === LIVE_3 ? { language: baseLanguage(language) } : {}),
      ...(detectsTurns(request) ? { turn_detection: turn_detection ?? {} } : {}),
      ...options.wire(params, model, 'live'),
    },
  };
}

/** Notes that the audio up to here is to be told; false where nothing came since the last time. */
function askForEnd(state: State): boolean {
  const { clock, asked, askedSeconds, finishing } = state;
  if (finishing || clock.sentSeconds <= askedSeconds || asked.length === ASKED_MAX) return false;
  state.askedSeconds = clock.sentSeconds;
  asked.push(clock.sentSeconds);
  return true;
}

function heard(state: State, message: JsonObject): Step[] {
  const { clock, text } = state;
  const seconds = numberIn(message.time_s);
  switch (message.type) {
    case 'session.created':
      if (state.phase !== 'connecting') return [];
      state.phase = 'configuring';
      return [{ type: 'send', frame: state.update }];
    case 'session.updated':
      if (state.phase !== 'configuring') return [];
      state.phase = 'ready';
      return [{ type: 'ready' }];
    case 'transcription.text.delta': {
      const until = state.ending ?? state.asked[0] ?? clock.sentSeconds;
      return text.delta(textIn(message.text) ?? '', clock.legSeconds(until));
    }
    case 'turn.start': {
      const steps = endToldTurn(state);
      state.isBegun = true;
      if (seconds === undefined) return steps;
      text.began(clock.legSeconds(seconds));
      return [...steps, { type: 'speech.started', start: clock.legSeconds(seconds) }];
    }
    case 'turn.eager_end':
    case 'turn.resume': {
      const boundary = message.type === 'turn.resume' ? 'resumed' : 'eager_end';
      return text.bounded(boundary, clock.legSeconds(seconds ?? clock.sentSeconds));
    }
    case 'turn.end': {
      const steps = endToldTurn(state);
      const until = clock.heardSeconds(seconds ?? clock.sentSeconds);
      // Sent again: the text since then belongs to the next turn. The end of a turn with text of its own is another one.
      if (until <= state.endedSeconds && !(state.isBegun && text.open)) return steps;
      state.ending = until;
      return [...steps, { type: 'wake', afterMs: TEXT_MS }];
    }
    case 'transcription.done':
      return done(state, textIn(message.text));
    case 'error':
      return error(objectIn(message.error));
    default:
      return [];
  }
}

/** Ends the turn that was said to be over, where there is one. */
function endToldTurn(state: State): Step[] {
  const { ending, clock, text } = state;
  if (ending === undefined) return [];
  state.ending = undefined;
  state.endedSeconds = ending;
  state.isBegun = false;
  return [text.end(clock.legSeconds(ending))];
}

function endAskedTurn(state: State, whole: string | undefined): Step[] {
  const until = state.asked.shift();
  if (until === undefined) return [];
  return [state.text.end(state.clock.legSeconds(until), whole)];
}

/** A flush, or the whole session, is done. */
function done(state: State, whole: string | undefined): Step[] {
  const steps = endToldTurn(state);
  steps.push(...endAskedTurn(state, state.detects ? undefined : wholeOf(state, whole)));
  if (state.finished || !state.finishing || state.asked.length > 0) return [...steps, ...waitOn(state)];
  state.finished = true;
  return [...steps, ...(state.text.open ? [failed(finalMissing)] : [{ type: 'finished' } as const])];
}

/** The text of a turn: what came piece by piece, or the whole where it has more. It is told of the turn, by some of all turns. */
function wholeOf(state: State, said = ''): string {
  const { before, text } = state;
  const [pieces, whole] = [text.text.trim(), said.trim()];
  state.before = whole;
  if (pieces !== '') return whole.startsWith(pieces) ? whole : pieces;
  if (before === '' || !whole.startsWith(before)) return whole;
  return whole === before && !whole.includes(' ') ? whole : whole.slice(before.length);
}

function error({ code, message }: JsonObject): Step[] {
  const told = objectIn(message);
  const words = textIn(message) ?? textIn(told.detail) ?? textIn(told.message) ?? '';
  return failures.heardOfError(numberIn(code)?.toString() ?? textIn(code), words);
}
