// xAI live (`wss /v1/stt`): interims and locked chunks of an utterance, and its end, which says all of it again. What the messages
// come to is utterances.ts. https://docs.x.ai/developers/rest-api-reference/inference/speech-to-text
import { modelAt } from '../kit/api.ts';
import { failed } from '../kit/heard.ts';
import { type JsonObject, objectIn, textIn } from '../kit/json.ts';
import { LegClock } from '../kit/leg-clock.ts';
import type { LegRequest, LiveCodec, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { finalMissing } from '../kit/turn-text.ts';
import { api, writtenLanguage } from './api.ts';
import { failures } from './failures.ts';
import { options } from './options.ts';
import { Utterances } from './utterances.ts';

interface State {
  clock: LegClock;
  utterances: Utterances;
  /** The turn for which `finalize` was sent. */
  finalized: number | undefined;
  finishing: boolean;
}

const FINALIZE = { type: 'finalize' } as const;
const AUDIO_DONE = { type: 'audio.done' } as const;

/** The provider's own; it was 10 once, which ends a turn at each breath. */
const ENDPOINTING_MS = 400;
/** Without one, speech that never seems over would have no end. */
const SMART_TIMEOUT_MS = 3_000;
/** A turn that ends by what is said mostly does so before its timeout: a leg that is behind is told by this. */
const SMART_PAUSE_MS = 1_000;
/** `finalize` may be answered by a locked chunk alone. */
const FINALIZE_MS = 1_000;
const KEEP_ALIVE_SECONDS = 0.1;

const TIMING = liveTiming({
  // "Real-time-paced": what is tolerated is not said.
  speedMax: 1.25,
  drainMs: 8_000,
  answers: 'words',
  // What ends a silent session is not documented; frames of WebSocket itself do not keep it.
  keepAliveMs: 5_000,
  // Speech without a pause is one utterance, however long.
  endpointing: { silenceMs: Number.POSITIVE_INFINITY, longestMs: 40_000 },
  stallMs: 45_000,
});

export const live: LiveCodec<State> = {
  timing: ({ model, params }) => {
    const asked = options.honoured(params, model, 'live');
    const { endpointing = ENDPOINTING_MS, smart_turn, smart_turn_timeout = SMART_TIMEOUT_MS } = asked;
    return {
      ...TIMING,
      turnPauseMs: smart_turn === undefined ? endpointing : Math.min(smart_turn_timeout, SMART_PAUSE_MS),
    };
  },

  open: (request) => {
    const clock = new LegClock(request.sampleRate);
    return {
      state: { clock, utterances: new Utterances(clock), finalized: undefined, finishing: false },
      endpoint: {
        kind: 'websocket',
        url: api.websocket(request.access, '/v1/stt', queryOf(request)),
        headers: api.headers(request.access),
      },
      hello: [],
    };
  },

  audio: ({ clock }, frame) => {
    clock.audio(frame);
    return frame;
  },

  read: (state, message) => ('json' in message ? heard(state, objectIn(message.json)) : []),

  finalize: (state) => {
    state.finalized = state.utterances.turn;
    return [
      { type: 'send', frame: FINALIZE },
      { type: 'wake', afterMs: FINALIZE_MS },
    ];
  },

  wake: ({ finalized, utterances }) => (finalized === utterances.turn ? utterances.endLocked() : []),

  // The last utterance has its end so, and not only its chunks.
  finish: (state) => {
    state.finishing = true;
    return [
      { type: 'send', frame: FINALIZE },
      { type: 'send', frame: AUDIO_DONE },
    ];
  },

  keepAlive: ({ clock, finishing }) => (finishing ? [] : [clock.silence(KEEP_ALIVE_SECONDS)]),

  leave: ({ finishing }) => (finishing ? [] : [AUDIO_DONE]),

  refused: (refusal) => failures.ofRefusal(refusal),

  closed: ({ finishing, utterances }, code, reason) =>
    failures.heardOfClose(code, reason, { finishing, open: utterances.open, orderly: [1000, 1005] }),
};

function queryOf(request: LegRequest) {
  const { model, sampleRate, language, diarization, params } = request;
  const asked = options.wire(params, model, 'live');
  return {
    model: modelAt(request),
    encoding: 'pcm',
    sample_rate: sampleRate,
    interim_results: true,
    endpointing: ENDPOINTING_MS,
    smart_turn_timeout: asked.smart_turn === undefined ? undefined : SMART_TIMEOUT_MS,
    language: writtenLanguage(language),
    diarize: diarization || undefined,
    ...asked,
  };
}

function heard({ utterances, finishing }: State, message: JsonObject): Step[] {
  switch (message.type) {
    case 'transcript.created':
      return [{ type: 'ready' }];
    case 'transcript.partial':
      return utterances.heard(message);
    case 'transcript.done':
      if (!finishing) return [failed(failures.named('closed'))];
      return [...utterances.rest(message), utterances.open ? failed(finalMissing) : { type: 'finished' }];
    case 'error':
      return failures.heardOfError(undefined, textIn(message.message));
    default:
      return [];
  }
}
