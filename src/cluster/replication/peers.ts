// What the replicas tell each other of how far they have come: the one that has come furthest is to own the accounts next.
import type { Clock } from '../../../machines/clock.ts';
import type { Bus, BusBody, Detach } from '../bus/bus.ts';

const SAY_MS = 1_000;
/** What was said longer ago does not count: that replica may be gone. */
const HEARD_MS = 3_000;
const PEERS_MAX = 64;

interface Said extends BusBody {
  type: string;
  number: number;
}

export interface PeersOptions {
  bus: Pick<Bus, 'node' | 'publish' | 'subscribe'>;
  clock: Clock;
  topic: string;
}

export class Peers {
  readonly #options: PeersOptions;
  readonly #heard = new Map<string, { number: number; atMs: number }>();
  readonly #detach: Detach;
  #number = 0;
  #timer: unknown;
  #isClosed = false;

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#detach = options.bus.subscribe(options.topic, (body) =>
      this.#hear(body as Partial<Said> & { node?: unknown }),
    );
    this.#arm();
  }

  /** Tells the others now and then, not of each entry. */
  say(number: number): void {
    this.#number = number;
  }

  /** Whether another replica has lately had more entries. */
  isAhead(number: number): boolean {
    return this.#lately().some((each) => each > number);
  }

  /** Whether others have lately been heard, none of which had more entries. */
  isLevel(number: number): boolean {
    const lately = this.#lately();
    return lately.length > 0 && lately.every((each) => each <= number);
  }

  #lately(): number[] {
    const sinceMs = this.#options.clock.now() - HEARD_MS;
    return [...this.#heard.values()].filter(({ atMs }) => atMs >= sinceMs).map(({ number }) => number);
  }

  close(): void {
    this.#isClosed = true;
    this.#detach();
    this.#options.clock.clearTimeout(this.#timer);
  }

  #arm(): void {
    const { clock, bus, topic } = this.#options;
    if (this.#isClosed) return;
    const said: Said & { node: string } = { type: topic, node: bus.node, number: this.#number };
    bus.publish(topic, said);
    this.#timer = clock.setTimeout(() => this.#arm(), SAY_MS);
  }

  #hear({ node, number }: Partial<Said> & { node?: unknown }): void {
    if (typeof node !== 'string' || node === this.#options.bus.node || !Number.isSafeInteger(number)) return;
    if (this.#heard.size >= PEERS_MAX) this.#heard.clear();
    this.#heard.set(node, { number: number as number, atMs: this.#options.clock.now() });
  }
}
