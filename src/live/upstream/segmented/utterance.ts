// One utterance of a live session as the file that a provider is handed, and the provider's answer as the final of a turn.
import type { Utterance, Word } from '../../../../machines/events.ts';
import { BYTES_PER_SAMPLE } from '../../../api/audio-formats.ts';
import { WAV_HEADER_BYTES, wavHeader } from '../../../audio/containers/wav.ts';
import type { Segment } from '../../../audio/voice/segmenter.ts';
import { lasting } from '../../../vendors/kit/words.ts';
import type { BatchFile, BatchResult } from '../../../vendors/provider.ts';
import { joinUtterances } from '../../../vendors/turn-text.ts';
import type { ReadFile } from '../http/body.ts';

/** Providers refuse files of less than a tenth of a second, and hear little in those of less than one: silence makes up for it. */
const FILE_MS_MIN = 1_000;

/** The utterance as a WAV file. */
export function fileOf({ samples }: Segment, sampleRate: number): { file: BatchFile; read: ReadFile } {
  const sampleBytes = samples.length * BYTES_PER_SAMPLE;
  const missing = Math.max(0, Math.ceil((sampleRate * FILE_MS_MIN) / 1000) - samples.length) * BYTES_PER_SAMPLE;
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, sampleBytes);
  return {
    file: {
      name: 'audio.wav',
      contentType: 'audio/wav',
      bytes: WAV_HEADER_BYTES + sampleBytes + missing,
      seconds: (sampleBytes + missing) / BYTES_PER_SAMPLE / sampleRate,
    },
    read: async function* () {
      yield wavHeader(sampleRate, sampleBytes + missing);
      yield bytes;
      if (missing > 0) yield new Uint8Array(missing);
    },
  };
}

/** The answer as one turn, on the leg's clock. Its text is empty where nothing was understood. */
export function turnOf(
  { utterances, language, seconds = 0 }: BatchResult,
  segment: Segment,
  sampleRate: number,
): Utterance {
  const [start, end] = [segment.start / sampleRate, segment.end / sampleRate];
  const placed = (seconds: number) => Math.min(end, Math.max(start, start + seconds));
  const parts = utterances.filter(({ text }) => text.trim() !== '');
  if (parts.length === 0) return { text: '', start: end, end };
  const timed = parts.map((part) => lasting({ ...part, text: part.text.trim() }, seconds, end - start));
  const whole = joinUtterances(timed);
  const turn: Utterance = {
    ...whole,
    ...spanOf(whole, segment, sampleRate, placed),
    ...(whole.language === undefined && language !== undefined ? { language } : {}),
  };
  if (whole.words !== undefined) turn.words = whole.words.map((word) => placedWord(word, placed));
  return turn;
}

/** Times that rest on no word are often those of the file: nothing is said outside of what is loud. */
function spanOf(
  { start, end, words = [] }: Utterance,
  { voicedStart, voicedEnd }: Segment,
  sampleRate: number,
  placed: (seconds: number) => number,
): Pick<Utterance, 'start' | 'end'> {
  if (words.length > 0) return { start: placed(start), end: placed(Math.max(start, end)) };
  const [from, to] = [voicedStart / sampleRate, voicedEnd / sampleRate];
  const within = (seconds: number) => Math.min(to, Math.max(from, placed(seconds)));
  return { start: within(start), end: within(Math.max(start, end)) };
}

const placedWord = (word: Word, placed: (seconds: number) => number): Word => ({
  ...word,
  start: placed(word.start),
  end: placed(Math.max(word.start, word.end)),
});
