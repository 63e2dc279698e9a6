// The registry: one line per provider.
import { assemblyai } from './assemblyai/index.ts';
import { deepgram } from './deepgram/index.ts';
import { local } from './local/index.ts';
import { loopback } from './loopback/index.ts';
import { openai } from './openai/index.ts';
import type { Provider } from './provider.ts';

export const providers: readonly Provider[] = [local, deepgram, assemblyai, openai, loopback];
