// Google's streaming calls: a first message says what is wanted, all others are audio; results come until the requests end. There is no
// message that ends a turn. https://cloud.google.com/speech-to-text/v2/docs/streaming-recognize
import { Warnings } from '../kit/heard.ts';
import { listIn, type Members, objectIn } from '../kit/json.ts';
import { LegClock } from '../kit/leg-clock.ts';
import { liveTiming } from '../kit/timing.ts';
import { TurnsFromPieces } from '../kit/turns-from-pieces.ts';
import { utteranceOf } from '../kit/words.ts';
import { HALF_CLOSE, type LegRequest, type LiveCodec, type Outgoing, type Step } from '../provider.ts';
import { headersOf, recognizerOf, urlAt } from './api.ts';
import { configOf, secondsIn, utteranceIn } from './config.ts';
import { failures } from './failures.ts';
import { options } from './options.ts';
import { PATH, streamingRecognize } from './proto.ts';

interface State {
  clock: LegClock;
  turns: TurnsFromPieces;
  warnings: Warnings;
  silenceSeconds: number;
  /** Where the last final ends. */
  settledSeconds: number;
  finishing: boolean;
}

/** Silence that ends a turn, as it is known from use; no document says it. */
const PAUSE_SECONDS = { STANDARD: 1.5, SHORT: 0.9, SUPERSHORT: 0.5 } as const;
/** Beyond what ends a turn, so that it surely does. */
const MARGIN_SECONDS = 0.5;
/** No message is longer than 14,400 bytes, at 48 kHz. */
const FRAME_MS_MAX = 150;
const PIECE_SECONDS = 0.125;
/** Without audio a call is ended after about 10 s. */
const KEEP_ALIVE_MS = 4_000;

const pauseOf = ({ model, params }: LegRequest): number =>
  PAUSE_SECONDS[options.honoured(params, model, 'live').endpointing_sensitivity ?? 'STANDARD'];

export const live: LiveCodec<State> = {
  timing: (request) =>
    liveTiming({
      frame: { minMs: 20, idealMs: 100, maxMs: FRAME_MS_MAX, tail: 'short' },
      // Audio has to be sent at about the rate it is spoken: https://cloud.google.com/speech-to-text/v2/docs/quotas
      speedMax: 1.25,
      drainMs: 8_000,
      stallMs: 12_000,
      keepAliveMs: KEEP_ALIVE_MS,
      turnPauseMs: pauseOf(request) * 1_000,
      sessionMaxMs: 300_000,
    }),

  open: (request) => {
    const { access, model, sampleRate, params } = request;
    const recognizer = recognizerOf(request);
    const { endpointing_sensitivity: sensitivity } = options.honoured(params, model, 'live');
    return {
      state: {
        clock: new LegClock(sampleRate),
        turns: new TurnsFromPieces(),
        warnings: new Warnings(),
        silenceSeconds: pauseOf(request) + MARGIN_SECONDS,
        settledSeconds: 0,
        finishing: false,
      },
      endpoint: {
        kind: 'grpc',
        url: urlAt(request, PATH),
        headers: { ...headersOf(access), 'x-goog-request-params': `recognizer=${encodeURIComponent(recognizer)}` },
        method: streamingRecognize,
        // Google's own clients ask as often.
        pingMs: 30_000,
      },
      hello: [
        {
          recognizer,
          streamingConfig: {
            config: {
              explicitDecodingConfig: { encoding: 'LINEAR16', sampleRateHertz: sampleRate, audioChannelCount: 1 },
              ...configOf(request, 'live'),
            },
            streamingFeatures: {
              // They tell a leg that works from one that does not.
              interimResults: true,
              enableVoiceActivityEvents: true,
              ...(sensitivity === undefined
                ? {}
                : { endpointingSensitivity: `ENDPOINTING_SENSITIVITY_${sensitivity}` }),
            },
          },
        },
      ],
    };
  },

  // It says nothing before it hears speech.
  opened: () => [{ type: 'ready' }],

  audio: (state, frame) => {
    state.clock.audio(frame);
    return frame;
  },

  read: (state, message) => ('json' in message ? heard(state, objectIn(message.json)) : []),

  finalize: (state) => silence(state, state.silenceSeconds).map((frame): Step => ({ type: 'send', frame })),

  finish: (state) => {
    state.finishing = true;
    return [{ type: 'send', frame: HALF_CLOSE }];
  },

  keepAlive: (state) => (state.finishing ? [] : silence(state, PIECE_SECONDS)),

  refused: (refusal) => failures.ofRefusal(refusal),

  closed: ({ finishing, turns }, code, reason) => failures.heardOfClose(code, reason, { finishing, open: turns.open }),
};

/** At least so many seconds of it, in pieces that a message may have. */
function silence({ clock }: State, seconds: number): Outgoing[] {
  return Array.from({ length: Math.ceil(seconds / PIECE_SECONDS) }, () => clock.silence(PIECE_SECONDS));
}

function heard(state: State, message: Members): Step[] {
  const { clock, turns } = state;
  const results = listIn(message.results).map(objectIn);
  const steps = results.filter(({ isFinal }) => isFinal === true).flatMap((result) => settled(state, result));
  const interims = results.filter(({ isFinal, alternatives }) => isFinal !== true && Array.isArray(alternatives));
  if (interims.length > 0) {
    const parts = interims.map((result) => utteranceIn(result, ...placing(state)));
    // What is stable and what is not come one behind the other.
    const text = parts.flatMap((part) => (part.text === '' ? [] : [part.text])).join(' ');
    if (text !== '') steps.push(turns.partial(utteranceOf(text, state.settledSeconds, parts.at(-1)?.end ?? 0)));
  }
  if (message.speechEventType === 'SPEECH_ACTIVITY_BEGIN') {
    const start = secondsIn(message.speechEventOffset) ?? 0;
    steps.push({ type: 'speech.started', start: clock.legSeconds(start) });
  }
  return steps;
}

function settled(state: State, result: Members): Step[] {
  const { turns, clock } = state;
  const utterance = utteranceIn(result, ...placing(state));
  // A result has no name but where it ends and what it says.
  if (turns.isRepeated(`${secondsIn(result.resultEndOffset)} ${utterance.text}`)) return [];
  const end = secondsIn(result.resultEndOffset);
  const isPast = utterance.text !== '' && (end === undefined || clock.legSeconds(end) < state.settledSeconds);
  state.settledSeconds = Math.max(state.settledSeconds, utterance.end);
  return [
    ...(isPast ? state.warnings.estimated('Google', 'resultEndOffset') : []),
    turns.piece(utterance),
    ...turns.end(),
  ];
}

/** How times are placed, and between which. */
const placing = ({ clock, settledSeconds }: State) =>
  [(seconds: number) => clock.legSeconds(seconds), settledSeconds, clock.legSeconds(clock.sentSeconds)] as const;
