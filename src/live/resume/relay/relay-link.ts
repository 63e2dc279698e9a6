// One end of a relay: messages to the other end by the bus, which may lose some; one that is missing is noticed by its number.
import type { Address, Bus, BusBody, Detach } from '../../../cluster/bus/bus.ts';

export interface RelayLinkCalls {
  /** The next message of the other end. `bytes` are valid during the call. */
  received(body: BusBody, bytes: Uint8Array): void;
  /** A message was lost, or the other end is gone. */
  broken(): void;
}

const NO_BYTES = new Uint8Array(0);

export class RelayLink {
  readonly address: Address;
  readonly #bus: Bus;
  readonly #calls: RelayLinkCalls;
  readonly #detach: Detach;
  #other: Address | undefined;
  #sent = 0;
  #received = 0;
  #isOver = false;

  /** @param other the other end; learnt from `meet` when absent */
  constructor(bus: Bus, actorId: string, calls: RelayLinkCalls, other?: Address) {
    this.#bus = bus;
    this.#calls = calls;
    this.#other = other;
    this.address = bus.address(actorId);
    this.#detach = bus.attach(
      actorId,
      ({ from, body, bytes = NO_BYTES }) => {
        if (from !== this.#other || this.#isOver) return;
        this.#received++;
        if ((body as { number?: unknown }).number !== this.#received) this.#break();
        else calls.received(body, bytes);
      },
      () => this.#break(),
    );
  }

  meet(other: Address): void {
    this.#other = other;
  }

  send(body: BusBody, bytes?: Uint8Array): void {
    if (this.#isOver || this.#other === undefined) return;
    this.#sent++;
    const numbered = { ...body, number: this.#sent };
    if (this.#bus.send(this.#other, this.address, numbered, bytes) !== 'accepted') this.#break();
  }

  /** Nothing more is said or heard. */
  close(): void {
    this.#isOver = true;
    this.#detach();
  }

  #break(): void {
    if (this.#isOver) return;
    this.close();
    this.#calls.broken();
  }
}
