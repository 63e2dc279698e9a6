// A client of LiveKit Inference's speech recognition: one message creates the session, audio follows as base64, and an agent that
// listens is told when speech begins, when it may be over, and what was said. https://docs.livekit.io/agents/models/stt/

import { ERROR_CATALOGUE, type ErrorCode } from '../../api/error-catalogue.ts';
import { type ApiError, apiError } from '../../api/errors.ts';
import type { EventStamp, OutgoingEvent, TranscriptEvent } from '../../api/listen-events.ts';
import type { Change, Conversation, Ending, Handshake, Step } from '../compat/dialect.ts';
import { FinalizeRequests, startOf } from '../compat/live.ts';
import { confidenceOf, toMilliseconds } from '../compat/transcript.ts';
import { type JsonObject, objectIn, objectOf } from '../kit/json.ts';
import { audioIn } from '../kit/simulator/checks.ts';
import { askedOfCreate, updated } from './params.ts';

const SHAPE =
  'A message is {"type":"input_audio","audio":"<base64>"}, {"type":"session.update","settings":{…}}, {"type":"session.finalize"} or {"type":"session.close"}.';
const FIRST = 'The first message has to be {"type":"session.create","settings":{"sample_rate":"16000", …}}.';
const TOO_MUCH = 'An update has 64 KiB of settings at most, and all of a session 1 MiB. Nothing was changed.';
const TEXTS = 'Messages are JSON texts here: send audio as base64 in `input_audio`.';

type Said = Pick<TranscriptEvent, 'text' | 'start' | 'end'> &
  Partial<Pick<TranscriptEvent, 'language' | 'confidence' | 'speaker' | 'words'>>;

const UPDATE_CHARACTERS_MAX = 65_536;
/** What creates a session may be as large as any message. Its updates may not make it larger than that. */
const CREATED_CHARACTERS_MAX = 1_048_576;

export class SttConversation implements Conversation {
  readonly textBytesMax = CREATED_CHARACTERS_MAX;
  readonly #query: URLSearchParams;
  /** The message that has created the session, as it was updated since. */
  #created: JsonObject | undefined;
  readonly #ends = new FinalizeRequests(() => [FINALIZED]);
  /** The client was told that somebody speaks. */
  #isSpeaking = false;
  /** What went wrong last. Clients end with an `error`, so that it is one only where the session has ended of it. */
  #error: string | undefined;

  constructor({ query }: Handshake) {
    this.#query = query;
  }

  *text(text: string): Iterable<Step> {
    const message = objectOf(text);
    const audio = message.type === 'input_audio' ? audioIn(message.audio) : undefined;
    if (this.#created === undefined) yield this.#create(message);
    else if (audio !== undefined)
      yield audio.byteLength > 0 ? this.#ends.audio(audio) : { type: 'tell', message: { type: 'keepalive' } };
    else if (message.type === 'session.finalize') yield* this.#ends.ask();
    else if (message.type === 'session.close') yield { type: 'tell', message: { type: 'close' } };
    else if (message.type === 'session.update') yield this.#update(this.#created, objectIn(message.settings));
    else yield { type: 'fault', message: SHAPE };
  }

  *binary(): Iterable<Step> {
    yield { type: 'fault', message: TEXTS };
  }

  encode(event: OutgoingEvent, { sessionId }: EventStamp): readonly string[] {
    switch (event.type) {
      case 'session_started':
        return [said('session.created', { session_id: sessionId })];
      case 'speech_started':
        return this.#begin();
      case 'turn_eager_end':
        return [transcript('preflight_transcript', sessionId, event)];
      case 'transcript':
        return [
          ...this.#ends.before(event),
          ...(event.is_final ? this.#final(event, sessionId) : this.#interim(event, sessionId)),
        ];
      case 'warning':
        return [said('warning', { code: event.code, message: event.message })];
      case 'error':
        this.#error = JSON.stringify(errorOf(event.error.code, event.error.message));
        return [said('warning', { code: event.error.code, message: event.error.message })];
      case 'session_ended':
        // Nothing behind the client's own `session.close`: LiveKit's does not wait for more, and breaks if more comes.
        return event.reason === 'client_closed' || this.#error === undefined ? [] : [this.#error];
      default:
        return [];
    }
  }

  close(code: number, reason: string): { code: number; reason: string } {
    return { code, reason };
  }

  refused(refusal: ApiError): Ending {
    return endingOf(refusal);
  }

  #create(message: JsonObject): Step {
    return startOf(() => {
      if (message.type !== 'session.create') throw apiError('invalid_request', FIRST, { param: 'type' });
      const request = askedOfCreate(this.#query, message);
      this.#created = message;
      this.#ends.begin(request);
      return request;
    });
  }

  #update(created: JsonObject, settings: JsonObject): Step {
    if (JSON.stringify(settings).length > UPDATE_CHARACTERS_MAX) return { type: 'fault', message: TOO_MUCH };
    let after = created;
    const change: Change = {
      request: () => {
        after = updated(this.#created ?? created, settings);
        if (JSON.stringify(after).length > CREATED_CHARACTERS_MAX) throw apiError('invalid_request', TOO_MUCH);
        return askedOfCreate(this.#query, after);
      },
      taken: () => {
        this.#created = after;
      },
      inForce: () => [],
      refused: ({ code, message }) => [said('warning', { code, message })],
    };
    return { type: 'change', change };
  }

  #begin(): string[] {
    if (this.#isSpeaking) return [];
    this.#isSpeaking = true;
    return [said('start_of_speech')];
  }

  #interim(heard: TranscriptEvent, sessionId: string): string[] {
    if (heard.text === '') return [];
    return [...this.#begin(), transcript('interim_transcript', sessionId, heard)];
  }

  /** A turn without words is told only where speech was, which has to end. */
  #final(heard: TranscriptEvent, sessionId: string): string[] {
    const isTold = heard.text !== '' || this.#isSpeaking;
    this.#isSpeaking = false;
    return [
      ...(isTold ? [transcript('final_transcript', sessionId, heard)] : []),
      ...(this.#ends.take(heard) ? [FINALIZED] : []),
    ];
  }
}

const said = (type: string, members: object = {}): string => JSON.stringify({ type, ...members });

const FINALIZED = said('session.finalized');

const transcript = (type: string, session_id: string, heard: Said): string =>
  said(type, {
    session_id,
    transcript: heard.text,
    ...(heard.language === undefined ? {} : { language: heard.language }),
    start: heard.start,
    duration: toMilliseconds(heard.end - heard.start),
    confidence: confidenceOf(heard),
    words: (heard.words ?? []).map(({ word, start, end, confidence = 1, speaker = heard.speaker }) => ({
      ...{ word, start, end, confidence },
      ...speakerOf(speaker),
    })),
    ...speakerOf(heard.speaker),
  });

const speakerOf = (speaker: number | undefined) => (speaker === undefined ? {} : { speaker_id: `S${speaker}` });

/** Of a session whose client has fallen silent: it is not opened again on its own. */
const INACTIVE = 2007;

export const errorOf = (code: string, message: string) => ({ type: 'error', message, code: numberOf(code) });

export const endingOf = ({ code, message, closeCode }: ApiError): Ending => ({
  messages: [JSON.stringify(errorOf(code, message))],
  code: closeCode,
  reason: code,
});

function numberOf(code: string): number {
  if (code === 'session_idle') return INACTIVE;
  const row = Object.hasOwn(ERROR_CATALOGUE, code) ? ERROR_CATALOGUE[code as ErrorCode] : undefined;
  return row === undefined ? 500 : (row.status ?? 400);
}
