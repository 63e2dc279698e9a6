// One session of the simulated WebSocket: requests of the service, each with a context, a RIFF header and a time of its own.
import { Type } from '@sinclair/typebox';
import { type JsonObject, objectIn, objectOf } from '../../kit/json.ts';
import { members, oneOf, valuesOf, wrongIn } from '../../kit/simulator/checks.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { wordsOf } from '../../kit/simulator/words.ts';

const TICKS_PER_SECOND = 10_000_000;
const RIFF_BYTES = 44;
const FLAG = Type.Union([Type.Boolean(), oneOf('true', 'false')]);

const Query = members(
  {},
  {
    language: Type.String({ pattern: '^[a-z]{2,3}-[A-Za-z]{2,8}(-[A-Z]{2})?$' }),
    cid: Type.String({ minLength: 1 }),
    format: oneOf('simple', 'detailed'),
    profanity: oneOf('masked', 'removed', 'raw'),
    postprocessing: oneOf('TrueText'),
    wordLevelTimestamps: FLAG,
    segmentationSilenceTimeoutMs: Type.Integer({ minimum: 100, maximum: 5_000 }),
    segmentationStrategy: oneOf('Default', 'Time', 'Semantic'),
    stableIntermediateThreshold: Type.Integer({ minimum: 1 }),
  },
  'ignored',
);

/** What is wrong with the query of an upgrade. */
export function queryFault(query: URLSearchParams): string | undefined {
  const values = valuesOf(query, Query);
  const wrong = wrongIn(Query, values);
  if (wrong !== undefined) return `Bad request: ${wrong}`;
  return values.language === undefined && values.cid === undefined ? 'Bad request: language is missing' : undefined;
}

interface Message {
  path: string | undefined;
  requestId: string | undefined;
  type: string | undefined;
}

function headersIn(text: string): Message {
  const named = (name: string) => new RegExp(`^${name}: *(.*)$`, 'im').exec(text)?.[1]?.trim();
  return { path: named('path'), requestId: named('x-requestid'), type: named('content-type') };
}

export class Session extends SimulatedSession {
  #isConfigured = false;
  #requestId: string | undefined;
  /** The context of the request that has begun, until the service ends it. */
  #context: JsonObject | undefined;
  #hasStarted = false;
  #fromSeconds = 0;
  #ending = false;
  #sampleRate = 0;

  protected message(text: string): void {
    const { path, requestId } = headersIn(text);
    const at = text.indexOf('\r\n\r\n');
    if (at === -1 || path === undefined || !/^[0-9A-F]{32}$/i.test(requestId ?? '')) {
      this.close(1002, 'A message has no path, or no id of its request');
    } else if (path === 'speech.config') {
      this.#isConfigured = objectIn(objectOf(text.slice(at + 4)).context).audio !== undefined;
    } else if (path === 'speech.context') {
      if (!this.#isConfigured) this.close(1002, 'speech.context came before speech.config');
      this.#requestId = requestId?.toUpperCase();
      this.#context = objectOf(text.slice(at + 4));
      this.#hasStarted = false;
      this.#ending = false;
      this.#fromSeconds = this.isListening ? this.seconds : 0;
    }
  }

  protected override audio(frame: Uint8Array): void {
    const length = frame.length < 2 ? -1 : (frame[0] as number) * 256 + (frame[1] as number);
    if (length < 0 || length + 2 > frame.length) {
      this.close(1007, 'A binary message is shorter than its headers');
      return;
    }
    const { path, requestId, type } = headersIn(Buffer.from(frame.subarray(2, length + 2)).toString('latin1'));
    // Audio of a request that has ended, on its way when it did.
    if (path !== 'audio' || requestId?.toUpperCase() !== this.#requestId || this.#context === undefined) return;
    this.#takeAudio(frame.subarray(length + 2), type);
  }

  #takeAudio(body: Uint8Array, type: string | undefined): void {
    if (!this.#hasStarted) this.#start(body, type);
    else if (body.length === 0) this.finish();
    else this.#hearSome(body);
  }

  #start(header: Uint8Array, type: string | undefined): void {
    const bytes = Buffer.from(header);
    if (type !== 'audio/x-wav' || bytes.length !== RIFF_BYTES || bytes.toString('latin1', 0, 4) !== 'RIFF') {
      this.close(1007, 'The audio does not begin with a RIFF header');
      return;
    }
    const sampleRate = bytes.readUInt32LE(24);
    if (!this.isListening) this.listen({ sampleRate, language: undefined });
    this.#sampleRate = sampleRate;
    this.#hasStarted = true;
    this.#say('turn.start', { context: { serviceTag: `tag-${this.tools.newId()}` } });
  }

  #hearSome(body: Uint8Array): void {
    if (this.#ending) return;
    const endSeconds = this.#fromSeconds + this.numberOf('ends-requests', Number.POSITIVE_INFINITY);
    const bytesLeft = 2 * (Math.round(endSeconds * this.#sampleRate) - this.samples);
    this.hear(body.subarray(0, Math.min(body.length, bytesLeft)));
    if (body.length < bytesLeft) return;
    this.#ending = true;
    this.finalize();
  }

  protected override speechStarted(start: number): void {
    this.#say('speech.startDetected', { Offset: this.#ticks(start) });
  }

  protected interim({ text, start, end }: HeardTurnText): void {
    this.#say('speech.hypothesis', { Text: text, ...this.#place(start, end) });
  }

  protected final(heard: HeardTurnText): void {
    const status = this.tools.quirk('status');
    if (status !== undefined) this.#phrase(status, heard, {});
    else {
      const Words = wordsOf(heard).map(({ word, start, end }) => ({ Word: word, ...this.#place(start, end) }));
      const { text } = heard;
      const best = { Confidence: 0.9, Lexical: text.toLowerCase(), ITN: text, MaskedITN: text, Display: text };
      this.#phrase('Success', heard, { NBest: [{ ...best, Words }], DisplayText: text });
    }
    this.#endRequest();
  }

  protected override noMatch(heard: HeardTurnText): void {
    this.#phrase('NoMatch', heard, {});
    this.#endRequest();
  }

  protected override finished(): void {
    this.#say('speech.endDetected', { Offset: this.#ticks(this.seconds) });
    this.#say('speech.phrase', { RecognitionStatus: 'EndOfDictation', ...this.#place(this.seconds, this.seconds) });
    this.#say('turn.end', {});
  }

  protected failed(code: string): void {
    this.close(1011, code);
  }

  /** The service has come to where it ends its turn. */
  #endRequest(): void {
    if (!this.#ending || this.ended) return;
    this.#say('turn.end', {});
    this.#context = undefined;
  }

  #phrase(RecognitionStatus: string, { start, end }: HeardTurnText, more: object): void {
    this.#say('speech.phrase', { RecognitionStatus, ...this.#place(start, end), ...more });
  }

  readonly #ticks = (seconds: number): number =>
    Math.round(Math.max(0, seconds - this.#fromSeconds) * TICKS_PER_SECOND);

  #place(start: number, end: number) {
    const Offset = this.#ticks(start);
    return { Offset, Duration: this.#ticks(end) - Offset };
  }

  #say(Path: string, body: object): void {
    this.peer.send({ Path, requestId: this.#requestId, ...(this.has('lower-case') ? { compact: true } : {}), body });
  }
}
