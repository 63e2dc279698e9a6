// One session of the simulated v3 WebSocket: its rules of frames, pace and end, and the turns as each kind of model writes them.
// Keys and tokens are account.ts.

import { Type } from '@sinclair/typebox';
import type { Word } from '../../../../machines/events.ts';
import { type JsonObject, jsonOf, objectIn } from '../../kit/json.ts';
import type { SimulatedConnection, SimulatedPeer, SimulatedRequest, SimulatorTools } from '../../kit/simulation.ts';
import { members, valuesOf, wrongIn } from '../../kit/simulator/checks.ts';
import { Pace, ROUNDING_MS } from '../../kit/simulator/pace.ts';
import { closedAtOnce, type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { millisecondsOf, wordsOf } from '../../kit/simulator/words.ts';
import { begin, errorMessage, letterOf, speechStarted, termination, turnMessage } from '../messages.ts';
import { hasLive, liveTraitsOf } from '../models.ts';
import { type Account, LONGEST_SECONDS, refusedKey } from './account.ts';

const FRAME_MS = { min: 50, max: 1_000 };
/** AssemblyAI hears at 1.25 times real time, and refuses a client when five minutes of audio wait for that. */
const PACE = { speedMax: 1.25, aheadMs: 300_000 };
const TOO_MANY = 'Unauthorized Connection: Too many concurrent sessions';

/** Opens a session, or one that is closed at once: AssemblyAI says what is wrong after the upgrade. */
export function openSession(
  peer: SimulatedPeer,
  { url, headers }: SimulatedRequest,
  tools: SimulatorTools,
  account: Account,
): SimulatedConnection {
  const token = url.searchParams.get('token');
  const tokenSeconds = token === null ? undefined : account.tokens.take(token);
  const refused = tokenSeconds === undefined ? refusedKey(token === null ? headers.authorization : 'bad') : undefined;
  if (refused !== undefined) return closed(peer, 1008, refused.reason);
  for (const code of [1008, 3009])
    if (tools.quirk(`concurrent-${code}`) !== undefined) return closed(peer, code, TOO_MANY);
  const misreadMax = tools.quirk('incorrect-padding');
  if (misreadMax !== undefined && account.misread < Number(misreadMax || 1)) {
    account.misread++;
    return closed(peer, 1008, 'Unauthorized connection: Incorrect padding');
  }
  const options = optionsOf(url.searchParams);
  if (typeof options === 'string') return closed(peer, 3006, `Invalid Message: ${options}`);
  return new Session(peer, tools, account, options, tokenSeconds ?? LONGEST_SECONDS);
}

function closed(peer: SimulatedPeer, code: number, reason: string): SimulatedConnection {
  peer.send(errorMessage(code, reason));
  return closedAtOnce(peer, code, reason);
}

class Session extends SimulatedSession {
  readonly #account: Account;
  readonly #options: SessionOptions;
  readonly #pace: Pace;
  #startedMs = 0;
  #audioMs = 0;
  /** Formatted versions still to be said. */
  #formattedDue = 0;
  #isHeard = false;

  constructor(
    peer: SimulatedPeer,
    tools: SimulatorTools,
    account: Account,
    options: SessionOptions,
    longestSeconds: number,
  ) {
    super(peer, tools);
    this.#account = account;
    this.#options = { ...options, speakersPending: this.has('pending-speakers') };
    this.#pace = new Pace(tools.clock);
    account.sessions.open++;
    this.listen(options);
    this.later(this.numberOf('begin-late', 0), () => this.#begin(longestSeconds));
  }

  #begin(longestSeconds: number): void {
    this.#startedMs = this.tools.clock.now();
    const model = this.tools.quirk('other-model') ?? this.#options.model;
    // A simulator has no wall clock: its own time stands for it.
    this.peer.send(begin(`session-${this.tools.newId()}`, this.#startedMs, longestSeconds, model));
    this.later(longestSeconds * 1_000, () => this.#fail(3008, 'Session Expired: Maximum session duration exceeded'));
  }

  protected message(text: string): void {
    const json = jsonOf(text);
    const message = objectIn(json);
    if (json === undefined) this.#fail(3006, `Invalid JSON: ${text.slice(0, 80)}`);
    else if (message !== json) this.#fail(3006, `Invalid Message: ${text.slice(0, 80)}`);
    else if (message.type === 'ForceEndpoint') {
      if (!this.has('swallow-force-endpoint')) this.finalize();
    } else if (message.type === 'UpdateConfiguration') this.#update(message);
    else if (message.type === 'Terminate') {
      if (!this.closing) this.finish();
    } else if (message.type !== 'KeepAlive') {
      this.#fail(3006, `Invalid Message Type: ${String(message.type).slice(0, 80)}`);
    }
  }

  #update(message: JsonObject): void {
    const wrong = wrongIn(Update, message);
    if (wrong !== undefined) this.#fail(3006, `Invalid Message: ${wrong}`);
    else if (typeof message.format_turns === 'boolean') this.#options.formatTurns = message.format_turns;
  }

  protected override audio(bytes: Uint8Array): void {
    const frameMs = (bytes.byteLength / 2 / this.#options.sampleRate) * 1_000;
    if (frameMs < FRAME_MS.min - ROUNDING_MS || frameMs > FRAME_MS.max + ROUNDING_MS) {
      this.#fail(3007, `Input duration violation: ${frameMs.toFixed(1)} ms. Expected between 50 and 1000 ms`);
      return;
    }
    this.#audioMs += frameMs;
    const { sentMs, elapsedMs } = this.#pace.sent(frameMs);
    if (sentMs <= PACE.speedMax * elapsedMs + this.numberOf('ahead-max', PACE.aheadMs) + ROUNDING_MS) {
      this.hear(bytes);
      return;
    }
    const [received, elapsed] = [sentMs, elapsedMs].map((ms) => (ms / 1_000).toFixed(2));
    this.#fail(3007, `Audio Transmission Rate Exceeded: Received ${received} sec. audio in ${elapsed} sec`);
  }

  override gone(): void {
    if (!this.over) this.#count(this.closing ? 'terminated' : 'abandoned');
    super.gone();
  }

  protected override end(): void {
    if (!this.over) this.#account.sessions.open--;
    super.end();
  }

  #count(how: 'terminated' | 'abandoned'): void {
    this.#account.sessions[how]++;
  }

  protected override speechStarted(start: number): void {
    if (this.#options.isUniversal3) this.peer.send({ ...speechStarted(Math.round(start * 1_000)), confidence: 0.9 });
  }

  protected interim(heard: HeardTurnText): void {
    this.peer.send(partial(this.#options, this.#regime, heard));
  }

  protected final(heard: HeardTurnText): void {
    const regime = this.#regime;
    this.peer.send(end(this.#options, regime, heard));
    if (this.#options.speakersPending) this.peer.send(revision(heard));
    if (regime !== 'a' || this.has('formatted-never')) return;
    this.#formattedDue++;
    this.later(this.numberOf('formatted-late', 0), () => {
      this.peer.send(formattedEnd(this.#options, heard));
      this.#formattedDue--;
      this.#terminate();
    });
  }

  protected override noMatch(heard: HeardTurnText): void {
    const isWhisper = this.#options.model === WHISPER;
    this.peer.send(
      isWhisper ? end(this.#options, 'c', { ...heard, text: SILENCE }) : empty(this.#options, this.#regime, heard.turn),
    );
  }

  protected override finished(): void {
    this.#isHeard = true;
    this.#terminate();
  }

  protected failed(): void {
    this.#fail(3005, 'Session Cancelled: An error occurred');
  }

  /** By what was requested, unless a quirk says otherwise. */
  get #regime(): Regime {
    const asked = this.tools.quirk('regime');
    if (asked === 'a' || asked === 'b' || asked === 'c' || asked === 'd') return asked;
    if (this.#options.formatsItself) return 'd';
    return this.#options.formatTurns ? 'a' : 'c';
  }

  /** The turns in flight have been said: how long the session was open, and the end. */
  #terminate(): void {
    if (!this.#isHeard || this.#formattedDue > 0 || this.has('no-termination')) return;
    this.peer.send(termination(this.#audioMs / 1_000, this.tools.clock.now() - this.#startedMs));
    this.#count('terminated');
    this.close(1000);
  }

  #fail(code: number, reason: string): void {
    this.peer.send(errorMessage(code, reason));
    this.close(code, reason);
  }
}

/**
 * How turns end. `a`: unformatted, then again formatted; `b`: once, and formatted like every message; `c`: once,
 * unformatted; `d`: once, formatted, and only Universal-3 says so.
 */
export type Regime = 'a' | 'b' | 'c' | 'd';

/** Turns shorter than this have a speaker nobody knows. */
const SPEAKER_SECONDS_MIN = 1;

/** Universal-Streaming leaves the unfinished last word out of `transcript`; Universal-3 has a dash where it continues. */
export function partial(options: SessionOptions, regime: Regime, heard: HeardTurnText): JsonObject {
  const text = options.isUniversal3 ? `${heard.text}—` : heard.text;
  const words = wordsOf({ ...heard, text });
  const settled = options.isUniversal3 ? 0 : words.length - 1;
  const transcript = options.isUniversal3
    ? text
    : words
        .slice(0, settled)
        .map(({ word }) => word)
        .join(' ');
  return turn(options, heard, { isFormatted: regime === 'b', isEnd: false, transcript, words, settled });
}

/** The end of a turn. */
export function end(options: SessionOptions, regime: Regime, heard: HeardTurnText): JsonObject {
  const text = regime === 'b' || regime === 'd' ? formatted(heard.text) : heard.text;
  return ended(options, heard, text, regime === 'b' || (regime === 'd' && options.isUniversal3));
}

/** The same once more, formatted. */
export const formattedEnd = (options: SessionOptions, heard: HeardTurnText): JsonObject =>
  ended(options, heard, formatted(heard.text), true);

/** What Whisper says of silence. */
export const SILENCE = '[ Silence]';

/** The speakers of a turn that has ended. */
export const revision = (heard: HeardTurnText): JsonObject => ({
  type: 'SpeakerRevision',
  revisions: [
    { turn_order: heard.turn, words: wordsOf(heard).map((word) => ({ text: word.word, speaker: speakerOf(word) })) },
  ],
});

/** The end of a turn in which nothing was understood: it says nothing of where it was. */
export const empty = (options: SessionOptions, regime: Regime, turn: number): JsonObject =>
  ended(options, { turn, text: '', start: 0, end: 0 }, '', regime === 'b');

function ended(options: SessionOptions, heard: HeardTurnText, transcript: string, isFormatted: boolean): JsonObject {
  const words = wordsOf({ ...heard, text: transcript });
  return turn(options, heard, { isFormatted, isEnd: true, transcript, words, settled: words.length });
}

interface Told {
  isFormatted: boolean;
  isEnd: boolean;
  transcript: string;
  words: readonly Word[];
  /** Words that will not change. */
  settled: number;
}

function turn(
  { model, speakerLabels, speakersPending, languageDetection }: SessionOptions,
  heard: HeardTurnText,
  { isFormatted, isEnd, transcript, words, settled }: Told,
): JsonObject {
  const label = heard.end - heard.start < SPEAKER_SECONDS_MIN ? 'UNKNOWN' : speakerOf(words[0]);
  const isPending = (index: number) => speakersPending && isEnd && index === words.length - 1;
  const told = words.map((word, index) => ({
    text: word.word,
    start: millisecondsOf(word.start),
    end: millisecondsOf(word.end),
    confidence: model === WHISPER ? 0 : (word.confidence ?? 0.9),
    ...(speakerLabels ? { speaker: isPending(index) ? 'PENDING' : speakerOf(word) } : {}),
    word_is_final: index < settled,
  }));
  return turnMessage(
    heard.turn,
    transcript,
    told,
    { isEnd, isFormatted, endConfidence: isEnd ? 0.9 : 0.1 },
    {
      ...(speakerLabels ? { speaker_label: label } : {}),
      ...(languageDetection ? { language_code: 'en', language_confidence: 0.99 } : {}),
    },
  );
}

const speakerOf = (word: Word | undefined): string => letterOf(word?.speaker ?? 0) as string;

/** Casing and a period, for what is words. */
function formatted(text: string): string {
  if (!/^\p{L}/u.test(text)) return text;
  const cased = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(cased) ? cased : `${cased}.`;
}

// What is requested of a session of the simulated AssemblyAI on its URL, and what is refused of it.
export interface SessionOptions {
  model: string;
  sampleRate: number;
  language: string | undefined;
  formatTurns: boolean;
  /** The U3 family: nothing is settled before the end of a turn, and speech is announced. */
  isUniversal3: boolean;
  /** Finals are formatted by the model. */
  formatsItself: boolean;
  speakerLabels: boolean;
  /** Who has said the last word of a turn is told behind its end. */
  speakersPending: boolean;
  languageDetection: boolean;
}

const flag = Type.Boolean();
const texts = Type.Array(Type.String());

/** What is not named here is ignored, as by the service. Its ears hear one encoding. */
const Query = members(
  {},
  {
    sample_rate: Type.Integer({ minimum: 8_000, maximum: 48_000 }),
    encoding: Type.Literal('pcm_s16le'),
    ...{ format_turns: flag, language_detection: flag, speaker_labels: flag, redact_pii: flag, filter_profanity: flag },
    ...{ keyterms_prompt: texts, language_codes: texts, redact_pii_policies: texts },
  },
  'ignored',
);

const milliseconds = Type.Integer({ minimum: 0 });
const share = Type.Number({ minimum: 0, maximum: 1 });

/** Lists are lists here, and no JSON text. */
export const Update = members(
  { type: Type.Literal('UpdateConfiguration') },
  {
    ...{ end_of_turn_confidence_threshold: share, vad_threshold: share, format_turns: flag, filter_profanity: flag },
    ...{ min_turn_silence: milliseconds, max_turn_silence: milliseconds, interruption_delay: milliseconds },
    ...{ keyterms_prompt: texts, language_codes: texts, prompt: Type.String(), agent_context: Type.String() },
  },
  'ignored',
);

const DEFAULT_MODEL = 'universal-3-6-pro';
/** It knows no confidence, and has words for silence. */
export const WHISPER = 'whisper-rt';
const ENGLISH = 'universal-streaming-english';

/** The options of a query, or what is wrong with it, in one line. */
export function optionsOf(query: URLSearchParams): SessionOptions | string {
  const model = query.get('speech_model') ?? DEFAULT_MODEL;
  if (!hasLive(model)) return `unknown speech_model ${model}`;
  const values = valuesOf(query, Query, 'json');
  const wrong = wrongIn(Query, values);
  if (wrong !== undefined) return wrong;
  const { partials, formatTurns } = liveTraitsOf(model);
  const [code] = (values.language_codes ?? []) as string[];
  return {
    model,
    sampleRate: (values.sample_rate as number | undefined) ?? 16_000,
    language: code ?? (model === ENGLISH ? 'en' : undefined),
    formatTurns: values.format_turns === true,
    isUniversal3: partials === 'transcript',
    formatsItself: !formatTurns,
    speakerLabels: values.speaker_labels === true,
    speakersPending: false,
    languageDetection: values.language_detection === true,
  };
}
