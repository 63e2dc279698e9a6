// What the messages of another vendor's client come to, step by step, for the session behind its socket.
import type { Clock } from '../../../machines/clock.ts';
import type { ApiError } from '../../api/errors.ts';
import type { EventEncoder } from '../../api/listen-events.ts';
import type { ClientRequest, Conversation, Step } from '../../vendors/compat/dialect.ts';
import type { ReadMessage } from '../pace/message-cost.ts';
import type { ClientLine } from '../session/outbox.ts';
import type { SessionOpening } from '../session/session-opening.ts';
import type { AskedChanges } from './asked-changes.ts';
import type { Decoded } from './client-message.ts';
import type { StartAsked } from './start-wait.ts';

/** Whatever is not UTF-8 becomes text that says nothing. */
const UTF8 = new TextDecoder();

/** What a message came to that its protocol fails at: the fault of whoever sent it, and of nobody else. */
const UNREADABLE: Step = {
  type: 'fault',
  message: 'The message cannot be read: a value in it is nested too deeply, or of another kind than its protocol has.',
};

function nextOf(steps: Iterator<Step>): Step | undefined {
  try {
    const { value, done } = steps.next();
    return done === true ? undefined : value;
  } catch {
    return UNREADABLE;
  }
}

export interface StepTaker {
  audio(bytes: Uint8Array): void;
  message(decoded: Decoded): void;
  say(text: string): void;
  refuse(refusal: ApiError): void;
  begin(read: () => StartAsked): void;
  /** All that a message came to was taken. */
  read(message: Readonly<ReadMessage>): void;
}

/** What the messages of another vendor's client come to, step by step, for the session behind its socket. */
export class ProtocolSession {
  readonly #protocolAdapter: ProtocolAdapter;
  readonly #taker: StepTaker;
  readonly #clock: Clock;
  /** Of what the conversation has requested later. */
  #later: unknown;
  /** The message that is read: one object for all of them. */
  readonly #message: ReadMessage = {
    bytes: 0,
    isBinary: false,
    pieces: 0,
    audioBytes: 0,
    isAnswered: false,
    saysMore: false,
  };

  constructor(protocolAdapter: ProtocolAdapter, taker: StepTaker, clock: Clock) {
    this.#protocolAdapter = protocolAdapter;
    this.#taker = taker;
    this.#clock = clock;
    protocolAdapter.changes.open((text) => taker.say(text));
  }

  /** @param isPart of a large message, of which more follows */
  take(data: Uint8Array, isBinary: boolean, isPart: boolean): void {
    const { conversation } = this.#protocolAdapter;
    this.#begin(data.byteLength, isBinary);
    this.#followAll(isBinary ? conversation.binary(data, isPart) : conversation.text(UTF8.decode(data)));
    this.#taker.read(this.#message);
  }

  /** The connection is over. */
  stop(): void {
    this.#clock.clearTimeout(this.#later);
    this.#protocolAdapter.left?.();
  }

  #followAll(steps: Iterable<Step>): void {
    const each = steps[Symbol.iterator]();
    for (let step = nextOf(each); step !== undefined; step = nextOf(each)) this.#follow(step);
  }

  #follow(step: Step): void {
    const taker = this.#taker;
    const { changes } = this.#protocolAdapter;
    this.#count(step);
    if (step.type === 'audio') taker.audio(step.bytes);
    else if (step.type === 'tell') taker.message({ message: step.message });
    else if (step.type === 'change') {
      if (changes.add(step.change)) taker.message({ message: { type: 'configure' } });
    } else if (step.type === 'fault') {
      const { message: fault, param } = step;
      taker.message(param === undefined ? { fault } : { fault, param });
    } else if (step.type === 'say') taker.say(step.text);
    else if (step.type === 'refuse') taker.refuse(step.refusal);
    else if (step.type === 'later')
      this.#later = this.#clock.setTimeout(() => this.#followAll(step.steps()), step.afterMs);
    else taker.begin(() => this.#protocolAdapter.asked(step.request));
  }

  #begin(bytes: number, isBinary: boolean): void {
    const message = this.#message;
    message.bytes = bytes;
    message.isBinary = isBinary;
    message.pieces = 0;
    message.audioBytes = 0;
    message.isAnswered = false;
    message.saysMore = false;
  }

  #count(step: Step): void {
    const message = this.#message;
    if (step.type === 'say') message.isAnswered = true;
    else if (step.type !== 'audio') message.saysMore = true;
    else if (step.bytes.byteLength > 0 || message.isBinary) {
      message.pieces++;
      message.audioBytes += step.bytes.byteLength;
    }
  }
}

/** Another vendor's client: how it speaks, and what its request is in words of the query. */
export interface ProtocolAdapter {
  conversation: Conversation;
  /** In its words the events of a session are told. */
  changes: AskedChanges;
  /** What a message requested. Throws an ApiError. */
  asked(clientRequest: ClientRequest): StartAsked;
  /** The connection is over. Called at most once. */
  left?(): void;
  /** Of a call, whose events go to others. Undefined where the request was of none. */
  carrierEnd?(opening: SessionOpening, socket: ClientLine): { encoder: EventEncoder; line: ClientLine } | undefined;
  /** The session was not opened: called beside the conversation's own. */
  refused?(refusal: ApiError): void;
}
