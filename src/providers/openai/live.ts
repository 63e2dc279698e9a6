// The codec of Realtime transcription sessions: what is said to OpenAI and what is read of it. Positions and the order of
// finals are in items.ts.
import type { Heard } from '../../../machines/events.ts';
import { BYTES_PER_SAMPLE } from '../../api/linear16.ts';
import { modelAt } from '../kit/api.ts';
import { failed } from '../kit/heard.ts';
import { type Members, numberIn, objectIn } from '../kit/json.ts';
import { baseLanguage } from '../kit/languages/whisper-languages.ts';
import { languageOf } from '../kit/openai-shaped/answer.ts';
import { liveTiming } from '../kit/timing.ts';
import type { LegRequest, LiveCodec, LiveTiming, Outgoing, Step } from '../provider.ts';
import { api } from './api.ts';
import { errorOf, failureOfItem, failures } from './failures.ts';
import { ItemQueue } from './items.ts';
import { LIVE_RATE, traitsOf } from './models.ts';
import { options } from './options.ts';

interface State {
  phase: 'connecting' | 'configuring' | 'ready';
  finishing: boolean;
  /** The last commit was refused and made again. */
  committedAgain: boolean;
  finished: boolean;
  /** Whether OpenAI ends turns by itself. */
  serverTurns: boolean;
  update: Outgoing;
  items: ItemQueue;
}

const UNINTELLIGIBLE = 'audio_unintelligible';
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
/** A commit of less than 100 ms is refused. */
const COMMIT_SAMPLES_MIN = LIVE_RATE / 10;
/** Names the update that ends turn detection, so that a refusal of it is known: the commit behind it works all the same. */
const END_TURN_DETECTION = 'end-turn-detection';

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

export const live: LiveCodec<State> = {
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

  open: (request) => ({
    state: {
      phase: 'connecting',
      finishing: false,
      committedAgain: false,
      finished: false,
      serverTurns: serverTurnsOf(request),
      update: updateOf(request),
      items: new ItemQueue(),
    },
    endpoint: {
      kind: 'websocket',
      // A model in the URL would make it a session of conversation, which takes no transcription settings.
      url: api.websocket(request.access, '/realtime', { intent: 'transcription' }),
      headers: api.headers(request.access),
    },
    hello: [],
  }),

  audio: (state, frame) => {
    state.items.append(frame.byteLength / BYTES_PER_SAMPLE);
    return appendOf(frame);
  },

  read: (state, message) => {
    if (!('json' in message)) return [];
    return [...read(state, objectIn(message.json)), ...finishedWhenSettled(state)];
  },

  finalize: ({ items }) => (items.uncommitted < COMMIT_SAMPLES_MIN ? [] : commit(items)),

  finish: (state) => {
    state.finishing = true;
    const { uncommitted } = state.items;
    if (uncommitted === 0) return finishedWhenSettled(state);
    const steps: Step[] = state.serverTurns ? [send(NO_TURN_DETECTION)] : [];
    return [...steps, ...commitFilledUp(state, COMMIT_SAMPLES_MIN - uncommitted)];
  },

  keepAlive: () => [],

  // What was not committed is not transcribed, and not counted.
  leave: () => [{ type: 'input_audio_buffer.clear' }],

  refused: (refusal) => failures.ofRefusal(refusal),

  closed: (_, code, reason) => failed(failures.ofClose(code, reason)),
};

/** A refusal that comes late quotes the id. */
const commit = (items: ItemQueue): Step[] => [
  send({ type: 'input_audio_buffer.commit', event_id: items.nextCommitId }),
  ...items.commit(),
];
const NO_TURN_DETECTION = {
  type: 'session.update',
  event_id: END_TURN_DETECTION,
  session: { type: 'transcription', audio: { input: { turn_detection: null } } },
};

const send = (frame: Outgoing): Step => ({ type: 'send', frame });

const appendOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  `{"type":"input_audio_buffer.append","audio":"${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}"}`;

function serverTurnsOf({ model, params }: LegRequest): boolean {
  return traitsOf(model)?.serverTurns === true && params.turn_detection !== null;
}

/** The pause in which the server ends a turn. By meaning it may be sure after a second, or wait for more. */
function turnPauseMsOf({ model, params }: LegRequest): number {
  const { turn_detection: asked } = options.honoured(params, model, 'live');
  if (asked?.type === 'semantic_vad') return 1_000;
  return asked?.silence_duration_ms ?? 500;
}

/** By meaning it may go on waiting in a pause. */
function answersOf({ model, params }: LegRequest): LiveTiming['answers'] {
  return options.honoured(params, model, 'live').turn_detection?.type === 'semantic_vad' ? 'late' : 'pauses';
}

