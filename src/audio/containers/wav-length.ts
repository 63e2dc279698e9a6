// How much sound a WAV file holds: everything behind the first mark of samples is taken for samples, since decoders differ in
// where they stop. What the header says of a sample is how decoders read it; what it says of their number is not asked.

import { everyByte, type MeasuredAudio, type Scan, statedOnly, textAt, viewOf } from '../scan.ts';
import { MpegFrames } from './mpeg.ts';
import { paddingAfter, UNKNOWN_BYTES_MIN } from './wav.ts';

const HEAD_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;
/** Up to the coding that an extensible format names. */
const FORMAT_BYTES = 26;
const CODING_BYTES_MIN = 16;
/** Chunks in front of the samples. */
const CHUNKS_MAX = 10_000;

const EXTENSIBLE = 0xfffe;
/** Integers and floating point. */
const PCM = [1, 3];
const ONE_BYTE = [6, 7];
const MICROSOFT_ADPCM = 2;
const IMA_ADPCM = 0x11;
const GSM = 0x31;
const GSM_SAMPLES = 320;
/** The fewest that a block of it has. */
const GSM_BYTES_MIN = 41;
const MPEG = [0x50, 0x55];
/** Codings of a few bits a sample: other ADPCM, and G.726. */
const FEW_BITS = [0x10, 0x14, 0x16, 0x17, 0x20, 0x40, 0x45, 0x64, 0x65];

interface WaveFormat {
  coding: number;
  channels: number;
  hertz: number;
  blockBytes: number;
  bits: number;
  /** What the file says of itself. */
  bytesPerSecond: number;
}

/** Undefined where there are no samples, or no word of how many a second has. */
export function* wavAudio(from: number, size: number): Scan<MeasuredAudio | undefined> {
  const formats: WaveFormat[] = [];
  let at = from + HEAD_BYTES;
  let said = 0;
  let statedSamples = 0;
  for (let chunks = 0; at + CHUNK_HEAD_BYTES <= size && chunks < CHUNKS_MAX; chunks++) {
    const head: Uint8Array = yield { at, length: CHUNK_HEAD_BYTES + FORMAT_BYTES };
    const name = textAt(head, 0, 4);
    const length = viewOf(head).getUint32(4, true);
    if (name === 'data') {
      said = length;
      break;
    }
    const format = name === 'fmt ' ? waveFormat(head.subarray(CHUNK_HEAD_BYTES)) : undefined;
    if (format !== undefined) formats.push(format);
    if (name === 'fact') statedSamples = viewOf(head).getUint32(CHUNK_HEAD_BYTES, true);
    const next = at + CHUNK_HEAD_BYTES + length;
    at = next + (length % 2 === 0 ? 0 : paddingAfter(length, yield { at: next, length: 4 }));
  }
  const samples = { from: at + CHUNK_HEAD_BYTES, to: size };
  if (samples.from >= samples.to) return undefined;
  let measured: MeasuredAudio | undefined;
  let statedSeconds = 0;
  const isDamaged = said < UNKNOWN_BYTES_MIN && said > samples.to - samples.from;
  for (const format of formats) {
    const { channels, coding } = format;
    const seconds: number | undefined = MPEG.includes(coding)
      ? yield* mpegSeconds(samples)
      : waveSeconds(format, samples.to - samples.from);
    if (seconds === undefined) {
      const byBytes = (samples.to - samples.from) / format.bytesPerSecond;
      statedSeconds = Math.max(statedSeconds, statedSamples > 0 ? statedSamples / format.hertz : byBytes);
      continue;
    }
    if (!Number.isFinite(seconds)) return undefined;
    const secondsMax = Math.max(seconds, measured?.secondsMax ?? 0);
    measured = {
      seconds: secondsMax,
      secondsMax,
      channels: Math.max(channels, measured?.channels ?? 1),
      isDamaged,
    };
  }
  return statedSeconds > 0 ? statedOnly(Math.max(statedSeconds, measured?.seconds ?? 0)) : measured;
}

/** The body of a `fmt ` chunk. */
export function waveFormat(body: Uint8Array, isLittleEndian = true): WaveFormat | undefined {
  if (body.length < CODING_BYTES_MIN) return undefined;
  const view = viewOf(body);
  const said = view.getUint16(0, isLittleEndian);
  return {
    coding: said === EXTENSIBLE && body.length >= FORMAT_BYTES ? view.getUint16(24, isLittleEndian) : said,
    channels: view.getUint16(2, isLittleEndian) || 1,
    hertz: view.getUint32(4, isLittleEndian),
    blockBytes: view.getUint16(12, isLittleEndian),
    bits: view.getUint16(14, isLittleEndian),
    bytesPerSecond: view.getUint32(8, isLittleEndian),
  };
}

