// Live Flux (`/v2/listen`): the provider names its turns, and says the whole text of the turn each time. Only its
// `EndOfTurn` is a final. Silence is put in where no audio flows, since Flux hears time pass by audio alone.
import type { Heard, TurnBoundary, Utterance } from '../../../machines/events.ts';
import { modelAt } from '../kit/api.ts';
import { changesBetween, reconfigured } from '../kit/changes.ts';
import { ended, failed, partial, Warnings } from '../kit/heard.ts';
import { countIn, fractionIn, type JsonObject, objectIn, textIn, timeIn } from '../kit/json.ts';
import { LegClock } from '../kit/leg-clock.ts';
import type { Incoming, LegRequest, LiveCodec, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { finalMissing } from '../kit/turn-text.ts';
import { EndedTurns } from '../kit/turns/ended-turns.ts';
import { meanConfidence } from '../kit/words.ts';
import { api, heardOf, languageOf, TIMING, wordsIn } from './api.ts';
import { failures } from './failures.ts';
import { fluxHint } from './models.ts';
import { options } from './options.ts';

interface State extends HeardSoFar {
  isConnected: boolean;
  ended: EndedTurns;
  /** A turn with words after which another began, without its own end. */
  unended: number | undefined;
  silences: number;
  /** A `Configure` was sent, and is not answered. */
  isChanging: boolean;
  /** `ending`: the last turn is being ended; `closing`: the provider was told to close. */
  phase: 'open' | 'ending' | 'closing';
  /** End of the audio on the provider's clock, once it has ended. */
  audioEndSeconds: number;
  forced: number;
  /** No turn was open when the last was to end. */
  nothingOpen: boolean;
}

const BOUNDARIES: Readonly<Record<string, TurnBoundary>> = { EagerEndOfTurn: 'eager_end', TurnResumed: 'resumed' };

const FORCE_END_TURN = { type: 'ForceEndTurn' } as const;
const CLOSE_STREAM = { type: 'CloseStream' } as const;

/** The answer to `ForceEndTurn` in silence: nothing follows it. */
const NO_ACTIVE_TURN = 'FORCE_END_TURN_NO_ACTIVE_TURN';

/**
 * Longer than audio is late on most networks, because silence within a word splits it; and more than the pause that ends a turn, so that
 * a client that stops sending does not wait longer for its final.
 */
const KEEP_ALIVE_MS = 1_000;
/** Silence after the last word, so that the word does not wait for the rest of its frame. */
const END_SILENCE_SECONDS = 0.5;
/** In such a pause the model is mostly sure that what was said is complete; on its own it may wait for five seconds. */
const TURN_PAUSE_MS = 800;
/** The end of a turn that was asked for comes within this time, or not at all. */
const FORCE_MS = 1_000;
/** A turn may have begun after the first time it was requested. */
const FORCED_MAX = 2;
/** Silence is told once for so much of it, and only up to so long ago: words are recognised after they have begun. */
const QUIET_STEP_SECONDS = 1;
const QUIET_MARGIN_SECONDS = 1;
/** Early ends of turns are told only where they are requested: https://developers.deepgram.com/docs/flux/voice-agent-eager-eot */
const EAGER_THRESHOLD = 0.5;
const THRESHOLDS = ['eager_eot_threshold', 'eot_threshold', 'eot_timeout_ms'];
/** Times are rounded on the wire. */
const ROUNDING_SECONDS = 0.01;

const FLUX_TIMING = liveTiming({
  ...TIMING,
  // https://developers.deepgram.com/docs/flux/quickstart: about 80 ms.
  frame: { minMs: 50, idealMs: 80, maxMs: 250, tail: 'short' },
  keepAliveMs: KEEP_ALIVE_MS,
  // Something is said about each 0.25 s of audio.
  stallMs: 3_000,
});

export const flux: LiveCodec<State> = {
  timing: ({ model, params }) => {
    const { eot_timeout_ms: timeoutMs = TURN_PAUSE_MS } = options.honoured(params, model, 'live');
    return { ...FLUX_TIMING, turnPauseMs: Math.min(TURN_PAUSE_MS, timeoutMs) };
  },

  open: (request: LegRequest) => ({
    state: {
      clock: new LegClock(request.sampleRate),
      isConnected: false,
      open: undefined,
      endedIndex: -1,
      ended: new EndedTurns(),
      warnings: new Warnings(),
      unended: undefined,
      quietSeconds: 0,
      silences: 0,
      isChanging: false,
      phase: 'open',
      audioEndSeconds: Number.POSITIVE_INFINITY,
      forced: 0,
      nothingOpen: false,
      heardSeconds: 0,
    },
    endpoint: {
      kind: 'websocket',
      url: api.websocket(request.access, '/v2/listen', queryOf(request)),
      headers: api.headers(request.access),
    },
    hello: [],
  }),

  audio: ({ clock }, frame) => {
    clock.audio(frame);
    return frame;
  },

  read: (state, message: Incoming) => ('json' in message ? heard(state, objectIn(message.json)) : []),

  finalize: () => [{ type: 'send', frame: FORCE_END_TURN }],

  reconfigure: (state, before, after) => {
    const configure = state.phase === 'open' ? configureOf(changesBetween(queryOf(before), queryOf(after))) : undefined;
    if (configure === undefined) return undefined;
    state.isChanging = true;
    return [{ type: 'send', frame: configure }];
  },

  finish: (state) => {
    state.phase = 'ending';
    state.audioEndSeconds = state.clock.sentSeconds;
    return [{ type: 'send', frame: state.clock.silence(END_SILENCE_SECONDS) }, ...forceEnd(state)];
  },

  wake: (state) => {
    if (state.phase !== 'ending') return [];
    return state.open?.hasWords === true && state.forced < FORCED_MAX ? forceEnd(state) : [close(state)];
  },

  keepAlive: ({ clock, phase, isConnected }) => {
    if (phase === 'closing' || !isConnected) return [];
    return [clock.silence(phase === 'open' ? KEEP_ALIVE_MS / 1_000 : END_SILENCE_SECONDS)];
  },

  leave: ({ phase }) => (phase === 'closing' ? [] : [CLOSE_STREAM]),

  // After CloseStream the rest is said as unsettled text, without an end of turn and without a close code.
  refused: (refusal) => failures.ofRefusal(refusal),

  closed: ({ phase, open, unended }, code, reason) =>
    failures.heardOfClose(code, reason, {
      finishing: phase === 'closing',
      open: open?.hasWords === true || unended !== undefined,
      orderly: [1000, 1005],
    }),
};

function queryOf(request: LegRequest) {
  const { model, sampleRate, language, params, turnEvents } = request;
  const hint = model.endsWith('-multi') && language !== undefined ? fluxHint(language) : undefined;
  // Nothing else of /v1/listen is known here: an unknown parameter is refused.
  return {
    model: modelAt(request),
    encoding: 'linear16',
    sample_rate: sampleRate,
    language_hint: hint,
    eager_eot_threshold: turnEvents ? EAGER_THRESHOLD : undefined,
    ...options.wire(params, model, 'live'),
  };
}

/** https://developers.deepgram.com/docs/flux/configure: a threshold that was named has a value from then on; all else is fixed. */
function configureOf(changes: JsonObject): JsonObject | undefined {
  const { keyterm, language_hint: hint, numerals, ...thresholds } = changes;
  const isOther = ([name, value]: [string, unknown]) => !THRESHOLDS.includes(name) || value === undefined;
  if (Object.entries(thresholds).some(isOther)) return undefined;
  return {
    type: 'Configure',
    ...(Object.keys(thresholds).length === 0 ? {} : { thresholds }),
    ...('keyterm' in changes ? { keyterms: keyterm ?? [] } : {}),
    ...('language_hint' in changes ? { language_hints: hint === undefined ? [] : [hint].flat() } : {}),
    ...('numerals' in changes ? { numerals: numerals ?? false } : {}),
  };
}

function forceEnd(state: State): Step[] {
  state.forced++;
  state.nothingOpen = false;
  return [
    { type: 'send', frame: FORCE_END_TURN },
    { type: 'wake', afterMs: FORCE_MS },
  ];
}

function close(state: State): Step {
  state.phase = 'closing';
  return { type: 'send', frame: CLOSE_STREAM };
}

function heard(state: State, message: JsonObject): Step[] {
  switch (message.type) {
    case 'Connected':
      state.isConnected = true;
      return [{ type: 'ready' }];
    case 'TurnInfo':
      return turnInfo(state, message);
    case 'ConfigureSuccess':
    case 'ConfigureFailure':
      return changed(state, message.type === 'ConfigureSuccess');
    case 'Warning':
      return warning(state, message);
    case 'Error':
      return failures.heardOfError(textIn(message.code), textIn(message.description));
    default:
      return [];
  }
}

function changed(state: State, isInForce: boolean): Step[] {
  if (!state.isChanging) return [];
  state.isChanging = false;
  return [reconfigured(isInForce)];
}

function turnInfo(state: State, message: JsonObject): Step[] {
  const report = reportOf(state, message);
  if (report === undefined) return [];
  state.heardSeconds = Math.max(state.heardSeconds, report.end);
  // Ended turns are over, whatever is still said about them.
  const isOver = report.index <= state.endedIndex;
  switch (message.event) {
    case 'EndOfTurn':
      return [...(isOver ? stray(state, report) : endOfTurn(state, report)), ...report.warned];
    case 'StartOfTurn':
      if (isOver) return [];
      return [{ type: 'speech.started', start: report.utterance.start }, ...unsettled(state, report)];
    case 'Update':
    case 'EagerEndOfTurn':
    case 'TurnResumed':
      if (report.text === '' && state.open === undefined) return [...quiet(state, report), ...closeWhenQuiet(state)];
      return isOver ? [] : unsettled(state, report, BOUNDARIES[message.event]);
    default:
      return [];
  }
}

function unsettled(state: State, { index, text, utterance, endConfidence }: Report, boundary?: TurnBoundary): Step[] {
  const { open } = state;
  if (open === undefined || index > open.index) {
    if (open?.hasWords === true) state.unended = open.index;
    state.open = { index, hasWords: text !== '' };
  } else if (index === open.index) open.hasWords ||= text !== '';
  return [partial(index, utterance, boundary === undefined ? {} : { boundary, endConfidence })];
}

/** A warning about the end that was asked for says that there is nothing to wait for. */
function warning(state: State, { code, description }: JsonObject): Step[] {
  if (code === NO_ACTIVE_TURN) {
    state.nothingOpen = true;
    return closeWhenQuiet(state);
  }
  return state.warnings.once(`deepgram_${textIn(code) ?? 'warning'}`, 'Deepgram', textIn(description) ?? '');
}

/** All of the audio was heard, and no turn is open in it: there is no end to wait for. */
function closeWhenQuiet(state: State): Step[] {
  const { phase, open, nothingOpen, heardSeconds, audioEndSeconds } = state;
  const isHeard = phase === 'ending' && heardSeconds >= audioEndSeconds - ROUNDING_SECONDS;
  return isHeard && nothingOpen && open?.hasWords !== true ? [close(state)] : [];
}

/** The final of a turn whose number has fallen. */
function stray(state: State, { index, utterance }: Report): Step[] {
  const turnId = state.ended.strayOf(index, utterance);
  return turnId === undefined ? [] : [ended(turnId, utterance), ...state.warnings.estimated('Deepgram', 'turn_index')];
}

function endOfTurn(state: State, { index, end, utterance, endConfidence }: Report): Step[] {
  const { open } = state;
  const passedOver = open?.hasWords === true && open.index < index ? open.index : state.unended;
  if (passedOver !== undefined && passedOver < index) return [failed(finalMissing)];
  if (state.unended === index) state.unended = undefined;
  if (open !== undefined && open.index <= index) state.open = undefined;
  // One without words may have another end.
  state.endedIndex = utterance.text === '' ? index - 1 : index;
  state.ended.note(index, utterance);
  state.quietSeconds = Math.max(state.quietSeconds, end);
  const steps: Step[] = [ended(index, utterance, endConfidence)];
  const isLast = state.phase === 'ending' && end >= state.audioEndSeconds - ROUNDING_SECONDS;
  return isLast ? [...steps, close(state), { type: 'finished' }] : steps;
}

/** No turn is open: what was heard so far, less what may still become words, need not be kept. */
function quiet(state: State, { end }: Report): Step[] {
  const turnId = `silence-${state.silences}`;
  const from = state.quietSeconds;
  const until = end - QUIET_MARGIN_SECONDS;
  const isDue = until >= from + QUIET_STEP_SECONDS;
  const place = (seconds: number) => state.clock.legSeconds(seconds);
  const utterance = { text: '', start: place(from), end: place(isDue ? until : from) };
  if (!isDue) return [partial(turnId, utterance)];
  state.silences++;
  state.quietSeconds = until;
  return [ended(turnId, utterance)];
}

/** What of a leg's state a report is read by. */
export interface HeardSoFar {
  clock: LegClock;
  /** The turn that is open, and whether words of it were heard. */
  open: { index: number; hasWords: boolean } | undefined;
  endedIndex: number;
  /** Up to here, on the provider's clock, silence was told or a turn has ended. */
  quietSeconds: number;
  /** Up to here all was heard, on the provider's clock. */
  heardSeconds: number;
  warnings: Warnings;
}

/** One report about a turn; `end` is on the provider's clock. `warned`: of what was estimated. */
export interface Report {
  index: number;
  text: string;
  end: number;
  utterance: Utterance;
  /** How sure the provider is that the turn is over. */
  endConfidence: number | undefined;
  warned: Heard[];
}

/** A final is read in any case: numbers that it has not are those of the turn that is open, and of what was heard so far. */
export function reportOf(state: HeardSoFar, message: JsonObject): Report | undefined {
  const { clock } = state;
  const text = textIn(message.transcript);
  const told = {
    turn_index: countIn(message.turn_index),
    audio_window_start: timeIn(message.audio_window_start),
    audio_window_end: timeIn(message.audio_window_end),
  };
  const [missing] = Object.entries(told).find(([, value]) => value === undefined) ?? [];
  const isFinal = message.event === 'EndOfTurn' && text !== '';
  if (text === undefined || (missing !== undefined && !isFinal)) return undefined;
  const index = told.turn_index ?? state.open?.index ?? state.endedIndex + 1;
  const start = told.audio_window_start ?? state.quietSeconds;
  const spoken = state.heardSeconds > start ? state.heardSeconds : clock.sentSeconds;
  const end = clock.heardSeconds(told.audio_window_end ?? spoken);
  const place = (seconds: number) => clock.legSeconds(seconds);
  const words = wordsIn(message.words, place);
  const utterance = heardOf(text, { start: place(Math.min(start, end)), end: place(end) }, words, {
    // The provider gives one for each word, and none for the text.
    confidence: words && meanConfidence(words),
    language: languageOf(message),
  });
  const warned = missing === undefined ? [] : state.warnings.estimated('Deepgram', missing);
  const endConfidence = fractionIn(message.end_of_turn_confidence);
  return { index, text, end, utterance, endConfidence, warned };
}
