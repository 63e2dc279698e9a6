// The in-process bus: a map of actors and direct calls. bus.ts has its contract.
import { randomBytes } from 'node:crypto';
import {
  type Address,
  type Bus,
  type BusBody,
  BusError,
  type DeadLetterListener,
  type DeadLetterReason,
  type Detach,
  type Receiver,
  type SendOutcome,
  type ServiceHandler,
} from './bus.ts';

const NODE_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A new incarnation: six characters, different at each start of a node. */
export function newIncarnation(): string {
  return Array.from(randomBytes(6), (byte) => NODE_ALPHABET[byte % NODE_ALPHABET.length]).join('');
}

export interface MemoryBusOptions {
  node?: string;
  onDeadLetter?: DeadLetterListener;
}

/** One node's bus, without a server. Delivery happens inside `send`. */
export class MemoryBus implements Bus {
  readonly node: string;
  readonly isConnected = true;
  readonly deadLetters: Record<DeadLetterReason, number> = {
    unknown_actor: 0,
    unknown_node: 0,
    overflow: 0,
    handler_failed: 0,
    disconnected: 0,
  };
  /** By address, as senders have it: nothing is made of it for a message. */
  readonly #actors = new Map<Address, Receiver>();
  readonly #services = new Map<string, ServiceHandler[]>();
  readonly #topics = new Map<string, Set<(body: BusBody) => void>>();
  readonly #onDeadLetter: DeadLetterListener;
  #closed = false;

  constructor(options: MemoryBusOptions = {}) {
    this.node = options.node ?? newIncarnation();
    this.#onDeadLetter = options.onDeadLetter ?? (() => {});
  }

  attach(actorId: string, receiver: Receiver): Detach {
    const address = this.address(actorId);
    if (this.#actors.has(address))
      throw new Error(`The bus already has an actor "${actorId}"; actor ids are unique per node.`);
    this.#actors.set(address, receiver);
    return () => {
      if (this.#actors.get(address) === receiver) this.#actors.delete(address);
    };
  }

  address(actorId: string): Address {
    return `${this.node}/${actorId}`;
  }

  send(to: Address, from: Address, body: BusBody, bytes?: Uint8Array): SendOutcome {
    if (this.#closed) return this.#deadLetter(to, from, body.type, 'disconnected');
    const receiver = this.#actors.get(to);
    if (receiver === undefined) {
      const isHere = to.startsWith(`${this.node}/`);
      return this.#deadLetter(to, from, body.type, isHere ? 'unknown_actor' : 'unknown_node');
    }
    try {
      receiver(bytes === undefined ? { to, from, body } : { to, from, body, bytes });
    } catch {
      // The receiver's host logs the error; for the sender the message is a dead letter.
      this.#deadLetter(to, from, body.type, 'handler_failed');
    }
    return 'accepted';
  }

  /** Actors that can be reached. */
  get actors(): number {
    return this.#actors.size;
  }

  onConnection(): Detach {
    return () => {};
  }

  serve(service: string, handler: ServiceHandler): Detach {
    const handlers = this.#services.get(service) ?? [];
    // The same handler may be registered twice and removed once.
    const offer: ServiceHandler = (body, from) => handler(body, from);
    this.#services.set(service, [...handlers, offer]);
    return () => {
      const left = (this.#services.get(service) ?? []).filter((other) => other !== offer);
      if (left.length > 0) this.#services.set(service, left);
      else this.#services.delete(service);
    };
  }

  /** The in-process bus has no other node. */
  serveLocal(service: string, handler: ServiceHandler): Detach {
    return this.serve(service, handler);
  }

  serves(service: string): boolean {
    return this.#services.has(service);
  }

  async request(service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody> {
    if (this.#closed) throw this.#refusal(service, from, body, 'disconnected', 'this bus is closed');
    const handlers = this.#services.get(service);
    const handler = handlers?.[0];
    if (handlers === undefined || handler === undefined) {
      throw this.#refusal(service, from, body, 'unknown_actor', 'no node offers it');
    }
    // Round robin over the handlers of the service.
    this.#services.set(service, [...handlers.slice(1), handler]);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () =>
          reject(
            new BusError('timeout', `The service "${service}" did not answer "${body.type}" within ${timeoutMs} ms.`),
          ),
        timeoutMs,
      );
    });
    try {
      return await Promise.race([Promise.resolve().then(() => handler(body, from)), late]);
    } catch (error) {
      if (error instanceof BusError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw this.#refusal(service, from, body, 'handler_failed', why);
    } finally {
      clearTimeout(timer);
    }
  }

  async requestOf(node: string, service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody> {
    if (node === this.node) return this.request(service, from, body, timeoutMs);
    throw this.#refusal(service, from, body, 'unknown_node', `there is no node ${node}`);
  }

  publish(topic: string, body: BusBody): void {
    if (this.#closed) return;
    for (const receiver of [...(this.#topics.get(topic) ?? [])]) {
      try {
        receiver(body);
      } catch {
        this.#deadLetter(topic, this.address('publish'), body.type, 'handler_failed');
      }
    }
  }

  subscribe(topic: string, receiver: (body: BusBody) => void): Detach {
    const receivers = this.#topics.get(topic) ?? new Set();
    receivers.add(receiver);
    this.#topics.set(topic, receivers);
    return () => {
      receivers.delete(receiver);
      if (receivers.size === 0) this.#topics.delete(topic);
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#actors.clear();
    this.#services.clear();
    this.#topics.clear();
  }

  #refusal(service: string, from: Address, body: BusBody, reason: DeadLetterReason, why: string): BusError {
    this.#deadLetter(service, from, body.type, reason);
    return new BusError(reason, `The service "${service}" could not take "${body.type}": ${why}.`);
  }

  #deadLetter(to: string, from: string, type: string, reason: DeadLetterReason): DeadLetterReason {
    this.deadLetters[reason]++;
    this.#onDeadLetter({ to, from, type, reason });
    return reason;
  }
}
