// Handles what arrives for a node: messages, requests, answers and reports of undelivered messages. Verifies and checks each one
// first, counts and drops what is not a valid message of this gateway, and never throws.
import type { Msg } from '@nats-io/transport-node';
import {
  type Address,
  type BusBody,
  BusError,
  type DeadLetterReason,
  FORGOTTEN_ADDRESS,
  type Undelivered,
} from '../bus.ts';
import type { MemoryBus } from '../memory.ts';
import { isOfNode } from '../subjects.ts';
import { type AddressPair, type AddressPairs, undeliveredReply } from './address-pairs.ts';
import { type Entry, type Posted, readEntries } from './batches.ts';
import { decodeFrame, type Frame, isBody, partsOf } from './frames.ts';
import { type HandshakeParts, Handshakes } from './handshakes.ts';
import type { Answer, PendingRequests, Request } from './pending-requests.ts';
import {
  ANSWER,
  BATCH,
  BATCH_UNDELIVERED,
  CHALLENGE,
  isSafeName,
  isSafeSubject,
  MESSAGE,
  PROOF,
  REQUEST,
  UNDELIVERED,
} from './subjects.ts';

/** Requests that are being answered at the same time; a further one is refused with `overflow`. */
const SERVING_MAX = 4_096;
const SERVED_MS_MAX = 600_000;
const WHY_CHARACTERS_MAX = 1_000;
const REASONS: readonly string[] = [
  'unknown_actor',
  'unknown_node',
  'overflow',
  'handler_failed',
  'disconnected',
] satisfies DeadLetterReason[];

/** Messages that a node of this gateway sealed, and that were ignored. */
export interface IgnoredMessages {
  /** Of another version or form. */
  malformed: number;
  /** Its reply subject is not one of the sending node, or it claims to be from this node. */
  misdirected: number;
  /** An answer, or a report of an undelivered message, that is not waited for any more. */
  late: number;
}

export interface InboundParts extends Omit<HandshakeParts, 'node'> {
  local: MemoryBus;
  pending: PendingRequests;
  pairs: AddressPairs;
  serves(service: string): boolean;
  /** Returns the reason when it could not be sent. */
  sendOut(subject: string, from: Address, body: BusBody): DeadLetterReason | undefined;
  deadLetter(to: string, from: string, type: string, reason: DeadLetterReason): void;
  /** What was in a batch of this node; nothing when that is not known any more. */
  undeliveredBatch(id: number): readonly Posted[];
  servingMax?: number | undefined;
}

export class Inbound {
  readonly ignored: IgnoredMessages = { malformed: 0, misdirected: 0, late: 0 };
  readonly #parts: InboundParts;
  readonly #actors = new Map<string, { undelivered: Undelivered | undefined }>();
  readonly #servingMax: number;
  readonly #handshakes: Handshakes;
  #serving = 0;
  #whenIdle: (() => void)[] = [];

  constructor(parts: InboundParts) {
    this.#parts = parts;
    this.#servingMax = parts.servingMax ?? SERVING_MAX;
    this.#handshakes = new Handshakes({ ...parts, node: parts.local.node });
  }

  /**
   * Makes an actor of this node reachable. The returned function takes that back, and says whether the actor was still attached.
   */
  attached(actorId: string, undelivered: Undelivered | undefined): () => boolean {
    const actor = { undelivered };
    this.#actors.set(actorId, actor);
    return () => this.#actors.get(actorId) === actor && this.#actors.delete(actorId);
  }

  /** Drops the messages that wait for a proof of their sender. */
  close(): void {
    this.#handshakes.close();
  }

