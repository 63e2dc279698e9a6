// A live session of a client of Gladia: `POST /v2/live` requests it and returns the address of its WebSocket, which carries audio that is
// acknowledged by its bytes, utterances, and the end. The address carries the configuration, so that any node can serve it, and a client
// token for the key that is not in it.
import type { ApiError } from '../../../api/errors.ts';
import type { EventStamp, OutgoingEvent, TranscriptEvent } from '../../../api/listen-events.ts';
import type { Call, ClientRequest, Conversation, Handshake, Step } from '../../compat/dialect.ts';
import type { SessionName } from '../../compat/jobs.ts';
import { badRequest, carried } from '../../compat/params.ts';
import { confidenceOf, toMilliseconds } from '../../compat/transcript.ts';
import { type JsonObject, objectIn, objectOf } from '../../kit/json.ts';
import { audioIn } from '../../kit/simulator/checks.ts';
import {
  ACKNOWLEDGED,
  chunkData,
  message,
  metadataMessage,
  stopData,
  transcriptData,
  transcriptionMessage,
  utteranceMessage,
} from '../messages.ts';
import { closeOf } from './errors.ts';
import { type Asked, liveRequest } from './params.ts';

const SHAPE =
  'A text message is {"type":"audio_chunk","data":{"chunk":"<base64>"}} or {"type":"stop_recording"}; audio may be sent in binary messages as well.';

export class LiveConversation implements Conversation {
  readonly request: ClientRequest;
  readonly name: SessionName;
  /** https://docs.gladia.io/api-reference/v2/live/websocket: of a message. */
  readonly textBytesMax = 1_048_576;
  readonly #asked: Asked;
  readonly #id: string;
  /** Of messages: when an event left last, or the session was requested. */
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
      if (this.#asked.messages.acknowledgments) yield this.#acknowledged(type, stopData(this.#seconds));
      yield { type: 'tell', message: { type: 'close' } };
    } else yield { type: 'fault', message: SHAPE };
  }

  /** One without audio keeps the connection. */
  *binary(bytes: Uint8Array): Iterable<Step> {
    if (bytes.byteLength > 0) yield { type: 'audio', bytes };
    else yield { type: 'tell', message: { type: 'keepalive' } };
    const from = this.#bytes;
    this.#bytes += bytes.byteLength;
    if (this.#asked.messages.acknowledgments)
      yield this.#acknowledged('audio_chunk', chunkData(from, this.#bytes, this.#asked.rate));
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

  refused(refusal: ApiError): { messages: readonly string[]; code: number; reason: string } {
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
    const utterance = utteranceOf(heard, this.#asked.language);
    return this.#said('transcript', transcriptData(heard.channel ?? 0, heard.turn, heard.is_final, utterance));
  }

  #ended(seconds: number): string[] {
    const { lifecycle } = this.#asked.messages;
    const { channels } = this.#asked;
    const metadata = metadataMessage(seconds, channels, toMilliseconds(seconds * channels), seconds);
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
    return { type: 'say', text: this.#said(type, data, ACKNOWLEDGED) };
  }

  #said(type: string, data?: object, more: object = {}): string {
    return JSON.stringify(message({ id: this.#id, createdAt: this.#createdAt }, type, data, more));
  }
}

const TOO_LONG = {
  code: 'post_transcript_too_long',
  message: 'The session is too long to be told again as a whole: keep its finals.',
};

const failureOf = ({ code, message }: { code: string; message: string }) => ({ code, message });

const TOO_LARGE = {
  what: 'The configuration',
  advice: 'it stands in the address of the WebSocket. Name fewer words.',
};

export const init: Call = {
  open({ query, requestId }: Handshake, body: unknown) {
    // Nobody here looks at metadata.
    const { custom_metadata: _, ...config } = objectIn(body);
    const { request } = liveRequest(query, config);
    const configuration = carried(config, 'realtime_processing', TOO_LARGE);
    return {
      request,
      answer({ mint, socketUrl, at }) {
        const address = new URLSearchParams(query);
        address.set('id', requestId);
        address.set('created_at', at.toISOString());
        address.set('configuration', configuration);
        address.set('token', mint());
        const answer = { id: requestId, created_at: at.toISOString(), url: `${socketUrl('/v2/live')}?${address}` };
        return { status: 201, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(answer) };
      },
    };
  },
};

/** What the address of a WebSocket says. Throws an ApiError. */
function readAddress({ query, requestId }: Handshake): {
  id: string;
  createdAt: string;
  config: JsonObject;
  asked: Asked;
} {
  const encoded = query.get('configuration');
  if (encoded === null)
    throw badRequest('configuration', 'Ask for the session by POST /v2/live, and connect to the `url` of its answer.');
  const config: JsonObject = objectOf(Buffer.from(encoded, 'base64url').toString());
  const [id, createdAt] = [query.get('id') ?? requestId, query.get('created_at') ?? ''];
  return { id, createdAt, config, asked: liveRequest(query, config) };
}

/** Characters of JSON that are kept of one session; what comes after is not told again. */
export const WHOLE_CHARACTERS_MAX = 1_048_576;

/** The utterances of a session, for clients that want all of them at its end. */
export class WholeTranscript {
  #characters = 0;
  readonly #utterances: { text: string; json: string; language: string }[] = [];
  /** Not all of it is here. */
  isCut = false;

  add(utterance: { text: string; language: string }): void {
    const json = JSON.stringify(utterance);
    this.#characters += json.length;
    this.isCut ||= this.#characters > WHOLE_CHARACTERS_MAX;
    if (!this.isCut) this.#utterances.push({ text: utterance.text, json, language: utterance.language });
  }

  get result(): object {
    const told = transcriptionMessage(this.#utterances.map(({ text }) => text).join(' '), this.#utterances);
    return { ...told, utterances: this.#utterances.map(({ json }) => JSON.parse(json)) };
  }
}

type Heard = Pick<
  TranscriptEvent,
  'text' | 'start' | 'end' | 'words' | 'speaker' | 'language' | 'confidence' | 'channel'
>;

/** A turn as an utterance, live and of files. @param asked the language, where the model gives none */
export const utteranceOf = (heard: Heard, asked: string) =>
  utteranceMessage(
    { text: heard.text, start: heard.start, end: heard.end, language: heard.language ?? asked },
    confidenceOf(heard),
    heard.channel ?? 0,
    heard.words ?? [],
    heard.speaker,
  );
