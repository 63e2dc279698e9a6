// The bus on NATS: many nodes, one connection each. Near things go by the in-process bus; this decides what leaves the node, and
// what is made of what comes in. Connecting is nats-connector.ts, the form of a message nats-frames.ts; sealing/ hides it from NATS.
import type { Msg } from 'nats';
import type {
  Address,
  Bus,
  BusBody,
  BusError,
  DeadLetterListener,
  DeadLetterReason,
  Detach,
  Receiver,
  SendOutcome,
  ServiceHandler,
  Undelivered,
} from '../bus.ts';
import { MemoryBus, newIncarnation } from '../memory.ts';
import { Sealer } from '../sealing/frame-seal.ts';
import { KeyRing } from '../sealing/key-ring.ts';
import { type RefusalOptions, Refusals, type RefusedMessages } from '../sealing/refusals.ts';
import type { SigningSecrets } from '../signed.ts';
import { within } from '../within.ts';
import { Asks, askFailed } from './asks.ts';
import { NatsConnector } from './connection/connector.ts';
import { checkNatsOptions, type NatsServers } from './connection/options.ts';
import { encodeFrame } from './frames.ts';
import { type IgnoredMessages, Inbound, type Request } from './inbound.ts';
import type { NatsLink } from './link.ts';
import { NatsListeners } from './listeners.ts';
import { Outbox } from './outbox.ts';
import { Peers } from './peers.ts';
import { ANSWER, isSafeName, isSafeNode, isSafeSubject, REQUEST, SERVICE_QUEUE, Subjects } from './subjects.ts';

/** A node whose service has just left its group says so, and another one is asked. */
const ASKED_MAX = 3;
/** What is still being answered when the bus is closed is waited for so long. */
const CLOSING_MS = 2_000;

/** Who is asked: a subject, what it means that nobody is there, and how many nodes may say that they have just left. */
interface Place {
  subject: string;
  nobody: 'unknown_actor' | 'unknown_node';
  tries: number;
}

export interface NatsBusOptions extends NatsServers, RefusalOptions {
  /** The gateway's: what is not sealed with it is not believed. */
  secrets: SigningSecrets;
  /** What every subject begins with: small letters, digits and hyphens. */
  prefix: string;
  /** This node's incarnation; a new one when absent. */
  node?: string | undefined;
  /** How long the first connection may take. */
  startMs: number;
  /** `alone`: after `startMs` without NATS the bus is there all the same, away, and joins when it can. */
  missing?: 'stop' | 'alone' | undefined;
  /** Bytes that may be on their way to the server. */
  outboxBytesMax?: number | undefined;
  onDeadLetter?: DeadLetterListener | undefined;
}

/**
 * Connects, or rejects with an Error of one sentence: the options are not good, or no server has let this node in within
 * `startMs`.
 */
export async function openNatsBus(options: NatsBusOptions): Promise<NatsBus> {
  const wrong = checkNatsOptions(options);
  if (wrong !== undefined) throw new Error(wrong);
  const node = options.node ?? newIncarnation();
  if (!isSafeNode(node)) throw new Error('The name of a node has 1 to 32 letters, digits, hyphens and underscores.');
  const connector = new NatsConnector({ ...options, node });
  const bus = new NatsBus(connector, node, options);
  await within(options.startMs, connector.join());
  if (bus.isConnected || options.missing === 'alone') return bus;
  await bus.close();
  const servers = options.servers.join(', ');
  throw new Error(`NATS (${servers}) let no node in within ${options.startMs} ms: ${connector.lastFailure}.`);
}

export class NatsBus implements Bus {
  readonly node: string;
  readonly link: NatsLink;
  /** By reason, of this node's letters and requests; a handler that fails is counted on its own node as well. */
  readonly deadLetters: Record<DeadLetterReason, number>;
  readonly ignored: Readonly<IgnoredMessages>;
  /** What was not believed, by why. */
  readonly refused: Readonly<RefusedMessages>;
  readonly #near: MemoryBus;
  readonly #connector: NatsConnector;
  readonly #subjects: Subjects;
  readonly #outbox: Outbox;
  readonly #asks = new Asks();
  readonly #peers: Peers;
  readonly #inbound: Inbound;
  readonly #sealer: Sealer;
  readonly #listeners: NatsListeners;
  readonly #onDeadLetter: DeadLetterListener;
  /** Where answers come; their number follows. */
  readonly #answers: string;
  #isClosed = false;

