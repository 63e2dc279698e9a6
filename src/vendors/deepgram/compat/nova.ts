// A client of Deepgram's `/v1/listen`: windows of text, ends of speech, and what it says.
import type { ApiError } from '../../../api/errors.ts';
import { CHANNELS } from '../../../api/listen.ts';
import type { EventStamp, OutgoingEvent, TranscriptEvent } from '../../../api/listen-events.ts';
import type { ClientRequest, Conversation, Handshake, Step } from '../../compat/dialect.ts';
import { FinalizeRequests, modelFrom } from '../../compat/live.ts';
import { toMilliseconds, wordsOf } from '../../compat/transcript.ts';
import { objectOf } from '../../kit/json.ts';
import { metadataOf, resultsMessage, speechStarted, utteranceEnd } from '../messages.ts';
import { closeOf } from './errors.ts';
import { alternativeIn } from './files.ts';
import { novaRequest, plainQuery } from './params.ts';

type Told = Omit<TranscriptEvent, 'type' | 'turn' | 'is_final' | 'seq' | 'at'>;

export class NovaConversation implements Conversation {
  readonly request: ClientRequest;
  readonly #requestId: string;
  readonly #tellsSpeech: boolean;
  readonly #tellsUtterances: boolean;
  readonly #isMulti: boolean;
  #model = '';
  readonly #channels: number;
  /** Where the last final window ended, of each channel. */
  readonly #settledSeconds: number[] = [];
  readonly #ends = new FinalizeRequests((end, channel) => {
    const settled = this.#settledSeconds[channel] ?? 0;
    return [this.#settled({ text: '', start: settled, end: end ?? settled, channel, model: this.#model }, true)];
  });

  constructor({ query: said, requestId }: Handshake) {
    const query = plainQuery(said);
    this.request = novaRequest(query);
    this.#ends.begin(this.request);
    this.#requestId = requestId;
    this.#tellsSpeech = query.get('vad_events') === 'true';
    this.#tellsUtterances = query.has('utterance_end_ms');
    this.#isMulti = query.get('language') === 'multi';
    this.#channels = Number(this.request.parameters.get('channels') ?? 1);
  }

  *text(text: string): Iterable<Step> {
    const { type } = objectOf(text);
    if (type === 'KeepAlive') yield { type: 'tell', message: { type: 'keepalive' } };
    else if (type === 'CloseStream') yield { type: 'tell', message: { type: 'close' } };
    else if (type === 'Finalize') yield* this.#ends.ask(Math.min(this.#channels, CHANNELS.max));
    else
      yield {
        type: 'fault',
        message:
          'A text message is {"type":"Finalize"}, {"type":"CloseStream"} or {"type":"KeepAlive"}; audio is sent in binary messages.',
      };
  }

  /** An empty message ends the stream. */
  *binary(bytes: Uint8Array): Iterable<Step> {
    if (bytes.byteLength > 0) yield this.#ends.audio(bytes);
    else yield { type: 'tell', message: { type: 'close' } };
  }

  encode(event: OutgoingEvent, { at }: EventStamp): readonly string[] {
    this.#model = modelFrom(event) ?? this.#model;
    switch (event.type) {
      case 'speech_started':
        return this.#tellsSpeech ? [said(speechStarted(this.#indexOf(event), event.start))] : [];
      case 'transcript':
        return [
          ...this.#ends.before(event),
          ...(event.is_final ? this.#final(event) : [said(this.#results(event, {}))]),
        ];
      case 'error': {
        const { code, message } = event.error;
        return [said({ type: 'Error', variant: code, description: message, message })];
      }
      case 'session_ended':
        return [said({ type: 'Metadata', ...metadataOf(this.#requestId, at, event.audio_seconds, this.#channels) })];
      default:
        return [];
    }
  }

  close(code: number, reason: string): { code: number; reason: string } {
    return closeOf(code, reason);
  }

  refused(refusal: ApiError): { messages: readonly string[]; code: number; reason: string } {
    return { messages: [], ...closeOf(refusal.closeCode, refusal.code) };
  }

  #indexOf({ channel = 0 }: { channel?: number }): [number, number] {
    return [channel, this.#channels];
  }

  #final(event: TranscriptEvent): string[] {
    const results = this.#settled(event, this.#ends.take(event));
    if (!this.#tellsUtterances || event.text === '') return [results];
    const lastWordEnd = event.words?.at(-1)?.end ?? event.end;
    return [results, said(utteranceEnd(this.#indexOf(event), lastWordEnd))];
  }

  #settled(event: Told, from_finalize: boolean): string {
    const { channel = 0, end } = event;
    const results = said(this.#results(event, { is_final: true, speech_final: true, from_finalize }));
    this.#settledSeconds[channel] = Math.max(this.#settledSeconds[channel] ?? 0, end);
    return results;
  }

  #results(event: Told, flags: object): object {
    const settledSeconds = this.#settledSeconds[event.channel ?? 0] ?? 0;
    const languages = this.#isMulti && event.language !== undefined ? { languages: [event.language] } : {};
    return resultsMessage(
      { requestId: this.#requestId, name: event.model, arch: this.#model },
      this.#indexOf(event),
      { start: settledSeconds, duration: toMilliseconds(Math.max(0, event.end - settledSeconds)) },
      flags,
      { ...alternativeIn({ ...event, words: wordsOf(event) }), ...languages },
    );
  }
}

const said = (message: object): string => JSON.stringify(message);
