// One simulated session in speaches' dialect of the Realtime API: turns end by its own detection, or where they are committed.
import { Type } from '@sinclair/typebox';
import { jsonOf, objectIn } from '../../kit/json.ts';
import type { SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { audioIn, faultIn, members } from '../../kit/simulator/checks.ts';
import { RequestedEnds } from '../../kit/simulator/requested-ends.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { millisecondsOf } from '../../kit/simulator/words.ts';

const RATE = 24_000;
const COMMIT_SECONDS_MIN = 0.1;
/** At the highest it hears no speech. */
const THRESHOLD_MAX = 1;

const Update = members(
  {},
  {
    input_audio_transcription: members({ model: Type.String() }, { language: Type.String() }),
    turn_detection: members(
      {
        ...{ type: Type.Literal('server_vad'), threshold: Type.Number({ minimum: 0, maximum: THRESHOLD_MAX }) },
        ...{ prefix_padding_ms: Type.Integer(), silence_duration_ms: Type.Integer(), create_response: Type.Boolean() },
      },
      {},
    ),
  },
);

interface SessionStart {
  isInstalled: boolean;
  language: string | undefined;
}

export class RealtimeSession extends SimulatedSession {
  readonly #isInstalled: boolean;
  readonly #ends: RequestedEnds;
  #threshold = 0.9;
  /** The buffer that is open: its item, where it begins, and what was heard in it. */
  #item: string;
  #fromSeconds = 0;
  #isSpeaking = false;
  /** Items whose end the ear has not come to; words that it has said of them. */
  readonly #waiting: { id: string; seconds: number }[] = [];
  #words: string[] = [];
  #held: (() => void) | undefined;

  constructor(peer: SimulatedPeer, tools: SimulatorTools, { isInstalled, language }: SessionStart) {
    super(peer, tools);
    this.#isInstalled = isInstalled;
    this.#item = `item_${tools.newId()}`;
    this.#ends = new RequestedEnds(
      (delayMs, work) => this.later(delayMs, work),
      () => this.#reached(),
    );
    this.listen({ sampleRate: RATE, language });
    this.#say('session.created', { session: { input_audio_format: 'pcm16' } });
  }

  get #detects(): boolean {
    return this.#threshold < THRESHOLD_MAX;
  }

  protected message(text: string): void {
    const { type, session, audio } = objectIn(jsonOf(text));
    const bytes = audioIn(audio);
    if (type === 'session.update') this.#update(session);
    else if (type === 'input_audio_buffer.append' && bytes !== undefined) this.hear(bytes);
    else if (type === 'input_audio_buffer.commit') this.#commit();
    else if (type === 'input_audio_buffer.clear') this.#say('input_audio_buffer.cleared', {});
    else this.#refuse(`Unknown event ${String(type)}.`);
  }

  /** It reads text alone. */
  protected override audio(): void {
    this.close();
  }

  #update(session: unknown): void {
    const fault = faultIn(Update, session);
    if (fault !== undefined) {
      this.#refuse(`${fault.member}: ${fault.message}`);
      return;
    }
    const { turn_detection } = objectIn(session);
    if (turn_detection !== undefined) {
      this.#refuse('Specifying `session.turn_detection.prefix_padding_ms` is not supported.');
      this.#threshold = objectIn(turn_detection).threshold as number;
    }
    this.#say('session.updated', { session });
  }

  #commit(): void {
    const seconds = this.seconds - this.#fromSeconds;
    // An assertion of the server fails.
    if (this.#isSpeaking) this.close();
    else if (seconds < COMMIT_SECONDS_MIN) this.#refuse(`Error committing input audio buffer: buffer too small.`);
    else {
      this.#close(seconds);
      this.finalize();
      this.#ends.ask(this.seconds);
    }
  }

  /** The open buffer is an item from now on. */
  #close(seconds: number): void {
    this.#say('input_audio_buffer.committed', { item_id: this.#item, previous_item_id: null });
    this.#say('conversation.item.created', { item: { id: this.#item, role: 'user' } });
    this.#waiting.push({ id: this.#item, seconds });
    this.#item = `item_${this.tools.newId()}`;
    this.#fromSeconds = this.seconds;
    this.#isSpeaking = false;
  }

  /** The ear has said everything of the oldest item. */
  #reached(): void {
    const item = this.#waiting.shift();
    const transcript = this.#words.splice(0).join(' ');
    if (item === undefined) return;
    if (!this.#isInstalled) {
      this.#refuse('Model is not installed locally.');
      this.close(1011);
      return;
    }
    this.#inOrder(() =>
      this.#say('conversation.item.input_audio_transcription.completed', {
        ...{ item_id: item.id, content_index: 0, transcript },
        usage: { type: 'duration', seconds: item.seconds },
      }),
    );
  }

  #inOrder(tell: () => void): void {
    const before = this.#held;
    this.#held = undefined;
    if (before !== undefined || !this.has('out-of-order')) {
      tell();
      before?.();
      return;
    }
    this.#held = tell;
    this.later(500, () => {
      if (this.#held !== tell) return;
      this.#held = undefined;
      tell();
    });
  }

  protected override speechStarted(start: number): void {
    this.#ends.hearing();
    if (!this.#detects) return;
    this.#isSpeaking = true;
    const audio_start_ms = millisecondsOf(Math.max(0, start - this.#fromSeconds));
    this.#say('input_audio_buffer.speech_started', { item_id: this.#item, audio_start_ms });
  }

  protected interim(): void {
    this.#ends.hearing();
  }

  protected final(heard: HeardTurnText): void {
    if (heard.text !== '') this.#words.push(heard.text);
    if (this.#detects && this.#isSpeaking) {
      const audio_end_ms = millisecondsOf(this.seconds - this.#fromSeconds);
      this.#say('input_audio_buffer.speech_stopped', { item_id: this.#item, audio_end_ms });
      this.#close(this.seconds - this.#fromSeconds);
      this.#reached();
    }
    this.#ends.heard(heard);
  }

  protected failed(): void {
    this.#say('error', { error: { type: 'server_error', message: 'Internal Server Error' } });
    this.close(1011);
  }

  #refuse(message: string): void {
    this.#say('error', { error: { type: 'invalid_request_error', message } });
  }

  #say(type: string, more: object): void {
    this.peer.send({ type, event_id: `event_${this.tools.newId()}`, ...more });
  }
}
