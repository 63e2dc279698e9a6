// Every dialect, each at its own path `/compat/<name>`.
import { assemblyai } from './assemblyai/index.ts';
import { deepgram } from './deepgram/index.ts';
import type { Dialect } from './dialect.ts';
import { elevenlabs } from './elevenlabs/index.ts';
import { gladia } from './gladia/index.ts';
import { openai } from './openai/index.ts';
import { soniox } from './soniox/index.ts';
import { speechmatics } from './speechmatics/index.ts';

export const dialects: readonly Dialect[] = [deepgram, speechmatics, assemblyai, openai, elevenlabs, gladia, soniox];
