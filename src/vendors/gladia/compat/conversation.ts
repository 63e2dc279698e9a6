// A client on the WebSocket of a live session of Gladia: audio that is acknowledged by its bytes, utterances, and the end.
import type { Refusal } from '../../../api/errors.ts';
import type { EventStamp, OutgoingEvent, TranscriptEvent } from '../../../api/listen-events.ts';
import type { ClientRequest, Conversation, Handshake, Step } from '../../compat/dialect.ts';
import type { SessionName } from '../../compat/jobs.ts';
import { toMilliseconds } from '../../compat/transcript.ts';
import { objectIn, objectOf } from '../../kit/json.ts';
import { audioIn } from '../../kit/simulator/checks.ts';
import type { Asked } from './asked.ts';
import { readAddress } from './init.ts';
import { closeOf } from './refusals.ts';
import { utteranceOf } from './utterances.ts';
import { WholeTranscript } from './whole.ts';

const SHAPE =
  'A text message is {"type":"audio_chunk","data":{"chunk":"<base64>"}} or {"type":"stop_recording"}; audio may be sent in binary messages as well.';

export class LiveConversation implements Conversation {
  readonly request: ClientRequest;
  readonly name: SessionName;
  /** https://docs.gladia.io/api-reference/v2/live/websocket: of a message. */
  readonly textBytesMax = 1_048_576;
  readonly #asked: Asked;
  readonly #id: string;
  /** Of messages: when an event left last, or the session was asked for. */
  #createdAt: string;
  readonly #whole: WholeTranscript | undefined;
  #bytes = 0;
  /** Channels on which somebody speaks. */
  readonly #speaking = new Set<number>();

  constructor(handshake: Handshake) {
    const { id, createdAt, config, asked } = readAddress(handshake);
    this.#id = id;
    this.name = { id, asked: config };
    this.#createdAt = createdAt;
    this.#asked = asked;
    this.request = asked.request;
    if (asked.messages.whole) this.#whole = new WholeTranscript();
  }

  *text(text: string): Iterable<Step> {
    const { type, data } = objectOf(text);
    const chunk = audioIn(objectIn(data).chunk);
    if (type === 'audio_chunk' && chunk !== undefined) yield* this.binary(chunk);
    else if (type === 'stop_recording') {
      if (this.#asked.messages.acknowledgments)
        yield this.#acknowledged(type, { recording_duration: this.#seconds, recording_left_to_process: 0 });
      yield { type: 'tell', message: { type: 'close' } };
    } else yield { type: 'fault', message: SHAPE };
  }

  /** One without audio keeps the connection. */
  *binary(bytes: Uint8Array): Iterable<Step> {
    if (bytes.byteLength > 0) yield { type: 'audio', bytes };
    else yield { type: 'tell', message: { type: 'keepalive' } };
    const [from, start] = [this.#bytes, this.#seconds];
    this.#bytes += bytes.byteLength;
    if (this.#asked.messages.acknowledgments)
      yield this.#acknowledged('audio_chunk', {
        byte_range: [from, this.#bytes],
        time_range: [start, this.#seconds],
      });
  }

  encode(event: OutgoingEvent, { at }: EventStamp): readonly string[] {
    const { messages } = this.#asked;
    this.#createdAt = at.toISOString();
    switch (event.type) {
      case 'session_started':
        return messages.lifecycle ? [this.#said('start_recording')] : [];
      case 'speech_started':
        return this.#speaks(event.start, event.channel);
      case 'transcript':
        return event.is_final ? this.#final(event) : this.#interim(event);
      case 'error':
        return messages.errors ? [this.#said('error', failureOf(event.error))] : [];
      case 'session_ended':
        return this.#ended(event.audio_seconds);
      default:
        return [];
    }
  }

  close(code: number, reason: string): { code: number; reason: string } {
    return closeOf(code, reason);
  }

  refused(refusal: Refusal): { messages: readonly string[]; code: number; reason: string } {
    const { messages } = this.#asked;
    const error = messages.errors ? [this.#said('error', failureOf(refusal))] : [];
    return { messages: error, ...closeOf(refusal.closeCode, refusal.code) };
  }

  get #seconds(): number {
    return this.#bytes / this.#asked.rate;
  }

  #speaks(time: number, channel = 0): string[] {
    if (this.#speaking.has(channel) || !this.#asked.messages.speech) return [];
    this.#speaking.add(channel);
    return [this.#said('speech_start', { time, channel })];
  }

  #interim(heard: TranscriptEvent): string[] {
    return this.#asked.messages.partials ? [...this.#speaks(heard.start, heard.channel), this.#transcript(heard)] : [];
  }

  /** A turn without words is none here. */
  #final(heard: TranscriptEvent): string[] {
    const { speech, finals } = this.#asked.messages;
    const { channel = 0 } = heard;
    const begins = heard.text === '' ? [] : this.#speaks(heard.start, channel);
    const isOver = this.#speaking.delete(channel) && speech;
    const ends = isOver ? [this.#said('speech_end', { time: heard.end, channel })] : [];
    if (heard.text === '') return ends;
    this.#whole?.add(utteranceOf(heard, this.#asked.language));
    return [...begins, ...ends, ...(finals ? [this.#transcript(heard)] : [])];
  }

  #transcript(heard: TranscriptEvent): string {
    const { channel = 0 } = heard;
    const id = `${String(channel).padStart(2, '0')}_${String(heard.turn).padStart(8, '0')}`;
    return this.#said('transcript', {
      id,
      is_final: heard.is_final,
      utterance: utteranceOf(heard, this.#asked.language),
    });
  }

  #ended(seconds: number): string[] {
    const { lifecycle } = this.#asked.messages;
    const metadata = {
      audio_duration: seconds,
      number_of_distinct_channels: this.#asked.channels,
      billing_time: toMilliseconds(seconds * this.#asked.channels),
      transcription_time: seconds,
    };
    return [
      ...(lifecycle ? [this.#said('end_recording', { recording_duration: seconds })] : []),
      ...(this.#whole === undefined
        ? []
        : this.#whole.isCut
          ? [this.#said('error', TOO_LONG)]
          : [this.#said('post_final_transcript', { metadata, transcription: this.#whole.result })]),
      ...(lifecycle ? [this.#said('end_session')] : []),
    ];
  }

  #acknowledged(type: string, data: object): Step {
    return { type: 'say', text: this.#said(type, data, { acknowledged: true, error: null }) };
  }

  #said(type: string, data?: object, more: object = {}): string {
    const head = { session_id: this.#id, created_at: this.#createdAt, type };
    return JSON.stringify({ ...head, ...more, ...(data === undefined ? {} : { data }) });
  }
}

const TOO_LONG = {
  code: 'post_transcript_too_long',
  message: 'The session is too long to be told again as a whole: keep its finals.',
};

const failureOf = ({ code, message }: { code: string; message: string }) => ({ code, message });
