// AssemblyAI's official SDK, pointed at the gateway by its addresses alone.
import { AssemblyAI } from 'assemblyai';
import type { Driver, HeardFinal, Job } from '../../vendors/compat/driver.ts';
import { openTlsFront } from '../simulator/tls-front.ts';

export function assemblyaiClient({ url, key }: Pick<Job, 'url' | 'key'>): AssemblyAI {
  const base = `${url}/compat/assemblyai`;
  return new AssemblyAI({ apiKey: key, baseUrl: base, streamingBaseUrl: base });
}

/** Models that hear at the speed of speech need their time. */
const TERMINATION_MS = 60_000;

/** By itself the SDK waits for a second, which a busy machine may take. */
const CONNECT_MS = 20_000;

/** The SDK takes wss only: in front of the gateway is TLS that nobody vouches for. */
async function spoken(job: Job, pieces: readonly Uint8Array[]): Promise<HeardFinal[]> {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const front = await openTlsFront(Number(new URL(job.url).port));
  const { model, sampleRate } = job;
  try {
    const transcriber = assemblyaiClient(job).streaming.transcriber({
      websocketBaseUrl: `${front.url}/compat/assemblyai/v3/ws`,
      ...{ sampleRate, speechModel: model as never, maxConnectionRetries: 0, connectTimeout: CONNECT_MS },
    });
    const finals: HeardFinal[] = [];
    const failed = new Promise<never>((_, reject) => transcriber.on('error', reject));
    failed.catch(() => {});
    transcriber.on('turn', ({ end_of_turn, transcript, words }) => {
      if (end_of_turn) finals.push({ text: transcript, end: (words.at(-1)?.end ?? 0) / 1_000 });
    });
    await transcriber.connect();
    for (const piece of pieces) transcriber.sendAudio(piece.slice().buffer as ArrayBuffer);
    await Promise.race([transcriber.close(true, TERMINATION_MS), failed]);
    return finals;
  } finally {
    await front.close();
  }
}

export const assemblyaiStreaming: Driver = {
  client: 'assemblyai, streaming v3',
  dialect: 'assemblyai',
  async file(job, wav) {
    const { transcripts } = assemblyaiClient(job);
    const asked = { audio: Buffer.from(wav), speech_models: [job.model] };
    const { text, error } = await transcripts.transcribe(asked, { pollingInterval: 50 });
    if (error !== undefined) throw new Error(error);
    return text ?? '';
  },
  live: (job, pieces) => spoken(job, pieces),
};
