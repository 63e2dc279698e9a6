// One simulated session of vLLM: a generation begins with one commit and ends with another. Nothing is told of ends of speech, and
// audio that came while an end was awaited is thrown away.
import { jsonOf, objectIn } from '../../kit/json.ts';
import type { SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { audioIn } from '../../kit/simulator/checks.ts';
import { Deltas } from '../../kit/simulator/deltas.ts';
import { RequestedEnds } from '../../kit/simulator/requested-ends.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';

const RATE = 16_000;

export class RealtimeSession extends SimulatedSession {
  readonly #isServed: (model: unknown) => boolean;
  readonly #deltas = new Deltas();
  readonly #ends: RequestedEnds;
  #isValidated = false;
  #state: 'idle' | 'generating' | 'ending' = 'idle';
  /** An end came before any beginning: the next generation ends at once. */
  #endsAtOnce = false;
  /** Audio that came before a generation. */
  #queue: Uint8Array[] = [];
  #text = '';
  #generations = 0;

  constructor(peer: SimulatedPeer, tools: SimulatorTools, isServed: (model: unknown) => boolean) {
    super(peer, tools);
    this.#isServed = isServed;
    this.#ends = new RequestedEnds(
      (delayMs, work) => this.later(delayMs, work),
      () => this.#done(),
    );
    this.listen({ sampleRate: RATE, language: undefined });
    this.#say('session.created', { id: `sess-${tools.newId()}`, created: 0 });
  }

  protected message(text: string): void {
    const json = jsonOf(text);
    const { type, model, audio, final } = objectIn(json);
    if (json === undefined) this.#refuse('invalid_json', 'Invalid JSON');
    else if (type === 'session.update') this.#update(model);
    else if (type === 'input_audio_buffer.append') this.#append(audioIn(audio));
    else if (type === 'input_audio_buffer.commit') this.#commit(final === true);
    else this.#refuse('unknown_event', `Unknown event type: ${String(type)}`);
  }

  /** It reads text alone. */
  protected override audio(): void {
    this.close(1011);
  }

  #update(model: unknown): void {
    this.#isValidated = this.#isServed(model);
    if (!this.#isValidated) this.#refuse('model_not_found', `The model \`${String(model)}\` does not exist.`);
  }

  #append(bytes: Uint8Array | undefined): void {
    if (bytes === undefined || bytes.length === 0 || bytes.length % 2 === 1)
      this.#refuse('invalid_audio', "Can't load audio");
    else if (this.#state === 'generating') this.hear(bytes);
    else this.#queue.push(bytes);
  }

  #commit(isEnd: boolean): void {
    if (!this.#isValidated) this.#refuse('model_not_validated', 'Call session.update first.');
    else if (isEnd) this.#end();
    else if (this.#state === 'idle') this.#begin();
  }

  #begin(): void {
    this.#state = 'generating';
    this.#generations++;
    for (const bytes of this.#queue.splice(0)) this.hear(bytes);
    if (this.#endsAtOnce) this.#end();
    this.#endsAtOnce = false;
  }

  #end(): void {
    if (this.#state === 'idle') this.#endsAtOnce = true;
    if (this.#state !== 'generating') return;
    this.#state = 'ending';
    this.finalize();
    this.#ends.ask(this.seconds);
  }

  protected override speechStarted(): void {
    this.#ends.hearing();
  }

  protected interim({ text }: HeardTurnText): void {
    this.#ends.hearing();
    this.#tell(this.#deltas.interim(text));
    if (this.numberOf('ends-early', 0) === this.#generations && this.#state === 'generating') this.#done();
  }

  protected final(heard: HeardTurnText): void {
    this.#tell(this.#deltas.final(heard.text));
    this.#ends.heard(heard);
  }

  #tell(tokens: readonly string[]): void {
    for (const delta of tokens) {
      this.#text += delta;
      this.#say('transcription.delta', { delta });
    }
  }

  #done(): void {
    const text = this.#text.trim();
    const tokens = text.split(' ').length;
    this.#text = '';
    this.#queue = [];
    this.#state = 'idle';
    const usage = { prompt_tokens: 100, completion_tokens: tokens, total_tokens: 100 + tokens };
    this.#say('transcription.done', { text, usage });
  }

  protected failed(): void {
    this.#refuse('processing_error', 'Internal error.');
  }

  #refuse(code: string, error: string): void {
    this.#say('error', { error, code });
  }

  #say(type: string, more: object): void {
    this.peer.send({ type, ...more });
  }
}
