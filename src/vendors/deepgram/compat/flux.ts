// A client of Deepgram's `/v2/listen` (Flux): its turns, its messages, and what a `Configure` changes.
import { type TSchema, Type } from '@sinclair/typebox';
import type { ApiError } from '../../../api/errors.ts';
import type { OutgoingEvent, TranscriptEvent } from '../../../api/listen-events.ts';
import type { Change, ClientRequest, Conversation, Handshake, Step } from '../../compat/dialect.ts';
import { modelFrom } from '../../compat/live.ts';
import { badRequest, withFlagsAt } from '../../compat/params.ts';
import { wordsOf } from '../../compat/transcript.ts';
import { type JsonObject, jsonOf, listIn, objectIn, objectOf } from '../../kit/json.ts';
import { faultIn, members } from '../../kit/simulator/checks.ts';
import { numbered, turnInfo } from '../messages.ts';
import { isFlux } from '../models.ts';
import { options } from '../options.ts';
import { fluxRequest, plainQuery } from './params.ts';

type Turn = Pick<TranscriptEvent, 'text' | 'start' | 'end' | 'words' | 'language'>;

const SHAPE =
  'A text message is {"type":"Configure", …}, {"type":"ForceEndTurn"} or {"type":"CloseStream"}; audio is sent in binary messages.';

/** What an event of a turn says of its end, where the model tells nothing. */
const CONFIDENCE: Readonly<Record<string, number>> = { EagerEndOfTurn: 0.5, EndOfTurn: 1 };

export class FluxConversation implements Conversation {
  readonly request: ClientRequest;
  /** As it was changed last. */
  #asked: ClientRequest;
  /** That hears by now. */
  #model = '';
  readonly #requestId: string;
  #sequence = 0;
  #turn = 0;
  /** The turn that is open, as it was told last. */
  #open: Turn | undefined;
  /** The client has ended the turn that is open. */
  #isForced = false;

  constructor({ query, requestId }: Handshake) {
    this.request = fluxRequest(plainQuery(query));
    this.#asked = this.request;
    this.#requestId = requestId;
  }