/** Undefined where the coding is unknown. */
export function waveSeconds(
  { coding, channels, hertz, blockBytes, bits }: WaveFormat,
  bytes: number,
): number | undefined {
  if (PCM.includes(coding) || ONE_BYTE.includes(coding)) {
    const sample = ONE_BYTE.includes(coding) ? 1 : Math.ceil(bits / 8) || 1;
    // Some go by one of the two, some by the other.
    return bytes / Math.min(sample * channels, blockBytes || Number.POSITIVE_INFINITY) / hertz;
  }
  if (coding === GSM) return ((bytes / (blockBytes === 65 ? 65 : GSM_BYTES_MIN)) * GSM_SAMPLES) / hertz;
  const sampleBits = Math.min(bits || 4, 4);
  if (coding === MICROSOFT_ADPCM || coding === IMA_ADPCM) {
    // A block begins with what its first samples are made of.
    const [headBytes, first] = coding === IMA_ADPCM ? [4, 1] : [7, 2];
    const inBlock = ((blockBytes - headBytes * channels) * 8) / (sampleBits * channels) + first;
    if (inBlock > first) return (Math.ceil(bytes / blockBytes) * inBlock) / hertz;
  } else if (!FEW_BITS.includes(coding)) return undefined;
  return (bytes * 8) / (sampleBits * channels) / hertz;
}

function* mpegSeconds(samples: { from: number; to: number }): Scan<number> {
  const frames = new MpegFrames();
  yield* everyByte(samples, (bytes) => frames.push(bytes));
  return frames.end().seconds;
}

/** What the header of a WAV file says of its length. */
export interface WavLength {
  /** Where the samples begin. */
  samplesAt: number;
  /** Bytes of samples; undefined where the writer did not know them yet. */
  sampleBytes: number | undefined;
  bytesPerSecond: number;
  channels: number;
  /**
   * Whether bytes say how long it is, to every decoder: samples that are not packed, in one format whose fields agree. Where
   * samples are said to be larger than they are, a long file would seem to be a short one.
   */
  isPlain: boolean;
}

/**
 * Looks for the length of a WAV file (RIFF or RF64) in its beginning. Undefined when the samples do
 * not begin within `bytes`, or the header makes no sense: whoever reads the samples says what is wrong with it.
 */
export function wavLength(bytes: Uint8Array): WavLength | undefined {
  const view = viewOf(bytes);
  let bytesPerSecond = 0;
  let channels = 0;
  let isPlain = false;
  let formats = 0;
  let longBytes: number | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4, true);
    if (textAt(bytes, at, 4) === 'data') {
      // Writers that do not know the length yet leave one of these; RF64 says it elsewhere.
      const sampleBytes = size === 0 || size === 0xffff_ffff ? longBytes : size;
      return bytesPerSecond > 0 ? { samplesAt: at + 8, sampleBytes, bytesPerSecond, channels, isPlain } : undefined;
    }
    if (textAt(bytes, 0, 4) === 'RF64' && textAt(bytes, at, 4) === 'ds64' && at + 24 <= bytes.length) {
      longBytes = Number(view.getBigUint64(at + 16, true)) || undefined;
    }
    // Rate times bytes of a sample of all channels; the field that says their product is often wrong.
    if (textAt(bytes, at, 4) === 'fmt ' && at + 22 <= bytes.length) {
      const frameBytes = view.getUint16(at + 20, true);
      bytesPerSecond = view.getUint32(at + 12, true) * frameBytes;
      const bits = at + 24 <= bytes.length ? view.getUint16(at + 22, true) : 0;
      channels = view.getUint16(at + 10, true);
      const said = view.getUint16(at + 8, true);
      const coding = said === EXTENSIBLE && at + 34 <= bytes.length ? view.getUint16(at + 32, true) : said;
      // Some decoders go by the first of several, some by the last.
      formats++;
      isPlain = formats === 1 && PCM.includes(coding) && frameBytes === channels * Math.ceil(bits / 8);
    }
    at += 8 + size + paddingAfter(size, bytes.subarray(at + 8 + size));
  }
  return undefined;
}
