// Ways to hear the recogniser in tests: through a pool of threads, and one stream in this process. Decides nothing itself.
import { readFileSync } from 'node:fs';
import { PcmConverter } from '../../src/audio/resampler.ts';
import { WavReader } from '../../src/audio/wav.ts';
import { local } from '../../src/providers/local/index.ts';
import type { EngineConnection } from '../../src/providers/provider.ts';
import { Decoders } from '../../src/recogniser/decoders.ts';
import { LANGUAGES } from '../../src/recogniser/languages.ts';
import type { RecogniserPool } from '../../src/recogniser/pool.ts';
import { type HeardWord, readQuery, SAMPLE_RATE, type StreamMessage } from '../../src/recogniser/protocol.ts';
import { loadModule } from '../../src/recogniser/soundswallower.ts';
import { RecogniserStream } from '../../src/recogniser/stream.ts';
import { TaskCompiler } from '../../src/recogniser/task-compiler.ts';
import { TurnDetector } from '../../src/recogniser/turn-detector.ts';

export interface Sample {
  file: string;
  model: string;
  text: string;
  turns: string[];
  language: string;
  seconds: number;
  sampleRate: number;
}

export type Final = Extract<StreamMessage, { type: 'final' }>;
export type Query = Readonly<Record<string, unknown>>;

const AUDIO = new URL('../fixtures/audio/', import.meta.url);

export const SAMPLES: readonly Sample[] = JSON.parse(readFileSync(new URL('samples.json', AUDIO), 'utf8'));

export function sample(file: string): Sample {
  const found = SAMPLES.find((each) => each.file === file);
  if (found === undefined) throw new Error(`There is no sample ${file}.`);
  return found;
}

/** A sample's audio as the recogniser takes it: linear16 at 16 kHz. */
export function audioOf({ file, sampleRate }: Sample): Uint8Array {
  const reader = new WavReader();
  const pcm = reader.push(readFileSync(new URL(file, AUDIO)));
  if (sampleRate === SAMPLE_RATE) return new Uint8Array(pcm);
  return atRecognisersRate(pcm, sampleRate);
}

/** What the provider `local` opens a stream with. */
export function queryFor(model: string, params: Query = {}): Query {
  const { endpoint } = local.live!.open({
    model: model.replace('local/', ''),
    sampleRate: SAMPLE_RATE,
    language: undefined,
    interimResults: true,
    diarization: false,
    params,
    access: { baseUrl: undefined, credential: undefined },
  });
  return endpoint.kind === 'embedded' ? endpoint.query : {};
}

export function queryOf({ model, text }: Sample): Query {
  return queryFor(model, model.startsWith('local/align-') ? { align_text: text } : {});
}
