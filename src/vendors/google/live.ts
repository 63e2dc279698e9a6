// Google's streaming calls: a first message says what is wanted, all others are audio; results come until the requests end. There is no
// message that ends a turn. https://cloud.google.com/speech-to-text/v2/docs/streaming-recognize
import { StreamedResults, streamedCall } from '../kit/grpc/results.ts';
import { type JsonObject, listIn, objectIn } from '../kit/json.ts';
import type { LegRequest, LiveCodec, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { headersOf, recognizerOf, urlAt } from './api.ts';
import { configOf, secondsIn, toldIn } from './config.ts';
import { failures } from './failures.ts';
import { options } from './options.ts';
import { PATH, streamingRecognize } from './proto.ts';

interface State {
  results: StreamedResults;
  silenceSeconds: number;
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
  ...streamedCall<State>(failures),

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
        results: new StreamedResults(sampleRate, { title: 'Google', endMember: 'resultEndOffset' }, PIECE_SECONDS),
        silenceSeconds: pauseOf(request) + MARGIN_SECONDS,
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

  read: (state, message) => ('json' in message ? heard(state, objectIn(message.json)) : []),
};

function heard({ results }: State, message: JsonObject): Step[] {
  const steps: Step[] = results.hear(listIn(message.results).map((result) => toldIn(objectIn(result))));
  if (message.speechEventType !== 'SPEECH_ACTIVITY_BEGIN') return steps;
  const start = secondsIn(message.speechEventOffset) ?? 0;
  return [...steps, { type: 'speech.started', start: results.clock.legSeconds(start) }];
}
