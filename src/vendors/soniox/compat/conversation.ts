// A client of Soniox' WebSocket: one message requests the session, audio follows, and tokens are sent, each finally once. Tokens are
// parts of a text that bring their own spaces: all of them put together are what was said.
import { type ApiError, apiError } from '../../../api/errors.ts';
import type { OutgoingEvent, TranscriptEvent } from '../../../api/listen-events.ts';
import type { Conversation, Ending, Handshake, Step } from '../../compat/dialect.ts';
import { FinalizeRequests, FloatSamples, startOf } from '../../compat/live.ts';
import { confidenceOf, type HeardWord, wordsOf } from '../../compat/transcript.ts';
import { objectOf } from '../../kit/json.ts';
import { mark, type Token, tokenMessage, tokensMessage } from '../messages.ts';
import { closeOf, endingOf, errorMessage } from './errors.ts';
import { type AskedLive, startRequest } from './params.ts';

const SHAPE =
  'A text message is {"type":"finalize"} or {"type":"keepalive"}; audio is sent in binary messages, and an empty message ends it.';
const FIRST = 'The first message has to be text: {"model":"…","audio_format":"pcm_s16le", …}; audio follows it.';

export class TranscribeConversation implements Conversation {
  readonly #query: URLSearchParams;
  #asked: AskedLive | undefined;
  #floats: FloatSamples | undefined;
  readonly #ends = new FinalizeRequests((seconds = 0) => {
    this.#settle(seconds);
    return this.#said([mark('<fin>')]);
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
    if (this.#asked === undefined) yield { type: 'refuse', refusal: apiError('invalid_request', FIRST) };
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

  refused(refusal: ApiError): Ending {
    return endingOf(refusal);
  }

  #start(text: string): Step {
    return startOf(() => {
      const asked = startRequest(this.#query, objectOf(text));
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
    const marks = isAsked ? [mark('<fin>')] : isMarked ? [mark('<end>')] : [];
    const tokens = this.#tokens(heard, true);
    this.#hasSpoken ||= tokens.length > 0;
    return this.#said([...tokens, ...marks]);
  }

  #settle(seconds: number): void {
    this.#finalMs = Math.max(this.#finalMs, millisecondsOf(seconds));
    this.#totalMs = Math.max(this.#totalMs, this.#finalMs);
  }

  #tokens(heard: TranscriptEvent, is_final: boolean): Token[] {
    this.#totalMs = Math.max(this.#totalMs, millisecondsOf(heard.end));
    return tokensOf(heard, this.#hasSpoken ? ' ' : '', { is_final });
  }

  #said(tokens: readonly Token[], more: object = {}): string[] {
    return [JSON.stringify(tokensMessage(tokens, this.#finalMs, this.#totalMs, more))];
  }
}

const CLOSE: Step = { type: 'tell', message: { type: 'close' } };

type Heard = Pick<TranscriptEvent, 'text' | 'start' | 'end' | 'words' | 'speaker' | 'language' | 'confidence'>;

/** @param lead what stands between this text and the one before it */
export function tokensOf(heard: Heard, lead: string, more: { is_final?: boolean } = {}): Token[] {
  const parts = partsOf(heard);
  return parts.map(({ text, word }, index) =>
    tokenMessage(
      index === 0 ? lead + text : text,
      { startMs: millisecondsOf(word.start), endMs: millisecondsOf(word.end) },
      word.confidence ?? confidenceOf(heard),
      { speaker: word.speaker ?? heard.speaker, language: heard.language },
      more,
    ),
  );
}

/** The text, cut behind each word; where the words are not those of the text, it is cut at its spaces. */
function partsOf(heard: Heard): { text: string; word: HeardWord }[] {
  const told = cutAt(heard.text, wordsOf(heard));
  const { text, start, end } = heard;
  return told ?? cutAt(text, wordsOf({ text, start, end })) ?? [];
}

function cutAt(text: string, words: readonly HeardWord[]): { text: string; word: HeardWord }[] | undefined {
  const parts: { text: string; word: HeardWord }[] = [];
  let at = 0;
  for (const [index, word] of words.entries()) {
    const found = text.indexOf(word.word, at);
    if (found < 0) return undefined;
    const end = index === words.length - 1 ? text.length : found + word.word.length;
    parts.push({ text: text.slice(at, end), word });
    at = end;
  }
  return parts;
}

export const millisecondsOf = (seconds: number): number => Math.round(seconds * 1_000);
