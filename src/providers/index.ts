// The registry: one line per provider. Models that hear files only get a live mode here.
import { assemblyai } from './assemblyai/index.ts';
import { azure } from './azure/index.ts';
import { cartesia } from './cartesia/index.ts';
import { deepgram } from './deepgram/index.ts';
import { elevenlabs } from './elevenlabs/index.ts';
import { gladia } from './gladia/index.ts';
import { google } from './google/index.ts';
import { groq } from './groq/index.ts';
import { withLiveTurns } from './live-turns.ts';
import { local } from './local/index.ts';
import { loopback } from './loopback/index.ts';
import { mistral } from './mistral/index.ts';
import { openai } from './openai/index.ts';
import type { Provider } from './provider.ts';
import { revai } from './revai/index.ts';
import { soniox } from './soniox/index.ts';
import { speechmatics } from './speechmatics/index.ts';
import { vosk } from './vosk/index.ts';

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
  vosk,
  azure,
  google,
  loopback,
].map(withLiveTurns);

/** Those that clients are offered. `loopback` recognises nothing: it is there for tests, where it is asked for. */
export const offeredProviders = (loopbackWish: 'on' | 'off'): readonly Provider[] =>
  loopbackWish === 'on' ? providers : providers.filter(({ name }) => name !== loopback.name);
