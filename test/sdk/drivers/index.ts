// Every official client that the suite of dialects is driven by.

import type { Driver } from '../../vendors/compat/driver.ts';
import { aiGateway } from './ai-gateway.ts';
import { aiSdk } from './ai-sdk.ts';
import { assemblyaiStreaming } from './assemblyai.ts';
import { deepgramFlux, deepgramNova } from './deepgram.ts';
import { elevenlabsRealtime } from './elevenlabs.ts';
import { gladiaLive } from './gladia.ts';
import { livekitFlux, livekitInference, livekitNova } from './livekit.ts';
import { openaiBetaRealtime, openaiRealtime } from './openai.ts';
import { sonioxRealtime } from './soniox.ts';
import { speechmaticsBatch, speechmaticsRealtime } from './speechmatics.ts';

export const drivers: readonly Driver[] = [
  deepgramNova,
  deepgramFlux,
  speechmaticsRealtime,
  speechmaticsBatch,
  assemblyaiStreaming,
  openaiRealtime,
  openaiBetaRealtime,
  elevenlabsRealtime,
  gladiaLive,
  sonioxRealtime,
  livekitInference,
  livekitNova,
  livekitFlux,
  ...aiSdk,
  aiGateway,
];
