// How many messages a text counts as: each is parsed, so that a long one counts more. Audio that comes in text counts as none, which is
// known only when it was read.

/** So many bytes of text count as one message more. */
const BYTES_PER_MESSAGE = 1024;
const WEIGHT_MAX = 65;
/** Text that a piece of audio accounts for, whatever its size: its own message, and one that waited for it or is left out. */
const BYTES_PER_PIECE = 2 * BYTES_PER_MESSAGE;
/** Text that a byte of audio accounts for: in base64 it is 4/3, and some is escaped or waits for the other track of a call. */
const BYTES_PER_AUDIO_BYTE = 3;
/** Text that may come to nothing because of audio that came before. */
const ACCOUNTED_BYTES_MAX = 64 * 1024;

export const textWeight = (bytes: number): number => Math.min(WEIGHT_MAX, 1 + Math.floor(bytes / BYTES_PER_MESSAGE));

/** A message that was read, and what it came to. */
export interface ReadMessage {
  bytes: number;
  isBinary: boolean;
  /** Pieces of audio, those of text only where they have a byte at least, and their bytes. */
  pieces: number;
  audioBytes: number;
  /** It is answered. */
  isAnswered: boolean;
  /** It asks for something, or is not a message of its protocol. */
  saysMore: boolean;
}

/** Of one socket. */
export class MessageCost {
  /** Text that audio has accounted for, and that has not come. */
  #accounted = 0;

  /** @param isTextAudio audio comes in text; else texts were counted as they came */
  weigh(message: ReadMessage, isTextAudio: boolean): number {
    const { bytes, isBinary, pieces, audioBytes, isAnswered } = message;
    const saysMore = message.saysMore || (isAnswered && pieces === 0);
    if (isBinary) return saysMore ? 1 : 0;
    if (!isTextAudio) return 0;
    if (saysMore && pieces === 0) return textWeight(bytes);
    // A piece may wait for another, of its own track or of the other one, before it is told as audio.
    const left = this.#accounted + pieces * BYTES_PER_PIECE + audioBytes * BYTES_PER_AUDIO_BYTE;
    const rest = left - Math.max(bytes, BYTES_PER_MESSAGE);
    this.#accounted = Math.min(Math.max(rest, 0), ACCOUNTED_BYTES_MAX);
    const beyond = rest < 0 ? Math.ceil(-rest / BYTES_PER_MESSAGE) : 0;
    return Math.min(WEIGHT_MAX, beyond + (saysMore ? 1 : 0));
  }
}
