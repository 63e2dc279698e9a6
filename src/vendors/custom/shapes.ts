// The protocols that an operator's own server may speak: for each the provider whose codecs, options and failures it has, and the
// model that it is taken for where the configuration names none. One line makes a shape.
import { deepgram } from '../deepgram/index.ts';
import type { ModelCard, Provider } from '../kit/provider.ts';
import { fileServer } from '../openai/batch.ts';
import { openai } from '../openai/index.ts';
import { speaches } from '../speaches/index.ts';
import { vllm } from '../vllm/index.ts';
import { vosk } from '../vosk/index.ts';
import { whispercpp } from '../whispercpp/index.ts';

export interface Shape {
  provider: Provider;
  like: string;
}

export const SHAPES: Readonly<Record<string, Shape>> = {
  openai: { provider: { ...openai, batch: fileServer }, like: 'whisper-1' },
  deepgram: { provider: deepgram, like: 'nova-3' },
  vosk: { provider: vosk, like: 'small-en-us-0.15' },
  speaches: { provider: speaches, like: 'faster-whisper-large-v3' },
  vllm: { provider: vllm, like: 'qwen3-asr-1.7b' },
  whispercpp: { provider: whispercpp, like: 'whisper' },
};

/** The catalogue row that a model of the shape begins with; undefined for a model that its provider does not have. */
export const cardLike = ({ provider }: Shape, like: string): ModelCard | undefined =>
  provider.models.find(({ id }) => id === `${provider.name}/${like}`);
