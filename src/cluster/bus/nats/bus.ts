// The bus on NATS: many nodes, one connection each. Messages within the node go through the in-process bus; everything else is
// sealed and sent.
import type { Msg } from '@nats-io/transport-node';
import type { Config } from '../../../config/schema.ts';
import { natsUrlsOf } from '../../../config/schema-cluster.ts';
import { withTimeout } from '../../../runtime/timeouts.ts';
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
import { AddressPairs } from './address-pairs.ts';
import { NatsConnector, type NatsLink } from './connector.ts';
import { type IgnoredMessages, Inbound } from './inbound.ts';
import { checkNatsOptions, type NatsServers } from './options.ts';
import { Outbound } from './outbound.ts';
import { PendingRequests, type Request, requestError } from './pending-requests.ts';
import { ANSWER, isSafeName, isSafeNode, isSafeSubject, REQUEST, SERVICE_QUEUE, Subjects } from './subjects.ts';

/** A node that has just stopped offering the service says so, and the request is sent to another one: at most so often. */
const ASKED_MAX = 3;
/** How long `close` waits for requests that are being answered. */
const CLOSING_MS = 2_000;

/** Where a request goes: a subject, the error for "no responders", and the number of tries. */
interface Place {
  subject: string;
  noResponders: 'unknown_actor' | 'unknown_node';
  tries: number;
}

export interface NatsBusOptions extends NatsServers, RefusalOptions {
  /** The gateway's secrets. Messages that were not sealed with them are refused. */
  secrets: SigningSecrets;
  /** The prefix of every subject: lower-case letters, digits and hyphens. */
  prefix: string;
  /** This node's incarnation; a new one when absent. */
  node?: string | undefined;
  /** Timeout of the first connection. */
  startMs: number;
  /** What to do without NATS after `startMs`. `alone`: continue without other nodes, and join when NATS is there. */
  missing?: 'stop' | 'alone' | undefined;
  /** Bytes that may be in flight to the server. */
  inFlightBytesMax?: number | undefined;
  onDeadLetter?: DeadLetterListener | undefined;
}

/** No server answered in time; another start may find one. */
export class NatsAwayError extends Error {
  override readonly name = 'NatsAwayError';
}

/**
 * Connects. Rejects with an Error of one sentence when the options are wrong, or when no server accepted this node within
 * `startMs`.
 */
export async function openNatsBus(options: NatsBusOptions): Promise<NatsBus> {
  const wrong = checkNatsOptions(options);
  if (wrong !== undefined) throw new Error(wrong);
  const node = options.node ?? newIncarnation();
  if (!isSafeNode(node)) throw new Error('The name of a node has 1 to 32 letters, digits, hyphens and underscores.');
  const connector = new NatsConnector({ ...options, node });
  const bus = new NatsBus(connector, node, options);
  await withTimeout(connector.join(), options.startMs);
  if (bus.isConnected || options.missing === 'alone') return bus;
  await bus.close();
  const servers = options.servers.join(', ');
  const Failure = connector.isRefused ? Error : NatsAwayError;
  throw new Failure(`NATS (${servers}) let no node in within ${options.startMs} ms: ${connector.lastFailure}.`);
}

export class NatsBus implements Bus {
  readonly node: string;
  readonly link: NatsLink;
  /** By reason, for this node's messages and requests. A failed handler is counted on its own node as well. */
  readonly deadLetters: Record<DeadLetterReason, number>;
  readonly ignored: Readonly<IgnoredMessages>;
  /** Messages refused as not authentic, by reason. */
  readonly refused: Readonly<RefusedMessages>;
  readonly #local: MemoryBus;
  readonly #connector: NatsConnector;
  readonly #subjects: Subjects;
  readonly #outbound: Outbound;
  readonly #pending = new PendingRequests();
  readonly #pairs: AddressPairs;
  readonly #inbound: Inbound;
  readonly #subscriptions: SharedSubscriptions;
  readonly #onDeadLetter: DeadLetterListener;
  /** The subject for answers; the request's number is appended. */
  readonly #answers: string;
  #isClosed = false;

