// A client of AssemblyAI's `/v3/ws`: turns that grow and end, and what it says.
import type { ApiError } from '../../../api/errors.ts';
import type { EventStamp, OutgoingEvent, TranscriptEvent } from '../../../api/listen-events.ts';
import type { Change, ClientRequest, Conversation, Ending, Handshake, Step } from '../../compat/dialect.ts';
import { modelFrom } from '../../compat/live.ts';
import { changedOptions } from '../../compat/request.ts';
import { confidenceOf, wordsOf } from '../../compat/transcript.ts';
import { type JsonObject, objectOf } from '../../kit/json.ts';
import { baseOf } from '../api.ts';
import { begin, letterOf, speechStarted, termination, turnMessage } from '../messages.ts';
import { closeOf, endingOf, errorMessage } from './errors.ts';
import { streamRequest, unservedIn, updated } from './params.ts';

export class StreamingConversation implements Conversation {
  readonly request: ClientRequest;
  readonly #tellsSpeakers: boolean;
  #startedMs: number | undefined;
  /** As it was changed last. */
  #asked: ClientRequest;
  /** That hears by now. */
  #model = '';

  constructor({ query }: Handshake) {
    this.request = streamRequest(query);
    this.#asked = this.request;
    this.#tellsSpeakers = this.request.parameters.get('diarization') === 'true';
  }

  *text(text: string): Iterable<Step> {
    const message = objectOf(text);
    const { type } = message;
    if (type === 'ForceEndpoint') yield { type: 'tell', message: { type: 'finalize' } };
    else if (type === 'Terminate') yield { type: 'tell', message: { type: 'close' } };
    else if (type === 'KeepAlive') yield { type: 'tell', message: { type: 'keepalive' } };
    else if (type === 'UpdateConfiguration') yield { type: 'change', change: this.#update(message) };
    else
      yield {
        type: 'fault',
        message:
          'A text message is {"type":"UpdateConfiguration", …}, {"type":"ForceEndpoint"}, {"type":"KeepAlive"} or {"type":"Terminate"}; audio is sent in binary messages.',
      };
  }

  *binary(bytes: Uint8Array): Iterable<Step> {
    yield { type: 'audio', bytes };
  }

  encode(event: OutgoingEvent, { sessionId, at }: EventStamp): readonly string[] {
    this.#model = modelFrom(event) ?? this.#model;
    switch (event.type) {
      case 'session_started': {
        this.#startedMs = at.getTime();
        return [said(begin(sessionId, at.getTime(), event.limits.session_seconds, event.model))];
      }
      case 'speech_started':
        return [said(speechStarted(millisecondsOf(event.start)))];
      case 'transcript':
        return [said(this.#turn(event))];
      case 'error':
        return [errorMessage(event.error.code, event.error.message)];
      case 'session_ended':
        return event.reason === 'client_closed'
          ? [said(termination(event.audio_seconds, at.getTime() - (this.#startedMs ?? at.getTime())))]
          : [];
      default:
        return [];
    }
  }

  close(code: number, reason: string): { code: number; reason: string } {
    return closeOf(code, reason);
  }

  refused(refusal: ApiError): Ending {
    return endingOf(refusal);
  }

  /** AssemblyAI says nothing of what is changed; what is not is told. */
  #update(message: JsonObject): Change {
    let before = this.#asked;
    let after = before;
    return {
      request: () => {
        before = this.#asked;
        after = updated(before, message);
        return after;
      },
      taken: () => {
        this.#asked = after;
      },
      inForce: () => {
        const unserved = unservedIn(message);
        const others = this.#model.startsWith('assemblyai/') ? [] : changedOptions(before, after);
        return [
          ...(unserved.length === 0 ? [] : [warning(`${unserved.join(', ')}: cannot be changed here.`)]),
          ...(others.length === 0
            ? []
            : [warning(`${others.join(', ')}: for AssemblyAI's own models, and ${this.#model} hears.`)]),
        ];
      },
      refused: (refusal) => [warning(refusal.message)],
    };
  }

  /** The end of a turn is told once, and as formatted: clients that asked for `format_turns` wait for that, and others do not mind. */
  #turn(heard: TranscriptEvent): object {
    const { turn, is_final, text, language } = heard;
    const words = toldWords(heard).map((word) => ({ ...word, word_is_final: is_final }));
    const told = this.#tellsSpeakers ? words : words.map(({ speaker: _, ...word }) => word);
    const state = { isEnd: is_final, isFormatted: is_final, endConfidence: is_final ? 1 : 0 };
    return turnMessage(turn, text, told, state, {
      ...(this.#tellsSpeakers ? { speaker_label: letterOf(heard.speaker) ?? 'UNKNOWN' } : {}),
      ...(language === undefined ? {} : { language_code: baseOf(language) }),
    });
  }
}

/** Clients read text out of words. */
export const toldWords = (heard: Parameters<typeof wordsOf>[0] & Pick<TranscriptEvent, 'speaker' | 'confidence'>) =>
  wordsOf(heard).map(({ word, start, end, confidence, speaker }) => ({
    text: word,
    start: millisecondsOf(start),
    end: millisecondsOf(end),
    confidence: confidence ?? confidenceOf(heard),
    speaker: letterOf(speaker ?? heard.speaker) ?? null,
  }));

export const millisecondsOf = (seconds: number): number => Math.round(seconds * 1_000);

const said = (message: object): string => JSON.stringify(message);

const warning = (text: string): string => said({ type: 'Warning', warning_code: 3006, warning: text });
