// One NATS subscription per subject for all of this node's listeners to it, as long as there is one.
import type { Msg } from '@nats-io/transport-node';
import type { Detach } from '../bus.ts';
import type { NatsConnector } from './connection/connector.ts';

export class SharedSubscriptions {
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
