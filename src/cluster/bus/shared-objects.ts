// Objects that nodes share for a while: bytes under a name, which any node can read when the one that put them there is gone. This is the
// port and its contract; nats/jetstream/shared-objects.ts implements it.

/** The object, or some of it, is not there: it was never put whole, was removed, or its time is over. */
export class SharedObjectGone extends Error {
  override readonly name = 'SharedObjectGone';
}

/**
 * Contract:
 * - When `put` resolves, every node can read the whole object, and the configured number of servers has it.
 * - An object that does not fit, or that the servers do not accept, is refused with BusError. Nothing of it is left then, or expires.
 * - An object is read exactly as it was put, or not to its end: parts that were changed or exchanged count as missing.
 * - Neither call has the whole object in memory.
 */
export interface SharedObjects {
  /**
   * Rejects with BusError, with the reason of the signal, or with what the content rejects with.
   *
   * @param bytes of all of it
   */
  put(name: string, bytes: number, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>;
  /** Rejects with BusError, which may pass, or with SharedObjectGone. */
  read(name: string, bytes: number): AsyncGenerator<Uint8Array>;
  /** Any number of times. Rejects with BusError. */
  remove(name: string): Promise<void>;
}
