// One simulated session of realtime transcription, of either generation: what may be requested, and what is told of turns.
import { type TObject, Type } from '@sinclair/typebox';
import { jsonOf, objectIn } from '../../kit/json.ts';
import type { SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { audioIn, faultIn, members, oneOf } from '../../kit/simulator/checks.ts';
import { Deltas } from '../../kit/simulator/deltas.ts';
import { RequestedEnds } from '../../kit/simulator/requested-ends.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { LIVE_2, LIVE_3 } from '../models.ts';

const APPEND_BYTES_MAX = 262_144;
const REFUSED = 3051;

const fraction = Type.Number({ minimum: 0, maximum: 1 });
const milliseconds = Type.Integer({ minimum: 0 });
const second = {
  audio_format: members(
    {
      encoding: oneOf('pcm_s16le', 'pcm_s32le', 'pcm_f16le', 'pcm_f32le', 'pcm_mulaw', 'pcm_alaw'),
      sample_rate: oneOf(8_000, 16_000, 22_050, 24_000, 44_100, 48_000),
    },
    {},
  ),
  target_streaming_delay_ms: Type.Integer({ minimum: 80, maximum: 2_400 }),
};
const third = {
  ...second,
  ...{ context_bias: Type.Array(Type.String()), language: Type.String(), diarize: Type.Boolean() },
  turn_detection: members(
    {},
    {
      ...{ start_threshold: fraction, eager_end_threshold: fraction, end_threshold: fraction },
      ...{ min_silence_ms: milliseconds, end_timeout_ms: Type.Union([milliseconds, Type.Null()]) },
    },
  ),
};

/** What a session of each model may be set to. */
export const SESSIONS: Readonly<Record<string, TObject>> = {
  [LIVE_2]: members({}, second),
  [LIVE_3]: members({}, third),
};

export class RealtimeSession extends SimulatedSession {
  readonly #model: string;
  readonly #schema: TObject;
  readonly #deltas = new Deltas();
  readonly #ends: RequestedEnds;
  #session: Readonly<Record<string, unknown>>;
  /** What was told since the last flush was done. */
  #text = '';
  #flushes = 0;

  constructor(peer: SimulatedPeer, tools: SimulatorTools, model: string) {
    super(peer, tools);
    this.#model = model;
    this.#schema = SESSIONS[model] as TObject;
    this.#ends = new RequestedEnds(
      (delayMs, work) => this.later(delayMs, work),
      () => this.#flushed(),
    );
    const audio_format = { encoding: 'pcm_s16le', sample_rate: 16_000 };
    this.#session = { request_id: tools.newId(), model, audio_format, target_streaming_delay_ms: null };
    this.#say('session.created', { session: this.#session });
  }

  get #detects(): boolean {
    return this.#session.turn_detection !== undefined;
  }

  protected message(text: string): void {
    const { type, session, audio } = objectIn(jsonOf(text));
    if (type === 'session.update') this.#update(session);
    else if (type === 'input_audio.append') this.#append(audioIn(audio));
    else if (type === 'input_audio.flush') this.#flush();
    else if (type === 'input_audio.end') {
      if (this.isListening) this.finish();
      else this.finished();
    } else this.#refuse('Unknown message type.');
  }

  protected override audio(): void {
    this.#refuse('Messages are text.');
  }

  #update(session: unknown): void {
    const fault = faultIn(this.#schema, session);
    const { turn_detection, diarize } = objectIn(session);
    if (this.isListening) this.#refuse('Session fields cannot be changed after audio has started.');
    else if (fault !== undefined) this.#refuse(`${fault.member}: ${fault.message}`);
    else if (turn_detection !== undefined && diarize === true) this.#refuse('turn_detection: not beside diarize.');
    else {
      this.#session = { ...this.#session, ...objectIn(session) };
      this.#say('session.updated', { session: this.#session });
    }
  }

  #append(bytes: Uint8Array | undefined): void {
    if (this.closing) return;
    if (bytes === undefined) this.#refuse('audio: not base64.');
    else if (bytes.length > APPEND_BYTES_MAX) this.#refuse(`audio: more than ${APPEND_BYTES_MAX} bytes.`);
    else {
      const { audio_format, language } = this.#session as { audio_format: { sample_rate: number }; language?: string };
      if (!this.isListening) this.listen({ sampleRate: audio_format.sample_rate, language });
      this.hear(bytes);
    }
  }

  #flush(): void {
    this.finalize();
    this.#ends.ask(this.seconds);
  }

  protected override speechStarted(start: number): void {
    this.#ends.hearing();
    if (!this.#detects) return;
    this.#say('turn.start', { time_s: start });
    if (!this.has('phantom-turns')) return;
    this.#endTurn(start);
    this.#say('turn.start', { time_s: start });
  }

  protected interim({ text }: HeardTurnText): void {
    this.#ends.hearing();
    this.#tell(this.#deltas.interim(text));
  }

  protected final(heard: HeardTurnText): void {
    this.#tell(this.#deltas.final(heard.text));
    if (this.#detects) {
      this.#say('turn.eager_end', { time_s: heard.end });
      this.#endTurn(heard.end);
    }
    this.#ends.heard(heard);
  }

  #endTurn(time_s: number): void {
    this.#say('turn.end', { time_s, end_reason: 'threshold' });
  }

  #tell(tokens: readonly string[]): void {
    for (const text of tokens) {
      this.#text += text;
      this.#say('transcription.text.delta', { text });
    }
  }

  #flushed(): void {
    this.#flushes++;
    const isLost = this.#detects ? this.has('no-flush-done') : this.numberOf('lose-done', 0) === this.#flushes;
    if (!isLost) this.#done();
  }

  #done(): void {
    const text = this.#text.trim();
    this.#text = '';
    this.#say('transcription.done', { model: this.#model, text, language: null, segments: [], usage: usageOf(text) });
  }

  /** It drops the connection, and says nothing of it. */
  protected override finished(): void {
    this.#done();
    this.close();
  }

  protected failed(): void {
    this.#fail(3000, 'Internal server error.');
  }

  #refuse(message: string): void {
    this.#fail(REFUSED, message);
  }

  #fail(code: number, message: string): void {
    this.#say('error', { error: { message, code } });
    this.close(1011);
  }

  #say(type: string, more: object): void {
    this.peer.send({ type, ...more });
  }
}

/** Its own count of audio seconds is wrong in practice: two or three, whatever the length. */
export const usageOf = (text: string) => {
  const tokens = text.split(' ').length;
  return { prompt_audio_seconds: 3, prompt_tokens: 50, completion_tokens: tokens, total_tokens: 50 + tokens };
};
