// Where the playground's audio comes from: the microphone, the sample that comes with the console, or a file of the reader's.
// Files are decoded by the browser and sent as if they were being spoken now.
import type { Microphone, Voxgate } from '@voxgate/client';
import workletUrl from '@voxgate/client/microphone-worklet.js?worker&url';
import { length } from '../../data/format.ts';
import sampleUrl from './sample.wav';

export interface Source {
  /** Hertz. */
  sampleRate: number;
  /** 16-bit samples. */
  pieces: AsyncIterable<Uint8Array>;
  stop(): void;
}

/** Decoded audio: what can be sent more than once. */
export interface Recording {
  name: string;
  sampleRate: number;
  samples: Int16Array;
  /** What the reader must know of it. */
  note: string | undefined;
}

const FILE_RATE_HZ = 16_000;
const PIECE_MS = 50;
/** A longer file is cut here: it would be heard as long as it lasts. */
const RECORDING_SECONDS_MAX = 300;
/** Of a larger file only the beginning is read: decoded it takes many times as much. */
const FILE_BYTES_MAX = 25_000_000;

export async function openMicrophone(client: Voxgate, onLevel: (level: number) => void): Promise<Source> {
  const microphone: Microphone = await client.microphone({ workletUrl, onLevel });
  return { sampleRate: microphone.sampleRate, pieces: microphone, stop: () => void microphone.stop() };
}

export async function readSample(): Promise<Recording> {
  const answer = await fetch(sampleUrl);
  return decode('The sample', await answer.arrayBuffer());
}

/** Rejects with a sentence where the browser cannot decode it. */
export async function readFile(file: File): Promise<Recording> {
  if (file.size === 0) throw new Error(`“${file.name}” is empty. Choose a file with audio.`);
  const isCut = file.size > FILE_BYTES_MAX;
  const bytes = await (isCut ? file.slice(0, FILE_BYTES_MAX) : file).arrayBuffer();
  try {
    return await decode(file.name, bytes, isCut);
  } catch {
    throw new Error(
      isCut
        ? `“${file.name}” is too long to play here. Cut it, or send the whole file with the code below.`
        : `This browser cannot decode “${file.name}”. Try WAV, MP3, FLAC, Ogg or M4A, or send it as a file with curl.`,
    );
  }
}

async function decode(name: string, bytes: ArrayBuffer, isCut = false): Promise<Recording> {
  const context = new OfflineAudioContext(1, 1, FILE_RATE_HZ);
  const decoded = await context.decodeAudioData(bytes);
  if (decoded.length === 0) throw new Error('No audio.');
  const count = Math.min(decoded.length, RECORDING_SECONDS_MAX * FILE_RATE_HZ);
  const channels = Array.from({ length: decoded.numberOfChannels }, (_, at) => decoded.getChannelData(at));
  const samples = new Int16Array(count);
  for (let at = 0; at < count; at++) {
    const mean = channels.reduce((sum, channel) => sum + (channel[at] as number), 0) / channels.length;
    samples[at] = Math.round(Math.max(-1, Math.min(1, mean)) * 0x7fff);
  }
  const note =
    isCut || count < decoded.length
      ? `Only the first ${length(count / FILE_RATE_HZ)} of “${name}” are played here, at the pace of speech. The code below sends the whole file.`
      : undefined;
  return { name, sampleRate: FILE_RATE_HZ, samples, note };
}

/** A recording as it would be spoken. */
export function play({ sampleRate, samples }: Recording, onLevel: (level: number) => void): Source {
  const count = (sampleRate * PIECE_MS) / 1000;
  let isStopped = false;
  async function* pieces() {
    const startedMs = performance.now();
    for (let at = 0; at < samples.length && !isStopped; at += count) {
      const piece = samples.subarray(at, at + count);
      onLevel(levelOf(piece));
      yield new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength);
      const dueMs = startedMs + ((at + count) / sampleRate) * 1000;
      await new Promise((done) => setTimeout(done, dueMs - performance.now()));
    }
    onLevel(0);
  }
  return {
    sampleRate,
    pieces: pieces(),
    stop: () => {
      isStopped = true;
    },
  };
}

function levelOf(piece: Int16Array): number {
  const sum = piece.reduce((total, sample) => total + (sample / 0x8000) ** 2, 0);
  return Math.sqrt(sum / Math.max(1, piece.length));
}