function updateOf(request: LegRequest): Outgoing {
  const { model, params } = request;
  const { turn_detection, noise_reduction, languages } = options.honoured(params, model, 'live');
  const language = baseLanguage(request.language);
  const spoken = traitsOf(model)?.hints === true ? { languages: languages ?? (language && [language]) } : { language };
  return {
    type: 'session.update',
    session: {
      type: 'transcription',
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: LIVE_RATE },
          transcription: { model: modelAt(request), ...options.wire(params, model, 'live'), ...spoken },
          turn_detection: serverTurnsOf(request) ? (turn_detection ?? { type: 'server_vad' }) : null,
          ...(noise_reduction === undefined ? {} : { noise_reduction: { type: noise_reduction } }),
        },
      },
    },
  };
}

function read(state: State, message: Members): Step[] {
  const { items } = state;
  const { type, item_id: id } = message;
  switch (type) {
    case 'session.created':
      if (state.phase !== 'connecting') return [];
      state.phase = 'configuring';
      return [send(state.update)];
    case 'session.updated':
      if (state.phase !== 'configuring') return [];
      state.phase = 'ready';
      return [{ type: 'ready' }];
    case 'error':
      return error(state, message);
    default:
      return typeof id === 'string' ? readItem(items, id, message) : [];
  }
}

function readItem(items: ItemQueue, id: string, message: Members): Heard[] {
  const { type, delta, transcript } = message;
  const startMs = numberIn(message.audio_start_ms);
  const endMs = numberIn(message.audio_end_ms);
  switch (type) {
    case 'input_audio_buffer.speech_started':
      if (startMs === undefined) return [];
      items.speech(id, 'started', samplesOf(startMs));
      return [{ type: 'speech.started', start: startMs / 1000 }];
    case 'input_audio_buffer.speech_stopped':
    case 'input_audio_buffer.timeout_triggered':
      if (startMs !== undefined) items.speech(id, 'started', samplesOf(startMs));
      if (endMs !== undefined) items.speech(id, 'stopped', samplesOf(endMs));
      return [];
    case 'input_audio_buffer.committed':
      return items.committed(id);
    case `${TRANSCRIPTION}.delta`:
      return typeof delta === 'string' ? items.delta(id, delta) : [];
    case `${TRANSCRIPTION}.completed`:
      return typeof transcript === 'string' ? items.completed(id, transcript, languageOf(message)) : [];
    case `${TRANSCRIPTION}.failed`:
      return itemFailed(items, id, message);
    default:
      return [];
  }
}

/**
 * A turn that OpenAI calls unintelligible is one without words: heard again it would be so again, and the client is told.
 * Any other failed turn is heard again; its deltas are no settled words, so they are never made final.
 */
function itemFailed(items: ItemQueue, id: string, message: Members): Heard[] {
  const error = errorOf(message);
  if (error?.code !== UNINTELLIGIBLE) return [failed(failureOfItem(error))];
  const text = 'OpenAI could not make out what was said in a part of the audio; that part has no words.';
  return [...items.completed(id, '', undefined), { type: 'warned', code: UNINTELLIGIBLE, message: text }];
}

/** An `error`: the session survives most of those that are no failure here. */
function error(state: State, message: Members): Step[] {
  const told = errorOf(message);
  if (told === undefined || told.eventId === END_TURN_DETECTION) return [];
  if (told.code === 'input_audio_buffer_commit_empty') {
    state.items.commitRefused(told.eventId);
    return state.finishing ? commitAgain(state) : [];
  }
  return failures.heardOfError(told.code, told.message, told.type);
}

/** While the last commit was on its way the server may have ended a turn itself, and what that left be too short alone. */
function commitAgain(state: State): Step[] {
  if (state.committedAgain || state.items.uncommitted === 0) return [];
  state.committedAgain = true;
  return commitFilledUp(state, COMMIT_SAMPLES_MIN);
}

/** Commits with so much silence behind the audio. It is no audio of the session: it has no position. */
function commitFilledUp({ items }: State, silenceSamples: number): Step[] {
  const silence = new Uint8Array(Math.max(0, silenceSamples) * BYTES_PER_SAMPLE);
  const filled = silence.length === 0 ? [] : [send(appendOf(silence))];
  return [...filled, ...commit(items)];
}

function finishedWhenSettled(state: State): Step[] {
  if (!state.finishing || state.finished || !state.items.settled) return [];
  state.finished = true;
  return [{ type: 'finished' }];
}

const samplesOf = (milliseconds: number): number => Math.round((milliseconds * LIVE_RATE) / 1000);
