// A client of Vercel's AI Gateway that speaks: a start, audio in binary messages, its end; and the parts of the stream that its model
// of transcription gives, with the whole at the end.
import { type ApiError, apiError } from '../../api/errors.ts';
import type { EventStamp, OutgoingEvent, TranscriptEvent } from '../../api/listen-events.ts';
import type { ClientRequest, Conversation, Ending, Handshake, Step } from '../compat/dialect.ts';
import { startOf } from '../compat/live.ts';
import { badRequest, setAll } from '../compat/params.ts';
import { toMilliseconds } from '../compat/transcript.ts';
import { type JsonObject, objectIn, objectOf, textIn } from '../kit/json.ts';
import { endingOf, errorPart } from './errors.ts';
import { spanOf } from './files.ts';
import { requestOf } from './params.ts';

const START = 'transcription-stream.start';
const DONE = 'transcription-stream.audio-done';
const FIRST = `The first message has to be {"type":"${START}","inputAudioFormat":{"type":"audio/pcm","rate":16000}, …}; audio follows it.`;

/** Samples without a container, by their types; the rates that stand for one that is not named. */
const FORMATS: Readonly<Record<string, { encoding: string; rate?: number }>> = {
  'audio/pcm': { encoding: 'linear16' },
  'audio/pcmu': { encoding: 'mulaw', rate: 8_000 },
  'audio/pcma': { encoding: 'alaw', rate: 8_000 },
};

/** Characters of text that are told once more when the stream is finished. */
const WHOLE_CHARACTERS_MAX = 1_048_576;
const TOO_LONG =
  'The transcript is too long to be told once more as a whole: more than a million characters. Every part of it was told as final.';

export class StreamConversation implements Conversation {
  readonly #query: URLSearchParams;
  #isAsked = false;
  #finals: ReturnType<typeof spanOf>[] = [];
  #characters = 0;
  #language: string | undefined;
  /** What went wrong last: clients stop their audio at an `error`, so that it is one only where the session has ended of it. */
  #error: string | undefined;

  constructor({ query }: Handshake) {
    this.#query = query;
  }

  *text(text: string): Iterable<Step> {
    const message = objectOf(text);
    if (!this.#isAsked) yield this.#start(message);
    else if (message.type === DONE) yield { type: 'tell', message: { type: 'close' } };
    // Types that are not known are passed over in both directions.
  }

  *binary(bytes: Uint8Array): Iterable<Step> {
    if (!this.#isAsked) yield { type: 'refuse', refusal: apiError('invalid_request', FIRST) };
    else yield { type: 'audio', bytes };
  }

  encode(event: OutgoingEvent, { at }: EventStamp): readonly string[] {
    switch (event.type) {
      case 'session_started':
        return [
          part('stream-start', { warnings: [] }),
          part('response-metadata', { timestamp: at.toISOString(), modelId: event.model }),
        ];
      case 'transcript':
        return event.is_final ? this.#final(event) : [this.#partial(event)];
      case 'error':
        this.#error = errorPart(event.error.code, event.error.message);
        return [];
      case 'session_ended':
        if (event.reason === 'client_closed') return [this.#finish(event.audio_seconds)];
        return this.#error === undefined ? [] : [this.#error];
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

  #start(message: JsonObject): Step {
    return startOf(() => {
      if (message.type !== START) throw apiError('invalid_request', FIRST, { param: 'type' });
      const request = askedOf(this.#query, message);
      this.#isAsked = true;
      return request;
    });
  }

  #partial({ turn, text, start, end }: TranscriptEvent): string {
    const times = { startSecond: start, durationInSeconds: toMilliseconds(end - start) };
    return part('transcript-partial', { id: String(turn), text, ...times });
  }

  /** A turn without words is told where its partials have to be taken back. */
  #final(heard: TranscriptEvent): string[] {
    const final = spanOf(heard);
    if (heard.text !== '') {
      this.#characters += heard.text.length;
      if (this.#characters <= WHOLE_CHARACTERS_MAX) this.#finals.push(final);
      else this.#finals = [];
      this.#language ??= heard.language;
    }
    return [part('transcript-final', { id: String(heard.turn), ...final })];
  }

  #finish(durationInSeconds: number): string {
    if (this.#characters > WHOLE_CHARACTERS_MAX) return errorPart('internal_error', TOO_LONG);
    const language = this.#language === undefined ? {} : { language: this.#language };
    const text = this.#finals.map((final) => final.text).join(' ');
    return part('finish', { text, segments: this.#finals, ...language, durationInSeconds });
  }
}

const part = (type: string, members: object): string => JSON.stringify({ type, ...members });

function askedOf(query: URLSearchParams, message: JsonObject): ClientRequest {
  const { type, rate } = objectIn(message.inputAudioFormat);
  const named = textIn(type) ?? '';
  const format = Object.hasOwn(FORMATS, named) ? FORMATS[named] : undefined;
  if (format === undefined)
    throw badRequest(
      'inputAudioFormat.type',
      `\`inputAudioFormat.type\` has to be one of ${Object.keys(FORMATS).join(', ')}: live audio is taken without a container.`,
      'unsupported_audio',
    );
  const sampleRate = rate ?? format.rate;
  if (typeof sampleRate !== 'number')
    throw badRequest('inputAudioFormat.rate', '`inputAudioFormat.rate` is missing: name it in hertz.');
  const request = requestOf(query.get('ai-model-id') ?? undefined, objectIn(message.providerOptions), 'live', query);
  const parameters = new Map(request.parameters);
  setAll(parameters, { encoding: format.encoding, sample_rate: String(sampleRate) });
  return { ...request, parameters };
}
