// Where packets of Opus come from: messages, or a container that is cut into messages anywhere.
import { sniffContainer } from '../container.ts';
import type { OpusHead } from './opus-head.ts';
import { PACKET_BYTES_MAX } from './opus-packet.ts';

/** The stream cannot be taken any further. The message is for the client. */
export class UnsupportedStream extends Error {}

export interface PacketSource {
  /** Bytes that are held and not cut into packets yet. */
  readonly heldBytes: number;
  /** Pieces that were damaged or missing, and passed over. */
  readonly damaged: number;
  /** Takes bytes, when `next` has given all of those before. */
  push(bytes: Uint8Array): void;
  /**
   * The next packet, or the head of the stream that begins there; undefined when more bytes have to come. A packet is valid until the next
   * call of this or of `push`.
   *
   * @throws UnsupportedStream
   */
  next(): Uint8Array | OpusHead | undefined;
}

/** One packet in each message. It is not copied: its bytes have to last until it was given out. */
export class PacketMessages implements PacketSource {
  readonly damaged = 0;
  #message: Uint8Array | undefined;
  #isFirst = true;

  get heldBytes(): number {
    return this.#message?.length ?? 0;
  }

  push(bytes: Uint8Array): void {
    this.#message = bytes;
  }

  next(): Uint8Array | undefined {
    const message = this.#message;
    this.#message = undefined;
    if (message === undefined) return undefined;
    if (this.#isFirst) requireNoContainer(message, 'opus');
    this.#isFirst = false;
    if (message.length > PACKET_BYTES_MAX) {
      throw new UnsupportedStream(
        `A message has ${message.length} bytes, and a packet of Opus has at most ${PACKET_BYTES_MAX}. With \`encoding=opus\` each binary message is one packet.`,
      );
    }
    return message;
  }
}

/** @throws UnsupportedStream where the first bytes are those of a container, with what to do instead. */
export function requireNoContainer(bytes: Uint8Array, encoding: string): void {
  const name = sniffContainer(bytes);
  if (name !== undefined) throw new UnsupportedStream(containerWords(name, encoding));
}

/** The encodings that containers are sent with, where they have Opus in them. */
const ENCODINGS: Readonly<Record<string, string>> = { Ogg: 'ogg-opus', 'WebM or Matroska': 'webm-opus' };

/** What to say of a container that was sent as something else. */
export function containerWords(name: string, encoding: string): string {
  const right = ENCODINGS[name];
  const instead = right === undefined ? '' : `open the session with \`encoding=${right}\` where it has Opus in it, `;
  const bare = encoding === 'opus' ? 'packets of Opus, one in each message' : `headerless ${encoding}`;
  const declared = encoding.endsWith('-opus') ? `\`encoding=${encoding}\` was declared` : `Live audio is ${bare} here`;
  return `The audio is a file (${name}), by its first bytes. ${declared}: ${instead}send what was declared, or post the file to /v1/audio/transcriptions.`;
}
