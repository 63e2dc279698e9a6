// The simulated live sessions: requested by a request, and held on a WebSocket whose URL has the session's token.
import { Type } from '@sinclair/typebox';
import { jsonOf, objectIn } from '../../kit/json.ts';
import type { SimulatedAnswer, SimulatedPeer, SimulatedRequest, SimulatorTools } from '../../kit/simulation.ts';
import { bodyOf, faultIn, members, oneOf } from '../../kit/simulator/checks.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { ACKNOWLEDGED, chunkData, message, stopData, transcriptData } from '../messages.ts';
import { type Account, type AskedSession, invalid, utteranceOf } from './account.ts';

const FRAME_BYTES_MAX = 1_048_576;
const flag = Type.Boolean();
const between = (minimum: number, maximum: number) => Type.Number({ minimum, maximum });

const Asked = members(
  {},
  {
    encoding: Type.Literal('wav/pcm'),
    bit_depth: Type.Literal(16),
    sample_rate: oneOf(8_000, 16_000, 32_000, 44_100, 48_000),
    channels: Type.Literal(1),
    model: oneOf('solaria-1', 'solaria-2'),
    endpointing: between(0.01, 10),
    maximum_duration_without_endpointing: between(5, 60),
    language_config: members(
      {},
      { languages: Type.Array(Type.String({ pattern: '^[a-z]{2,3}$' })), code_switching: flag },
    ),
    pre_processing: members({}, { audio_enhancer: flag, speech_threshold: between(0, 1) }),
    realtime_processing: Type.Object({}, { additionalProperties: true }),
    post_processing: Type.Object({}, { additionalProperties: true }),
    messages_config: Type.Record(Type.String({ pattern: '^receive_[a-z_]+$' }), flag),
    custom_metadata: Type.Object({}, { additionalProperties: true }),
  },
);

/** `POST /v2/live`. */
export function begin(request: SimulatedRequest, tools: SimulatorTools, account: Account): SimulatedAnswer {
  const { url } = request;
  const asked = bodyOf(request);
  const fault = faultIn(Asked, asked);
  if (fault !== undefined) return invalid(fault);
  const region = url.searchParams.get('region');
  if (region !== null && !/^(eu|us)-west$/.test(region)) return invalid({ member: 'region', message: 'is not known' });
  const id = `session-${tools.newId()}`;
  const token = `token-of-${id}`;
  const { languages } = objectIn(asked.language_config) as { languages?: string[] };
  const wanted = objectIn(asked.messages_config);
  account.sessions.set(token, {
    id,
    sampleRate: (asked.sample_rate as number | undefined) ?? 16_000,
    language: languages?.[0],
    sendsPartials: wanted.receive_partial_transcripts === true,
    sendsSpeech: wanted.receive_speech_events !== false,
    acknowledges: wanted.receive_acknowledgments !== false,
    sendsLifecycle: wanted.receive_lifecycle_events === true,
  });
  const host = tools.quirk('socket-elsewhere') === undefined ? url.host : 'elsewhere.example';
  const socket = `${url.protocol === 'https:' ? 'wss' : 'ws'}://${host}/v2/live?token=${token}`;
  return { status: 201, body: { id, created_at: '2026-01-01T00:00:00.000Z', url: socket } };
}

export class Session extends SimulatedSession {
  readonly #asked: AskedSession;
  #chunks = 0;
  #bytes = 0;
  #failed = false;

  constructor(peer: SimulatedPeer, tools: SimulatorTools, asked: AskedSession) {
    super(peer, tools);
    this.#asked = asked;
    this.listen(asked);
    if (asked.sendsLifecycle) this.#say('start_recording');
  }

  protected message(text: string): void {
    const { type, data } = objectIn(jsonOf(text));
    if (type === 'stop_recording') {
      if (!this.closing) this.#stop();
    } else if (type === 'audio_chunk') this.audio(Buffer.from(String(objectIn(data).chunk ?? ''), 'base64'));
    else this.close(4_400, 'Invalid message');
  }

  #stop(): void {
    if (this.#asked.acknowledges) this.#say('stop_recording', stopData(this.seconds), ACKNOWLEDGED);
    this.finish();
  }

  protected override audio(bytes: Uint8Array): void {
    if (bytes.byteLength > FRAME_BYTES_MAX) {
      this.close(1009, 'Message too big');
      return;
    }
    this.#chunks++;
    const from = this.#bytes;
    this.#bytes += bytes.byteLength;
    this.hear(bytes);
    if (this.over || !this.#asked.acknowledges || this.has('no-acknowledgments')) return;
    if (this.has('refuses-audio') && this.#chunks === this.numberOf('refuses-audio', 1)) {
      this.#say('audio_chunk', undefined, { acknowledged: false, error: { message: 'Not taken' } });
      return;
    }
    this.#say('audio_chunk', chunkData(from, this.#bytes, this.#asked.sampleRate * 2), ACKNOWLEDGED);
  }

  protected override progressed(): void {
    if (this.seconds < 1 || this.#failed) return;
    const code = this.tools.quirk('error-code');
    if (code !== undefined) {
      this.#failed = true;
      this.#say('error', { code, message: 'Something went wrong' });
    }
    if (this.has('close-for-good')) this.close(this.numberOf('close-for-good', 4_408), 'The session is over');
  }

  protected override speechStarted(time: number): void {
    if (this.#asked.sendsSpeech) this.#say('speech_start', { time, channel: 0 });
  }

  protected interim(heard: HeardTurnText): void {
    if (this.#asked.sendsPartials) this.#transcript(heard, false);
  }

  protected final(heard: HeardTurnText): void {
    if (this.#asked.sendsSpeech) this.#say('speech_end', { time: heard.end, channel: 0 });
    if (heard.text !== '') this.#transcript(heard, true);
  }

  protected override finished(): void {
    if (this.#asked.sendsLifecycle) this.#say('end_recording', { recording_duration: this.seconds });
    if (this.#asked.sendsLifecycle && !this.has('no-end-session')) this.#say('end_session');
    this.close(1000);
  }

  protected failed(): void {
    this.close(1011, 'Internal error');
  }

  #transcript(heard: HeardTurnText, is_final: boolean): void {
    this.#say('transcript', transcriptData(0, heard.turn, is_final, utteranceOf(heard)));
  }

  #say(type: string, data?: object, more: object = {}): void {
    this.peer.send(message({ id: this.#asked.id, createdAt: '2026-01-01T00:00:00.000Z' }, type, data, more));
  }
}
