// For how long frames of a WebM or Matroska track sound, by the track's description. RFC 9559, and the list of codecs that goes
// with it.
import { AccessUnits } from './aac/access-units.ts';
import { aacConfig } from './aac/config.ts';
import { elementsOf, numberOf } from './ebml.ts';
import { FlacFrames, flacInfo } from './frames/flac-frames.ts';
import { MpegFrames } from './frames/mpeg-frames.ts';
import { opusSeconds } from './frames/opus.ts';
import { VorbisStream } from './frames/vorbis.ts';
import { viewOf } from './scan.ts';

const NUMBER = 0xd7;
const TYPE = 0x83;
const CODEC = 0x86;
const PRIVATE = 0x63a2;
const ENCODINGS = 0x6d80;
const AUDIO = 0xe1;
const RATE = 0xb5;
const CHANNELS = 0x9f;
const BITS = 0x6264;
const TYPE_AUDIO = 2;
const RATE_DEFAULT = 8_000;
const AC3_SAMPLES = 1536;

/** Counts the frames of a track. */
interface FrameCount {
  frame(bytes: Uint8Array): void;
  seconds(): number;
  /** Where that may be more. */
  secondsMax?(): number;
  isDamaged?(): boolean;
}

/** A track of sound. */
export interface WebmTrack extends FrameCount {
  number: number;
  channels: number;
}

interface Description {
  codec: string;
  setup: Uint8Array;
  hertz: number;
  channels: number;
  bits: number;
}

/** What an entry of the tracks says. */
export interface TrackEntry {
  number: number;
  isSound: boolean;
  /** What of a frame is left out is not here to be looked at. */
  isEncoded: boolean;
  said: Description;
}

export function trackEntry(entry: Uint8Array): TrackEntry {
  let [number, type, isEncoded] = [0, 0, false];
  const said: Description = { codec: '', setup: new Uint8Array(0), hertz: RATE_DEFAULT, channels: 1, bits: 16 };
  for (const { id, body } of elementsOf(entry)) {
    if (id === NUMBER) number = numberOf(body);
    else if (id === TYPE) type = numberOf(body);
    else if (id === CODEC) said.codec = String.fromCharCode(...body.subarray(0, 64)).replace(/\0.*$/, '');
    else if (id === PRIVATE) said.setup = body.slice();
    else if (id === ENCODINGS) isEncoded = true;
    else if (id === AUDIO) describeAudio(body, said);
  }
  return { number, isSound: type === TYPE_AUDIO || said.codec.startsWith('A_'), isEncoded, said };
}

/** `unknown` is false where the track is no sound, true when it cannot be read. */
export function webmTrack(entry: Uint8Array): WebmTrack | { number: number; unknown: boolean } {
  const { number, isSound, isEncoded, said } = trackEntry(entry);
  if (!isSound) return { number, unknown: false };
  const count = isEncoded ? undefined : countOf(said);
  return count === undefined ? { number, unknown: true } : { ...count, number, channels: said.channels };
}

function describeAudio(audio: Uint8Array, said: Description): void {
  for (const { id, body } of elementsOf(audio)) {
    if (id === RATE && body.length === 4) said.hertz = viewOf(body).getFloat32(0);
    else if (id === RATE && body.length === 8) said.hertz = viewOf(body).getFloat64(0);
    else if (id === CHANNELS) said.channels = numberOf(body) || 1;
    else if (id === BITS) said.bits = numberOf(body);
  }
}

function countOf(said: Description): FrameCount | undefined {
  const { codec, setup, hertz, channels, bits } = said;
  if (codec === 'A_OPUS') return summed((frame) => opusSeconds(frame));
  if (codec === 'A_VORBIS') return vorbis(setup);
  if (codec.startsWith('A_MPEG/L')) return mpeg();
  if (codec === 'A_FLAC') return flac(setup);
  if (!(hertz > 0)) return undefined;
  if (codec.startsWith('A_AAC')) {
    const config = aacConfig(setup, channels, hertz);
    return config && accessUnits(new AccessUnits(config));
  }
  if (codec.startsWith('A_AC3') || codec.startsWith('A_EAC3')) return summed(() => AC3_SAMPLES / hertz);
  const frameBytes = channels * Math.ceil(bits / 8);
  if (codec.startsWith('A_PCM/') && frameBytes > 0) return summed((frame) => frame.length / frameBytes / hertz);
  return undefined;
}

function summed(secondsOf: (frame: Uint8Array) => number): FrameCount {
  let sum = 0;
  const frame = (bytes: Uint8Array) => {
    sum += secondsOf(bytes);
  };
  return { frame, seconds: () => sum };
}

const accessUnits = (units: AccessUnits): FrameCount => ({
  frame: (bytes) => (units.isChecked(bytes.length) ? units.unit(bytes) : units.uncheckedUnit(bytes.length)),
  seconds: () => units.seconds,
  secondsMax: () => units.secondsMax,
  isDamaged: () => units.isDamaged,
});

/** Its three headers stand one behind the other, with the lengths of two in front. */
function vorbis(setup: Uint8Array): FrameCount | undefined {
  let at = 1;
  const length = () => {
    let bytes = 0;
    while (setup[at] === 255) bytes += setup[at++]!;
    return bytes + (setup[at++] ?? 0);
  };
  const [first, second] = [length(), length()];
  const stream = VorbisStream.of(setup.subarray(at, at + first));
  if (setup[0] !== 2 || stream === undefined) return undefined;
  stream.setUp(setup.subarray(at + first + second));
  return { frame: (bytes) => bytes.length > 0 && stream.packet(bytes[0]!), seconds: () => stream.seconds };
}

function mpeg(): FrameCount {
  const frames = new MpegFrames();
  return {
    frame: (bytes) => frames.push(bytes),
    seconds: () => frames.end().seconds,
    secondsMax: () => frames.end().secondsMax,
  };
}

function flac(setup: Uint8Array): FrameCount | undefined {
  // The mark of the stream and the head of the block go in front.
  const info = flacInfo(setup.subarray(8));
  if (info === undefined) return undefined;
  const frames = new FlacFrames(info);
  const seconds = () => {
    frames.end();
    return frames.seconds;
  };
  return { frame: (bytes) => frames.push(bytes), seconds };
}
