// A thread that decodes one file, block by block, to one channel. A decoder that runs over its memory takes nothing else with it.
import { parentPort, workerData } from 'node:worker_threads';
import { toSample } from '../../audio/pcm.ts';
import { flacSound } from './formats/flac.ts';
import { mpegSound } from './formats/mpeg.ts';
import { oggSound } from './formats/ogg.ts';
import { type Decode, type Sound, Undecodable } from './formats/sound.ts';
import { webmSound } from './formats/webm.ts';

/** What can be decoded, by the formats of files. */
export type Decoded = 'mp3' | 'flac' | 'ogg' | 'webm';

export interface DecodingStart {
  format: Decoded;
}

/** What the thread is told, and what it says. They take turns: whoever has spoken waits for the other. */
export type ToThread =
  /** Answers `needs`. The bytes are handed over; undefined at the end of the file. */
  | { type: 'bytes'; bytes: Uint8Array<ArrayBuffer> | undefined }
  /** Answers `samples`. */
  | { type: 'more' };

export type FromThread =
  | { type: 'needs' }
  /** One channel; handed over. */
  | { type: 'samples'; samples: Int16Array<ArrayBuffer>; sampleRate: number }
  /** The last of all. */
  | { type: 'ended'; isDamaged: boolean }
  /** The last of all: why there is no sound, as it continues behind "cannot be decoded: ". */
  | { type: 'undecodable'; why: string };

/** Handed over at a time, unless one frame is longer. */
const SAMPLES = 16_384;
/** Frames that could not be decoded, after which a file is given up. */
const FAULTS_MAX = 1_000;
const FULL_SCALE = 32_768;

const DECODE: Readonly<Record<Decoded, Decode>> = { mp3: mpegSound, flac: flacSound, ogg: oggSound, webm: webmSound };

const port = parentPort as NonNullable<typeof parentPort>;
const { format } = workerData as DecodingStart;
let faults = 0;
let isDamaged = false;

// The decoders print each fault there, and one of them would continue for ever.
console.error = () => {
  isDamaged = true;
  faults++;
  if (faults > FAULTS_MAX) throw new Undecodable('it is damaged in too many places');
};

port.postMessage(await outcome());

async function outcome(): Promise<FromThread> {
  try {
    const heard = await decodeAll();
    return heard
      ? { type: 'ended', isDamaged }
      : { type: 'undecodable', why: 'there is no sound in it that is known here' };
  } catch (error) {
    return { type: 'undecodable', why: error instanceof Undecodable ? error.message : 'it is damaged' };
  }
}

/** Whether there was any sound. */
async function decodeAll(): Promise<boolean> {
  let held: Int16Array<ArrayBuffer>[] = [];
  let samples = 0;
  let sampleRate = 0;
  const handOver = async () => {
    const all = joined(held, samples);
    held = [];
    samples = 0;
    await ask({ type: 'samples', samples: all, sampleRate }, [all.buffer]);
  };
  const damaged = () => {
    isDamaged = true;
  };
  for await (const sound of DECODE[format](bytes(), damaged)) {
    if (sound.samplesDecoded === 0 || sound.channelData.length === 0) continue;
    if (sampleRate !== 0 && sound.sampleRate !== sampleRate) {
      throw new Undecodable(`its sample rate changes from ${sampleRate} to ${sound.sampleRate}`);
    }
    sampleRate = sound.sampleRate;
    const mixed = mix(sound);
    held.push(mixed);
    samples += mixed.length;
    if (samples >= SAMPLES) await handOver();
  }
  if (samples > 0) await handOver();
  return sampleRate > 0;
}

async function* bytes(): AsyncGenerator<Uint8Array> {
  for (;;) {
    const answer = await ask({ type: 'needs' });
    if (answer.type !== 'bytes' || answer.bytes === undefined) return;
    yield answer.bytes;
  }
}

/** The mean of the channels. */
function mix({ channelData, samplesDecoded }: Sound): Int16Array<ArrayBuffer> {
  const mixed = new Int16Array(samplesDecoded);
  const scale = FULL_SCALE / channelData.length;
  for (let at = 0; at < samplesDecoded; at++) {
    let sum = 0;
    for (const samples of channelData) sum += samples[at]!;
    mixed[at] = toSample(sum * scale);
  }
  return mixed;
}

function joined(parts: readonly Int16Array[], length: number): Int16Array<ArrayBuffer> {
  const all = new Int16Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function ask(message: FromThread, transfer: ArrayBuffer[] = []): Promise<ToThread> {
  return new Promise((resolve) => {
    port.once('message', resolve);
    port.postMessage(message, transfer);
  });
}
