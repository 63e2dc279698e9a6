// What the tests of files that are larger than their model takes share: the speech, gateways with such models, and what they answer.
import { afterAll, beforeEach } from 'vitest';
import type { VerboseTranscription } from '../../../src/api/transcriptions.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { RATE, talk, talkingEar } from '../../fakes/audio/talking.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';

export const WORDS = 2_200;
export const MODEL = 'openai/whisper-1';
export const FALLBACK = 'deepgram/nova-3';
/** 33 minutes, 32 MB. */
export const audio = talk(WORDS, (word) => word % 10 === 9);
export const TALK = new Blob([audio.bytes], { type: `audio/l16;rate=${RATE}` });

/** A word at which OpenAI's models fail. */
export const deaf: { to: number | undefined } = { to: undefined };
beforeEach(() => {
  deaf.to = undefined;
});
const servers: SimulatorServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
});

async function start(provider: string, ear = talkingEar()): Promise<string> {
  const simulator = simulators.find((each) => each.provider === provider);
  if (simulator === undefined) throw new Error(`There is no simulator of ${provider}.`);
  const server = await SimulatorServer.start({ simulator, ear, clock: systemClock });
  servers.push(server);
  return server.url;
}

export const startWithFallback = async (): Promise<LiveGateway> =>
  startLiveGateway({
    VOXGATE_OPENAI_URL: await start(
      'openai',
      talkingEar(() => deaf.to),
    ),
    OPENAI_API_KEY: 'key',
    VOXGATE_DEEPGRAM_URL: await start('deepgram'),
    DEEPGRAM_API_KEY: 'key',
  });

export async function send(live: LiveGateway, fields: Record<string, string>, file = TALK) {
  const form = new FormData();
  const all = { response_format: 'verbose_json', 'timestamp_granularities[]': 'word', speech_gate: 'off', ...fields };
  for (const [name, value] of Object.entries(all)) form.append(name, value);
  form.append('file', file, 'talk');
  const response = await live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
  const answer = (await response.json()) as VerboseTranscription;
  const record = await live.request(`/v1/sessions/${answer.request_id}`);
  const { usage, audio_seconds: seconds, held_usd: held } = (await record.json()) as Record<string, unknown>;
  return { status: response.status, answer, usage, seconds, held };
}
