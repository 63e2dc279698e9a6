// One connection of the simulated `/v1/stt`: interims, chunks that are locked, and the end of each utterance with all of it.
import { Type } from '@sinclair/typebox';
import type { Word } from '../../../../machines/events.ts';
import { objectOf } from '../../kit/json.ts';
import type { SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { members, oneOf, valuesOf, wrongIn } from '../../kit/simulator/checks.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { type HeardText, wordsOf } from '../../kit/simulator/words.ts';
import { textOf } from '../../kit/words.ts';

/** Not documented. */
const IDLE_MS = 10_000;
/** Text is locked about so often. */
const CHUNK_SECONDS = 3;

const fraction = Type.Number({ minimum: 0, maximum: 1 });
/** What sessions and files have in common. */
export const ASKED = {
  model: oneOf('grok-voice-transcribe-1.0', 'grok-voice-transcribe-2.0'),
  language: Type.String({ pattern: '^(?!auto)[A-Za-z]{2,3}(-[A-Za-z0-9]+)*$' }),
  sample_rate: oneOf(8_000, 16_000, 22_050, 24_000, 44_100, 48_000),
  keyterm: Type.Array(Type.String({ maxLength: 50 }), { maxItems: 100 }),
  diarize: Type.Boolean(),
  filler_words: Type.Boolean(),
  vad_threshold: fraction,
};
const Query = members(
  {},
  {
    ...ASKED,
    encoding: Type.Literal('pcm'),
    interim_results: Type.Boolean(),
    endpointing: Type.Integer({ minimum: 0, maximum: 5_000 }),
    smart_turn: fraction,
    smart_turn_timeout: Type.Integer({ minimum: 1, maximum: 5_000 }),
  },
  'ignored',
);

/** What is wrong with the query of a session. */
export const sessionFault = (query: URLSearchParams): string | undefined => wrongIn(Query, valuesOf(query, Query));

/** Milliseconds, rounded down: a word never ends behind the audio it was heard in. */
const thousandths = (seconds: number): number => Math.floor(seconds * 1000 + 1e-6) / 1000;

export const wireWord = ({ word, start, end, confidence }: Word, speaker: number | undefined) => ({
  ...{ text: word, start: thousandths(start), end: thousandths(end) },
  ...(confidence === undefined ? {} : { confidence }),
  ...(speaker === undefined ? {} : { speaker }),
});

export class GrokSession extends SimulatedSession {
  readonly #asked: Readonly<Record<string, unknown>>;
  #finalizing = false;
  /** A turn that was locked and has not ended. */
  #kept: HeardTurnText | undefined;
  readonly #said: HeardText[] = [];

  constructor(peer: SimulatedPeer, tools: SimulatorTools, query: URLSearchParams) {
    super(peer, tools);
    this.#asked = valuesOf(query, Query);
    const { sample_rate = 16_000, language } = this.#asked;
    this.listen({ sampleRate: sample_rate as number, language: language as string | undefined });
    this.later(0, () => this.peer.send({ type: 'transcript.created', id: tools.newId() }));
    this.#expect();
  }

  protected message(text: string): void {
    const { type } = objectOf(text);
    if (/^finalize$/i.test(String(type)) && !this.has('no-finalize')) {
      this.#finalizing = true;
      this.finalize();
    } else if (type === 'audio.done') this.finish();
    else this.#fail('Invalid message: expected {"type": "audio.done"}', false);
  }

  protected override audio(bytes: Uint8Array): void {
    this.#expect();
    this.hear(bytes);
  }

  #expect(): void {
    this.expectMore(IDLE_MS, () => this.#fail('Stream timed out.'));
  }

  protected interim(heard: HeardTurnText): void {
    if (this.#asked.interim_results === true) this.#say(heard, heard.turn);
  }

  protected final(heard: HeardTurnText): void {
    const whole = this.#kept === undefined ? heard : { ...joined(this.#kept, heard), turn: heard.turn };
    const chunks = chunksOf(heard);
    // What its end alone says, where that says no more.
    const rest = this.has('tail-ends') ? chunks.pop() : undefined;
    for (const chunk of chunks) if (chunk.text !== '') this.#say(chunk, heard.turn, { is_final: true });
    const isKept = this.#finalizing && !this.ended && this.has('locks-only');
    this.#finalizing = false;
    this.#kept = isKept ? whole : undefined;
    if (isKept) return;
    this.#said.push(whole);
    this.#say(rest ?? whole, heard.turn, { is_final: true, speech_final: true });
  }

  #say(heard: HeardText, turn: number, more: { is_final?: true; speech_final?: true } = {}): void {
    const { text, start, end } = heard;
    const { diarize, smart_turn } = this.#asked;
    const speaker = diarize === true ? turn % 2 : undefined;
    this.peer.send({
      ...{ type: 'transcript.partial', text, is_final: false, speech_final: false, ...more },
      words: this.has('no-words') ? [] : wordsOf(heard).map((word) => wireWord(word, speaker)),
      ...{ start: thousandths(start), duration: thousandths(end) - thousandths(start) },
      ...(smart_turn === undefined ? {} : { end_of_turn_confidence: more.speech_final ? 0.95 : 0 }),
    });
  }

  protected override finished(): void {
    const kept = this.#kept;
    if (kept !== undefined) this.#say(kept, kept.turn, { is_final: true, speech_final: true });
    const all = this.has('whole-done') ? this.#said : [];
    const words = all.flatMap(wordsOf).map((word) => wireWord(word, undefined));
    const text = all.map((each) => each.text).join(' ');
    this.peer.send({ type: 'transcript.done', text, words, duration: thousandths(this.seconds) });
    this.close(1000);
  }

  protected failed(): void {
    this.#fail('The transcription failed.');
  }

  #fail(message: string, ends = true): void {
    this.peer.send({ type: 'error', message });
    if (ends) this.close(1011);
  }
}

const joined = (one: HeardText, other: HeardText): HeardText => ({
  ...{ text: `${one.text} ${other.text}`.trim(), start: one.start, end: other.end },
  words: [...wordsOf(one), ...wordsOf(other)],
});

/** A turn in pieces of about three seconds, which lie against each other. */
function chunksOf(heard: HeardText): HeardText[] {
  const words = wordsOf(heard);
  const cut = words.findIndex(({ end }) => end > heard.start + CHUNK_SECONDS);
  if (cut <= 0) return [heard];
  const piece = (of: Word[], start: number, end: number) => ({ text: textOf(of), words: of, start, end });
  const at = (words[cut - 1] as Word).end;
  return [piece(words.slice(0, cut), heard.start, at), ...chunksOf(piece(words.slice(cut), at, heard.end))];
}
