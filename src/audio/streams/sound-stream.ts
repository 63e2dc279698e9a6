// A coded stream of a live client: it comes in messages, cut anywhere, and becomes packets, then sound.

import type { OpusHead } from '../codecs/opus.ts';
import { sniffContainer } from '../containers/detection.ts';

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

/** The stream cannot be taken any further. The message is for the client. */
export class UnsupportedStream extends Error {
  override readonly name = 'UnsupportedStream';
}

/** Where packets of Opus come from: messages, or a container that is cut into messages anywhere. */
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
