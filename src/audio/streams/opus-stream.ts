// The samples of a client's Opus, packet by packet: what the encoder needed before the sound began is taken off, and what is damaged is
// passed over. How long it is follows from what is decoded, whatever a container says.
import type { CodedEncoding } from '../../api/listen.ts';
import { isOpusPacket, OPUS_HERTZ, type OpusHead, PACKET_BYTES_MAX } from '../codecs/opus.ts';
import type { OpusDecoder } from '../codecs/opus-decoder.ts';
import { OggPackets } from './ogg-packets.ts';
import { type PacketSource, requireNoContainer, type SoundStream, UnsupportedStream } from './sound-stream.ts';
import { WebmPackets } from './webm-packets.ts';

export type OpusEncoding = Exclude<CodedEncoding, 'auto'>;

/** Packets in a row that cannot be decoded, after which it is not a stream of Opus. */
const FAULTS_MAX = 50;
const NOTHING = new Float32Array(0);

export class OpusStream implements SoundStream {
  readonly #source: PacketSource;
  readonly #decoder: OpusDecoder;
  readonly #sampleRate: number;
  #skip = 0;
  #faults = 0;
  #faultsInRow = 0;

  constructor(encoding: OpusEncoding, decoder: OpusDecoder, sampleRate: number) {
    this.#source = SOURCES[encoding]();
    this.#decoder = decoder;
    this.#sampleRate = sampleRate;
  }

  get heldBytes(): number {
    return this.#source.heldBytes;
  }

  get damaged(): number {
    return this.#source.damaged + this.#faults;
  }

  push(bytes: Uint8Array): void {
    this.#source.push(bytes);
  }

  next(): Float32Array | undefined {
    const piece = this.#source.next();
    if (piece === undefined) return undefined;
    if (!(piece instanceof Uint8Array)) {
      this.#begin(piece);
      return NOTHING;
    }
    // Containers may have empty ones, and they say nothing.
    if (piece.length === 0) return NOTHING;
    const samples = isOpusPacket(piece) ? this.#decode(piece) : undefined;
    if (samples === undefined) {
      this.#faulty();
      return NOTHING;
    }
    this.#faultsInRow = 0;
    const skipped = Math.min(this.#skip, samples.length);
    this.#skip -= skipped;
    return skipped === 0 ? samples : samples.subarray(skipped);
  }

  end(): Float32Array {
    return NOTHING;
  }

  #begin({ channels, preSkip, streamCount = 1 }: OpusHead): void {
    if (channels < 1 || channels > 2 || streamCount !== 1) {
      throw new UnsupportedStream(
        `The Opus stream has ${channels} channels in ${streamCount} streams; live it has one or two, in one stream. Record in mono or stereo.`,
      );
    }
    this.#skip = Math.floor((preSkip * this.#sampleRate) / OPUS_HERTZ);
  }

  #decode(packet: Uint8Array): Float32Array | undefined {
    try {
      return this.#decoder.decode(packet);
    } catch {
      throw new UnsupportedStream('The decoder of Opus has failed, and cannot go on. Open a new session.');
    }
  }

  #faulty(): void {
    this.#faults++;
    this.#faultsInRow++;
    if (this.#faultsInRow <= FAULTS_MAX) return;
    throw new UnsupportedStream(
      `More than ${FAULTS_MAX} packets in a row are no Opus. Say in \`encoding\` what is sent: with \`opus\` each binary message is one packet, without a container.`,
    );
  }
}

const SOURCES: Readonly<Record<OpusEncoding, () => PacketSource>> = {
  opus: () => new PacketMessages(),
  'ogg-opus': () => new OggPackets(),
  'webm-opus': () => new WebmPackets(),
};

/** One packet in each message. It is not copied: its bytes have to last until it was given out. */
class PacketMessages implements PacketSource {
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
