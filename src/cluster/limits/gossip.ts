// What keys take of their requests and tokens of a minute on one node is told to the others, who count it as well: a limit is the
// key's on all nodes together, to within what is taken in a quarter of a second. What the limits are is decided elsewhere.
import type { Clock } from '../../../machines/clock.ts';
import type { Bus, Detach } from '../../bus/bus.ts';
import { RATES_TAKEN } from '../../bus/subjects.ts';
import type { LimitsMessages, RateKind, RateTaken } from './messages.ts';

/** What is taken within this is told together. */
const TOGETHER_MS = 250;
/** Keys told of at a time; what more of them take within that time is not told, and counted. */
const KEYS_MAX = 10_000;
const IN_MESSAGE_MAX = 1_000;
/** Nodes whose last message is known. */
const NODES_MAX = 1_000;

export interface RateGossipOptions {
  bus: Pick<Bus, 'node' | 'isConnected' | 'publish' | 'subscribe'>;
  clock: Clock;
  messages: LimitsMessages;
  /** Nodes that serve clients, this one included: alone it tells nobody. */
  edges(): number;
}

export class RateGossip {
  /** Keys that were not told of, because too many took something at once. */
  untold = 0;
  /** Messages that were not understood, or came again. */
  ignored = 0;
  readonly #options: RateGossipOptions;
  readonly #waiting = new Map<string, { kind: RateKind; keyId: string; count: number; max: number }>();
  /** The newest message of each node, the one heard longest ago first. */
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

  /** Hears of what was taken on other nodes; there is one who does. */
  onTaken(hear: (taken: RateTaken) => void): void {
    this.#hear = hear;
  }

  /** One was taken here, of `max` a minute. */
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
