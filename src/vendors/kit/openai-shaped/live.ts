// The codec of Realtime transcription sessions as OpenAI shaped them: audio is appended and committed, by the service where it
// ends turns, else by the gateway; each commit is an item, and has a final. Positions and the order of finals are in items.ts.
import type { Heard } from '../../../../machines/events.ts';
import { BYTES_PER_SAMPLE } from '../../../api/audio-formats.ts';
import type { ProviderApi } from '../api.ts';
import { reconfigured } from '../changes.ts';
import type { FailureTable } from '../failures.ts';
import { failed } from '../heard.ts';
import { type JsonObject, numberIn, objectIn } from '../json.ts';
import type { LegRequest, LiveCodec, LiveTiming, Outgoing, Step } from '../provider.ts';
import type { Query } from '../urls.ts';
import { languageOf } from './answer.ts';
import { errorOf, failureOfItem } from './errors.ts';
import { ItemQueue } from './items.ts';

interface Settings {
  /** The service, as messages call it. */
  title: string;
  api: ProviderApi;
  /** With `itemRows`. */
  failures: FailureTable;
  /** Hertz of the audio. */
  sampleRate: number;
  timing(request: LegRequest): LiveTiming;
  queryOf(request: LegRequest): Query;
  /** The update that sets a session up. */
  updateOf(request: LegRequest): Outgoing;
  /** The update of a session that continues; undefined where it cannot be changed to that. Absent where none can be. */
  changeOf?(before: LegRequest, after: LegRequest): Readonly<Record<string, unknown>> | undefined;
  /** How the turns that a service ends on its own are ended before the last commit; absent where it never does. */
  serverTurns?: { areEnded(request: LegRequest): boolean; noMore: Readonly<Record<string, unknown>> };
}

interface State {
  service: Settings;
  phase: 'connecting' | 'configuring' | 'ready';
  finishing: boolean;
  /** The last commit was refused and made again. */
  committedAgain: boolean;
  finished: boolean;
  /** Whether the service ends turns on its own. */
  serverTurns: boolean;
  update: Outgoing;
  isChanging: boolean;
  items: ItemQueue;
}

const UNINTELLIGIBLE = 'audio_unintelligible';
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
/** Names the update that ends turn detection, so that a refusal of it is known: the commit behind it works anyway. */
const END_TURN_DETECTION = 'end-turn-detection';
/** Names the update that changes a session: refused, it leaves the session as it was. */
const CHANGE = 'change';
const COMMIT_MS_MIN = 100;

export function openaiShapedLive(service: Settings): LiveCodec {
  const { api, failures, sampleRate, serverTurns } = service;
  const codec: LiveCodec<State> = {
    timing: service.timing,

    open: (request) => ({
      state: {
        service,
        phase: 'connecting',
        finishing: false,
        committedAgain: false,
        finished: false,
        serverTurns: serverTurns?.areEnded(request) === true,
        update: service.updateOf(request),
        isChanging: false,
        items: new ItemQueue(sampleRate, failures.named('too_many_items')),
      },
      endpoint: {
        kind: 'websocket',
        url: api.websocket(request.access, '/realtime', service.queryOf(request)),
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

    finalize: (state) => (state.items.uncommitted < commitSamplesMin(state) ? [] : commit(state.items)),

    reconfigure: (state, before, after) => {
      const change = state.finishing ? undefined : service.changeOf?.(before, after);
      if (change === undefined) return undefined;
      state.isChanging = true;
      return [send({ ...change, event_id: CHANGE })];
    },

    finish: (state) => {
      state.finishing = true;
      const { uncommitted } = state.items;
      if (uncommitted === 0) return finishedWhenSettled(state);
      const steps = state.serverTurns && serverTurns ? [send(noMoreOf(serverTurns.noMore))] : [];
      return [...steps, ...commitFilledUp(state, commitSamplesMin(state) - uncommitted)];
    },

    keepAlive: () => [],

    // What was not committed is not transcribed, and not counted.
    leave: () => [{ type: 'input_audio_buffer.clear' }],

    refused: (refusal) => failures.ofRefusal(refusal),

    closed: (_, code, reason) => failed(failures.ofClose(code, reason)),
  };
  return codec;
}

/** A commit of less is refused. */
const commitSamplesMin = ({ service }: State): number => (service.sampleRate * COMMIT_MS_MIN) / 1000;

function read(state: State, message: JsonObject): Step[] {
  const { type, item_id: id } = message;
  switch (type) {
    case 'session.created':
      if (state.phase !== 'connecting') return [];
      state.phase = 'configuring';
      return [send(state.update)];
    case 'session.updated':
      if (state.phase === 'ready') return changed(state, true);
      if (state.phase !== 'configuring') return [];
      state.phase = 'ready';
      return [{ type: 'ready' }];
    case 'error':
      return error(state, message);
    default:
      return typeof id === 'string' ? readItem(state, id, message) : [];
  }
}

function readItem(state: State, id: string, message: JsonObject): Heard[] {
  const { items } = state;
  const samplesOf = (milliseconds: number) => Math.round((milliseconds * state.service.sampleRate) / 1000);
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
      return itemFailed(state, id, message);
    default:
      return [];
  }
}

/**
 * A turn that the service calls unintelligible is one without words: heard again it would be so again, and the client is told.
 * Any other failed turn is heard again; its deltas are no settled words, so they are never made final.
 */
function itemFailed({ items, service: { title, failures } }: State, id: string, message: JsonObject): Heard[] {
  const told = errorOf(message);
  if (told?.code !== UNINTELLIGIBLE) return [failed(failureOfItem(failures, told))];
  const text = `${title} could not make out what was said in a part of the audio; that part has no words.`;
  return [...items.completed(id, '', undefined), { type: 'warned', code: UNINTELLIGIBLE, message: text }];
}

/** An `error`: the session survives most of those that are no failure here. */
function error(state: State, message: JsonObject): Step[] {
  const told = errorOf(message);
  if (told === undefined || told.eventId === END_TURN_DETECTION) return [];
  if (told.eventId === CHANGE) return changed(state, false);
  if (told.code === 'input_audio_buffer_commit_empty') {
    state.items.commitRefused(told.eventId);
    return state.finishing ? commitAgain(state) : [];
  }
  return state.service.failures.heardOfError(told.code, told.message, told.type);
}

function changed(state: State, isInForce: boolean): Heard[] {
  if (!state.isChanging) return [];
  state.isChanging = false;
  return [reconfigured(isInForce)];
}

/** While the last commit was on its way the server may have ended a turn itself, and what that left be too short alone. */
function commitAgain(state: State): Step[] {
  if (state.committedAgain || state.items.uncommitted === 0) return [];
  state.committedAgain = true;
  return commitFilledUp(state, commitSamplesMin(state));
}

const noMoreOf = (session: JsonObject) => ({ type: 'session.update', event_id: END_TURN_DETECTION, session });

/** A refusal that comes late quotes the id. */
const commit = (items: ItemQueue): Step[] => [
  send({ type: 'input_audio_buffer.commit', event_id: items.nextCommitId }),
  ...items.commit(),
];

const send = (frame: Outgoing): Step => ({ type: 'send', frame });

/** Audio as these protocols take it. */
export const appendOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  `{"type":"input_audio_buffer.append","audio":"${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}"}`;

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
