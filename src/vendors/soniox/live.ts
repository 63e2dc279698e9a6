// Live Soniox: one message asks for a session, audio goes as it is, and tokens come back. Those that are final are said once;
// the others are replaced by every message. `<end>` and `<fin>` end a turn: https://soniox.com/docs/stt/rt/endpoint-detection
import { failed, Warnings } from '../kit/heard.ts';
import { type JsonObject, listIn, objectIn, secondsIn, textIn } from '../kit/json.ts';
import { LegClock } from '../kit/leg-clock.ts';
import type { LegRequest, LiveCodec, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { finalMissing } from '../kit/turn-text.ts';
import { TurnsFromPieces } from '../kit/turns/turns-from-pieces.ts';
import { Speakers, utteranceOf } from '../kit/words.ts';
import { api, isSpoken, languagesOf, utteranceOfTokens } from './api.ts';
import { failures } from './failures.ts';
import { options } from './options.ts';

interface State {
  clock: LegClock;
  speakers: Speakers;
  turns: TurnsFromPieces;
  warnings: Warnings;
  /** Up to here words are final, or silence was told, on the provider's clock. */
  settledSeconds: number;
  finishing: boolean;
}

const MARKS = ['<end>', '<fin>'];
/** The end of the audio. A frame of audio without samples would be the same. */
const END = '';
const KEEP_ALIVE = { type: 'keepalive' } as const;
/** What should stand before a turn is ended by hand: https://soniox.com/docs/stt/rt/manual-finalization */
const TRAILING_SILENCE_SECONDS = 0.2;
/**
 * It ends a turn by what was said, at the latest after `max_endpoint_delay_ms` (2000 unless asked otherwise), and as a rule much
 * sooner: a leg that is behind, and is not sent the whole of a pause, is told by this one.
 */
const TURN_PAUSE_MS = 1_000;
/** Of silence, so much is told at a time, and the newest is kept back: a word may still be found in it. */
const QUIET_SECONDS = 1;

export const live: LiveCodec<State> = {
  timing: ({ model, params }) =>
    liveTiming({
      // "Real-time or near real-time speed", and small bursts are tolerated: https://soniox.com/docs/stt/rt/error-handling
      speedMax: 2,
      drainMs: 8_000,
      stallMs: 8_000,
      answers: 'words',
      turnPauseMs: Math.min(
        options.honoured(params, model, 'live').max_endpoint_delay_ms ?? TURN_PAUSE_MS,
        TURN_PAUSE_MS,
      ),
      // Every 5 to 10 s; after 20 s it may be closed: https://soniox.com/docs/stt/rt/connection-keepalive
      keepAliveMs: 7_000,
      // https://soniox.com/docs/stt/rt/limits-and-quotas
      sessionMaxMs: 18_000_000,
    }),

  open: (request) => ({
    state: {
      clock: new LegClock(request.sampleRate),
      speakers: new Speakers(),
      turns: new TurnsFromPieces('parts'),
      warnings: new Warnings(),
      settledSeconds: 0,
      finishing: false,
    },
    endpoint: {
      kind: 'websocket',
      url: api.websocket(request.access, '/transcribe-websocket'),
      headers: api.headers(request.access),
    },
    hello: [startOf(request)],
  }),

  // The start is not answered.
  opened: () => [{ type: 'ready' }],

  audio: ({ clock }, frame) => {
    if (frame.byteLength === 0) return KEEP_ALIVE;
    clock.audio(frame);
    return frame;
  },

  read: (state, message) => ('json' in message ? heard(state, objectIn(message.json)) : []),

  finalize: ({ clock }) => [
    { type: 'send', frame: clock.silence(TRAILING_SILENCE_SECONDS) },
    { type: 'send', frame: { type: 'finalize', trailing_silence_ms: TRAILING_SILENCE_SECONDS * 1_000 } },
  ],

  finish: (state) => {
    state.finishing = true;
    // The mark behind the last turn says that all of it was told.
    return [
      { type: 'send', frame: { type: 'finalize' } },
      { type: 'send', frame: END },
    ];
  },

  keepAlive: ({ finishing }) => (finishing ? [] : [KEEP_ALIVE]),

  // A stream is charged for as long as it is open.
  leave: ({ finishing }) => (finishing ? [] : [END]),

  refused: (refusal) => failures.ofRefusal(refusal),

  closed: ({ finishing, turns }, code, reason) =>
    failures.heardOfClose(code, reason, { finishing, open: turns.open, orderly: [1000, 1005] }),
};

function startOf({ model, sampleRate, language, diarization, params }: LegRequest) {
  return {
    model,
    audio_format: 'pcm_s16le',
    sample_rate: sampleRate,
    num_channels: 1,
    enable_endpoint_detection: true,
    ...languagesOf(language),
    ...(diarization ? { enable_speaker_diarization: true } : {}),
    ...options.wire(params, model, 'live'),
  };
}

function heard(state: State, message: JsonObject): Step[] {
  const tokens = listIn(message.tokens).map(objectIn).filter(isSpoken);
  const steps = Array.isArray(message.tokens) ? tokensHeard(state, tokens, message) : [];
  const { error_code, error_message, finished } = message;
  if (typeof error_code === 'number' || typeof error_code === 'string') {
    const words = textIn(error_message) ?? '';
    // Of a session that had no audio and is over.
    if (state.finishing && /^no audio received/i.test(words)) return [...steps, { type: 'finished' }];
    return [...steps, ...failures.heardOfError(String(error_code), words)];
  }
  if (finished !== true) return steps;
  return [...steps, ...ended(state)];
}

function ended({ turns, finishing }: State): Step[] {
  if (!finishing) return [failed(failures.named('closed'))];
  const last = turns.end();
  return [...last, turns.open ? failed(finalMissing) : { type: 'finished' }];
}

function tokensHeard(state: State, tokens: readonly JsonObject[], message: JsonObject): Step[] {
  const { turns } = state;
  const settled = tokens.filter(({ is_final }) => is_final === true);
  const unsettled = tokens.filter(({ is_final, text }) => is_final !== true && !MARKS.includes(text as string));
  const steps: Step[] = isRepeated(state, settled) ? [] : settledHeard(state, settled);
  if (unsettled.length > 0) steps.push(turns.partial(utteranceAt(state, unsettled)));
  return steps.length === 0 ? quiet(state, message) : steps;
}

/** Final tokens have no names but what and where they are; marks have no place, and are the same each time. */
function isRepeated(state: State, settled: readonly JsonObject[]): boolean {
  const placed = settled.filter(({ start_ms }) => secondsIn(start_ms) !== undefined);
  const name = placed.map(({ text, start_ms, end_ms }) => `${start_ms}-${secondsIn(end_ms)}${text}`).join();
  return placed.length > 0 && state.turns.isRepeated(name, utteranceAt(state, placed));
}

function settledHeard(state: State, settled: readonly JsonObject[]): Step[] {
  const steps: Step[] = [];
  let from = 0;
  for (const [index, { text }] of settled.entries()) {
    const isMark = MARKS.includes(text as string);
    if (!isMark && index < settled.length - 1) continue;
    steps.push(...pieceHeard(state, settled.slice(from, isMark ? index : index + 1)));
    if (isMark) steps.push(...turnEnded(state));
    from = index + 1;
  }
  return steps;
}

/** Words that were heard and came to nothing by then are none. Without a mark nobody knows: they may still become final. */
function turnEnded({ turns, clock, settledSeconds }: State): Step[] {
  const ended = turns.end();
  const at = clock.legSeconds(settledSeconds);
  return turns.open ? [...ended, turns.piece(utteranceOf('', at, at))] : ended;
}

function pieceHeard(state: State, tokens: readonly JsonObject[]): Step[] {
  if (tokens.length === 0) return [];
  const step = state.turns.piece(utteranceAt(state, tokens));
  const ends = tokens.map(({ end_ms }) => secondsIn(end_ms) ?? 0);
  state.settledSeconds = Math.max(state.settledSeconds, state.clock.heardSeconds(Math.max(...ends)));
  const missing = ['start_ms', 'end_ms'].find((member) =>
    tokens.some((token) => secondsIn(token[member]) === undefined),
  );
  return missing === undefined ? [step] : [step, ...state.warnings.estimated('Soniox', missing)];
}

const utteranceAt = ({ clock, speakers, settledSeconds }: State, tokens: readonly JsonObject[]) =>
  utteranceOfTokens(tokens, speakers, (seconds) => clock.legSeconds(seconds), settledSeconds);

/** Silence that was worked on, while no turn is open. */
function quiet(state: State, { final_audio_proc_ms, total_audio_proc_ms }: JsonObject): Step[] {
  const { turns, clock, settledSeconds } = state;
  const worked = (secondsIn(total_audio_proc_ms) ?? 0) - QUIET_SECONDS;
  const until = clock.heardSeconds(Math.max(worked, secondsIn(final_audio_proc_ms) ?? 0));
  if (turns.open || until < settledSeconds + QUIET_SECONDS) return [];
  state.settledSeconds = until;
  return [turns.piece(utteranceOf('', clock.legSeconds(settledSeconds), clock.legSeconds(until)))];
}
