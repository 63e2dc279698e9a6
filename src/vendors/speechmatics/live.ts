// Speechmatics' realtime WebSocket: `StartRecognition`, then binary audio that is confirmed frame by frame. Text is settled slice by
// slice, and `EndOfUtterance` says where a turn ends. https://docs.speechmatics.com/api-ref/realtime-transcription-websocket
import type { LegFailure, Utterance } from '../../../machines/events.ts';
import { changesBetween, sentChange } from '../kit/changes.ts';
import { failed, Warnings } from '../kit/heard.ts';
import { countIn, type JsonObject, objectIn, textIn, timeIn } from '../kit/json.ts';
import { LegClock } from '../kit/leg-clock.ts';
import type { LegRequest, LiveCodec, LiveTiming, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { TurnsFromPieces } from '../kit/turns/turns-from-pieces.ts';
import { meanConfidence, oneSpeaker, type Speakers, utteranceOf } from '../kit/words.ts';
import { configOf, newSpeakers, partsOf } from './config.ts';
import { failures } from './failures.ts';
import { api } from './models.ts';
import { options } from './options.ts';

interface State {
  clock: LegClock;
  speakers: Speakers;
  turns: TurnsFromPieces;
  warnings: Warnings;
  /** Between words of the language. */
  delimiter: string;
  /** Frames of audio. */
  sent: number;
  confirmed: number;
  /** End of what is settled, on the leg's clock. */
  settledSeconds: number;
  /** The turn whose end was requested. */
  forced: string | undefined;
  finishing: boolean;
  /** The failure that an `Error` told: the close that follows it is not a second one. */
  failure: LegFailure | undefined;
}

/** What the vendor advises for voice; without one there are no ends of turns at all. */
const SILENCE_SECONDS = 0.5;
const MAX_DELAY_SECONDS = 1;
/** An end that was requested is not always confirmed. */
const FORCED_MS = 1_500;
/** Of what may be warned of, the end of a session is the gateway's to see to. */
const NO_WARNINGS = ['idle_timeout', 'session_timeout', 'add_audio_after_eos'];

export const live: LiveCodec<State> = {
  timing,

  open: (request) => ({
    state: {
      clock: new LegClock(request.sampleRate),
      speakers: newSpeakers(),
      turns: new TurnsFromPieces('parts'),
      warnings: new Warnings(),
      delimiter: ' ',
      sent: 0,
      confirmed: 0,
      settledSeconds: 0,
      forced: undefined,
      finishing: false,
      failure: undefined,
    },
    endpoint: {
      kind: 'websocket',
      url: api.websocket(request.access, '/v2'),
      headers: api.headers(request.access),
    },
    hello: [
      {
        message: 'StartRecognition',
        audio_format: { type: 'raw', encoding: 'pcm_s16le', sample_rate: request.sampleRate },
        transcription_config: liveConfigOf(request),
      },
    ],
  }),

  audio: (state, frame) => {
    state.sent++;
    state.clock.audio(frame);
    return frame;
  },

  unconfirmed: ({ sent, confirmed }) => sent - confirmed,

  read: (state, message) => ('json' in message ? heard(state, objectIn(message.json)) : []),

  finalize: (state) => {
    state.forced = state.turns.turnId;
    return [
      { type: 'send', frame: { message: 'ForceEndOfUtterance', timestamp: state.clock.sentSeconds } },
      { type: 'wake', afterMs: FORCED_MS },
    ];
  },

  reconfigure: ({ finishing }, before, after) => {
    const config: JsonObject = liveConfigOf(after);
    const changes = changesBetween(liveConfigOf(before), config);
    if (finishing || !Object.entries(changes).every(isChangeable)) return undefined;
    const { language } = config;
    return sentChange({ message: 'SetRecognitionConfig', transcription_config: { language, ...changes } });
  },

  // All words of the turn are settled: it ends where it was asked to, also when the provider does not say so.
  wake: ({ forced, turns }) => (forced === turns.turnId && turns.settled ? turns.end() : []),

  finish: (state) => {
    state.finishing = true;
    return [{ type: 'send', frame: endOfStream(state) }];
  },

  // The host's pings are enough.
  keepAlive: () => [],

  leave: (state) => (state.finishing ? [] : [endOfStream(state)]),

  refused: (refusal) => failures.ofRefusal(refusal),

  closed: ({ failure, finishing, turns }, code, reason) =>
    failure === undefined
      ? failures.heardOfClose(code, reason, { finishing, open: turns.open, orderly: [1000, 1005] })
      : failed(failure),
};

const liveConfigOf = (request: LegRequest) =>
  configOf(request, 'live', {
    enable_partials: true,
    max_delay: MAX_DELAY_SECONDS,
    'conversation_config.end_of_utterance_silence_trigger': SILENCE_SECONDS,
  });

/** https://docs.speechmatics.com/api-ref/realtime-transcription-websocket#setrecognitionconfig */
const CHANGEABLE = ['max_delay', 'max_delay_mode', 'audio_filtering_config', 'conversation_config'];

const isChangeable = ([name, value]: [string, unknown]): boolean => CHANGEABLE.includes(name) && value !== undefined;

const endOfStream = ({ sent }: State) => ({ message: 'EndOfStream', last_seq_no: sent });

function timing({ model, params }: LegRequest): LiveTiming {
  const asked = options.honoured(params, model, 'live');
  const { end_of_utterance_silence_trigger: silence = SILENCE_SECONDS, additional_vocab } = asked;
  return liveTiming({
    // Audio is billed, and pings suffice for an hour: https://docs.speechmatics.com/speech-to-text/realtime/limits
    isIdleFree: true,
    // Frames are as one likes; each is confirmed, so they are not too many.
    frame: { minMs: 50, idealMs: 100, maxMs: 1_000, tail: 'short' },
    // It takes audio faster than it is spoken, and confirms it as it reads it: that holds the gateway back.
    speedMax: Number.POSITIVE_INFINITY,
    unconfirmedMax: 100,
    // https://docs.speechmatics.com/speech-to-text/features/custom-dictionary: a long list takes up to 15 s.
    readyMs: additional_vocab === undefined ? 5_000 : 16_000,
    drainMs: 8_000,
    turnPauseMs: silence * 1_000,
    stallMs: 8_000,
    answers: 'words',
    // https://docs.speechmatics.com/speech-to-text/realtime/limits
    sessionMaxMs: 172_800_000,
  });
}

function heard(state: State, message: JsonObject): Step[] {
  switch (message.message) {
    case 'RecognitionStarted':
      state.delimiter = textIn(objectIn(message.language_pack_info).word_delimiter) ?? state.delimiter;
      return [{ type: 'ready' }];
    case 'AudioAdded':
      state.confirmed = Math.max(state.confirmed, Math.min(state.sent, countIn(message.seq_no) ?? 0));
      return [{ type: 'confirmed' }];
    case 'AddPartialTranscript':
      return unsettled(state, message);
    case 'AddTranscript':
      return settled(state, message);
    case 'EndOfUtterance':
      return state.turns.end();
    case 'EndOfTranscript':
      return state.finishing ? [...state.turns.end(), { type: 'finished' }] : [];
    case 'Warning':
      return warning(state, message);
    case 'Error':
      state.failure = failures.ofError(textIn(message.type), textIn(message.reason));
      return state.failure === undefined ? [] : [failed(state.failure)];
    default:
      return [];
  }
}

function unsettled(state: State, message: JsonObject): Step[] {
  const utterance = sliceOf(state, message);
  if (utterance === undefined || utterance.end < state.settledSeconds) return [];
  return [state.turns.partial(utterance)];
}

function settled(state: State, message: JsonObject): Step[] {
  const { turns, warnings } = state;
  const utterance = sliceOf(state, message);
  if (utterance === undefined) return [];
  const { start_time, end_time } = objectIn(message.metadata);
  const isPlaced = timeIn(start_time) !== undefined && timeIn(end_time) !== undefined;
  // Slices have no names: one at the same place with the same words is the same one. Without a place nobody can tell.
  if (isPlaced && turns.isRepeated(`${start_time} ${end_time} ${utterance.text}`, utterance)) return [];
  if (!isPlaced && utterance.text === '') return [];
  state.settledSeconds = Math.max(state.settledSeconds, utterance.end);
  return [turns.piece(utterance), ...(isPlaced ? [] : warnings.estimated('Speechmatics', 'metadata'))];
}

/** A slice of the turn, with its own spaces; undefined for what is none. One without a place is behind what is settled. */
function sliceOf({ clock, speakers, delimiter, settledSeconds }: State, message: JsonObject): Utterance | undefined {
  const { start_time, end_time, transcript } = objectIn(message.metadata);
  if (textIn(transcript) === undefined && !Array.isArray(message.results)) return undefined;
  const place = (seconds: number) => clock.heardSeconds(seconds);
  const words = partsOf(message.results, place, speakers, delimiter);
  const start = timeIn(start_time) ?? words[0]?.start ?? settledSeconds;
  const end = timeIn(end_time) ?? words.at(-1)?.end ?? clock.sentSeconds;
  const text = words.length > 0 ? words.map(({ word }) => word).join('') : (textIn(transcript) ?? '');
  return utteranceOf(text.trim() === '' ? '' : text, place(start), place(Math.max(start, end)), {
    confidence: meanConfidence(words),
    speaker: oneSpeaker(words),
    words: words.length > 0 ? words : undefined,
  });
}

function warning({ warnings }: State, { type, reason }: JsonObject): Step[] {
  const name = textIn(type);
  if (name === undefined || NO_WARNINGS.includes(name)) return [];
  // From here on it acts as if the audio had ended.
  if (name === 'duration_limit_exceeded') return [failed(failures.named(name, textIn(reason)))];
  return warnings.once(`speechmatics_${name.slice(0, 40)}`, 'Speechmatics', textIn(reason));
}
