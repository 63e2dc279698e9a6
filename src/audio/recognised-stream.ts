// A stream in a container that nobody declared: its first bytes say which one it is. They may come one by one.
import { sniffContainer } from './container.ts';
import type { OpusDecoder } from './opus/opus-decoders.ts';
import { OpusStream } from './opus/opus-stream.ts';
import { UnsupportedStream } from './opus/packet-source.ts';
import type { SoundStream } from './opus/sound-stream.ts';
import { WavStream } from './wav/wav-stream.ts';

/** Every container is recognised by so many bytes. */
const MAGIC_BYTES = 12;
const NOTHING = new Float32Array(0);

export class RecognisedStream implements SoundStream {
  readonly #decoder: OpusDecoder;
  readonly #sampleRate: number;
  #beginning = new Uint8Array(0);
  #stream: SoundStream | undefined;

  constructor(decoder: OpusDecoder, sampleRate: number) {
    this.#decoder = decoder;
    this.#sampleRate = sampleRate;
  }

  get heldBytes(): number {
    return this.#stream?.heldBytes ?? this.#beginning.length;
  }

  get damaged(): number {
    return this.#stream?.damaged ?? 0;
  }

  push(bytes: Uint8Array): void {
    if (this.#stream === undefined) this.#beginning = Buffer.concat([this.#beginning, bytes]);
    else this.#stream.push(bytes);
  }

  next(): Float32Array | undefined {
    this.#stream ??= this.#recognised();
    return this.#stream?.next();
  }

  end(): Float32Array {
    return this.#stream?.end() ?? NOTHING;
  }

  #recognised(): SoundStream | undefined {
    const beginning = this.#beginning;
    const name = sniffContainer(beginning);
    if (name === undefined && beginning.length < MAGIC_BYTES) return undefined;
    const stream = this.#streamOf(name);
    stream.push(beginning);
    this.#beginning = new Uint8Array(0);
    return stream;
  }

  #streamOf(name: string | undefined): SoundStream {
    switch (name) {
      case 'WebM or Matroska':
        return new OpusStream('webm-opus', this.#decoder, this.#sampleRate);
      case 'Ogg':
        return new OpusStream('ogg-opus', this.#decoder, this.#sampleRate);
      case 'WAV':
      case 'WAV (64-bit)':
        return new WavStream(this.#sampleRate);
      default:
        throw new UnsupportedStream(name === undefined ? UNKNOWN : `The audio is ${name}. ${ACCEPTED}`);
    }
  }
}

const ACCEPTED =
  'Live audio in a container is WebM or Ogg with Opus, or WAV. Send other files to /v1/audio/transcriptions.';
const UNKNOWN =
  'The first bytes are not those of WebM, Ogg or WAV. Send the stream from its first byte: only the first piece of a recording has the header. Of audio without a container declare the encoding and the sample rate.';
