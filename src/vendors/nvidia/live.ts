// Riva's streaming calls: a first message says what is wanted, all others are audio; results come until the requests end. There is no
// message that ends a turn. https://docs.nvidia.com/nim/riva/asr/latest/protos.html
import type { Word } from '../../../machines/events.ts';
import { bearer } from '../kit/api.ts';
import { StreamedResults, streamedCall, type ToldResult } from '../kit/grpc/results.ts';
import { type JsonObject, listIn, numberIn, objectIn, secondsIn, textIn } from '../kit/json.ts';
import { regional } from '../kit/languages/whisper-languages.ts';
import { nested } from '../kit/options.ts';
import type { LegRequest, LiveCodec, ProviderAccess } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { urlOf } from '../kit/urls.ts';
import { Speakers, wordOf } from '../kit/words.ts';
import { failures } from './failures.ts';
import { LANGUAGE } from './models.ts';
import { options } from './options.ts';
import { PATH, streamingRecognize } from './proto.ts';

interface State {
  results: StreamedResults;
  speakers: Speakers;
  silenceSeconds: number;
  finishing: boolean;
}

/** Its own port, for a request that was given no address. */
const URL_OF_ITS_OWN = 'http://localhost:50051';
const PAUSE_MS = 800;
/** Beyond what ends a turn, so that it surely does. */
const MARGIN_SECONDS = 0.5;
const PIECE_SECONDS = 0.125;
const BOOST = 10;

const pauseOf = ({ model, params }: LegRequest): number =>
  options.honoured(params, model, 'live').stop_history ?? PAUSE_MS;

export const live: LiveCodec<State> = {
  ...streamedCall<State>(failures),

  timing: (request) =>
    liveTiming({
      // Its own clients send files as fast as the call takes them.
      speedMax: Number.POSITIVE_INFINITY,
      drainMs: 10_000,
      stallMs: 10_000,
      turnPauseMs: pauseOf(request),
      // A server waits for audio as long as it takes; what is between may not.
      keepAliveMs: 10_000,
    }),

  open: (request) => ({
    state: {
      results: new StreamedResults(request.sampleRate, { title: 'Riva', endMember: 'audio_processed' }, PIECE_SECONDS),
      speakers: new Speakers(['0']),
      silenceSeconds: pauseOf(request) / 1_000 + MARGIN_SECONDS,
      finishing: false,
    },
    endpoint: {
      kind: 'grpc',
      url: urlOf('http', request.access.baseUrl ?? URL_OF_ITS_OWN, PATH),
      headers: { model: request.model, ...headersOf(request.access) },
      method: streamingRecognize,
      // Servers of gRPC end connections that are asked more often than every five minutes.
      pingMs: undefined,
    },
    hello: [{ streamingConfig: { config: configOf(request), interimResults: true } }],
  }),

  read: (state, message) =>
    'json' in message
      ? state.results.hear(listIn(objectIn(message.json).results).map((each) => toldIn(state, objectIn(each))))
      : [],
};

/** NVIDIA's cloud tells models by a function, whose id stands in the query of the base URL: `?function-id=…`. */
function headersOf({ baseUrl, credential, fields }: ProviderAccess): Record<string, string> {
  const key = credential ?? fields?.api_key;
  const id = new URL(baseUrl ?? URL_OF_ITS_OWN).searchParams.get('function-id');
  return { ...(key === undefined ? {} : bearer(key)), ...(id === null ? {} : { 'function-id': id }) };
}

function configOf({ model, sampleRate, language, diarization, params }: LegRequest): JsonObject {
  const { phrases, boost = BOOST, max_speaker_count: most } = options.honoured(params, model, 'live');
  const named = language === undefined || language === 'auto' ? undefined : regional(language);
  return {
    encoding: 'LINEAR_PCM',
    sampleRateHertz: sampleRate,
    audioChannelCount: 1,
    languageCode: named ?? LANGUAGE[model] ?? 'en-US',
    maxAlternatives: 1,
    enableWordTimeOffsets: true,
    enableAutomaticPunctuation: true,
    ...nested(options.wire(params, model, 'live')),
    ...(phrases === undefined ? {} : { speechContexts: [{ phrases, boost }] }),
    ...(diarization || most !== undefined
      ? {
          diarizationConfig: {
            enableSpeakerDiarization: true,
            ...(most === undefined ? {} : { maxSpeakerCount: most }),
          },
        }
      : {}),
  };
}

/** Its confidence is not a share of 1, and not told. */
function toldIn({ speakers }: State, { alternatives, isFinal, audioProcessed }: JsonObject): ToldResult {
  const [alternative] = listIn(alternatives);
  const { transcript, words } = objectIn(alternative);
  const told = listIn(words).flatMap((word) => wordIn(objectIn(word), speakers));
  return {
    isFinal: isFinal === true,
    text: textIn(transcript)?.trim() ?? '',
    end: told.at(-1)?.end ?? numberIn(audioProcessed),
    words: told,
  };
}

function wordIn({ word, startTime = 0, endTime, speakerTag }: JsonObject, speakers: Speakers): Word[] {
  const [text, start, end] = [textIn(word)?.trim(), secondsIn(startTime), secondsIn(endTime)];
  if (text === undefined || text === '' || start === undefined || end === undefined) return [];
  return [wordOf(text, start, end, undefined, speakers.numberOf(speakerTag))];
}
