// Files that the suites send: WAV of numbered samples, whose transcript tells which of them arrived.
import { wavOf } from '../fakes/audio/audio-files.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';

const RATE = 16_000;

/** 32,044 bytes for each second. `loopback/numbered` hears "0-32000" of two. */
export function numberedWav(seconds: number): Buffer<ArrayBuffer> {
  const samples = numberedAudio(0, seconds * RATE);
  const file = wavOf(samples.length, { sampleRate: RATE });
  file.set(samples, file.length - samples.length);
  return file;
}
