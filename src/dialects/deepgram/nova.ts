// A client of Deepgram's `/v1/listen`: windows of text, ends of speech, and what it says.
import type { Refusal } from '../../api/errors.ts';
import type { EventStamp } from '../../api/listen/event-encoder.ts';
import type { OutgoingEvent, TranscriptEvent } from '../../api/listen.ts';
import { objectOf } from '../../providers/kit/json.ts';
import type { Conversation, Handshake, Step, Wish } from '../dialect.ts';
import { askedOfNova } from './asked.ts';
import { closeOf } from './refusals.ts';
import { alternativeOf, metadataOf } from './shapes.ts';

const CHANNEL = [0, 1];

export class NovaConversation implements Conversation {
  readonly wish: Wish;
  readonly #requestId: string;
  readonly #tellsSpeech: boolean;
  readonly #tellsUtterances: boolean;
  readonly #isMulti: boolean;
  #model = '';
  /** Where the last final window ended. */
  #settledSeconds = 0;
  /** The client has ended the turn that is open. */
  #isFlushing = false;

  constructor({ query, requestId }: Handshake) {
    this.wish = askedOfNova(query);
    this.#requestId = requestId;
    this.#tellsSpeech = query.get('vad_events') === 'true';
    this.#tellsUtterances = query.has('utterance_end_ms');
    this.#isMulti = query.get('language') === 'multi';
  }

  *text(text: string): Iterable<Step> {
    const { type } = objectOf(text);
    if (type === 'KeepAlive') yield { type: 'tell', message: { type: 'keepalive' } };
    else if (type === 'CloseStream') yield { type: 'tell', message: { type: 'close' } };
    else if (type === 'Finalize') {
      this.#isFlushing = true;
      yield { type: 'tell', message: { type: 'finalize' } };
    } else
      yield {
        type: 'fault',
        message:
          'A text message is {"type":"Finalize"}, {"type":"CloseStream"} or {"type":"KeepAlive"}; audio is sent in binary messages.',
      };
  }

  /** An empty message ends the stream. */
  *binary(bytes: Uint8Array): Iterable<Step> {
    if (bytes.byteLength > 0) yield { type: 'audio', bytes };
    else yield { type: 'tell', message: { type: 'close' } };
  }

  encode(event: OutgoingEvent, { at }: EventStamp): readonly string[] {
    switch (event.type) {
      case 'session_started':
        this.#model = event.model;
        return [];
      case 'speech_started':
        return this.#tellsSpeech ? [said({ type: 'SpeechStarted', channel: CHANNEL, timestamp: event.start })] : [];
      case 'transcript':
        return event.is_final ? this.#final(event) : [said(this.#results(event, {}))];
      case 'failover':
        this.#model = event.to;
        return [];
      case 'error': {
        const { code, message } = event.error;
        return [said({ type: 'Error', variant: code, description: message, message })];
      }
      case 'session_ended':
        return [said({ type: 'Metadata', ...metadataOf(this.#requestId, at, event.audio_seconds) })];
      default:
        return [];
    }
  }

  close(code: number, reason: string): { code: number; reason: string } {
    return closeOf(code, reason);
  }

  refused(refusal: Refusal): { messages: readonly string[]; code: number; reason: string } {
    return { messages: [], ...closeOf(refusal.closeCode, refusal.code) };
  }

  #final(event: TranscriptEvent): string[] {
    const isFlush = this.#isFlushing;
    this.#isFlushing = false;
    const results = said(this.#results(event, { is_final: true, speech_final: true, from_finalize: isFlush }));
    this.#settledSeconds = Math.max(this.#settledSeconds, event.end);
    if (!this.#tellsUtterances || event.text === '') return [results];
    const lastWordEnd = event.words?.at(-1)?.end ?? event.end;
    return [results, said({ type: 'UtteranceEnd', channel: CHANNEL, last_word_end: lastWordEnd })];
  }

  #results(event: TranscriptEvent, flags: object): object {
    const languages = this.#isMulti && event.language !== undefined ? { languages: [event.language] } : {};
    return {
      type: 'Results',
      channel_index: CHANNEL,
      start: this.#settledSeconds,
      duration: Math.max(0, event.end - this.#settledSeconds),
      is_final: false,
      speech_final: false,
      from_finalize: false,
      ...flags,
      channel: { alternatives: [{ ...alternativeOf(event), ...languages }] },
      metadata: {
        request_id: this.#requestId,
        model_uuid: event.model,
        model_info: { name: event.model, version: '', arch: this.#model },
      },
    };
  }
}

const said = (message: object): string => JSON.stringify(message);
