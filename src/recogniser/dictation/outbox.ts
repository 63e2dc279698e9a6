// Messages of a stream in their order: what comes behind a final waits until that is decoded.
import type { StreamMessage } from '../protocol.ts';

interface Slot {
  message: StreamMessage | undefined;
}

export class Outbox {
  readonly #say: (message: StreamMessage) => void;
  #slots: Slot[] = [];

  constructor(say: (message: StreamMessage) => void) {
    this.#say = say;
  }

  /** Whether something that is not decoded yet holds back what follows. */
  get isWaiting(): boolean {
    return this.#slots.length > 0;
  }

  push(message: StreamMessage): void {
    if (!this.isWaiting) this.#say(message);
    else if (message.type !== 'interim') this.#slots.push({ message });
  }

  /** Keeps a place. The message is given to what is returned. */
  reserve(): (message: StreamMessage) => void {
    const slot: Slot = { message: undefined };
    this.#slots.push(slot);
    return (message) => {
      slot.message = message;
      this.#flush();
    };
  }

  #flush(): void {
    while (this.#slots[0]?.message !== undefined) this.#say(this.#slots.shift()!.message!);
  }
}
