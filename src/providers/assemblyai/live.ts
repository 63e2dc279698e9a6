// AssemblyAI's v3 WebSocket: everything is on the URL, audio goes as raw bytes, and `Terminate` ends the session and its
// meter. What `Turn` messages come to is turns.ts, what failures mean failures.ts.
import type { Heard, LegFailure } from '../../../machines/events.ts';
import type { Incoming, LegRequest, LiveCodec, LiveTiming, Outgoing } from '../provider.ts';
import { providerWords } from '../refusals.ts';
import { urlOf } from '../urls.ts';
import { failureNamed, failureOfClose, failureOfError, failureOfRefusal } from './failures.ts';
import { baseOf } from './languages.ts';
import { liveTraitsOf } from './models.ts';
import { honoured } from './options.ts';
import { newTurns, readTurn, type Turns } from './turns.ts';
import { secondsOf } from './words.ts';

const PUBLIC_URL = 'wss://streaming.assemblyai.com';
const BYTES_PER_SAMPLE = 2;
/** Each kind of warning is told once; beyond so many kinds, none is. */
const WARNINGS_MAX = 16;

interface State {
  turns: Turns;
  sampleRate: number;
  sentBytes: number;
  /** `Terminate` was sent: nothing more will be. */
  terminated: boolean;
  /** The failure that an `Error` told: the close that follows it is no second one. */
  failure: LegFailure | undefined;
  warned: Set<string>;
}

const TERMINATE: Outgoing = { type: 'Terminate' };

export const live: LiveCodec<State> = {
  timing,

  open: (request: LegRequest) => {
    const query = queryOf(request);
    return {
      state: {
        turns: newTurns(liveTraitsOf(request.model).partials, query.format_turns === true),
        sampleRate: request.sampleRate,
        sentBytes: 0,
        terminated: false,
        failure: undefined,
        warned: new Set(),
      },
      endpoint: {
        kind: 'websocket',
        url: urlOf('websocket', request.access.baseUrl ?? PUBLIC_URL, '/v3/ws', query),
        // The bare key: with `Bearer` before it, it is refused.
        headers: request.access.credential === undefined ? {} : { Authorization: request.access.credential },
      },
      hello: [],
    };
  },

  audio: (state, frame) => {
    state.sentBytes += frame.byteLength;
    return frame;
  },

  read: (state, message: Incoming) => {
    if (!('json' in message) || typeof message.json !== 'object' || message.json === null) return [];
    return heard(state, message.json as Record<string, unknown>);
  },

  finalize: () => [{ type: 'send', frame: { type: 'ForceEndpoint' } }],

  // `Terminate` promises the turns in flight, not that they end: asked for before, the end of the last turn comes with it.
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

  refused: failureOfRefusal,

  closed: (state, code, reason) => {
    if (state.failure !== undefined) return { type: 'failed', failure: state.failure };
    if (state.terminated && code === 1000) return { type: 'finished' };
    return { type: 'failed', failure: failureOfClose(code, reason) };
  },
};

function timing(request: LegRequest): LiveTiming {
  const { partials } = liveTraitsOf(request.model);
  const params = honoured(request.params, request.model, 'live');
  const inactivitySeconds = params.inactivity_timeout;
  return {
    // Anything shorter or longer closes the session (https://www.assemblyai.com/docs/streaming/common-session-errors-and-closures).
    frame: { minMs: 50, idealMs: 100, maxMs: 1_000, tail: 'pad' },
    // Faster than real time is refused, and how much is tolerated is not published. Half a second is three of our largest
    // frames, enough to make up for a late timer; the other half of a tolerated second is left to the network, which may
    // hold frames back and then deliver them together.
    speedMax: 1,
    burstMs: 500,
    connectMs: 5_000,
    readyMs: 5_000,
    // AssemblyAI's own client waits 5 s for `Termination`; one more for the way there and back.
    drainMs: 6_000,
    // None is needed, and no frames while a client is silent: sessions stay open without either. Only `inactivity_timeout`
    // changes that; then it is to end what was abandoned, not what still waits for its client.
    keepAliveMs: typeof inactivitySeconds === 'number' ? inactivitySeconds * 500 : undefined,
    // Universal-3 says nothing in long speech without a pause.
    stallMs: partials === 'words' ? 8_000 : 20_000,
    formattedWaitMs: params.format_turns === true ? 700 : 0,
    // https://www.assemblyai.com/docs/streaming/common-session-errors-and-closures, code 3008.
    sessionMaxMs: 10_800_000,
    endpointing: undefined,
  };
}

/** The session on the URL. Lists go as JSON text in one parameter. */
function queryOf(request: LegRequest): Record<string, string | number | boolean | undefined> {
  const { model, sampleRate, language } = request;
  const traits = liveTraitsOf(model);
  const { language_detection, language_codes, speaker_labels, ...params } = honoured(request.params, model, 'live');
  const isNamed = language !== undefined && language !== 'auto';
  const isSteered = isNamed && traits.languageCodes.includes(baseOf(language));
  const codes = language_codes ?? (isSteered ? [baseOf(language)] : undefined);
  const detects = traits.languageDetection && (language === 'auto' || (!isNamed && language_detection === true));
  return {
    speech_model: model,
    sample_rate: sampleRate,
    encoding: 'pcm_s16le',
    ...Object.fromEntries(Object.entries(params).map(([name, value]) => [name, written(value)])),
    language_codes: codes === undefined ? undefined : JSON.stringify(codes),
    language_detection: detects || undefined,
    speaker_labels: request.diarization || speaker_labels === true || undefined,
  };
}

const written = (value: unknown): string | number | boolean =>
  typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string' ? value : JSON.stringify(value);

function heard(state: State, json: Record<string, unknown>): Heard[] {
  const sentSeconds = state.sentBytes / BYTES_PER_SAMPLE / state.sampleRate;
  switch (json.type) {
    case 'Begin':
      return [{ type: 'ready' }];
    case 'SpeechStarted': {
      const start = secondsOf(json.timestamp);
      return start === undefined ? [] : [{ type: 'speech.started', start: Math.min(start, sentSeconds) }];
    }
    case 'Turn':
      return readTurn(state.turns, json, sentSeconds);
    case 'Warning':
      return warning(state, json);
    case 'Error':
      return [{ type: 'failed', failure: errorOf(state, json) }];
    case 'Termination':
      // A turn that was heard and did not end stays open: the session hears it again.
      return state.terminated ? [{ type: 'finished' }] : [{ type: 'failed', failure: failureNamed('terminated') }];
    default:
      return [];
  }
}

function errorOf(state: State, { error, error_code }: Record<string, unknown>): LegFailure {
  const code = typeof error_code === 'number' && Number.isSafeInteger(error_code) ? error_code : undefined;
  state.failure = failureOfError(code, typeof error === 'string' ? error : '');
  return state.failure;
}

function warning(state: State, { warning_code, warning: text }: Record<string, unknown>): Heard[] {
  if (typeof text !== 'string') return [];
  const code = `assemblyai_${typeof warning_code === 'number' ? warning_code : 'warning'}`;
  if (state.warned.has(code) || state.warned.size >= WARNINGS_MAX) return [];
  state.warned.add(code);
  return [{ type: 'warned', code, message: `AssemblyAI: ${providerWords(text)}` }];
}
