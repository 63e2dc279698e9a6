// Streams of one purpose on the connection of a bus: made when they are first needed, and looked for again when they may be gone.
import type { NatsConnection } from '@nats-io/transport-node';
import { isMissingStream, type JetStream, jetStreamOf, type LinkedBus, whileConnected } from './common.ts';

export class OpenedStreams {
  readonly #bus: LinkedBus;
  readonly #ensure: (streams: JetStream) => Promise<unknown>;
  #opening: Promise<JetStream> | undefined;
  #connection: NatsConnection | undefined;

  /** @param ensure makes them where they are missing */
  constructor(bus: LinkedBus, ensure: (streams: JetStream) => Promise<unknown>) {
    this.#bus = bus;
    this.#ensure = ensure;
  }

  /** Runs `work` once they are there. Rejects with BusError. */
  async ask<Result>(what: string, work: (streams: JetStream) => Promise<Result>): Promise<Result> {
    try {
      return await whileConnected(this.#bus, what, async () => work(await this.#opened()));
    } catch (error) {
      if (isMissingStream(error)) this.forget();
      throw error;
    }
  }

  /** They may be missing: the next call makes sure that they are there. */
  forget(): void {
    this.#opening = undefined;
  }

  async #opened(): Promise<JetStream> {
    const { connection } = this.#bus.link;
    if (connection !== this.#connection) this.forget();
    this.#connection = connection;
    this.#opening ??= this.#open();
    const opening = this.#opening;
    try {
      return await opening;
    } catch (error) {
      if (this.#opening === opening) this.forget();
      throw error;
    }
  }

  async #open(): Promise<JetStream> {
    const streams = await jetStreamOf(this.#bus);
    await this.#ensure(streams);
    return streams;
  }
}
