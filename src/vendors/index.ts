// The registry: one line per provider. Models that hear files only get a live mode here.

import { providerOf } from '../api/slug.ts';
import { assemblyai } from './assemblyai/index.ts';
import { aws } from './aws/index.ts';
import { azure } from './azure/index.ts';
import { cartesia } from './cartesia/index.ts';
import type { CustomModel } from './custom/model.ts';
import { customProvider } from './custom/provider.ts';
import { deepgram } from './deepgram/index.ts';
import { elevenlabs } from './elevenlabs/index.ts';
import { fireworks } from './fireworks/index.ts';
import { gladia } from './gladia/index.ts';
import { google } from './google/index.ts';
import { groq } from './groq/index.ts';
import { withLiveTurns } from './kit/live-turns.ts';
import type { Provider } from './kit/provider.ts';
import { kyutai } from './kyutai/index.ts';
import { local } from './local/index.ts';
import type { LocalModel } from './local/own-model.ts';
import { localWith } from './local/own-provider.ts';
import { loopback } from './loopback/index.ts';
import { mistral } from './mistral/index.ts';
import { nvidia } from './nvidia/index.ts';
import { openai } from './openai/index.ts';
import { revai } from './revai/index.ts';
import { soniox } from './soniox/index.ts';
import { speaches } from './speaches/index.ts';
import { speechmatics } from './speechmatics/index.ts';
import { vllm } from './vllm/index.ts';
import { vosk } from './vosk/index.ts';
import { whispercpp } from './whispercpp/index.ts';
import { xai } from './xai/index.ts';

export const providers: readonly Provider[] = [
  local,
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
  loopback,
].map(withLiveTurns);

/** By their names, as `providerOf` finds them in slugs. */
export type Providers = ReadonlyMap<string, Provider>;

const named = (list: readonly Provider[]): Providers => new Map(list.map((provider) => [provider.name, provider]));

/** All of a gateway: those of this build, and its operator's own servers and speech models. */
export const providersWith = (own: readonly CustomModel[], speechModels: readonly LocalModel[] = []): Providers =>
  named([...withSpeechModels(providers, speechModels), ...own.map(customProvider)]);

const withSpeechModels = (list: readonly Provider[], own: readonly LocalModel[]): readonly Provider[] =>
  list.map((provider) => (provider.name === local.name ? localWith(own) : provider));

/** Those of them that clients are offered. `loopback` recognises nothing: it is there for tests, where it is requested. */
export const offeredOf = (known: Providers, loopbackSetting: 'on' | 'off'): Providers =>
  loopbackSetting === 'on' ? known : named([...known.values()].filter(({ name }) => name !== loopback.name));

/** Whether one of them has the model. */
export const hasModel = (known: Providers, slug: string): boolean =>
  known.get(providerOf(slug))?.models.some(({ id }) => id === slug) === true;