  /** @internal Use openNatsBus. */
  constructor(connector: NatsConnector, node: string, options: NatsBusOptions) {
    this.node = node;
    this.link = connector;
    this.#connector = connector;
    this.#subscriptions = new SharedSubscriptions(connector);
    this.#onDeadLetter = options.onDeadLetter ?? (() => {});
    this.#local = new MemoryBus({ node, onDeadLetter: this.#onDeadLetter });
    this.deadLetters = this.#local.deadLetters;
    this.#subjects = new Subjects(options.prefix);
    this.#pairs = new AddressPairs(this.#subjects, node);
    const ring = new KeyRing(options.secrets, 'messages between nodes');
    this.#outbound = new Outbound({
      ...{ node, connector, subjects: this.#subjects, inFlightBytesMax: options.inFlightBytesMax },
      sealer: new Sealer(ring, node),
      dropped: ({ pair, type }) => this.#inbound.lost(pair, type, 'disconnected'),
    });
    const refusals = new Refusals(options);
    this.refused = refusals.counts;
    this.#inbound = new Inbound({
      local: this.#local,
      subjects: this.#subjects,
      pending: this.#pending,
      pairs: this.#pairs,
      ring,
      refused: (reason) => refusals.note(reason),
      serves: (service) => this.#serves(service),
      sendOut: (subject, from, body) => this.#outbound.say(subject, undefined, from, body),
      takesBatches: (other) => this.#outbound.takesBatches(other),
      undeliveredBatch: (id) => this.#outbound.undeliveredBatch(id),
      deadLetter: (to, from, type, reason) => this.#deadLetter(to, from, type, reason),
    });
    this.ignored = this.#inbound.ignored;
    connector.onForbidden = (subject) => this.#pending.forbidden(subject);
    connector.onConnection(() => {
      this.#outbound.reset();
      this.#pending.failAll('disconnected', 'NATS was lost before the answer came');
    });
    const own = this.#subjects.ofNode(node);
    this.#answers = `${own}${ANSWER}.`;
    const take = (message: Msg) => this.#inbound.node(message, message.subject.slice(own.length));
    connector.subscribe(`${own}>`, undefined, this.#inbound.guard(take));
  }

  get isConnected(): boolean {
    return this.#connector.isConnected;
  }

  /** Bytes in flight to the server. */
  get inFlightBytes(): number {
    return this.#outbound.bytes;
  }

  /** Sends what waits to leave with others; resolves when the server has it. Rejects when the connection is lost. */
  flush(): Promise<void> {
    this.#outbound.flush();
    return this.#connector.connection.flush();
  }

  onConnection(listener: (isConnected: boolean) => void): Detach {
    return this.#connector.onConnection(listener);
  }

  attach(actorId: string, receiver: Receiver, undelivered?: Undelivered): Detach {
    const detach = this.#local.attach(actorId, receiver);
    const forget = this.#inbound.attached(actorId, undelivered);
    return () => {
      detach();
      if (forget()) this.#pairs.forget(this.address(actorId));
    };
  }

  address(actorId: string): Address {
    return this.#local.address(actorId);
  }

  send(to: Address, from: Address, body: BusBody, bytes?: Uint8Array): SendOutcome {
    if (this.#isClosed || this.#isLocal(to)) return this.#local.send(to, from, body, bytes);
    const pair = this.#pairs.of(from, to);
    if (pair === undefined) return this.#deadLetter(to, from, body.type, 'unknown_node');
    const refused = this.#outbound.send(pair, body, bytes);
    return refused === undefined ? 'accepted' : this.#deadLetter(to, from, body.type, refused);
  }

  serve(service: string, handler: ServiceHandler): Detach {
    if (!isSafeName(service)) throw new Error(`"${service}" cannot be the name of a service on NATS.`);
    const withdraw = this.#local.serve(service, handler);
    const subject = this.#subjects.service(service);
    const leave = this.#joinIn(subject, SERVICE_QUEUE, (message) => this.#inbound.request(message, service));
    return () => {
      withdraw();
      leave();
    };
  }

  serveLocal(service: string, handler: ServiceHandler): Detach {
    return this.#local.serve(service, handler);
  }

  async request(service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody> {
    if (this.#isClosed || this.#local.serves(service)) return this.#local.request(service, from, body, timeoutMs);
    const place: Place = { subject: this.#subjects.service(service), noResponders: 'unknown_actor', tries: ASKED_MAX };
    return this.#ask(place, service, from, body, timeoutMs);
  }

  async requestOf(node: string, service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody> {
    if (this.#isClosed || node === this.node) return this.#local.requestOf(this.node, service, from, body, timeoutMs);
    const subject = `${this.#subjects.ofNode(node)}${REQUEST}.${service}`;
    return this.#ask({ subject, noResponders: 'unknown_node', tries: 1 }, service, from, body, timeoutMs);
  }

  publish(topic: string, body: BusBody): void {
    if (this.#isClosed) return;
    this.#local.publish(topic, body);
    const from = this.address('publish');
    const refused = isSafeName(topic)
      ? this.#outbound.say(this.#subjects.topic(topic), undefined, from, body)
      : 'unknown_actor';
    if (refused !== undefined) this.#deadLetter(topic, from, body.type, refused);
  }

  subscribe(topic: string, receiver: (body: BusBody) => void): Detach {
    if (!isSafeName(topic)) throw new Error(`"${topic}" cannot be the name of a topic on NATS.`);
    const detachLocal = this.#local.subscribe(topic, receiver);
    const leave = this.#joinIn(this.#subjects.topic(topic), undefined, (message) =>
      this.#inbound.published(message, topic),
    );
    return () => {
      detachLocal();
      leave();
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pending.failAll('disconnected', 'this bus was closed');
    await this.#local.close();
    // Takes no further requests; the open ones may still be answered.
    this.#subscriptions.leaveAll();
    await withTimeout(this.#inbound.idle(), CLOSING_MS);
    this.#inbound.close();
    this.#outbound.flush();
    await this.#connector.close();
  }

  #isLocal(to: string): boolean {
    return to.charAt(this.node.length) === '/' && to.startsWith(this.node);
  }

  /** Whether this node offers the service to other nodes. */
  #serves(service: string): boolean {
    return this.#subscriptions.has(this.#subjects.service(service));
  }

  #joinIn(subject: string, queue: string | undefined, take: (message: Msg) => void): Detach {
    return this.#subscriptions.join(subject, queue, this.#inbound.guard(take));
  }

  async #ask(place: Place, service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody> {
    const deadline = performance.now() + timeoutMs;
    const what = `The service "${service}" could not take "${body.type}"`;
    const unknown = (why: string) => requestError('unknown_actor', what, why);
    try {
      if (!isSafeSubject(place.subject)) throw unknown('nobody can have that name');
      for (let tries = place.tries; tries > 0; tries--) {
        const leftMs = Math.max(1, Math.ceil(deadline - performance.now()));
        const request: Request = { type: 'ask', timeoutMs: leftMs, body };
        const send = (id: string) => this.#outbound.say(place.subject, `${this.#answers}${id}`, from, request);
        const answer = await this.#pending.add({ ...place, what, timeoutMs: leftMs, send });
        if (answer !== undefined) return answer;
      }
      throw unknown('the node that was asked does not offer it');
    } catch (error) {
      const { reason } = error as BusError;
      if (reason !== 'timeout') this.#deadLetter(service, from, body.type, reason);
      throw error;
    }
  }

  #deadLetter(to: string, from: string, type: string, reason: DeadLetterReason): DeadLetterReason {
    this.deadLetters[reason]++;
    this.#onDeadLetter({ to, from, type, reason });
    return reason;
  }
}

/** From the settings of a node; undefined when no server is configured. */
export function natsOptionsOf(cluster: Config['cluster']): Omit<NatsBusOptions, 'secrets'> | undefined {
  if (cluster.nats === undefined) return undefined;
  return {
    servers: natsUrlsOf(cluster.nats) ?? [],
    user: cluster.natsUser,
    password: cluster.natsPassword,
    credentialsFile: cluster.natsCredentialsFile,
    caFile: cluster.natsCaFile,
    certFile: cluster.natsCertFile,
    keyFile: cluster.natsKeyFile,
    prefix: cluster.natsPrefix,
    startMs: cluster.natsStartMs,
    missing: cluster.natsMissing,
  };
}

/** One NATS subscription per subject for all of this node's listeners to it. */
class SharedSubscriptions {
  readonly #connector: Pick<NatsConnector, 'subscribe'>;
  readonly #listeners = new Map<string, { count: number; leave: Detach }>();

  constructor(connector: Pick<NatsConnector, 'subscribe'>) {
    this.#connector = connector;
  }

  has(subject: string): boolean {
    return this.#listeners.has(subject);
  }

  join(subject: string, queue: string | undefined, take: (message: Msg) => void): Detach {
    const there = this.#listeners.get(subject) ?? {
      count: 0,
      leave: this.#connector.subscribe(subject, queue, take),
    };
    there.count++;
    this.#listeners.set(subject, there);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      there.count--;
      if (there.count > 0) return;
      this.#listeners.delete(subject);
      there.leave();
    };
  }

  leaveAll(): void {
    for (const { leave } of this.#listeners.values()) leave();
    this.#listeners.clear();
  }
}
