// One connection of the simulated Scribe: audio as base64, what is heard since the last commit, and two answers to each commit.
import { Type } from '@sinclair/typebox';
import { objectOf } from '../../kit/json.ts';
import type { SimulatedConnection, SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { audioIn, members, oneOf, valuesOf, wrongIn } from '../../kit/simulator/checks.ts';
import { RequestedEnds } from '../../kit/simulator/requested-ends.ts';
import { closedAtOnce, type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import type { HeardText } from '../../kit/simulator/words.ts';
import { errorMessage, message } from '../messages.ts';
import { spokenWords } from './files.ts';

const COMMIT_SECONDS_MIN = 0.3;
/** Without a chunk the connection is closed, and nothing is said. */
const QUIET_MS = 15_000;
/** It commits on its own what nobody does. */
const COMMIT_SECONDS_MAX = 90;

const Query = members(
  { model_id: Type.Literal('scribe_v2_realtime') },
  {
    audio_format: oneOf('pcm_8000', 'pcm_16000', 'pcm_22050', 'pcm_24000', 'pcm_44100', 'pcm_48000'),
    commit_strategy: oneOf('manual', 'vad'),
    language_code: Type.String({ pattern: '^[a-z]{2,3}$' }),
    secondary_languages: Type.Array(Type.String()),
    include_timestamps: Type.Boolean(),
    include_language_detection: Type.Boolean(),
    keyterms: Type.Array(Type.String({ maxLength: 20 }), { maxItems: 50 }),
    no_verbatim: Type.Boolean(),
    filter_background_audio: Type.Boolean(),
    enable_logging: Type.Boolean(),
    token: Type.String(),
    vad_silence_threshold_secs: Type.Number({ minimum: 0.3, maximum: 3 }),
  },
);

/** What is wrong with the query of a session. */
export function sessionFault(query: URLSearchParams): string | undefined {
  const asked = valuesOf(query, Query);
  if (asked.filter_background_audio === true && asked.include_timestamps === true)
    return 'filter_background_audio cannot be used with include_timestamps.';
  return wrongIn(Query, asked);
}

/** A connection that was accepted, is told why not, and closed. */
export function refusedSession(peer: SimulatedPeer, type: string, error: string): SimulatedConnection {
  peer.send(errorMessage(type, error));
  return closedAtOnce(peer, 1008, type);
}

export class ScribeSession extends SimulatedSession {
  readonly #isVad: boolean;
  readonly #twice: boolean;
  readonly #config: Record<string, unknown>;
  readonly #sampleRate: number;
  /** What was heard behind the last commit. */
  readonly #turns: HeardText[] = [];
  readonly #commits = new RequestedEnds(
    (delayMs, work) => this.later(delayMs, work),
    (end) => this.#committed(end),
  );
  #committedSeconds = 0;
  #chunks = 0;

  constructor(peer: SimulatedPeer, tools: SimulatorTools, query: URLSearchParams) {
    super(peer, tools);
    this.#config = valuesOf(query, Query);
    const { audio_format = 'pcm_16000', language_code, commit_strategy } = this.#config;
    this.#isVad = commit_strategy === 'vad';
    this.#twice = this.#config.include_timestamps === true || this.#config.include_language_detection === true;
    this.#sampleRate = Number(String(audio_format).slice('pcm_'.length));
    this.listen({ sampleRate: this.#sampleRate, language: language_code as string | undefined });
    this.#say('session_started', { session_id: tools.newId(), config: this.#config });
    this.#expectChunk();
  }

  protected message(text: string): void {
    const { message_type, audio_base_64, commit, sample_rate, previous_text } = objectOf(text);
    const bytes = audioIn(audio_base_64);
    if (message_type !== 'input_audio_chunk' || bytes === undefined || typeof commit !== 'boolean')
      this.#fail('input_error', 'The message is no input_audio_chunk.');
    else if (sample_rate !== this.#sampleRate) this.#fail('input_error', 'The sample rate is not that of the format.');
    else if (previous_text !== undefined && this.#chunks > 0)
      this.#fail('input_error', 'previous_text is for the first chunk alone.');
    else {
      this.#chunks++;
      this.#expectChunk();
      if (bytes.byteLength > 0) this.hear(bytes);
      if (commit) this.#commit();
    }
  }

  protected override audio(): void {
    this.#fail('input_error', 'Messages are JSON texts.');
  }

  #expectChunk(): void {
    this.expectMore(QUIET_MS, () => this.close(1000));
  }

  protected override progressed(): void {
    if (this.isBehind('session-limit')) this.#fail('session_time_limit_exceeded', 'The session reached its limit.');
    else if (this.seconds - this.#committedSeconds >= COMMIT_SECONDS_MAX) this.#commit();
  }

  #commit(): void {
    if (this.seconds - this.#committedSeconds < COMMIT_SECONDS_MIN) {
      this.peer.send(errorMessage('commit_throttled', 'Commit needs at least 0.3 s of audio.'));
      return;
    }
    this.#committedSeconds = this.seconds;
    this.finalize();
    this.#commits.ask(this.seconds);
  }

  protected override speechStarted(): void {
    this.#commits.hearing();
  }

  protected interim(heard: HeardTurnText): void {
    this.#commits.hearing();
    this.#partial('partial_transcript', [...this.#turns, heard]);
  }

  protected final(heard: HeardTurnText): void {
    if (heard.text !== '') this.#turns.push(heard);
    if (this.#isVad && !this.#commits.areWaited) this.#committed(heard.end);
    else if (!this.#commits.areWaited) this.#partial('final_transcript', this.#turns);
    this.#commits.heard(heard);
  }

  #partial(type: string, turns: readonly HeardText[]): void {
    this.#say(type, { text: turns.map(({ text }) => text).join(' ') });
  }

  #committed(end: number): void {
    const later = this.#turns.findIndex(({ start }) => start >= end);
    this.#answer(this.#turns.splice(0, later < 0 ? this.#turns.length : later));
  }

  #answer(turns: readonly HeardText[]): void {
    const text = turns.map((turn) => turn.text).join(' ');
    const words = spokenWords(turns);
    const plain = () => this.#say('committed_transcript', { text });
    if (!this.#twice || this.has('no-words')) {
      plain();
      return;
    }
    const timed = () => this.#say('committed_transcript_with_timestamps', { text, language_code: 'en', words });
    const [first, then] = this.has('words-first') ? [timed, plain] : [plain, timed];
    first();
    this.later(this.has('words-late') ? this.numberOf('words-late', 500) : 0, then);
  }

  protected failed(): void {
    this.#fail('transcriber_error', 'Transcription failed.');
  }

  #fail(type: string, words: string): void {
    this.peer.send(errorMessage(type, words));
    this.close(1008, type);
  }

  #say(message_type: string, members: object): void {
    this.peer.send(message(message_type, members));
  }
}
