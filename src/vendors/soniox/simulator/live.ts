// One connection of the simulated Soniox: a start, audio, and tokens that become final in two steps.
import { Type } from '@sinclair/typebox';
import { objectOf } from '../../kit/json.ts';
import type { SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { faultIn, members } from '../../kit/simulator/checks.ts';
import { keyFault } from '../../kit/simulator/credentials.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { millisecondsOf } from '../../kit/simulator/words.ts';
import { mark, type Token, tokensMessage } from '../messages.ts';
import { errorOf, KEY_FAULTS, tokensOf } from './files.ts';

/** The deadlines are not documented, except for that of a silent client. */
const START_MS = 10_000;
const QUIET_MS = 20_000;
const STEP_SECONDS = 0.5;

const texts = Type.Array(Type.String(), { uniqueItems: true });
const Start = members(
  { model: Type.String({ pattern: '^stt-rt-' }), audio_format: Type.Literal('pcm_s16le') },
  {
    sample_rate: Type.Integer({ minimum: 1 }),
    num_channels: Type.Literal(1),
    language_hints: texts,
    language_hints_strict: Type.Boolean(),
    enable_language_identification: Type.Boolean(),
    enable_speaker_diarization: Type.Boolean(),
    enable_endpoint_detection: Type.Boolean(),
    max_endpoint_delay_ms: Type.Integer({ minimum: 500, maximum: 3_000 }),
    endpoint_sensitivity: Type.Number({ minimum: -1, maximum: 1 }),
    endpoint_latency_adjustment_level: Type.Integer({ minimum: 0, maximum: 3 }),
    context: Type.Union([Type.String(), Type.Object({})]),
    client_reference_id: Type.String({ maxLength: 256 }),
  },
  'ignored',
);
const FAULTS: Readonly<Record<string, string>> = {
  model: 'Invalid model specified.',
  audio_format: 'Invalid audio data format.',
  language_hints: 'Invalid language hint.',
  client_reference_id: 'Client reference ID is too long (max length 256)',
};
const CONTEXT_MAX = 10_000;

export class SonioxSession extends SimulatedSession {
  readonly #key: string | undefined;
  #asked: Readonly<Record<string, unknown>> = {};
  #tail: Token[] = [];
  #finalMs = 0;
  #finalizing = false;
  /** Final tokens that wait for those of the next turn. */
  #kept: Token[] = [];

  constructor(peer: SimulatedPeer, tools: SimulatorTools, key: string | undefined) {
    super(peer, tools);
    this.#key = key;
    this.#expect(START_MS, 'Start request timeout');
  }

  protected message(text: string): void {
    if (text === '') {
      this.#end();
      return;
    }
    const message = objectOf(text);
    if (!this.isListening) {
      this.#start(message);
      return;
    }
    this.#expect(QUIET_MS);
    if (message.type === 'keepalive') return;
    if (message.type !== 'finalize') {
      this.#fail(400, 'Control request invalid type.');
      return;
    }
    this.#finalizing = true;
    this.inTurn(() => this.finalize());
  }

  protected override audio(bytes: Uint8Array): void {
    if (!this.isListening) this.#fail(400, 'Start request must be a text message.');
    else if (bytes.byteLength === 0) this.#end();
    else {
      this.#expect(QUIET_MS);
      this.hear(bytes);
    }
  }

  #start(message: Readonly<Record<string, unknown>>): void {
    const asked = Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null));
    const key = keyFault(this.#key ?? (asked.api_key as string | undefined));
    const fault = faultIn(Start, asked);
    if (key !== undefined) this.#fail(...KEY_FAULTS[key]);
    else if (fault !== undefined) this.#fail(400, FAULTS[fault.member]);
    else if (asked.sample_rate === undefined)
      this.#fail(400, 'Audio data sample rate must be specified for PCM formats');
    else if (JSON.stringify(asked.context ?? '').length > CONTEXT_MAX)
      this.#fail(400, 'Context is too long (max length 10000).');
    else {
      this.#asked = asked;
      this.#expect(QUIET_MS, 'Timed out while waiting for the first audio chunk');
      const [hint] = (asked.language_hints ?? []) as string[];
      this.listen({ sampleRate: asked.sample_rate as number, language: hint, stepSeconds: STEP_SECONDS });
    }
  }

  #end(): void {
    if (this.samples === 0) this.#fail(400, 'No audio received.');
    else this.finish();
  }

  protected override progressed(): void {
    if (this.isBehind('cannot-continue')) this.#fail(503);
    else if (this.#tail.length === 0) this.#say([]);
  }

  protected interim(heard: HeardTurnText): void {
    const settled = this.#settledTokens(heard);
    this.#tail = this.#tokens(heard, false).filter((token) => this.#isOpen(token));
    this.#say([...this.#kept.splice(0), ...settled]);
  }

  /** Those of an open turn that become final now. */
  #settledTokens(heard: HeardTurnText): Token[] {
    if (!this.has('settles')) return [];
    const until = millisecondsOf(heard.end - this.numberOf('settles', 1));
    const settled = this.#tokens(heard, true).filter((token) => this.#isOpen(token) && (token.end_ms ?? 0) <= until);
    this.#finalMs = settled.at(-1)?.end_ms ?? this.#finalMs;
    return settled;
  }

  #isOpen({ end_ms = 0 }: Token): boolean {
    return !this.has('settles') || end_ms > this.#finalMs;
  }

  /** Some tokens are final while others of the turn are not. */
  protected final(heard: HeardTurnText): void {
    const tokens = this.#tokens(heard, true).filter((token) => this.#isOpen(token));
    const first = tokens.slice(0, tokens.length / 2);
    this.#tail = tokens.slice(first.length).map((token) => ({ ...token, is_final: false }));
    if (first.length > 0) this.#say([...this.#kept.splice(0), ...first]);
    this.#tail = [];
    this.#finalMs = millisecondsOf(heard.end);
    const rest = [...this.#kept.splice(0), ...tokens.slice(first.length), ...this.#mark(heard)];
    if (this.has('one-message') && !this.ended) this.#kept = rest;
    else this.#say(rest);
  }

  /** Nothing marks the end of the stream. */
  #mark({ end, text }: HeardTurnText): Token[] {
    if (this.#finalizing) {
      this.#finalizing = false;
      return [mark('<fin>')];
    }
    const isMarked = this.#asked.enable_endpoint_detection === true && text !== '' && !this.isRest(end);
    return isMarked ? [mark('<end>')] : [];
  }

  protected override finished(): void {
    // A turn without audio has its mark as well.
    const marks: Token[] = this.#finalizing ? [mark('<fin>')] : [];
    this.#say([...this.#kept.splice(0), ...marks], { finished: true });
    this.close(1000);
  }

  protected failed(): void {
    this.#fail(500);
  }

  #tokens(heard: HeardTurnText, is_final: boolean): Token[] {
    const { enable_speaker_diarization, enable_language_identification } = this.#asked;
    const speaker = enable_speaker_diarization === true ? { speaker: heard.turn % 2 } : {};
    const language = enable_language_identification === true ? { language: 'en' } : {};
    return tokensOf(heard, { ...speaker, ...language }, { is_final });
  }

  #say(settled: readonly Token[], more: object = {}): void {
    const tokens = [...settled, ...this.#tail];
    this.peer.send(tokensMessage(tokens, this.#finalMs, millisecondsOf(this.seconds), more));
  }

  #expect(waitMs: number, words = 'Request timeout.'): void {
    this.expectMore(waitMs, () => this.#fail(408, words));
  }

  #fail(status: number, words?: string): void {
    this.peer.send(errorOf(status, words));
    this.close();
  }
}