  /** Resolves when every received request is answered. */
  async idle(): Promise<void> {
    if (this.#serving > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /** An exception while a message is read (broken headers, for instance) would end the connection, so it is counted instead. */
  guard(take: (message: Msg) => void): (message: Msg) => void {
    return (message) => {
      try {
        take(message);
      } catch {
        this.ignored.malformed++;
      }
    };
  }

  /** Handles a message to this node. `rest` is its subject behind the node's name. */
  node(message: Msg, rest: string): void {
    const dot = rest.indexOf('.');
    const kind = rest.slice(0, dot);
    const name = rest.slice(dot + 1);
    if (kind === BATCH) this.#batch(message);
    else if (kind === MESSAGE) this.#checked(message, (frame, reply) => this.#message(frame, name, reply));
    else if (kind === REQUEST) this.request(message, name);
    else if (kind === ANSWER) this.#answer(message, name);
    else if (kind === UNDELIVERED) this.#undelivered(message, name);
    else if (kind === BATCH_UNDELIVERED) this.#undeliveredBatch(message, name);
    else if (kind === CHALLENGE) this.#handshakes.challenged(message);
    else if (kind === PROOF) this.#handshakes.proved(message);
    else this.ignored.malformed++;
  }

  request(message: Msg, service: string): void {
    this.#checked(message, ({ from, body }, replyTo) => {
      const { timeoutMs, body: asked } = body as unknown as Partial<Request>;
      if (body.type !== 'ask' || typeof timeoutMs !== 'number' || !(timeoutMs > 0) || !isBody(asked)) return false;
      const reply = this.#replyTo(replyTo, from, ANSWER);
      if (reply !== undefined) this.#serve(service, from, asked, Math.min(timeoutMs, SERVED_MS_MAX), reply);
      return true;
    });
  }

