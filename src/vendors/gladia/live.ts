// Gladia's live sessions: requested by a request, held on the WebSocket that its answer names, fed with binary audio that is
// confirmed chunk by chunk. https://docs.gladia.io/api-reference/v2/live/websocket
import { ended, failed, partial } from '../kit/heard.ts';
import { type JsonObject, objectIn, objectOf, textIn, timeIn } from '../kit/json.ts';
import { LegClock } from '../kit/leg-clock.ts';
import type { LegRequest, LiveCodec, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { Speakers } from '../kit/words.ts';
import { configOf, utteranceIn } from './config.ts';
import { failures } from './failures.ts';
import { api } from './models.ts';
import { options } from './options.ts';

interface State {
  clock: LegClock;
  speakers: Speakers;
  silenceSeconds: number;
  /** Binary frames, those of silence with them. */
  sent: number;
  confirmed: number;
  /** Turns of which words were heard, and turns that have ended. */
  open: Set<string>;
  ended: string[];
  settledSeconds: number;
  /** Speakers were requested, and are told of files alone. */
  finishing: boolean;
}

/** The provider's own 50 ms would end a turn at each breath. */
const ENDPOINTING_SECONDS = 0.4;
const LONGEST_TURN_SECONDS = 60;
/** Beyond what ends a turn, so that it surely does. */
const SILENCE_MARGIN_SECONDS = 0.3;
const KEEP_ALIVE = { afterMs: 10_000, seconds: 0.1 } as const;
const ENDED_MAX = 64;
const STOP = { type: 'stop_recording' } as const;
/** Closes that are not worth another try. */
const isForGood = (code: number): boolean => code >= 4_400 && code < 4_500;

const silenceOf = ({ model, params }: LegRequest): number =>
  options.honoured(params, model, 'live').endpointing ?? ENDPOINTING_SECONDS;

export const live: LiveCodec<State> = {
  timing: (request) =>
    liveTiming({
      // A frame is 1 MiB at most; each is confirmed.
      frame: { minMs: 50, idealMs: 100, maxMs: 1_000, tail: 'short' },
      // No limit is documented, and its own client sends all that is not confirmed at once.
      speedMax: Number.POSITIVE_INFINITY,
      unconfirmedMax: 100,
      // Of the request and the connection together; its own client gives each 10 s.
      connectMs: 8_000,
      drainMs: 10_000,
      turnPauseMs: silenceOf(request) * 1_000,
      // What ends a session that is sent nothing is not documented.
      keepAliveMs: KEEP_ALIVE.afterMs,
      stallMs: 12_000,
      // https://docs.gladia.io/chapters/limits-and-specifications/concurrency
      sessionMaxMs: 10_800_000,
    }),

  open: (request) => {
    const { access } = request;
    return {
      state: {
        clock: new LegClock(request.sampleRate),
        speakers: new Speakers(),
        silenceSeconds: silenceOf(request) + SILENCE_MARGIN_SECONDS,
        sent: 0,
        confirmed: 0,
        open: new Set(),
        ended: [],
        settledSeconds: 0,
        finishing: false,
      },
      endpoint: {
        kind: 'request',
        request: {
          method: 'POST',
          url: api.http(access, '/v2/live', { region: access.fields?.region }),
          headers: api.headers(access),
          body: { kind: 'json', json: sessionOf(request) },
        },
      },
      hello: [],
    };
  },

  socketOf: (_, { body }) => {
    const url = textIn(objectOf(body).url);
    if (url === undefined || !/^wss?:/.test(url) || !URL.canParse(url)) return failures.named('bad_answer');
    // Its token is the whole credential.
    return { kind: 'websocket', url, headers: {} };
  },

  // Audio may be sent at once.
  opened: () => [{ type: 'ready' }],

  audio: (state, frame) => {
    state.sent++;
    state.clock.audio(frame);
    return frame;
  },

  unconfirmed: ({ sent, confirmed }) => sent - confirmed,

  read: (state, message) => ('json' in message ? heard(state, objectIn(message.json)) : []),

  // There is no message that ends a turn: silence does.
  finalize: (state) => [{ type: 'send', frame: silence(state, state.silenceSeconds) }],

  finish: (state) => {
    state.finishing = true;
    return [{ type: 'send', frame: STOP }];
  },

  keepAlive: (state) => (state.finishing ? [] : [silence(state, KEEP_ALIVE.seconds)]),

  // A session that is not stopped holds its place for up to three hours.
  leave: ({ finishing }) => (finishing ? [] : [STOP]),

  refused: (refusal) => failures.ofRefusal(refusal),

  closed: ({ finishing, open }, code, reason) => {
    const meaning = failures.heardOfClose(code, reason, {
      ...{ finishing, open: open.size > 0, orderly: [1000, 1005] },
    });
    const isRetried = meaning.type === 'failed' && meaning.failure.kind === 'retry';
    return isRetried && isForGood(code) ? failed(failures.named('session_refused', reason)) : meaning;
  },
};

function silence(state: State, seconds: number): Uint8Array {
  state.sent++;
  return state.clock.silence(seconds);
}

function sessionOf(request: LegRequest) {
  return configOf(request, 'live', {
    encoding: 'wav/pcm',
    bit_depth: 16,
    sample_rate: request.sampleRate,
    channels: 1,
    endpointing: ENDPOINTING_SECONDS,
    maximum_duration_without_endpointing: LONGEST_TURN_SECONDS,
    messages_config: {
      receive_partial_transcripts: true,
      receive_final_transcripts: true,
      receive_speech_events: true,
      receive_pre_processing_events: false,
      receive_realtime_processing_events: false,
      // They would repeat the whole session.
      receive_post_processing_events: false,
      receive_acknowledgments: true,
      receive_errors: true,
      // They say when a session has ended.
      receive_lifecycle_events: true,
    },
  });
}

function heard(state: State, message: JsonObject): Step[] {
  switch (message.type) {
    case 'audio_chunk':
      return acknowledged(state, message);
    case 'speech_start': {
      const start = timeIn(objectIn(message.data).time);
      return start === undefined ? [] : [{ type: 'speech.started', start: state.clock.legSeconds(start) }];
    }
    case 'transcript':
      return transcript(state, objectIn(message.data));
    case 'end_session':
      return state.finishing ? [{ type: 'finished' }] : [];
    case 'error': {
      const { code, message: words } = { ...objectIn(message.error), ...objectIn(message.data) };
      return failures.heardOfError(textIn(code), textIn(words) ?? textIn(message.message));
    }
    default:
      return [];
  }
}

function acknowledged(state: State, { acknowledged: taken, error }: JsonObject): Step[] {
  if (taken === false) return [failed(failures.named('audio_refused', textIn(objectIn(error).message)))];
  if (taken !== true) return [];
  state.confirmed = Math.min(state.sent, state.confirmed + 1);
  return [{ type: 'confirmed' }];
}

/** The whole of a turn each time, under its name; the last time with the words that stay. */
function transcript(state: State, { id, is_final, utterance: members }: JsonObject): Step[] {
  const { clock } = state;
  const place = (seconds: number) => clock.legSeconds(seconds);
  const utterance = utteranceIn(objectIn(members), place, state.speakers, clock.legSeconds(clock.sentSeconds));
  if (typeof id !== 'string' || utterance === undefined || state.ended.includes(id)) return [];
  if (is_final !== true) {
    if (utterance.end <= state.settledSeconds) return [];
    if (state.open.size < ENDED_MAX) state.open.add(id);
    return [partial(id, utterance)];
  }
  // One without words may have another end.
  if (utterance.text !== '') state.ended.push(id);
  if (state.ended.length > ENDED_MAX) state.ended.shift();
  state.open.delete(id);
  state.settledSeconds = Math.max(state.settledSeconds, utterance.end);
  return [ended(id, utterance)];
}
