// A client of Soniox' WebSocket: one message asks for the session, audio follows, and tokens are told, each finally once.
import { type Refusal, refuse } from '../../../api/errors.ts';
import type { OutgoingEvent, TranscriptEvent } from '../../../api/listen.ts';
import type { Conversation, Ending, Handshake, Step } from '../../compat/dialect.ts';
import { AskedEnds, FloatSamples, startOf } from '../../compat/live.ts';
import { objectOf } from '../../kit/json.ts';
import { type AskedLive, askedOfStart } from './asked.ts';
import { closeOf, endingOf, errorMessage } from './refusals.ts';
import { millisecondsOf, tokensOf } from './tokens.ts';

const SHAPE =
  'A text message is {"type":"finalize"} or {"type":"keepalive"}; audio is sent in binary messages, and an empty message ends it.';
const FIRST = 'The first message has to be text: {"model":"…","audio_format":"pcm_s16le", …}; audio follows it.';

/** Texts of tokens that mark the end of a turn. */
const END = '<end>';
const FIN = '<fin>';

export class TranscribeConversation implements Conversation {
  readonly #query: URLSearchParams;
  #asked: AskedLive | undefined;
  #floats: FloatSamples | undefined;
  readonly #ends = new AskedEnds((seconds = 0) => {
    this.#settle(seconds);
    return this.#said([mark(FIN)]);
  });
  /** Something was said before. */
  #hasSpoken = false;
  #finalMs = 0;
  #totalMs = 0;

  constructor({ query }: Handshake) {
    this.#query = query;
  }

  *text(text: string): Iterable<Step> {
    if (this.#asked === undefined) yield this.#start(text);
    else if (text === '') yield CLOSE;
    else {
      const { type } = objectOf(text);
      if (type === 'finalize') yield* this.#ends.ask();
      else if (type === 'keepalive') yield { type: 'tell', message: { type } };
      else yield { type: 'fault', message: SHAPE };
    }
  }

  *binary(bytes: Uint8Array): Iterable<Step> {
    if (this.#asked === undefined) yield { type: 'refuse', refusal: refuse('invalid_request', FIRST) };
    else if (bytes.byteLength === 0) yield CLOSE;
    else yield this.#ends.audio(this.#floats?.take(bytes) ?? bytes);
  }

  encode(event: OutgoingEvent): readonly string[] {
    switch (event.type) {
      case 'transcript':
        return [
          ...this.#ends.before(event),
          ...(event.is_final ? this.#final(event) : this.#said(this.#tokens(event, false))),
        ];
      case 'error':
        return [errorMessage(event.error.code, event.error.message)];
      case 'session_ended': {
        this.#totalMs = Math.max(this.#totalMs, millisecondsOf(event.audio_seconds));
        const past = this.#ends.end();
        return event.reason === 'client_closed' ? [...past, ...this.#said([], { finished: true })] : [];
      }
      default:
        return [];
    }
  }

  close(code: number, reason: string): { code: number; reason: string } {
    return closeOf(code, reason);
  }

  refused(refusal: Refusal): Ending {
    return endingOf(refusal);
  }

  #start(text: string): Step {
    return startOf(() => {
      const asked = askedOfStart(this.#query, objectOf(text));
      this.#asked = asked;
      this.#ends.begin(asked.request);
      if (asked.isFloat) this.#floats = new FloatSamples();
      return asked.request;
    });
  }

  /** A turn without words is marked only for who has asked for its end. */
  #final(heard: TranscriptEvent): string[] {
    this.#settle(heard.end);
    const isAsked = this.#ends.take(heard);
    const isMarked = heard.text !== '' && this.#asked?.marksEnds === true;
    const marks = isAsked ? [mark(FIN)] : isMarked ? [mark(END)] : [];
    const tokens = this.#tokens(heard, true);
    this.#hasSpoken ||= tokens.length > 0;
    return this.#said([...tokens, ...marks]);
  }

  #settle(seconds: number): void {
    this.#finalMs = Math.max(this.#finalMs, millisecondsOf(seconds));
    this.#totalMs = Math.max(this.#totalMs, this.#finalMs);
  }

  #tokens(heard: TranscriptEvent, is_final: boolean): object[] {
    this.#totalMs = Math.max(this.#totalMs, millisecondsOf(heard.end));
    return tokensOf(heard, this.#hasSpoken ? ' ' : '', { is_final });
  }

  #said(tokens: readonly object[], more: object = {}): string[] {
    const progress = { final_audio_proc_ms: this.#finalMs, total_audio_proc_ms: this.#totalMs };
    return [JSON.stringify({ tokens, ...progress, ...more })];
  }
}

const CLOSE: Step = { type: 'tell', message: { type: 'close' } };
const mark = (text: string) => ({ text, confidence: 1, is_final: true });
