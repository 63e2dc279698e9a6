// The simulators: one line per provider that has one.
import { simulator as assemblyai } from './assemblyai/simulator/index.ts';
import { simulator as aws } from './aws/simulator/index.ts';
import { simulator as azure } from './azure/simulator/index.ts';
import { simulator as cartesia } from './cartesia/simulator/index.ts';
import { simulator as deepgram } from './deepgram/simulator/index.ts';
import { simulator as elevenlabs } from './elevenlabs/simulator/index.ts';
import { simulator as fireworks } from './fireworks/simulator/index.ts';
import { simulator as gladia } from './gladia/simulator/index.ts';
import { simulator as google } from './google/simulator/index.ts';
import { simulator as groq } from './groq/simulator/index.ts';
import type { ProviderSimulator } from './kit/simulation.ts';
import { simulator as kyutai } from './kyutai/simulator/index.ts';
import { simulator as mistral } from './mistral/simulator/index.ts';
import { simulator as nvidia } from './nvidia/simulator/index.ts';
import { simulator as openai } from './openai/simulator/index.ts';
import { simulator as revai } from './revai/simulator/index.ts';
import { simulator as soniox } from './soniox/simulator/index.ts';
import { simulator as speaches } from './speaches/simulator/index.ts';
import { simulator as speechmatics } from './speechmatics/simulator/index.ts';
import { simulator as vllm } from './vllm/simulator/index.ts';
import { simulator as vosk } from './vosk/simulator/index.ts';
import { simulator as whispercpp } from './whispercpp/simulator/index.ts';
import { simulator as xai } from './xai/simulator/index.ts';

export const simulators: readonly ProviderSimulator[] = [
  deepgram,
  assemblyai,
  openai,
  speechmatics,
  gladia,
  revai,
  soniox,
  elevenlabs,
  cartesia,
  mistral,
  groq,
  speaches,
  vllm,
  whispercpp,
  xai,
  fireworks,
  vosk,
  azure,
  google,
  aws,
  kyutai,
  nvidia,
];