  *text(text: string): Iterable<Step> {
    const message = objectOf(text);
    const { type } = message;
    if (type === 'CloseStream') yield { type: 'tell', message: { type: 'close' } };
    else if (type === 'ForceEndTurn') {
      this.#isForced = this.#open !== undefined;
      yield { type: 'tell', message: { type: 'finalize' } };
    } else if (type === 'Configure') yield { type: 'change', change: this.#change(message) };
    else yield { type: 'fault', message: SHAPE };
  }

  *binary(bytes: Uint8Array): Iterable<Step> {
    yield { type: 'audio', bytes };
  }

  encode(event: OutgoingEvent): readonly string[] {
    this.#model = modelFrom(event) ?? this.#model;
    switch (event.type) {
      case 'session_started':
        return [this.#numbered({ type: 'Connected' })];
      case 'transcript':
        return event.is_final ? this.#final(event) : this.#interim(event);
      case 'turn_eager_end':
        return [this.#turnInfo('EagerEndOfTurn', { ...this.#open, ...event }, event.end_of_turn_confidence)];
      case 'turn_resumed':
        return this.#open === undefined ? [] : [this.#turnInfo('TurnResumed', this.#open)];
      case 'error':
        return [
          this.#numbered({
            type: 'Error',
            code: event.error.code.toUpperCase(),
            description: event.error.message,
          }),
        ];
      default:
        return [];
    }
  }

  /** Deepgram ends these connections without more; what went wrong was told. */
  close(code: number, reason: string): { code: number; reason: string } {
    return code === 1000 ? { code, reason } : { code: 1011, reason };
  }

  refused(refusal: ApiError): { messages: readonly string[]; code: number; reason: string } {
    const error = { type: 'Error', code: refusal.code.toUpperCase(), description: refusal.message };
    return { messages: [this.#numbered(error)], code: 1011, reason: refusal.code };
  }

  #change(message: JsonObject): Change {
    let after = this.#asked;
    return {
      request: () => (after = configured(this.#asked, message)),
      taken: () => {
        this.#asked = after;
      },
      inForce: () => [this.#numbered({ type: 'ConfigureSuccess', ...toldConfiguration(after, this.#model) })],
      refused: ({ code, message: description }) => [
        this.#numbered({ type: 'ConfigureFailure', code: code.toUpperCase(), description }),
      ],
    };
  }

  #interim(heard: TranscriptEvent): string[] {
    const begins = this.#open === undefined;
    this.#open = heard;
    return [this.#turnInfo(begins ? 'StartOfTurn' : 'Update', heard)];
  }

  /** A turn without words is none here. */
  #final(heard: TranscriptEvent): string[] {
    if (heard.text === '' && this.#open === undefined) return [];
    const begin = this.#open === undefined ? [this.#turnInfo('StartOfTurn', heard)] : [];
    const trigger = this.#isForced ? 'manual' : 'model';
    const end = this.#turnInfo('EndOfTurn', heard, undefined, { trigger });
    this.#open = undefined;
    this.#isForced = false;
    this.#turn++;
    return [...begin, end];
  }

  #turnInfo(event: string, heard: Turn, endConfidence = CONFIDENCE[event] ?? 0, extras: object = {}): string {
    const told = { transcript: heard.text, words: wordsOf(heard) };
    const languages = heard.language === undefined ? {} : { languages: [heard.language] };
    return this.#numbered(turnInfo(event, this.#turn, heard, told, endConfidence, { ...languages, ...extras }));
  }

  #numbered(message: object): string {
    return JSON.stringify(numbered(message, this.#requestId, this.#sequence++));
  }
}

const own = options.schema('flux-general-multi').properties;
const THRESHOLDS = ['eager_eot_threshold', 'eot_threshold', 'eot_timeout_ms'] as const;
const texts = Type.Array(Type.String());

const Configure = members(
  { type: Type.Literal('Configure') },
  {
    thresholds: members({}, Object.fromEntries(THRESHOLDS.map((name) => [name, own[name] as TSchema]))),
    keyterms: texts,
    language_hints: texts,
    numerals: Type.Boolean(),
  },
);

/** What is not named stays; an empty list is none. Throws an ApiError. */
export function configured({ model, parameters, own }: ClientRequest, said: JsonObject): ClientRequest {
  const message = withFlagsAt(said, ['numerals']);
  const fault = faultIn(Configure, message);
  if (fault !== undefined) {
    const param = fault.member.slice(0, 120);
    const known = 'thresholds, keyterms, language_hints and numerals are taken.';
    throw badRequest(param, `\`${param}\` cannot be configured so: ${fault.message}. ${known}`);
  }
  const { keyterms, language_hints: hints, numerals, thresholds } = message;
  const next = new Map(parameters);
  for (const [name, list] of [['keyterms', keyterms] as const, ['languages', hints] as const]) {
    if (listIn(list).length > 0) next.set(name, JSON.stringify(list));
    else if (list !== undefined) next.delete(name);
  }
  return {
    model,
    parameters: next,
    own: { ...own, ...objectIn(thresholds), ...(numerals === undefined ? {} : { numerals }) },
  };
}

/** @param heardBy the model: others than Flux have no thresholds */
export function toldConfiguration({ parameters, own }: ClientRequest, heardBy: string): object {
  const isOwn = heardBy.startsWith('deepgram/') && isFlux(heardBy.replace('deepgram/', ''));
  const named = THRESHOLDS.filter((name) => isOwn && own[name] !== undefined);
  const hints = parameters.get('languages');
  return {
    thresholds: Object.fromEntries(named.map((name) => [name, own[name]])),
    keyterms: listIn(jsonOf(parameters.get('keyterms') ?? '[]')),
    ...(hints === undefined ? {} : { language_hints: listIn(jsonOf(hints)) }),
  };
}
