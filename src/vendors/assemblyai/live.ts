// AssemblyAI's v3 WebSocket: everything is on the URL, audio goes as raw bytes, and `Terminate` ends the session and its
// meter. What `Turn` messages come to is turns.ts, what failures mean failures.ts.
import type { Heard, LegFailure } from '../../../machines/events.ts';
import { changesBetween, sentChange } from '../kit/changes.ts';
import { failed, Warnings } from '../kit/heard.ts';
import { countIn, type JsonObject, objectIn, secondsIn, textIn } from '../kit/json.ts';
import { LegClock } from '../kit/leg-clock.ts';
import type { Incoming, LegRequest, LiveCodec, LiveTiming, Outgoing } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { api, baseOf } from './api.ts';
import { failures } from './failures.ts';
import { liveTraitsOf } from './models.ts';
import { options } from './options.ts';
import { newTurns, readRevision, readTurn, type Turns } from './turns.ts';

interface State {
  model: string;
  turns: Turns;
  clock: LegClock;
  /** `Terminate` was sent: nothing more will be. */
  terminated: boolean;
  /** The failure that an `Error` told: the close that follows it is not a second one. */
  failure: LegFailure | undefined;
  warnings: Warnings;
}

/** The provider's own `min_turn_silence` and `max_turn_silence`. */
const SILENCE_MS = { streaming: { min: 400, max: 1_280 }, universal3: { min: 100, max: 1_000 } } as const;
/** Of 300 ms that are quiet to the gateway, the model surely hears so much. */
const SURE_MS_MAX = 200;

const TERMINATE: Outgoing = { type: 'Terminate' };

export const live: LiveCodec<State> = {
  timing,

  open: (request: LegRequest) => {
    const query = queryOf(request);
    const warnings = new Warnings();
    return {
      state: {
        model: request.model,
        turns: newTurns(liveTraitsOf(request.model), query.format_turns === true, warnings),
        clock: new LegClock(request.sampleRate),
        terminated: false,
        failure: undefined,
        warnings,
      },
      endpoint: {
        kind: 'websocket',
        url: api.websocket(request.access, '/v3/ws', query),
        headers: api.headers(request.access),
      },
      hello: [],
    };
  },

  audio: (state, frame) => {
    state.clock.audio(frame);
    return frame;
  },

  read: (state, message: Incoming) => ('json' in message ? heard(state, objectIn(message.json)) : []),

  finalize: () => [{ type: 'send', frame: { type: 'ForceEndpoint' } }],

  reconfigure: ({ terminated }, before, after) => {
    const changes = changesBetween(askedOf(before), askedOf(after));
    if (terminated || !Object.entries(changes).every(isChangeable)) return undefined;
    const { keyterms_prompt: terms = [], ...others } = changes;
    return sentChange({
      type: 'UpdateConfiguration',
      ...others,
      ...('keyterms_prompt' in changes ? { keyterms_prompt: terms } : {}),
    });
  },

  // `Terminate` promises the turns in flight, not that they end: requested before, the end of the last turn comes with it.
  finish: (state) => {
    state.terminated = true;
    return [
      { type: 'send', frame: { type: 'ForceEndpoint' } },
      { type: 'send', frame: TERMINATE },
    ];
  },

  keepAlive: () => [{ type: 'KeepAlive' }],

  // A session that is not terminated is charged until its limit of three hours.
  leave: (state) => (state.terminated ? [] : [TERMINATE]),

  refused: (refusal) => failures.ofRefusal(refusal),

  closed: ({ failure, terminated }, code, reason) =>
    failure === undefined ? failures.heardOfClose(code, reason, { finishing: terminated }) : failed(failure),
};

