// Realtime transcription sessions of OpenAI: what is requested of each model, and who ends its turns.
import { modelAt } from '../kit/api.ts';
import { baseLanguage } from '../kit/languages/whisper-languages.ts';
import { openaiShapedLive } from '../kit/openai-shaped/live.ts';
import type { LegRequest, LiveTiming, Outgoing } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { failures } from './failures.ts';
import { api, LIVE_RATE, traitsOf } from './models.ts';
import { options } from './options.ts';

/**
 * How long a model may be silent while someone speaks. The gateway commits after 30 s at the latest, so that a living leg
 * says something by then, whatever is heard; 10 s are for the answer.
 */
const STALL_MS = 40_000;
/**
 * With the server's turn detection nothing is said between the beginning and the end of speech; a turn is ended after 40 s
 * at the latest. More would not be noticed before the audio kept for a replay (a minute) runs out.
 */
const STALL_SERVER_TURNS_MS = 45_000;

export const live = openaiShapedLive({
  title: 'OpenAI',
  api,
  failures,
  sampleRate: LIVE_RATE,

  timing: (request) => {
    const isServers = serverTurnsOf(request);
    return liveTiming({
      // No limit is documented, none is measured: enough to replay a minute in some seconds.
      speedMax: 8,
      drainMs: 15_000,
      stallMs: isServers ? STALL_SERVER_TURNS_MS : STALL_MS,
      sessionMaxMs: 3_600_000,
      // Between the start and the end of speech the server says nothing: a turn without end would look like a stall.
      endpointing: isServers
        ? { silenceMs: Number.POSITIVE_INFINITY, longestMs: 40_000 }
        : { silenceMs: 500, longestMs: 30_000 },
      ...(isServers ? { turnPauseMs: turnPauseMsOf(request), answers: answersOf(request) } : {}),
    });
  },

  // A model in the URL would make it a session of conversation, which takes no transcription settings.
  queryOf: () => ({ intent: 'transcription' }),

  updateOf,

  changeOf,

  serverTurns: {
    areEnded: serverTurnsOf,
    noMore: { type: 'transcription', audio: { input: { turn_detection: null } } },
  },
});

/** A language that was named stays until another is: https://platform.openai.com/docs/api-reference/realtime-client-events/session/update */
function changeOf(before: LegRequest, after: LegRequest) {
  const [from, to] = [inputOf(before), inputOf(after)];
  const isTakenBack = Object.keys(from.transcription).some((name) => !(name in to.transcription));
  const isOther = serverTurnsOf(before) !== serverTurnsOf(after) || from.transcription.model !== to.transcription.model;
  if (isTakenBack || isOther) return undefined;
  const noise = 'noise_reduction' in from && !('noise_reduction' in to) ? { noise_reduction: null } : {};
  return { type: 'session.update', session: { type: 'transcription', audio: { input: { ...to, ...noise } } } };
}

function serverTurnsOf({ model, params }: LegRequest): boolean {
  return traitsOf(model)?.serverTurns === true && params.turn_detection !== null;
}

/** The pause in which the server ends a turn. By meaning it may be sure after a second, or wait for more. */
function turnPauseMsOf({ model, params }: LegRequest): number {
  const { turn_detection: asked } = options.honoured(params, model, 'live');
  if (asked?.type === 'semantic_vad') return 1_000;
  return asked?.silence_duration_ms ?? 500;
}

/** By meaning it may continue waiting in a pause. */
function answersOf({ model, params }: LegRequest): LiveTiming['answers'] {
  return options.honoured(params, model, 'live').turn_detection?.type === 'semantic_vad' ? 'late' : 'pauses';
}

function updateOf(request: LegRequest): Outgoing {
  return { type: 'session.update', session: { type: 'transcription', audio: { input: inputOf(request) } } };
}

function inputOf(request: LegRequest) {
  const { model, params } = request;
  const { turn_detection, noise_reduction, languages } = options.honoured(params, model, 'live');
  const language = baseLanguage(request.language);
  const spoken = traitsOf(model)?.hints === true ? { languages: languages ?? (language && [language]) } : { language };
  const transcription = { model: modelAt(request), ...options.wire(params, model, 'live'), ...spoken };
  return {
    format: { type: 'audio/pcm', rate: LIVE_RATE },
    transcription: Object.fromEntries(Object.entries(transcription).filter(([, value]) => value !== undefined)),
    turn_detection: serverTurnsOf(request) ? (turn_detection ?? { type: 'server_vad' }) : null,
    ...(noise_reduction === undefined ? {} : { noise_reduction: { type: noise_reduction } }),
  };
}
