// Live Ink, where turns end when they are asked to (`/stt/websocket`): the gateway asks, at silence. Text comes settled piece by
// piece, with its own spaces: https://docs.cartesia.ai/use-the-api/stt/compare-endpoints
import type { Utterance } from '../../../machines/events.ts';
import { failed } from '../kit/heard.ts';
import { type JsonObject, numberIn, objectIn, textIn } from '../kit/json.ts';
import { baseLanguage } from '../kit/languages/whisper-languages.ts';
import { LegClock } from '../kit/leg-clock.ts';
import type { LegRequest, LiveCodec, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { finalMissing } from '../kit/turn-text.ts';
import { TurnsFromPieces } from '../kit/turns/turns-from-pieces.ts';
import { utteranceOf } from '../kit/words.ts';
import { failures } from './failures.ts';
import { api, wordsIn } from './models.ts';
import { options } from './options.ts';

interface State {
  clock: LegClock;
  turns: TurnsFromPieces;
  /** Ends that were requested and are not there, on the provider's clock. */
  asked: number[];
  /** The last of them, and the last that is there. */
  askedSeconds: number;
  endedSeconds: number;
  /** The last message had settled text: that of an end has come before its mark. */
  settledLast: boolean;
  /** The mark of the oldest end has come, and its text may still. */
  marked: boolean;
  finishing: boolean;
}

const FINALIZE = 'finalize';
const CLOSE = 'close';
/** Ends that wait; what is asked for beyond that is not. */
const ASKED_MAX = 32;
/** Settled text may come after the mark of an end. */
const TEXT_MS = 300;
const KEEP_ALIVE_SECONDS = 0.1;

const TIMING = liveTiming({
  // "Real time": what is tolerated is not said.
  speedMax: 1.25,
  drainMs: 8_000,
  stallMs: 35_000,
  answers: 'words',
  // An idle connection is closed, some say after 20 s: any message counts.
  keepAliveMs: 8_000,
  endpointing: { silenceMs: 500, longestMs: 25_000 },
});

export const live: LiveCodec<State> = {
  timing: () => TIMING,

  open: (request) => ({
    state: {
      clock: new LegClock(request.sampleRate),
      turns: new TurnsFromPieces('parts'),
      asked: [],
      askedSeconds: 0,
      endedSeconds: 0,
      settledLast: false,
      marked: false,
      finishing: false,
    },
    endpoint: {
      kind: 'websocket',
      url: api.websocket(request.access, '/stt/websocket', queryOf(request)),
      headers: api.headers(request.access),
    },
    hello: [],
  }),

  // It takes audio from then on, and says nothing until it hears some.
  opened: () => [{ type: 'ready' }],

  audio: ({ clock }, frame) => {
    clock.audio(frame);
    return frame;
  },

  read: (state, message) => ('json' in message ? heard(state, objectIn(message.json)) : []),

  finalize: (state) => askForEnd(state),

  finish: (state) => {
    const asking = askForEnd(state);
    state.finishing = true;
    return [...asking, { type: 'send', frame: CLOSE }];
  },

  keepAlive: ({ clock, finishing }) => (finishing ? [] : [clock.silence(KEEP_ALIVE_SECONDS)]),

  wake: (state) => (state.marked ? turnEnded(state) : []),

  leave: ({ finishing }) => (finishing ? [] : [CLOSE]),

  refused: (refusal) => failures.ofRefusal(refusal),

  closed: ({ finishing, turns, asked }, code, reason) =>
    failures.heardOfClose(code, reason, { finishing, open: turns.open || asked.length > 0, orderly: [1000, 1005] }),
};

const queryOf = ({ model, sampleRate, language, params }: LegRequest) => ({
  model,
  encoding: 'pcm_s16le',
  sample_rate: sampleRate,
  language: baseLanguage(language),
  ...options.wire(params, model, 'live'),
});

function askForEnd(state: State): Step[] {
  const { clock, asked, askedSeconds, finishing } = state;
  if (finishing || clock.sentSeconds <= askedSeconds || asked.length === ASKED_MAX) return [];
  state.askedSeconds = clock.sentSeconds;
  state.settledLast = false;
  asked.push(clock.sentSeconds);
  return [{ type: 'send', frame: FINALIZE }];
}

function heard(state: State, message: JsonObject): Step[] {
  switch (message.type) {
    case 'transcript':
      return transcript(state, message);
    case 'flush_done':
      return marked(state);
    case 'done':
      return done(state);
    case 'error':
      return error(state, message);
    default:
      return [];
  }
}

function marked(state: State): Step[] {
  // The mark of the next one: nothing comes after it of the last.
  const last = state.marked ? turnEnded(state) : [];
  if (state.asked.length === 0) return last;
  if (state.settledLast) return [...last, ...turnEnded(state)];
  state.marked = true;
  return [...last, { type: 'wake', afterMs: TEXT_MS }];
}

function transcript(state: State, message: JsonObject): Step[] {
  const { turns } = state;
  const text = textIn(message.text);
  if (text === undefined) return [];
  state.settledLast = message.is_final === true && text !== '';
  if (message.is_final !== true) return [turns.partial(utteranceIn(state, text, message))];
  if (text === '') return turns.open && !turns.settled ? [turns.partial(utteranceIn(state, '', {}))] : [];
  if (isRepeated(state, text, message)) return [];
  return [turns.piece(utteranceIn(state, text, message))];
}

/** Pieces have no names but what they say, and where, where that is told. */
function isRepeated(state: State, text: string, message: JsonObject): boolean {
  const { turns, clock } = state;
  const { words, duration } = message;
  const first = wordsIn(words, (seconds) => seconds)?.[0];
  const utterance = first === undefined ? undefined : utteranceIn(state, text, message);
  return turns.isRepeated(`${first?.start ?? numberIn(duration) ?? clock.sentSeconds} ${text}`, utterance);
}

function utteranceIn(
  { clock, endedSeconds, asked }: State,
  text: string,
  { words: told, language }: JsonObject,
): Utterance {
  const words = wordsIn(told, (seconds) => clock.legSeconds(seconds));
  const parts = words?.map((each, index) => ({
    ...each,
    word: index > 0 || /^\s/.test(text) ? ` ${each.word}` : each.word,
  }));
  const from = words?.[0]?.start ?? clock.legSeconds(endedSeconds);
  const until = words?.at(-1)?.end ?? clock.legSeconds(asked[0] ?? clock.sentSeconds);
  return utteranceOf(text, from, Math.max(from, until), { words: parts, language: textIn(language) });
}

/** The oldest end that was requested is there. */
function turnEnded(state: State): Step[] {
  const { turns, clock, asked, endedSeconds } = state;
  const until = asked.shift();
  state.marked = false;
  if (until === undefined) return [];
  state.endedSeconds = until;
  const at = clock.legSeconds(until);
  if (turns.from !== undefined) return turns.end(at);
  // Words that were heard are settled before the mark, or said to be none.
  if (turns.open) return [failed(finalMissing)];
  return [turns.piece(utteranceOf('', clock.legSeconds(endedSeconds), at))];
}

/** What was requested before the end has come, its mark or not. */
function done(state: State): Step[] {
  if (!state.finishing) return [failed(failures.named('closed'))];
  const steps: Step[] = [];
  while (state.asked.length > 0 && state.turns.settled) steps.push(...turnEnded(state));
  const isMissing = state.turns.open;
  return [...steps, isMissing ? failed(finalMissing) : { type: 'finished' }];
}

function error(state: State, { error_code, status_code, code, title, message }: JsonObject): Step[] {
  // A session of which nothing was heard is ended with an error.
  if (state.finishing && !state.turns.open) return [{ type: 'finished' }];
  const words = [textIn(title), textIn(message)].filter((text) => text).join(': ');
  const status = numberIn(status_code) ?? numberIn(code);
  return failures.heardOfError(textIn(error_code) || status?.toString(), words, status?.toString());
}
