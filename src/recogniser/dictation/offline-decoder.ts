// Decodes whole utterances with a model that hears them at once.
import { SAMPLE_RATE } from '../protocol.ts';
import { withoutRepetitions } from './repetitions.ts';
import type { OfflineRecognizer, SherpaResult } from './sherpa.ts';
import type { DictationDecoder, Transcript, UtteranceAudio } from './stream.ts';
import { estimatedWords } from './word-times.ts';
import { wordsOf } from './words.ts';

/** A model that hears nothing although somebody spoke for so long is given the audio once more, with silence around it. */
const SPOKEN_SECONDS = 0.4;
const PADDING_SAMPLES = 0.4 * SAMPLE_RATE;
/** A decode takes a tenth of this at most. One that takes longer is stuck. */
const DECODE_MS_MAX = 60_000;

export class OfflineDecoder implements DictationDecoder {
  readonly #recognizer: OfflineRecognizer;
  readonly #onStuck: () => void;

  constructor(recognizer: OfflineRecognizer, onStuck: () => void) {
    this.#recognizer = recognizer;
    this.#onStuck = onStuck;
  }

  async decode(utterance: UtteranceAudio): Promise<Transcript> {
    const { samples, startSeconds } = utterance;
    const voicedSeconds = utterance.voicedEndSeconds - utterance.voicedStartSeconds;
    let result = await this.#run(samples);
    if (result.text.trim() === '' && voicedSeconds >= SPOKEN_SECONDS) {
      const padded = new Float32Array(samples.length + 2 * PADDING_SAMPLES);
      padded.set(samples, PADDING_SAMPLES);
      result = { ...(await this.#run(padded)), tokens: [], timestamps: [] };
    }
    const text = withoutRepetitions(result.text, voicedSeconds);
    const timed = text === result.text.trim() ? wordsOf(result, startSeconds) : undefined;
    if (timed !== undefined) return { text, words: timed, estimated: false };
    return { text, words: estimatedWords(text, utterance), estimated: true };
  }

  async #run(samples: Float32Array): Promise<SherpaResult> {
    const stream = this.#recognizer.createStream();
    stream.acceptWaveform({ sampleRate: SAMPLE_RATE, samples });
    const timer = setTimeout(this.#onStuck, DECODE_MS_MAX);
    try {
      return await this.#recognizer.decodeAsync(stream);
    } finally {
      clearTimeout(timer);
    }
  }
}
