// Live Nova (`/v1/listen`): text is settled window by window, and a turn is the settled windows up to an end of speech.
// The words of a window that is not settled are never made a final here.
import type { Utterance } from '../../../machines/events.ts';
import { modelAt } from '../kit/api.ts';
import { Warnings } from '../kit/heard.ts';
import { fractionIn, type JsonObject, listIn, objectIn, textIn, timeIn } from '../kit/json.ts';
import { LegClock } from '../kit/leg-clock.ts';
import type { Incoming, LegRequest, LiveCodec, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { TurnsFromPieces } from '../kit/turns/turns-from-pieces.ts';
import { Speakers } from '../kit/words.ts';
import { api, heardOf, languageOf, TIMING, wordsIn } from './api.ts';
import { failures } from './failures.ts';
import { novaLanguage } from './models.ts';
import { options } from './options.ts';

interface State {
  clock: LegClock;
  speakers: Speakers;
  turns: TurnsFromPieces;
  warnings: Warnings;
  /** End of the last settled window, and of any window, on the provider's clock. */
  settledSeconds: number;
  heardSeconds: number;
  /** The turn for which `Finalize` was sent. */
  finalized: string | undefined;
  finishing: boolean;
}

const KEEP_ALIVE = { type: 'KeepAlive' } as const;
const FINALIZE = { type: 'Finalize' } as const;
const CLOSE_STREAM = { type: 'CloseStream' } as const;

/** `Finalize` is not always answered. */
const FINALIZE_MS = 1_000;
/** Silence that ends a turn. The provider's own 10 ms would end one at each breath. */
const ENDPOINTING_MS = 300;
/** Where noise hides the silence, the gap between words counts. */
const UTTERANCE_END_MS = 1_000;
/** A connection that was sent no audio at all is not kept by `KeepAlive`. */
const FIRST_SILENCE_SECONDS = 0.1;

const NOVA_TIMING = liveTiming({
  ...TIMING,
  // https://developers.deepgram.com/docs/measuring-streaming-latency: 20 to 250 ms of audio in a frame.
  frame: { minMs: 20, idealMs: 100, maxMs: 250, tail: 'short' },
  // https://developers.deepgram.com/docs/audio-keep-alive: every 3 to 5 s; after 10 s the connection is closed.
  keepAliveMs: 4_000,
  stallMs: 8_000,
  // https://developers.deepgram.com/docs/using-interim-results: about each second, with words or without.
  answers: 'words',
});

export const nova: LiveCodec<State> = {
  timing: ({ model, params }) => {
    const asked = options.honoured(params, model, 'live');
    const { endpointing = ENDPOINTING_MS, utterance_end_ms: gapMs = UTTERANCE_END_MS } = asked;
    return { ...NOVA_TIMING, turnPauseMs: endpointing === false ? gapMs : endpointing };
  },

  open: (request: LegRequest) => ({
    state: {
      clock: new LegClock(request.sampleRate),
      speakers: new Speakers(),
      turns: new TurnsFromPieces(),
      warnings: new Warnings(),
      settledSeconds: 0,
      heardSeconds: 0,
      finalized: undefined,
      finishing: false,
    },
    endpoint: {
      kind: 'websocket',
      url: api.websocket(request.access, '/v1/listen', queryOf(request)),
      headers: api.headers(request.access),
    },
    hello: [],
  }),

  // The provider takes audio from then on, and says nothing until it hears some.
  opened: () => [{ type: 'ready' }],

  audio: ({ clock }, frame) => {
    // An empty frame would end the stream.
    if (frame.byteLength === 0) return KEEP_ALIVE;
    clock.audio(frame);
    return frame;
  },

  read: (state, message: Incoming) => ('json' in message ? heard(state, objectIn(message.json)) : []),

  finalize: (state) => {
    state.finalized = state.turns.turnId;
    return [
      { type: 'send', frame: FINALIZE },
      { type: 'wake', afterMs: FINALIZE_MS },
    ];
  },

  // All words of the turn are settled: it ends where it was asked to, also when the provider does not say so.
  wake: ({ finalized, turns }) => (finalized === turns.turnId && turns.settled ? turns.end() : []),

  finish: (state) => {
    state.finishing = true;
    return [{ type: 'send', frame: CLOSE_STREAM }];
  },

  keepAlive: ({ clock, finishing }) => {
    if (finishing) return [];
    return [clock.sentSeconds > 0 ? KEEP_ALIVE : clock.silence(FIRST_SILENCE_SECONDS)];
  },

  leave: ({ finishing }) => (finishing ? [] : [CLOSE_STREAM]),

  refused: (refusal) => failures.ofRefusal(refusal),

  closed: ({ finishing, turns }, code, reason) =>
    failures.heardOfClose(code, reason, { finishing, open: turns.open, orderly: [1000, 1005] }),
};

function queryOf(request: LegRequest) {
  const { model, sampleRate, language, diarization, params } = request;
  return {
    model: modelAt(request),
    encoding: 'linear16',
    sample_rate: sampleRate,
    channels: 1,
    interim_results: true,
    endpointing: ENDPOINTING_MS,
    utterance_end_ms: UTTERANCE_END_MS,
    vad_events: true,
    // What the gateway delivers as a final is meant to be read.
    smart_format: true,
    // There is no detection on streams: `multi` hears ten languages, and speakers may switch.
    language: language === undefined ? undefined : language === 'auto' ? 'multi' : novaLanguage(language, model),
    diarize_model: diarization ? 'latest' : undefined,
    ...options.wire(params, model, 'live'),
  };
}

function heard(state: State, message: JsonObject): Step[] {
  switch (message.type) {
    case 'Results':
      return results(state, message);
    case 'SpeechStarted': {
      const start = timeIn(message.timestamp);
      return start === undefined ? [] : [{ type: 'speech.started', start: state.clock.legSeconds(start) }];
    }
    case 'UtteranceEnd':
      return isOfTurn(state, message.last_word_end) ? state.turns.end() : [];
    case 'Metadata':
      return state.finishing ? [...state.turns.end(), { type: 'finished' }] : state.turns.end();
    case 'Error':
      // A close may never follow.
      return failures.heardOfError(textIn(message.variant), textIn(message.description) ?? textIn(message.message));
    default:
      return [];
  }
}

/** An end of speech may come late, when words of the next turn are held; without a time it says nothing of where it was. */
function isOfTurn({ clock, turns }: State, lastWordEnd: unknown): boolean {
  if (typeof lastWordEnd !== 'number' || lastWordEnd < 0) return false;
  return turns.from !== undefined && clock.legSeconds(lastWordEnd) >= turns.from;
}

function results(state: State, message: JsonObject): Step[] {
  const start = timeIn(message.start);
  const duration = timeIn(message.duration);
  const alternative = objectIn(listIn(objectIn(message.channel).alternatives)[0]);
  const text = textIn(alternative.transcript);
  if (text === undefined) return [];
  const { turns } = state;
  const isEnd = message.speech_final === true || message.from_finalize === true;
  const isSettled = message.is_final === true || isEnd;
  const isPlaced = start !== undefined && duration !== undefined;
  const window = isPlaced ? { start, end: state.clock.heardSeconds(start + duration) } : estimated(state, alternative);
  if (!isSettled) {
    if (!isPlaced || window.end <= state.settledSeconds) return [];
    state.heardSeconds = Math.max(state.heardSeconds, window.end);
    return [turns.partial(windowOf(state, text, window, alternative))];
  }
  const steps: Step[] = [];
  // Windows have no names: one at the same place with the same words is the same one. Without a place nobody can tell.
  if (isPlaced ? !turns.isRepeated(`${start} ${duration} ${text}`) : text !== '') {
    state.settledSeconds = Math.max(state.settledSeconds, window.end);
    steps.push(turns.piece(windowOf(state, text, window, alternative)));
    if (!isPlaced) steps.push(...state.warnings.estimated('Deepgram', start === undefined ? 'start' : 'duration'));
  }
  return isEnd ? [...steps, ...turns.end()] : steps;
}

/** Where a window is that has no place of its own: behind what is settled, as far as its words, or anything, was heard. */
function estimated(
  { clock, settledSeconds, heardSeconds }: State,
  { words }: JsonObject,
): { start: number; end: number } {
  const spoken = wordsIn(words, (at) => at)?.at(-1)?.end;
  const heard = spoken ?? (heardSeconds > settledSeconds ? heardSeconds : clock.sentSeconds);
  return { start: settledSeconds, end: Math.max(settledSeconds, clock.heardSeconds(heard)) };
}

function windowOf(
  { clock, speakers }: State,
  text: string,
  window: { start: number; end: number },
  alternative: JsonObject,
): Utterance {
  const place = (seconds: number) => clock.legSeconds(seconds);
  const speakerOf = (label: unknown) => (typeof label === 'number' ? speakers.numberOf(label) : undefined);
  const words = wordsIn(alternative.words, place, speakerOf);
  return heardOf(text, { start: place(window.start), end: place(window.end) }, words, {
    confidence: fractionIn(alternative.confidence),
    language: languageOf(alternative),
  });
}
