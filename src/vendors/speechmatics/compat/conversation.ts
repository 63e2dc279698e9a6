// A client of Speechmatics' realtime WebSocket: `StartRecognition`, audio that is confirmed message by message, and finals that are
// put one behind the other.
import { type ApiError, apiError } from '../../../api/errors.ts';
import type { EventStamp, OutgoingEvent, TranscriptEvent } from '../../../api/listen-events.ts';
import type { Change, Conversation, Handshake, Step } from '../../compat/dialect.ts';
import { FinalizeRequests, FloatSamples, modelFrom, startOf } from '../../compat/live.ts';
import { changedOptions } from '../../compat/request.ts';
import { wordsOf } from '../../compat/transcript.ts';
import { type JsonObject, objectIn, objectOf } from '../../kit/json.ts';
import {
  endOfUtterance,
  errorMessage,
  type Results,
  recognitionStarted,
  resultsOf,
  transcriptMessage,
  warningMessage,
} from '../messages.ts';
import { closeOf, errorType } from './errors.ts';
import { type Asked, changedConfig, liveRequest, unchangeableIn } from './params.ts';

/** Parts of the start that nobody serves here. */
const UNSERVED = ['translation_config', 'audio_events_config'];
const SHAPE =
  'A text message is StartRecognition, ForceEndOfUtterance, SetRecognitionConfig, GetSpeakers or EndOfStream; audio is sent in binary messages.';
const STAYS = 'cannot be changed while the session is open, and stays as it is. Open a new session.';
const FIRST = 'The first message has to be {"message":"StartRecognition", …}; audio is sent behind RecognitionStarted.';

export class RealtimeConversation implements Conversation {
  readonly #query: URLSearchParams;
  /** As its client is told. */
  #asked: Asked | undefined;
  /** What was requested at the beginning, and how it was changed last. */
  #config: JsonObject = {};
  /** Its models were asked for interims: partials can be told. */
  #hasInterims = false;
  /** That hears by now. */
  #model = '';
  #floats: FloatSamples | undefined;
  #warnings: string[] = [];
  /** Messages of audio. */
  #added = 0;
  readonly #ends = new FinalizeRequests((seconds = 0) => [said(endOfUtterance(seconds, FORCED))]);

  constructor({ query }: Handshake) {
    this.#query = query;
  }

