// How much sound an AIFF, AU, CAF, Wave64 or RIFX file holds. Samples are counted by their bytes: the size in the header is believed
// where only tags follow.

import { AccessUnits } from '../codecs/aac/access-units.ts';
import { OPUS_HEAD_BYTES, opusSeconds } from '../codecs/opus.ts';
import { everyByte, type MeasuredAudio, type Scan, statedOnly, textAt, viewOf } from '../scan.ts';
import { elementary } from './mp4.ts';
import { MpegFrames } from './mpeg.ts';
import { type SampleFile, sampleFile } from './sample-file.ts';
import { waveFormat, waveSeconds } from './wav-length.ts';

/** How chunks of each kind begin: bytes of the head, where the size is in it, and what chunks are padded to. AU has none. */
const CHUNKS: Readonly<Record<string, { headBytes: number; sizeOf: (head: DataView) => number; step: number }>> = {
  AIFF: { headBytes: 8, sizeOf: (head) => head.getUint32(4), step: 2 },
  'WAV (big-endian)': { headBytes: 8, sizeOf: (head) => head.getUint32(4), step: 2 },
  CAF: { headBytes: 12, sizeOf: (head) => Number(head.getBigUint64(4)), step: 1 },
  Wave64: { headBytes: 24, sizeOf: (head) => Number(head.getBigUint64(16, true)) - 24, step: 8 },
};
const SAMPLE_CHUNKS = ['SSND', 'data'];
const CHUNKS_MAX = 64;
const PACKETS_BYTES_MAX = 4 * 1024 * 1024;

/** @param kind as `sniffContainer` names it */
export function* sampleFileAudio(kind: string, from: number, size: number): Scan<MeasuredAudio | undefined> {
  const file = yield* sampleFile(kind, from, size);
  if (file === undefined) return undefined;
  const { format, wave, caf } = file;
  if (format !== undefined && format.channels > 0 && format.sampleRate > 0 && format.bytes > 0) {
    const bytesPerSecond = format.bytes * format.channels * format.sampleRate;
    return yield* byBytes(kind, file, size, format.channels, (bytes) => bytes / bytesPerSecond);
  }
  if (wave !== undefined) {
    const said = waveFormat(wave.body, !wave.isBigEndian);
    return said && (yield* byBytes(kind, file, size, said.channels, (bytes) => waveSeconds(said, bytes) ?? 0));
  }
  return caf === undefined ? undefined : yield* cafPackets(kind, file, caf, size);
}

function* byBytes(
  kind: string,
  { samplesAt, sampleBytes }: SampleFile,
  size: number,
  channels: number,
  secondsOf: (bytes: number) => number,
): Scan<MeasuredAudio | undefined> {
  const here = Math.max(0, size - samplesAt);
  const isLess = sampleBytes !== undefined && sampleBytes < here;
  const isBelieved = isLess && (yield* endsInChunks(kind, samplesAt + sampleBytes, size));
  const seconds = secondsOf(isBelieved ? sampleBytes : here);
  const secondsMax = Math.max(seconds, secondsOf(here));
  const isDamaged = here === 0 || (sampleBytes !== undefined && sampleBytes > here);
  return Number.isFinite(secondsMax) && secondsMax > 0 ? { seconds, secondsMax, channels, isDamaged } : undefined;
}

/** Whether only whole chunks follow to the end of the file, and no more samples. */
function* endsInChunks(kind: string, from: number, size: number): Scan<boolean> {
  const chunk = CHUNKS[kind];
  if (chunk === undefined) return false;
  const { headBytes, sizeOf, step } = chunk;
  let at = Math.ceil(from / step) * step;
  for (let chunks = 0; chunks < CHUNKS_MAX && at < size; chunks++) {
    const head: Uint8Array = yield { at, length: headBytes };
    const name = textAt(head, 0, 4);
    if (head.length < headBytes || !/^[ -~]{4}$/.test(name) || SAMPLE_CHUNKS.includes(name)) return false;
    const end = at + headBytes + sizeOf(viewOf(head));
    at = Math.ceil(end / step) * step;
    if (end === size) return true;
  }
  return at === size || from >= size - step;
}

