// Files that say how long they are: built by hand, of silence, as far as a parser of their headers looks.

/** Silent MPEG-1 layer III at 128 kbit/s and 44.1 kHz: 26 ms and 417 bytes a frame. */
export function mp3(frames: number): Buffer<ArrayBuffer> {
  const file = Buffer.alloc(frames * 417);
  for (let frame = 0; frame < frames; frame++) file.writeUInt32BE(0xfffb9000, frame * 417);
  return file;
}

/** The same with frames of two sizes, so that only who has looked at all of them knows how long it is. */
export function mp3OfTwoRates(frames: number): Buffer<ArrayBuffer> {
  const pairs = Math.ceil(frames / 2);
  const file = Buffer.alloc(pairs * (417 + 522));
  for (let pair = 0; pair < pairs; pair++) {
    file.writeUInt32BE(0xfffb9000, pair * 939);
    file.writeUInt32BE(0xfffba000, pair * 939 + 417);
  }
  return file;
}

/** Of one MP3 frame. */
export const MP3_FRAME_SECONDS = 1152 / 44_100;

/** FLAC that says so many samples, with so many bytes behind the header. */
export function flacOf(samples: number, sampleRate = 16_000, bytes = 1_000): Buffer<ArrayBuffer> {
  const info = Buffer.alloc(34);
  info.writeUInt16BE(4096, 0);
  info.writeUInt16BE(4096, 2);
  // 20 bits of rate, 3 of channels, 5 of bits, 36 of samples.
  const packed = (BigInt(sampleRate) << 44n) | (0n << 41n) | (15n << 36n) | BigInt(samples);
  info.writeBigUInt64BE(packed, 10);
  return Buffer.concat([Buffer.from('fLaC'), Buffer.from([0x80, 0, 0, 34]), info, Buffer.alloc(bytes)]);
}

export interface WavShape {
  sampleRate?: number;
  channels?: number;
  bits?: number;
  /** What the header says of the samples; their bytes when absent. */
  said?: number;
  block?: number;
}

/** PCM in WAV. */
export function wavOf(sampleBytes: number, shape: WavShape = {}): Buffer<ArrayBuffer> {
  const { sampleRate = 16_000, channels = 1, bits = 16, said = sampleBytes } = shape;
  const { block = (channels * bits) / 8 } = shape;
  const file = Buffer.alloc(44 + sampleBytes);
  file.write('RIFF', 0);
  file.writeUInt32LE(Math.min(0xffff_ffff, said + 36), 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(channels, 22);
  file.writeUInt32LE(sampleRate, 24);
  file.writeUInt32LE(sampleRate * block, 28);
  file.writeUInt16LE(block, 32);
  file.writeUInt16LE(bits, 34);
  file.write('data', 36);
  file.writeUInt32LE(said, 40);
  return file;
}

/** Silence at 8 kHz, the smallest there is. */
export const silentWav = (seconds: number): Buffer<ArrayBuffer> => wavOf(seconds * 16_000, { sampleRate: 8_000 });
