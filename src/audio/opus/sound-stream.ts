// A coded stream that comes in pieces, as sound.

export interface SoundStream {
  /** Bytes that are held and not decoded yet. */
  readonly heldBytes: number;
  /** Pieces that were damaged, and skipped. */
  readonly damaged: number;
  push(bytes: Uint8Array): void;
  /**
   * The next piece of sound, from −1 to 1; may be empty. At most `PACKET_SAMPLES_MAX` samples, valid until the next call. Undefined when
   * more bytes have to come.
   *
   * @throws UnsupportedStream
   */
  next(): Float32Array | undefined;
  /** The last samples, when no more bytes come. */
  end(): Float32Array;
}