  /** @internal Use openNatsBus. */
  constructor(connector: NatsConnector, node: string, options: NatsBusOptions) {
    this.node = node;
    this.link = connector;
    this.#connector = connector;
    this.#listeners = new NatsListeners(connector);
    this.#onDeadLetter = options.onDeadLetter ?? (() => {});
    this.#near = new MemoryBus({ node, onDeadLetter: this.#onDeadLetter });
    this.deadLetters = this.#near.deadLetters;
    this.#subjects = new Subjects(options.prefix);
    this.#peers = new Peers(this.#subjects, node);
    this.#outbox = new Outbox(() => connector.connection.flush(), options.outboxBytesMax);
    const ring = new KeyRing(options.secrets, 'messages between nodes');
    this.#sealer = new Sealer(ring, node);
    const refusals = new Refusals(options);
    this.refused = refusals.counts;
    this.#inbound = new Inbound({
      near: this.#near,
      subjects: this.#subjects,
      asks: this.#asks,
      peers: this.#peers,
      ring,
      refused: (reason) => refusals.note(reason),
      serves: (service) => this.#serves(service),
      leave: (subject, from, body) => this.#leave(subject, undefined, from, body),
      bury: (to, from, type, reason) => this.#bury(to, from, type, reason),
    });
    this.ignored = this.#inbound.ignored;
    connector.onForbidden = (subject) => this.#asks.forbidden(subject);
    connector.onConnection(() => {
      this.#outbox.reset();
      this.#asks.failAll('disconnected', 'NATS was lost before the answer came');
    });
    const own = this.#subjects.ofNode(node);
    this.#answers = `${own}${ANSWER}.`;
    const take = (message: Msg) => this.#inbound.node(message, message.subject.slice(own.length));
    connector.subscribe(`${own}>`, undefined, this.#inbound.guard(take));
  }

  get isConnected(): boolean {
    return this.#connector.isConnected;
  }

  /** Bytes on their way to the server. */
  get outboxBytes(): number {
    return this.#outbox.unconfirmedBytes;
  }

  onConnection(listener: (isConnected: boolean) => void): Detach {
    return this.#connector.onConnection(listener);
  }

  attach(actorId: string, receiver: Receiver, undelivered?: Undelivered): Detach {
    const detach = this.#near.attach(actorId, receiver);
    const forget = this.#inbound.attached(actorId, undelivered);
    return () => {
      detach();
      if (forget()) this.#peers.forget(this.address(actorId));
    };
  }

  address(actorId: string): Address {
    return this.#near.address(actorId);
  }

  send(to: Address, from: Address, body: BusBody, bytes?: Uint8Array): SendOutcome {
    if (this.#isClosed || this.#isNear(to)) return this.#near.send(to, from, body, bytes);
    const peer = this.#peers.of(from, to);
    if (peer === undefined) return this.#bury(to, from, body.type, 'unknown_node');
    const reply = isSafeName(body.type) ? `${peer.reply}${body.type}` : `${peer.reply}unnamed`;
    const refused = this.#leave(peer.subject, reply, from, body, bytes);
    return refused === undefined ? 'accepted' : this.#bury(to, from, body.type, refused);
  }

  serve(service: string, handler: ServiceHandler): Detach {
    if (!isSafeName(service)) throw new Error(`"${service}" cannot be the name of a service on NATS.`);
    const withdraw = this.#near.serve(service, handler);
    const subject = this.#subjects.service(service);
    const leave = this.#joinIn(subject, SERVICE_QUEUE, (message) => this.#inbound.request(message, service));
    return () => {
      withdraw();
      leave();
    };
  }

  serveNear(service: string, handler: ServiceHandler): Detach {
    return this.#near.serve(service, handler);
  }

  async request(service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody> {
    if (this.#isClosed || this.#near.serves(service)) return this.#near.request(service, from, body, timeoutMs);
    const place: Place = { subject: this.#subjects.service(service), nobody: 'unknown_actor', tries: ASKED_MAX };
    return this.#ask(place, service, from, body, timeoutMs);
  }

  async requestOf(node: string, service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody> {
    if (this.#isClosed || node === this.node) return this.#near.requestOf(this.node, service, from, body, timeoutMs);
    const subject = `${this.#subjects.ofNode(node)}${REQUEST}.${service}`;
    return this.#ask({ subject, nobody: 'unknown_node', tries: 1 }, service, from, body, timeoutMs);
  }

  publish(topic: string, body: BusBody): void {
    if (this.#isClosed) return;
    this.#near.publish(topic, body);
    const from = this.address('publish');
    const refused = isSafeName(topic)
      ? this.#leave(this.#subjects.topic(topic), undefined, from, body)
      : 'unknown_actor';
    if (refused !== undefined) this.#bury(topic, from, body.type, refused);
  }

  subscribe(topic: string, receiver: (body: BusBody) => void): Detach {
    if (!isSafeName(topic)) throw new Error(`"${topic}" cannot be the name of a topic on NATS.`);
    const near = this.#near.subscribe(topic, receiver);
    const leave = this.#joinIn(this.#subjects.topic(topic), undefined, (message) =>
      this.#inbound.published(message, topic),
    );
    return () => {
      near();
      leave();
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#asks.failAll('disconnected', 'this bus was closed');
    await this.#near.close();
    // No more requests; the answers to those that are here may leave.
    this.#listeners.leaveAll();
    await within(CLOSING_MS, this.#inbound.idle());
    this.#inbound.close();
    await this.#connector.close();
  }

  #isNear(to: string): boolean {
    return to.charAt(this.node.length) === '/' && to.startsWith(this.node);
  }

  /** To other nodes. */
  #serves(service: string): boolean {
    return this.#listeners.has(this.#subjects.service(service));
  }

  #joinIn(subject: string, queue: string | undefined, take: (message: Msg) => void): Detach {
    return this.#listeners.join(subject, queue, this.#inbound.guard(take));
  }

  async #ask(place: Place, service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody> {
    const deadline = performance.now() + timeoutMs;
    const what = `The service "${service}" could not take "${body.type}"`;
    const unknown = (why: string) => askFailed('unknown_actor', what, why);
    try {
      if (!isSafeSubject(place.subject)) throw unknown('nobody can have that name');
      for (let tries = place.tries; tries > 0; tries--) {
        const leftMs = Math.max(1, Math.ceil(deadline - performance.now()));
        const request: Request = { type: 'ask', timeoutMs: leftMs, body };
        const send = (id: string) => this.#leave(place.subject, `${this.#answers}${id}`, from, request);
        const answer = await this.#asks.add({ ...place, what, timeoutMs: leftMs, send });
        if (answer !== undefined) return answer;
      }
      throw unknown('the node that was asked does not offer it');
    } catch (error) {
      const { reason } = error as BusError;
      if (reason !== 'timeout') this.#bury(service, from, body.type, reason);
      throw error;
    }
  }

  /** Why it did not leave; undefined when it did. */
  #leave(
    subject: string,
    reply: string | undefined,
    from: Address,
    body: BusBody,
    bytes?: Uint8Array,
  ): DeadLetterReason | undefined {
    if (!this.#connector.isConnected) return 'disconnected';
    const { connection } = this.#connector;
    const plain = encodeFrame(from, body, bytes);
    if (plain === undefined) return 'overflow';
    const frame = this.#sealer.seal(subject, reply ?? '', plain);
    if (frame.byteLength > (connection.info?.max_payload ?? 0)) return 'overflow';
    if (!this.#outbox.fits(frame.byteLength)) return 'overflow';
    connection.publish(subject, frame, reply === undefined ? undefined : { reply });
    this.#outbox.sent(frame.byteLength);
    return undefined;
  }

  #bury(to: string, from: string, type: string, reason: DeadLetterReason): DeadLetterReason {
    this.deadLetters[reason]++;
    this.#onDeadLetter({ to, from, type, reason });
    return reason;
  }
}
