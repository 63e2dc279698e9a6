// Realtime sessions of speaches, in OpenAI's dialect. Its own turn detection fails where an end is requested while somebody speaks,
// and loses the place of a turn: at the highest threshold it hears no speech, and the gateway ends turns.
import { modelAt } from '../kit/api.ts';
import { baseLanguage } from '../kit/languages/whisper-languages.ts';
import { openaiShapedLive } from '../kit/openai-shaped/live.ts';
import { liveTiming } from '../kit/timing.ts';
import { failures } from './failures.ts';
import { api, LIVE_RATE, nameOf } from './models.ts';

const TIMING = liveTiming({
  // Turn detection runs again for each frame.
  frame: { minMs: 50, idealMs: 200, maxMs: 1_000, tail: 'short' },
  burstMs: 2_000,
  speedMax: 4,
  // A model that is not loaded is so on first use.
  drainMs: 30_000,
  stallMs: 45_000,
  sessionMaxMs: 1_800_000,
  endpointing: { silenceMs: 500, longestMs: 30_000 },
});

/** All members have to be there. */
const NO_TURNS = {
  type: 'server_vad',
  threshold: 1,
  prefix_padding_ms: 0,
  silence_duration_ms: 550,
  create_response: false,
};

export const live = openaiShapedLive({
  title: 'The speaches server',
  api,
  failures,
  sampleRate: LIVE_RATE,
  timing: () => TIMING,
  // Without the intent it is a conversation, with a model for answers.
  queryOf: (request) => ({
    model: modelAt({ ...request, model: nameOf(request.model) }),
    intent: 'transcription',
    language: baseLanguage(request.language),
  }),
  updateOf: () => ({ type: 'session.update', session: { turn_detection: NO_TURNS } }),
});