  published(message: Msg, topic: string): void {
    this.#checked(message, ({ body }) => {
      this.#parts.local.publish(topic, body);
      return true;
    });
  }

  /** `take` returns whether the message is valid. It may be called later, when the sender has proved itself. */
  #checked(message: Msg, take: (frame: Frame, reply: string) => boolean): void {
    this.#handshakes.receive(message, (plain, node, reply) => {
      try {
        const frame = decodeFrame(plain);
        // A node may only send in its own name.
        if (frame !== undefined && !isOfNode(frame.from, node)) this.ignored.misdirected++;
        else if (frame === undefined || !take(frame, reply)) this.ignored.malformed++;
      } catch {
        this.ignored.malformed++;
      }
    });
  }

  /** Messages of one node, in their order. */
  #batch(message: Msg): void {
    this.#handshakes.receive(message, (plain, node) => {
      this.ignored.malformed += readEntries(plain, (entry) => this.#entry(entry, node));
    });
  }

  #entry({ pair, to, from, body, bytes }: Entry, node: string): void {
    const { local, subjects, sendOut } = this.#parts;
    if (this.#actors.has(to)) {
      local.send(local.address(to), `${node}/${from}`, body, bytes);
      return;
    }
    const reply = `${undeliveredReply(subjects, node, pair)}${isSafeName(body.type) ? body.type : 'unnamed'}`;
    if (isSafeSubject(reply)) sendOut(reply, local.address('bus'), { type: 'unknown_actor' });
  }

  #message({ from, body, bytes }: Frame, actorId: string, replyTo: string): boolean {
    const { local } = this.#parts;
    if (this.#actors.has(actorId)) {
      local.send(local.address(actorId), from, body, bytes);
      return true;
    }
    const reply = this.#replyTo(replyTo, from, UNDELIVERED);
    if (reply !== undefined) this.#parts.sendOut(reply, local.address('bus'), { type: 'unknown_actor' });
    return true;
  }

  #serve(service: string, from: Address, body: BusBody, timeoutMs: number, reply: string): void {
    const { local } = this.#parts;
    const say = (answer: Answer) => this.#parts.sendOut(reply, local.address('bus'), answer);
    if (!this.#parts.serves(service)) {
      say({ type: 'left' });
      return;
    }
    if (this.#serving >= this.#servingMax) {
      const message = `The service "${service}" could not take "${body.type}": its node answers ${this.#servingMax} others.`;
      say({ type: 'failure', reason: 'overflow', message });
      return;
    }
    this.#serving++;
    local
      .request(service, from, body, timeoutMs)
      .then(
        (answered) => {
          const refused = say({ type: 'answer', body: answered });
          if (refused !== 'overflow') return;
          const message = `The service "${service}" has answered "${body.type}" with more than fits into a message.`;
          say({ type: 'failure', reason: refused, message });
        },
        (error: unknown) => {
          const { reason, message } = error as BusError;
          // After a timeout the caller does not wait any more.
          if (reason !== 'timeout') say({ type: 'failure', reason, message: message.slice(0, WHY_CHARACTERS_MAX) });
        },
      )
      .finally(() => {
        this.#serving--;
        if (this.#serving === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
      });
  }

  #answer(message: Msg, id: string): void {
    const { pending } = this.#parts;
    if (isNoResponders(message)) {
      if (!pending.noResponders(id)) this.ignored.late++;
      return;
    }
    this.#checked(message, ({ body }) => {
      const said = body as unknown as Record<string, unknown>;
      let wasAwaited: boolean;
      if (said.type === 'answer' && isBody(said.body)) wasAwaited = pending.answer(id, said.body);
      else if (said.type === 'left') wasAwaited = pending.left(id);
      else if (said.type === 'failure' && isReason(said.reason) && typeof said.message === 'string') {
        wasAwaited = pending.refuse(id, new BusError(said.reason, said.message.slice(0, WHY_CHARACTERS_MAX)));
      } else return false;
      if (!wasAwaited) this.ignored.late++;
      return true;
    });
  }

  #undelivered(message: Msg, rest: string): void {
    const dot = rest.indexOf('.');
    const pair = this.#parts.pairs.byId(Number.parseInt(rest.slice(0, dot), 36));
    const type = rest.slice(dot + 1);
    if (isNoResponders(message)) {
      this.lost(pair, type, 'unknown_node');
      return;
    }
    this.#checked(message, ({ from, body }) => {
      if (body.type !== 'unknown_actor') return false;
      // Only the recipient's node can report that the actor is unknown.
      if (pair !== undefined && partsOf(from)?.node !== pair.node) this.ignored.misdirected++;
      else this.lost(pair, type, 'unknown_actor');
      return true;
    });
  }

  #undeliveredBatch(message: Msg, id: string): void {
    const posted = isNoResponders(message) ? this.#parts.undeliveredBatch(Number.parseInt(id, 36)) : [];
    if (posted.length === 0) this.ignored.late++;
    for (const { pair, type } of posted) this.lost(pair, type, 'unknown_node');
  }

  /** A message of this node was accepted, and not delivered. */
  lost(pair: AddressPair | undefined, type: string, reason: DeadLetterReason): void {
    const { local, deadLetter } = this.#parts;
    if (pair === undefined) {
      this.ignored.late++;
      deadLetter(FORGOTTEN_ADDRESS, FORGOTTEN_ADDRESS, type, reason);
      return;
    }
    deadLetter(pair.to, pair.from, type, reason);
    try {
      this.#actors.get(partsOf(pair.from)?.actor ?? '')?.undelivered?.(pair.to, type, reason);
    } catch {
      deadLetter(pair.from, local.address('bus'), type, 'handler_failed');
    }
  }

  /** The reply subject must belong to the requesting node; otherwise a message could make this node send anywhere. */
  #replyTo(reply: string, from: Address, kind: string): string | undefined {
    const asker = partsOf(from)?.node ?? '';
    if (reply.startsWith(`${this.#parts.subjects.ofNode(asker)}${kind}.`) && isSafeSubject(reply)) return reply;
    this.ignored.misdirected++;
    return undefined;
  }
}

/** NATS's "no responders" (503): nothing is subscribed to the subject. */
function isNoResponders({ data, headers }: Msg): boolean {
  return data.byteLength === 0 && headers?.code === 503;
}

const isReason = (value: unknown): value is DeadLetterReason => typeof value === 'string' && REASONS.includes(value);