function timing(request: LegRequest): LiveTiming {
  const { partials } = liveTraitsOf(request.model);
  const params = options.honoured(request.params, request.model, 'live');
  const inactivitySeconds = params.inactivity_timeout;
  const silence = partials === 'words' ? SILENCE_MS.streaming : SILENCE_MS.universal3;
  const { min_turn_silence = silence.min, max_turn_silence = silence.max } = params;
  return liveTiming({
    // Anything shorter or longer closes the session (https://www.assemblyai.com/docs/streaming/common-session-errors-and-closures).
    frame: { minMs: 50, idealMs: 100, maxMs: 1_000, tail: 'pad' },
    // What is tolerated is not promised. Recorded refusals (code 3007) came at 314.9 s of audio in 1.3 s, and at 545.1 s in
    // 190.3 s: it hears at 1.25 times real time, and refuses when five minutes wait for that. At its own speed nothing waits.
    speedMax: 1.25,
    burstMs: 500,
    // AssemblyAI's own client waits 5 s for `Termination`; one more for the way there and back.
    drainMs: 6_000,
    // A turn that the model is sure of is over after the first, where it hears that much, and any turn after the second.
    turnPauseMs: min_turn_silence <= SURE_MS_MAX ? max_turn_silence : Math.min(min_turn_silence, max_turn_silence),
    // None is needed, and no frames while a client is silent: sessions stay open without either. Only `inactivity_timeout`
    // changes that; then it is to end what was abandoned, not what still waits for its client.
    keepAliveMs: inactivitySeconds === undefined ? undefined : inactivitySeconds * 500,
    // Universal-3 says nothing in long speech without a pause.
    stallMs: partials === 'words' ? 8_000 : 20_000,
    answers: partials === 'words' ? 'words' : 'pauses',
    formattedWaitMs: params.format_turns === true ? 700 : 0,
    // https://www.assemblyai.com/docs/streaming/common-session-errors-and-closures, code 3008.
    sessionMaxMs: 10_800_000,
  });
}

/** https://www.assemblyai.com/docs/streaming/update-configuration: of what is named there, what no codec of ours goes by. */
const CHANGEABLE = [
  ...['end_of_turn_confidence_threshold', 'min_turn_silence', 'max_turn_silence', 'vad_threshold', 'keyterms_prompt'],
  ...['prompt', 'agent_context', 'language_codes', 'filter_profanity', 'interruption_delay'],
];

/** What was named can have another value; that it was never named can be said of key terms alone. */
const isChangeable = ([name, value]: [string, unknown]): boolean =>
  CHANGEABLE.includes(name) && (value !== undefined || name === 'keyterms_prompt');

/** The session on the URL. Lists go as JSON text in one parameter. */
const queryOf = (request: LegRequest): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(askedOf(request)).map(([name, value]) => [
      name,
      Array.isArray(value) ? JSON.stringify(value) : value,
    ]),
  );

function askedOf(request: LegRequest): Record<string, unknown> {
  const { model, sampleRate, language } = request;
  const traits = liveTraitsOf(model);
  const { language_detection, language_codes, speaker_labels } = options.honoured(request.params, model, 'live');
  const isNamed = language !== undefined && language !== 'auto';
  const isSteered = isNamed && traits.languageCodes.includes(baseOf(language));
  const detects = traits.languageDetection && (language === 'auto' || (!isNamed && language_detection === true));
  return {
    speech_model: model,
    sample_rate: sampleRate,
    encoding: 'pcm_s16le',
    ...options.wire(request.params, model, 'live'),
    language_codes: language_codes ?? (isSteered ? [baseOf(language)] : undefined),
    language_detection: detects || undefined,
    speaker_labels: request.diarization || speaker_labels === true || undefined,
  };
}

function heard(state: State, json: JsonObject): Heard[] {
  const { sentSeconds } = state.clock;
  switch (json.type) {
    case 'Begin':
      return [{ type: 'ready' }, ...otherModel(state, objectIn(json.configuration).model)];
    case 'SpeechStarted': {
      const start = secondsIn(json.timestamp);
      return start === undefined ? [] : [{ type: 'speech.started', start: Math.min(start, sentSeconds) }];
    }
    case 'Turn':
      return readTurn(state.turns, json, sentSeconds);
    case 'SpeakerRevision':
      return readRevision(state.turns, json);
    case 'Warning':
      return warning(state, json);
    case 'Error':
      state.failure = failures.ofError(countIn(json.error_code)?.toString(), textIn(json.error));
      return state.failure === undefined ? [] : [failed(state.failure)];
    case 'Termination':
      // A turn that was heard and did not end stays open: the session hears it again.
      return state.terminated ? [{ type: 'finished' }] : [failed(failures.named('terminated'))];
    default:
      return [];
  }
}

/** What AssemblyAI does not know of a query it leaves out, and says nothing: this is what it has applied. */
function otherModel({ model, warnings }: State, applied: unknown): Heard[] {
  if (typeof applied !== 'string' || applied === model) return [];
  return warnings.once('other_model', `AssemblyAI was asked for the model ${model} and uses another`, applied);
}

function warning({ warnings }: State, { warning_code, warning: text }: JsonObject): Heard[] {
  if (typeof text !== 'string') return [];
  const code = typeof warning_code === 'number' ? warning_code : 'warning';
  return warnings.once(`assemblyai_${code}`, 'AssemblyAI', text);
}
