// Live Scribe: audio goes as base64 in JSON, and turns end where the gateway commits. Left to itself the service would end
// them by silence as well, later, and it would not be known which commit an answer is for.
import { failed, Warnings } from '../kit/heard.ts';
import { type JsonObject, objectIn, textIn } from '../kit/json.ts';
import { baseLanguage } from '../kit/languages/whisper-languages.ts';
import { LegClock } from '../kit/leg-clock.ts';
import type { LegRequest, LiveCodec, Outgoing, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { finalMissing } from '../kit/turn-text.ts';
import { api, languageTag, wordsIn } from './api.ts';
import { Commits } from './commits.ts';
import { failures } from './failures.ts';
import { options } from './options.ts';

interface State {
  clock: LegClock;
  sampleRate: number;
  commits: Commits;
  warnings: Warnings;
  /** Words were heard that no answer has given. */
  open: boolean;
  finishing: boolean;
}

/** A commit of less than 0.3 s is refused; what is missing is sent as silence. */
const COMMIT_SECONDS_MIN = 0.35;
/** Without audio a connection is closed after some 15 s. What is sent in the meantime is billed. */
const KEEP_ALIVE_MS = 8_000;
const KEEP_ALIVE_SECONDS = 0.05;

const TIMING = liveTiming({
  // What comes faster than it is recognised is queued. The bound of the queue is not documented.
  speedMax: 2,
  drainMs: 6_000,
  stallMs: 35_000,
  answers: 'words',
  keepAliveMs: KEEP_ALIVE_MS,
  // It asks for a commit every 20 to 30 s, and makes one of its own after 90 s.
  endpointing: { silenceMs: 500, longestMs: 25_000 },
});

export const live: LiveCodec<State> = {
  timing: () => TIMING,

  open: (request) => {
    const query = queryOf(request);
    const clock = new LegClock(request.sampleRate);
    const state: State = {
      clock,
      sampleRate: request.sampleRate,
      commits: new Commits(clock, query.include_timestamps || query.include_language_detection === true),
      warnings: new Warnings(),
      open: false,
      finishing: false,
    };
    const url = api.websocket(request.access, '/v1/speech-to-text/realtime', query);
    return { state, endpoint: { kind: 'websocket', url, headers: api.headers(request.access) }, hello: [] };
  },

  audio: (state, frame) => {
    state.clock.audio(frame);
    return chunkOf(state, frame, false);
  },

  read: (state, message) => ('json' in message ? heard(state, objectIn(message.json)) : []),

  finalize: (state) => (state.commits.uncommitted > 0 ? commit(state) : []),

  finish: (state) => {
    state.finishing = true;
    return state.commits.uncommitted > 0 ? commit(state) : finishedWhenSettled(state);
  },

  keepAlive: (state) => (state.finishing ? [] : [chunkOf(state, state.clock.silence(KEEP_ALIVE_SECONDS), false)]),

  wake: (state) => answered(state, state.commits.giveWaiting()),

  refused: (refusal) => failures.ofRefusal(refusal),

  closed: ({ finishing, commits, open }, code, reason) =>
    failures.heardOfClose(code, reason, { finishing, open: open || !commits.settled, orderly: [1000, 1005] }),
};

function queryOf({ model, sampleRate, language, params }: LegRequest) {
  const asked = options.wire(params, model, 'live');
  return {
    model_id: model,
    audio_format: `pcm_${sampleRate}`,
    commit_strategy: 'manual',
    // The service gives no times where it leaves a background out.
    include_timestamps: asked.filter_background_audio !== true,
    language_code: baseLanguage(language),
    include_language_detection: language === 'auto' ? true : undefined,
    ...asked,
  };
}

const chunkOf = ({ sampleRate }: State, { buffer, byteOffset, byteLength }: Uint8Array, commit: boolean): string =>
  `{"message_type":"input_audio_chunk","audio_base_64":"${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}","commit":${commit},"sample_rate":${sampleRate}}`;

function commit(state: State): Step[] {
  const { commits, clock } = state;
  const missing = clock.silence(Math.max(0, COMMIT_SECONDS_MIN - commits.uncommitted));
  const frame: Outgoing = chunkOf(state, missing, commits.commit());
  return [{ type: 'send', frame }];
}

function heard(state: State, message: JsonObject): Step[] {
  const { commits } = state;
  const text = textIn(message.text);
  switch (message.message_type) {
    case 'session_started':
      return [{ type: 'ready' }];
    case 'partial_transcript':
    // Settled words of a turn that is not committed.
    case 'final_transcript':
    case 'final_transcript_with_timestamps':
      state.open ||= (text ?? '') !== '';
      return text === undefined ? [] : commits.partial(text);
    case 'committed_transcript':
      return text === undefined ? [] : answered(state, commits.plain(text));
    case 'committed_transcript_with_timestamps':
      return text === undefined ? [] : answered(state, commits.timed(saidIn(state, text, message)));
    case 'commit_throttled':
      commits.refused();
      return finishedWhenSettled(state);
    case 'warning':
      return state.warnings.once('elevenlabs_warning', 'ElevenLabs', text ?? textIn(message.warning) ?? '');
    default:
      return errorIn(message);
  }
}

const saidIn = ({ clock }: State, text: string, { words, language_code }: JsonObject) => ({
  text,
  words: wordsIn(words, (seconds) => clock.legSeconds(seconds)),
  language: languageTag(language_code),
});

/** Whatever has an `error` is one, by its type. */
function errorIn({ message_type, error }: JsonObject): Step[] {
  const words = textIn(error);
  return words === undefined ? [] : failures.heardOfError(textIn(message_type), words);
}

function answered(state: State, steps: Step[]): Step[] {
  if (steps.length > 0 && state.commits.settled) state.open = false;
  return [...steps, ...finishedWhenSettled(state)];
}

function finishedWhenSettled({ finishing, commits, open }: State): Step[] {
  if (!finishing || !commits.settled) return [];
  return [open ? failed(finalMissing) : { type: 'finished' }];
}
