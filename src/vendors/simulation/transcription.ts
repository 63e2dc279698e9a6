// A whole file through an ear: the WAV reader's samples in, the turns out. The ear's queue sets the pace.

import { WavReader } from '../../audio/containers/wav.ts';
import type { EarMessage, HeardTurn } from '../kit/simulation.ts';
import type { OpenEar } from './ears.ts';

/** Largest file. */
export const FILE_BYTES_MAX = 2 * 1024 ** 3;
/** Given to the ear at a time, and left waiting in it at most. */
const PIECE_BYTES = 65_536;
const QUEUED_BYTES_MAX = 1024 * 1024;

/**
 * Transcribes a WAV file.
 *
 * @throws when it is larger than 2 GiB, no WAV file that can be read, or the ear fails.
 */
export async function transcribe(
  openEar: OpenEar,
  file: Uint8Array,
  language: string | undefined,
): Promise<{ seconds: number; turns: HeardTurn[] }> {
  if (file.byteLength > FILE_BYTES_MAX) throw new Error(`The file is larger than ${FILE_BYTES_MAX} bytes.`);
  const { samples, sampleRate } = readWav(file);
  const turns: HeardTurn[] = [];
  await hear(openEar, { sampleRate, language }, samples, (message) => {
    if (message.type !== 'final') return;
    const { text, start, end, words = [], confidence = 1 } = message;
    turns.push({ text, start, end, words, confidence });
  });
  return { seconds: samples.length / sampleRate, turns };
}

function readWav(file: Uint8Array): { samples: Int16Array; sampleRate: number } {
  const reader = new WavReader();
  const samples = reader.push(file);
  reader.end();
  return { samples, sampleRate: reader.format!.sampleRate };
}

/** Resolves when the ear has finished. */
function hear(
  openEar: OpenEar,
  request: { sampleRate: number; language: string | undefined },
  samples: Int16Array,
  onMessage: (message: EarMessage) => void,
): Promise<void> {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  return new Promise((resolve, reject) => {
    let at = 0;
    let isFinishing = false;
    const feed = () => {
      while (at < bytes.length && ear.queuedBytes <= QUEUED_BYTES_MAX) {
        ear.audio(bytes.subarray(at, at + PIECE_BYTES));
        at += PIECE_BYTES;
      }
      if (at < bytes.length || isFinishing) return;
      isFinishing = true;
      ear.finish();
    };
    const listener = (message: EarMessage) => {
      onMessage(message);
      if (message.type === 'error') reject(new Error(`The ear failed: ${message.code}.`));
      if (message.type !== 'finished' && message.type !== 'error') return;
      ear.close();
      resolve();
    };
    const ear = openEar(request, listener, feed);
    feed();
  });
}
