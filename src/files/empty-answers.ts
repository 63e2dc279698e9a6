// An answer without words: whether there is anything in the file to be heard, and what is done where there is.
import type { Utterance } from '../../machines/events.ts';
import { BYTES_PER_SAMPLE } from '../api/audio-formats.ts';
import { SpeechMeter } from '../audio/voice/energy.ts';
import { FileDecoder } from './file/file-decoder.ts';
import type { FileSource } from './file/file-source.ts';

/** What is known of the sound in a file. Containers are not decoded here, and what was read once may be gone. */
export type Sound = 'speech' | 'none' | 'unknown';

export const isEmpty = (utterances: readonly Utterance[]): boolean =>
  utterances.every(({ text }) => text.trim() === '');

/** Reads the file up to the first sound that is as loud and long as speech. */
export async function soundIn(file: FileSource, signal: AbortSignal): Promise<Sound> {
  const { kind, left } = file;
  if (!left || (kind.kind === 'container' && kind.format !== 'wav')) return 'unknown';
  try {
    const decoder = await FileDecoder.open(file, notDecoded);
    const meter = new SpeechMeter(decoder.sampleRate);
    for await (const { buffer, byteOffset, byteLength } of decoder.audio(decoder.sampleRate, null)) {
      signal.throwIfAborted();
      const samples = new Int16Array(buffer, byteOffset, byteLength / BYTES_PER_SAMPLE);
      meter.take(samples, 0, samples.length);
      if (meter.speech.lastEnd !== undefined) return 'speech';
    }
    return 'none';
  } catch (error) {
    if (signal.aborted) throw error;
    // A model has read it all the same.
    return 'unknown';
  }
}

const notDecoded = (): never => {
  throw new Error('Containers are not decoded for this.');
};

/** What a client is told that is given no words. */
export function emptyWarning(slug: string, sound: Sound): { code: string; message: string } {
  const though = sound === 'speech' ? ', though there is sound in it as loud as speech' : '';
  return {
    code: 'empty_result',
    message: `${slug} found no words in this file${though}. If somebody speaks in it, try another model, or name one in \`fallbacks\`.`,
  };
}