  *text(text: string): Iterable<Step> {
    const message = objectOf(text);
    if (this.#asked === undefined) yield this.#start(message);
    else if (message.message === 'EndOfStream') yield { type: 'tell', message: { type: 'close' } };
    else if (message.message === 'ForceEndOfUtterance') yield* this.#ends.ask();
    else if (message.message === 'GetSpeakers') yield say({ message: 'SpeakersResult', speakers: [] });
    else if (message.message === 'SetRecognitionConfig') yield { type: 'change', change: this.#change(message) };
    else yield { type: 'fault', message: SHAPE };
  }

  *binary(bytes: Uint8Array, isPart = false): Iterable<Step> {
    if (this.#asked === undefined) {
      yield { type: 'refuse', refusal: apiError('invalid_request', FIRST) };
      return;
    }
    yield this.#ends.audio(this.#floats?.take(bytes) ?? bytes);
    if (!isPart) yield say({ message: 'AudioAdded', seq_no: ++this.#added });
  }

  encode(event: OutgoingEvent, { sessionId }: EventStamp): readonly string[] {
    this.#model = modelFrom(event) ?? this.#model;
    switch (event.type) {
      case 'session_started':
        return [said(recognitionStarted(sessionId, '', this.#delimiter)), ...this.#warnings.splice(0)];
      case 'transcript':
        return [...this.#ends.before(event), ...(event.is_final ? this.#final(event) : this.#interim(event))];
      case 'warning':
        return [warning(event.code, event.message)];
      case 'discontinuity': {
        const { from, to, reason } = event;
        return [warning('discontinuity', `No transcript comes of the audio from ${from} s to ${to} s: ${reason}.`)];
      }
      case 'error': {
        const { code, message } = event.error;
        // Clients end with an `Error`; the session continues behind a message that was not understood.
        if (code === 'invalid_request') return [warning('invalid_message', message)];
        return [said(errorMessage(errorType(code as ApiError['code']), message))];
      }
      case 'session_ended':
        return event.reason === 'client_closed' ? [said({ message: 'EndOfTranscript' })] : [];
      default:
        return [];
    }
  }

  close(code: number, reason: string): { code: number; reason: string } {
    return closeOf(code, reason);
  }

  refused(refusal: ApiError): { messages: readonly string[]; code: number; reason: string } {
    const error = errorMessage(errorType(refusal.code), refusal.message);
    return { messages: [said(error)], ...closeOf(refusal.closeCode, refusal.code) };
  }

  #start(message: JsonObject): Step {
    return startOf(() => {
      if (message.message !== 'StartRecognition') throw apiError('invalid_request', FIRST, { param: 'message' });
      const asked = liveRequest(this.#query, message);
      this.#asked = asked;
      this.#config = { audio_format: message.audio_format, transcription_config: message.transcription_config };
      this.#hasInterims = asked.partials;
      this.#ends.begin(asked.request);
      if (asked.isFloat) this.#floats = new FloatSamples();
      this.#warnings = UNSERVED.filter((name) => Object.keys(objectIn(message[name])).length > 0).map((name) =>
        warning('unsupported_config', `\`${name}\` is not served: transcripts alone are told. Leave it out.`),
      );
      return asked.request;
    });
  }

  #change(message: JsonObject): Change {
    let config = this.#config;
    let after = this.#asked as Asked;
    let owns: string[] = [];
    return {
      request: () => {
        config = changedConfig(this.#config, message);
        after = liveRequest(this.#query, config);
        owns = changedOptions(liveRequest(this.#query, this.#config).request, after.request);
        return after.request;
      },
      taken: () => {
        this.#config = config;
      },
      inForce: () => {
        const isOn = after.partials && !this.#hasInterims;
        this.#asked = { ...after, partials: after.partials && this.#hasInterims };
        const kept = [...unchangeableIn(message), ...(isOn ? ['enable_partials'] : [])];
        const others = this.#model.startsWith('speechmatics/') ? [] : owns;
        return [
          ...(kept.length === 0 ? [] : [warning('unsupported_config', `${kept.join(', ')}: ${STAYS}`)]),
          ...(others.length === 0
            ? []
            : [
                warning(
                  'unsupported_config',
                  `${others.join(', ')}: for Speechmatics' models, and ${this.#model} hears.`,
                ),
              ]),
        ];
      },
      // Clients end with an `Error`; the session continues as it was.
      refused: (refusal) => [warning('unsupported_config', refusal.message)],
    };
  }

  get #delimiter(): string {
    return this.#asked?.delimiter ?? ' ';
  }

  #interim(heard: TranscriptEvent): string[] {
    return this.#asked?.partials === true ? [said(this.#transcript('AddPartialTranscript', heard))] : [];
  }

  /** A turn without words is none here, but its end is told to who has asked for it. */
  #final(heard: TranscriptEvent): string[] {
    const isForced = this.#ends.take(heard);
    const forced = isForced ? FORCED : {};
    const isTold = heard.text !== '';
    const tellsEnd = isForced || (isTold && this.#asked?.utterances === true);
    return [
      ...(isTold ? [said(this.#transcript('AddTranscript', heard, forced))] : []),
      ...(tellsEnd ? [said(endOfUtterance(heard.end, forced))] : []),
    ];
  }

  /** Clients put the texts of finals together as they are. */
  #transcript(type: string, heard: TranscriptEvent, more: object = {}): object {
    return transcriptMessage(type, heard, heard.text + this.#delimiter, heardResults(heard), more);
  }
}

type Heard = Pick<TranscriptEvent, 'text' | 'start' | 'end' | 'words' | 'speaker' | 'language' | 'confidence'>;

/** What was heard of a turn. Words without a confidence or a speaker have those of the turn. */
export const heardResults = (heard: Heard): Results =>
  resultsOf(
    wordsOf(heard).map(({ confidence = heard.confidence ?? 1, speaker = heard.speaker, ...word }) => ({
      ...word,
      confidence,
      ...(speaker === undefined ? {} : { speaker }),
    })),
    heard.language,
  );

const said = (message: object): string => JSON.stringify(message);
const say = (message: object): Step => ({ type: 'say', text: said(message) });
const warning = (type: string, reason: string): string => said(warningMessage(type, reason));

const FORCED = { forced: true };
