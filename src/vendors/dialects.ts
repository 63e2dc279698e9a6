// Every dialect, each at its own path `/compat/<name>`.
import { assemblyai } from './assemblyai/compat/index.ts';
import type { Dialect } from './compat/dialect.ts';
import { deepgram } from './deepgram/compat/index.ts';
import { elevenlabs } from './elevenlabs/compat/index.ts';
import { gladia } from './gladia/compat/index.ts';
import { livekit } from './livekit/index.ts';
import { openai } from './openai/compat/index.ts';
import { soniox } from './soniox/compat/index.ts';
import { speechmatics } from './speechmatics/compat/index.ts';
import { audiohook } from './telephony/audiohook.ts';
import { telnyx, twilio } from './telephony/carriers.ts';
import { vonage } from './telephony/vonage.ts';
import { vercel } from './vercel/index.ts';

const vendors = [deepgram, speechmatics, assemblyai, openai, elevenlabs, gladia, soniox, livekit, vercel];
const carriers = [twilio, telnyx, vonage, audiohook];

export const dialects: readonly Dialect[] = [...vendors, ...carriers];
