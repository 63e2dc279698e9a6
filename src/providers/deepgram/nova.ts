// Live Nova (`/v1/listen`): text is settled window by window, and a turn is the settled windows up to an end of speech.
// The words of a window that is not settled are never made a final here.
import type { Utterance } from '../../../machines/events.ts';
import type { Incoming, LegRequest, LiveCodec, LiveTiming, Step } from '../provider.ts';
import { providerWords } from '../refusals.ts';
import { finalMissing } from '../turn-text.ts';
import { urlOf } from '../urls.ts';
import { authorization, baseUrlOf, TIMING } from './endpoint.ts';
import { failureOfClose } from './failures.ts';
import { novaLanguage } from './languages.ts';
import { LegClock } from './leg-clock.ts';
import { honoured } from './options.ts';
import {
  confidenceIn,
  listIn,
  type Members,
  objectIn,
  Speakers,
  textIn,
  timeIn,
  utteranceOf,
  wordsIn,
} from './reading.ts';

interface State {
  clock: LegClock;
  speakers: Speakers;
  /** Number of the current turn; the provider has no name for it. */
  turn: number;
  /** Settled words of the current turn were heard. */
  held: boolean;
  /** Words were heard that are not settled yet. */
  unsettled: boolean;
  /** End of the last settled window, on the provider's clock. */
  settledSeconds: number;
  /** The last settled windows, so that one said twice is known. */
  settled: string[];
  /** `Finalize` was sent, and its answer has not come. */
  finalizing: boolean;
  finishing: boolean;
  warned: boolean;
}

const KEEP_ALIVE = { type: 'KeepAlive' } as const;
const FINALIZE = { type: 'Finalize' } as const;
const CLOSE_STREAM = { type: 'CloseStream' } as const;

/** `Finalize` is not always answered. */
const FINALIZE_MS = 1_000;
const SETTLED_REMEMBERED_MAX = 32;
/** A connection that was sent no audio at all is not kept by `KeepAlive`. */
const FIRST_SILENCE_SECONDS = 0.1;

const NOVA_TIMING: LiveTiming = {
  ...TIMING,
  // https://developers.deepgram.com/docs/measuring-streaming-latency: 20 to 250 ms of audio in a frame.
  frame: { minMs: 20, idealMs: 100, maxMs: 250, tail: 'short' },
  // https://developers.deepgram.com/docs/audio-keep-alive: every 3 to 5 s; after 10 s the connection is closed.
  keepAliveMs: 4_000,
  stallMs: 8_000,
};

