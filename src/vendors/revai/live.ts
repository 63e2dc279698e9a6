// Rev AI's streaming WebSocket: everything is on the URL, audio goes as raw bytes, and `EOS` ends the stream, which is billed as long
// as it is open. Each final is a segment between silences: a turn. https://docs.rev.ai/api/streaming
import { Warnings } from '../kit/heard.ts';
import { type JsonObject, objectIn, textIn, timeIn } from '../kit/json.ts';
import { LegClock } from '../kit/leg-clock.ts';
import type { LegRequest, LiveCodec, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { TurnsFromPieces } from '../kit/turns/turns-from-pieces.ts';
import { meanConfidence, Speakers, utteranceOf } from '../kit/words.ts';
import { wordsIn } from './elements.ts';
import { failures } from './failures.ts';
import { api, languageOf, ROOT } from './models.ts';
import { options } from './options.ts';

interface State {
  clock: LegClock;
  speakers: Speakers;
  turns: TurnsFromPieces;
  warnings: Warnings;
  settledSeconds: number;
  finishing: boolean;
}

const EOS = 'EOS';
/** What surely ends a segment. */
const FINALIZE_SECONDS = 0.8;
const KEEP_ALIVE = { afterMs: 5_000, seconds: 0.1 } as const;
/** How long Rev AI may look for a free worker; a minute by default, which no speaker waits for. */
const WORKER_SECONDS = 5;

const TIMING = liveTiming({
  // https://docs.rev.ai/api/streaming/requests: 100 to 250 ms.
  frame: { minMs: 50, idealMs: 100, maxMs: 250, tail: 'short' },
  // Audio is to be sent as it is spoken; a little more is what clients do that read files.
  speedMax: 1.5,
  readyMs: WORKER_SECONDS * 1_000 + 1_000,
  drainMs: 10_000,
  turnPauseMs: FINALIZE_SECONDS * 1_000,
  keepAliveMs: KEEP_ALIVE.afterMs,
  stallMs: 12_000,
  // https://docs.rev.ai/api/streaming: three hours.
  sessionMaxMs: 10_800_000,
});

export const live: LiveCodec<State> = {
  timing: () => TIMING,

  open: (request) => ({
    state: {
      clock: new LegClock(request.sampleRate),
      speakers: new Speakers(),
      turns: new TurnsFromPieces(),
      warnings: new Warnings(),
      settledSeconds: 0,
      finishing: false,
    },
    endpoint: {
      kind: 'websocket',
      url: api.websocket(request.access, `${ROOT}/stream`, queryOf(request)),
      headers: api.headers(request.access),
    },
    hello: [],
  }),

  audio: ({ clock }, frame) => {
    clock.audio(frame);
    return frame;
  },

  read: (state, message) => ('json' in message ? heard(state, objectIn(message.json)) : []),

  // There is no message that ends a segment: silence does.
  finalize: ({ clock }) => [{ type: 'send', frame: clock.silence(FINALIZE_SECONDS) }],

  finish: (state) => {
    state.finishing = true;
    return [{ type: 'send', frame: EOS }];
  },

  keepAlive: ({ clock, finishing }) => (finishing ? [] : [clock.silence(KEEP_ALIVE.seconds)]),

  leave: ({ finishing }) => (finishing ? [] : [EOS]),

  refused: (refusal) => failures.ofRefusal(refusal),

  // Nothing else says that everything was told.
  closed: ({ finishing, turns }, code, reason) =>
    failures.heardOfClose(code, reason, { finishing, open: turns.open, orderly: [1000, 1005] }),
};

const queryOf = ({ model, sampleRate, language, diarization, params }: LegRequest) => ({
  content_type: `audio/x-raw;layout=interleaved;rate=${sampleRate};format=S16LE;channels=1`,
  transcriber: model,
  language: languageOf(language),
  enable_speaker_switch: diarization || undefined,
  max_connection_wait_seconds: WORKER_SECONDS,
  ...options.wire(params, model, 'live'),
});

function heard(state: State, message: JsonObject): Step[] {
  switch (message.type) {
    case 'connected':
      return [{ type: 'ready' }];
    case 'partial':
      return unsettled(state, message);
    case 'final':
      return settled(state, message);
    default:
      return [];
  }
}

/** Words that may still change: bare ones, of the segment so far. */
function unsettled({ clock, turns, settledSeconds }: State, { elements, ts, end_ts }: JsonObject): Step[] {
  if (!Array.isArray(elements)) return [];
  const values = elements.map((each) => textIn(objectIn(each).value)?.trim() ?? '').filter((value) => value !== '');
  const start = timeIn(ts) ?? settledSeconds;
  const end = clock.legSeconds(Math.max(start, timeIn(end_ts) ?? clock.sentSeconds));
  if (end <= settledSeconds) return [];
  return [turns.partial(utteranceOf(values.join(' '), clock.legSeconds(start), end))];
}

/** A segment, which ends a turn. */
function settled(state: State, { elements, ts, end_ts, speaker_id }: JsonObject): Step[] {
  if (!Array.isArray(elements)) return [];
  const { clock, turns, speakers, warnings } = state;
  const place = (seconds: number) => clock.legSeconds(seconds);
  const speaker = speakers.numberOf(speaker_id);
  const [from, to] = [timeIn(ts), timeIn(end_ts)];
  const { text, words } = wordsIn(elements, place, speaker, from);
  const isPlaced = from !== undefined && to !== undefined;
  // Segments have no names: one at the same place with the same words is the same one. Without a place nobody can tell.
  if (isPlaced ? turns.isRepeated(`${from} ${to} ${text}`) : text === '') return [];
  const start = from === undefined ? (words[0]?.start ?? state.settledSeconds) : place(from);
  const end = to === undefined ? (words.at(-1)?.end ?? place(clock.sentSeconds)) : place(to);
  const confidence = meanConfidence(words);
  const utterance = utteranceOf(text, start, Math.max(start, end), {
    ...{ confidence, speaker, words: words.length > 0 ? words : undefined },
  });
  state.settledSeconds = Math.max(state.settledSeconds, utterance.end);
  const piece = turns.piece(utterance);
  return [piece, ...turns.end(), ...(isPlaced ? [] : warnings.estimated('Rev AI', 'ts'))];
}
