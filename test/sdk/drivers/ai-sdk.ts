// Vercel's AI SDK with packages of vendors. OpenAI's takes an address; the others call their vendor's, so that they are given a `fetch`
// that leads to the gateway.
import { createAssemblyAI } from '@ai-sdk/assemblyai';
import { createDeepgram } from '@ai-sdk/deepgram';
import { createElevenLabs } from '@ai-sdk/elevenlabs';
import { createGladia } from '@ai-sdk/gladia';
import { createOpenAI } from '@ai-sdk/openai';
import { type TranscriptionModel, experimental_transcribe as transcribe } from 'ai';
import type { Driver, Job } from '../../vendors/compat/driver.ts';

type FileJob = Omit<Job, 'sampleRate'>;

/** The gateway replaces the vendor's host. */
const mapped =
  (url: string, dialect: string, change: (request: Request) => void = () => {}): typeof fetch =>
  (input, init) => {
    const { origin, pathname, search } = new URL(String(input));
    const endpoint = origin === url ? pathname : `/compat/${dialect}${pathname}`;
    const request = new Request(`${url}${endpoint}${search}`, init);
    change(request);
    return fetch(request);
  };

/** @param providerOptions with which the package sends more fields */
const driverOf = (
  name: string,
  dialect: string,
  modelOf: (job: FileJob) => TranscriptionModel,
  providerOptions: Parameters<typeof transcribe>[0]['providerOptions'] = {},
): Driver => ({
  client: `ai with @ai-sdk/${name}`,
  dialect,
  async file(job, wav) {
    const { text } = await transcribe({ model: modelOf(job), audio: wav, maxRetries: 0, providerOptions });
    return text;
  },
});

const elevenLabs = ({ url, key, model }: FileJob): TranscriptionModel =>
  createElevenLabs({ apiKey: key, fetch: mapped(url, 'elevenlabs') }).transcription(model as never);

/** With any options it sends `diarize` twice: its own, and that of the options. */
export const elevenLabsWithOptions = driverOf('elevenlabs', 'elevenlabs', elevenLabs, {
  elevenlabs: { diarize: false, numSpeakers: 2 },
});

export const aiSdk: readonly Driver[] = [
  driverOf('openai', 'openai', ({ url, key, model }) =>
    createOpenAI({ baseURL: `${url}/compat/openai/v1`, apiKey: key }).transcription(model),
  ),
  driverOf('deepgram', 'deepgram', ({ url, key, model }) =>
    createDeepgram({ apiKey: key, fetch: mapped(url, 'deepgram') }).transcription(model as never),
  ),
  driverOf('assemblyai', 'assemblyai', ({ url, key, model }) =>
    createAssemblyAI({ apiKey: key, fetch: mapped(url, 'assemblyai') }).transcription(model as never),
  ),
  driverOf('elevenlabs', 'elevenlabs', elevenLabs),
  // It names no model, and says its key to its vendor's own host alone.
  driverOf('gladia', 'gladia', ({ url, key, model }) => {
    const withKey = mapped(`${url}`, 'gladia', ({ headers }) => headers.set('x-gladia-key', key));
    const fetch: typeof globalThis.fetch = (input, init) =>
      withKey(
        `${input}${String(input).endsWith('/v2/pre-recorded') ? `?model=${encodeURIComponent(model)}` : ''}`,
        init,
      );
    return createGladia({ apiKey: key, fetch }).transcription();
  }),
];