export const nova: LiveCodec<State> = {
  timing: () => NOVA_TIMING,

  open: (request: LegRequest) => ({
    state: {
      clock: new LegClock(request.sampleRate),
      speakers: new Speakers(),
      turn: 0,
      held: false,
      unsettled: false,
      settledSeconds: 0,
      settled: [],
      finalizing: false,
      finishing: false,
      warned: false,
    },
    endpoint: {
      kind: 'websocket',
      url: urlOf('websocket', baseUrlOf(request.access), '/v1/listen', queryOf(request)),
      headers: authorization(request.access),
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
    state.finalizing = true;
    return [
      { type: 'send', frame: FINALIZE },
      { type: 'wake', afterMs: FINALIZE_MS },
    ];
  },

  // All words of the turn are settled: it ends where it was asked to, also when the provider does not say so.
  wake: (state) => (state.finalizing && state.held && !state.unsettled ? [endOfTurn(state)] : []),

  finish: (state) => {
    state.finishing = true;
    return [{ type: 'send', frame: CLOSE_STREAM }];
  },

  keepAlive: ({ clock, finishing }) => {
    if (finishing) return [];
    return [clock.sentSeconds > 0 ? KEEP_ALIVE : clock.silence(FIRST_SILENCE_SECONDS)];
  },

  leave: ({ finishing }) => (finishing ? [] : [CLOSE_STREAM]),

  closed: ({ finishing, held, unsettled }, code, reason) => {
    if (!finishing || (code !== 1000 && code !== 1005))
      return { type: 'failed', failure: failureOfClose(code, reason) };
    return held || unsettled ? { type: 'failed', failure: finalMissing } : { type: 'finished' };
  },
};

function queryOf({ model, sampleRate, language, diarization, params }: LegRequest) {
  return {
    model,
    encoding: 'linear16',
    sample_rate: sampleRate,
    channels: 1,
    interim_results: true,
    // The provider's own 10 ms would end a turn at each breath. Where noise hides the silence, the gap between words counts.
    endpointing: 300,
    utterance_end_ms: 1_000,
    vad_events: true,
    // What the gateway delivers as a final is meant to be read.
    smart_format: true,
    // There is no detection on streams: `multi` hears ten languages, and speakers may switch.
    language: language === undefined ? undefined : language === 'auto' ? 'multi' : novaLanguage(language),
    diarize_model: diarization ? 'latest' : undefined,
    ...honoured(params, model, 'live'),
  };
}

function heard(state: State, message: Members): Step[] {
  switch (message.type) {
    case 'Results':
      return results(state, message);
    case 'SpeechStarted': {
      const start = timeIn(message.timestamp);
      return start === undefined ? [] : [{ type: 'speech.started', start: state.clock.legSeconds(start) }];
    }
    case 'UtteranceEnd':
      return state.held ? [endOfTurn(state)] : [];
    case 'Metadata': {
      const steps: Step[] = state.held ? [endOfTurn(state)] : [];
      return state.finishing ? [...steps, { type: 'finished' }] : steps;
    }
    case 'Error':
      return warning(state, message);
    default:
      return [];
  }
}

function results(state: State, message: Members): Step[] {
  const start = timeIn(message.start);
  const duration = timeIn(message.duration);
  const alternative = objectIn(listIn(objectIn(message.channel).alternatives)[0]);
  const text = textIn(alternative.transcript);
  if (start === undefined || duration === undefined || text === undefined) return [];
  const end = state.clock.heardSeconds(start + duration);
  const isEnd = message.speech_final === true || message.from_finalize === true;
  const isSettled = message.is_final === true || isEnd;
  if (!isSettled)
    return end > state.settledSeconds ? [unsettled(state, windowOf(state, text, { start, end }, alternative))] : [];
  const steps = isRepeated(state, `${start} ${duration} ${text}`)
    ? []
    : settled(state, windowOf(state, text, { start, end }, alternative), end);
  if (isEnd && state.held) steps.push(endOfTurn(state));
  return steps;
}

/** Silence with no words before it is a turn of its own, so that it need not be kept; after words it belongs to their turn. */
function settled(state: State, utterance: Utterance, endSeconds: number): Step[] {
  state.settledSeconds = Math.max(state.settledSeconds, endSeconds);
  state.unsettled = false;
  if (utterance.text === '' && !state.held) return [endOfTurn(state, utterance)];
  state.held = true;
  return [{ type: 'piece', turnId: String(state.turn), utterance }];
}

/** Windows have no names: one at the same place with the same words is the same one. */
function isRepeated({ settled }: State, window: string): boolean {
  if (settled.includes(window)) return true;
  settled.push(window);
  if (settled.length > SETTLED_REMEMBERED_MAX) settled.shift();
  return false;
}

function unsettled(state: State, utterance: Utterance): Step {
  state.unsettled = utterance.text !== '';
  return { type: 'partial', turnId: String(state.turn), utterance };
}

function endOfTurn(state: State, utterance?: Utterance): Step {
  const turnId = String(state.turn);
  state.turn++;
  state.held = false;
  state.finalizing = false;
  return { type: 'turn.ended', turnId, ...(utterance === undefined ? {} : { utterance }), formattedFollows: false };
}

function windowOf(state: State, text: string, window: { start: number; end: number }, alternative: Members): Utterance {
  const place = (seconds: number) => state.clock.legSeconds(seconds);
  const speakerOf = (label: unknown) =>
    typeof label === 'number' ? state.speakers.numberOf(String(label)) : undefined;
  return utteranceOf(
    text,
    { start: place(window.start), end: place(window.end) },
    {
      words: wordsIn(alternative.words, { place, speakerOf }),
      confidence: confidenceIn(alternative.confidence),
      language: textIn(listIn(alternative.languages)[0]),
    },
  );
}

/** Not in the provider's current types; what it leads to, a close code says. */
function warning(state: State, message: Members): Step[] {
  if (state.warned) return [];
  state.warned = true;
  const words = textIn(message.description) ?? textIn(message.message) ?? 'it gave no reason';
  return [{ type: 'warned', code: 'provider_error', message: `Deepgram reported an error: ${providerWords(words)}` }];
}