/** Compressed packets, of one size or with a table of sizes. */
function* cafPackets(
  kind: string,
  file: SampleFile,
  caf: NonNullable<SampleFile['caf']>,
  size: number,
): Scan<MeasuredAudio | undefined> {
  if (caf.description.length < 32) return undefined;
  const view = viewOf(caf.description);
  const [rate, packetBytes, packetSamples] = [view.getFloat64(0), view.getUint32(16), view.getUint32(20)];
  const channels = view.getUint32(24) || 1;
  const codec = textAt(caf.description, 8, 4);
  const packetSeconds = packetSamples / rate;
  if (codec === '.mp3') {
    const frames = new MpegFrames();
    yield* everyByte({ from: file.samplesAt, to: size }, (bytes) => frames.push(bytes));
    const { seconds, secondsMax } = frames.end();
    return secondsMax > 0 ? { seconds, secondsMax, channels } : undefined;
  }
  if (packetBytes > 0)
    return yield* byBytes(kind, file, size, channels, (bytes) => (bytes / packetBytes) * packetSeconds);
  if (caf.packets === undefined) return undefined;
  const sizes = yield* packetSizes(caf.packets, packetSamples === 0);
  if (sizes === undefined) return undefined;
  let at = file.samplesAt;
  if (codec === 'aac ') {
    const described = elementary(Buffer.concat([Buffer.alloc(4), caf.cookie]), channels, rate);
    if (described?.kind !== 'aac') return undefined;
    const units = new AccessUnits(described.config);
    for (const bytes of sizes) {
      if (at + bytes > size) units.missingUnit();
      else if (units.isChecked(bytes)) units.unit(yield { at, length: bytes });
      else units.uncheckedUnit(bytes);
      at += bytes;
    }
    const { seconds, secondsMax, isDamaged } = units;
    return secondsMax > 0 ? { seconds, secondsMax, channels, isDamaged } : undefined;
  }
  let seconds = codec === 'alac' ? sizes.length * packetSeconds : 0;
  if (codec === 'opus') {
    for (const bytes of sizes) {
      seconds += opusSeconds(yield { at, length: Math.min(bytes, OPUS_HEAD_BYTES) });
      at += bytes;
    }
  }
  if (seconds > 0 && Number.isFinite(seconds)) return { seconds, secondsMax: seconds, channels };
  const head: Uint8Array = yield { at: caf.packets.at, length: PACKET_TABLE_HEAD_BYTES };
  return statedOnly(Number(viewOf(head).getBigInt64(VALID_FRAMES_AT)) / rate);
}

const VALID_FRAMES_AT = 8;
const PACKET_TABLE_HEAD_BYTES = 24;

/** Numbers of seven bits a byte; with the samples of each packet after its size where they differ. */
function* packetSizes(table: { at: number; bytes: number }, isPaired: boolean): Scan<number[] | undefined> {
  if (table.bytes > PACKETS_BYTES_MAX) return undefined;
  const bytes: Uint8Array = yield { at: table.at, length: table.bytes };
  if (bytes.length < PACKET_TABLE_HEAD_BYTES) return undefined;
  const count = Number(viewOf(bytes).getBigInt64(0));
  const numbers: number[] = [];
  let number = 0;
  for (let at = PACKET_TABLE_HEAD_BYTES; at < bytes.length && numbers.length < count * (isPaired ? 2 : 1); at++) {
    number = number * 128 + (bytes[at]! & 0x7f);
    if ((bytes[at]! & 0x80) !== 0) continue;
    numbers.push(number);
    number = 0;
  }
  return isPaired ? numbers.filter((_, index) => index % 2 === 0) : numbers;
}
