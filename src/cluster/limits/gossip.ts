// Gossip of rate limits: each node tells the others how many requests and tokens of a minute its keys used, and all count them. A
// key's limit thus holds over all nodes, to within the use of a quarter of a second.
import type { Clock } from '../../../machines/clock.ts';
import type { Bus, Detach } from '../../bus/bus.ts';
import { RATES_TAKEN } from '../../bus/subjects.ts';
import type { LimitsMessages, RateKind, RateTaken } from './messages.ts';

/** Use within this time goes into one message. */
const TOGETHER_MS = 250;
/** Keys in one message; beyond it use is not told, but counted as a metric. */
const KEYS_MAX = 10_000;
const IN_MESSAGE_MAX = 1_000;
/** Nodes of which the last message is remembered. */
const NODES_MAX = 1_000;

export interface RateGossipOptions {
  bus: Pick<Bus, 'node' | 'isConnected' | 'publish' | 'subscribe'>;
  clock: Clock;
  messages: LimitsMessages;
  /** Nodes that serve clients, this one included. A node that is alone sends nothing. */
  edges(): number;
}

export class RateGossip {
  /** Keys that were not told of because the message was full. */
  untold = 0;
  /** Messages that were malformed or came again. */
  ignored = 0;
  readonly #options: RateGossipOptions;
  readonly #waiting = new Map<string, { kind: RateKind; keyId: string; count: number; max: number }>();
  /** The newest message of each node, the oldest entry first. */
  readonly #heard = new Map<string, number>();
  readonly #detach: Detach;
  #sequence = 0;
  #timer: unknown;
  #hear: (taken: RateTaken) => void = () => {};

  constructor(options: RateGossipOptions) {
    this.#options = options;
    this.#detach = options.bus.subscribe(RATES_TAKEN, (body) => {
      const message = options.messages.readTaken(body);
      if (message?.node === options.bus.node) return;
      if (message === undefined || !this.#isNew(message)) this.ignored++;
      else for (const taken of message.taken) this.#hear(taken);
    });
  }

  /** Called with use on other nodes; has one listener. */
  onTaken(hear: (taken: RateTaken) => void): void {
    this.#hear = hear;
  }

  /** A key used one here, of `max` a minute. */
  took(kind: RateKind, keyId: string, max: number): void {
    const { bus, clock, edges } = this.#options;
    if (edges() < 2 || !bus.isConnected) return;
    const name = `${kind} ${keyId}`;
    const before = this.#waiting.get(name);
    if (before !== undefined) {
      before.count++;
      before.max = max;
    } else if (this.#waiting.size >= KEYS_MAX) this.untold++;
    else this.#waiting.set(name, { kind, keyId, count: 1, max });
    this.#timer ??= clock.setTimeout(() => this.#tell(), TOGETHER_MS);
  }

  close(): void {
    this.#options.clock.clearTimeout(this.#timer);
    this.#detach();
  }

  #tell(): void {
    const { bus, messages } = this.#options;
    this.#timer = undefined;
    const taken = [...this.#waiting.values()].map(
      ({ kind, keyId, count, max }): RateTaken => [kind, keyId, count, max],
    );
    this.#waiting.clear();
    for (let at = 0; at < taken.length; at += IN_MESSAGE_MAX) {
      bus.publish(RATES_TAKEN, messages.taken(bus.node, ++this.#sequence, taken.slice(at, at + IN_MESSAGE_MAX)));
    }
  }

  #isNew({ node, sequence }: { node: string; sequence: number }): boolean {
    const last = this.#heard.get(node) ?? 0;
    if (sequence <= last) return false;
    this.#heard.delete(node);
    this.#heard.set(node, sequence);
    const [oldest] = this.#heard.keys();
    if (this.#heard.size > NODES_MAX && oldest !== undefined) this.#heard.delete(oldest);
    return true;
  }
}
