// Speechmatics' official real-time client, pointed at the gateway by its `url` alone, which says the model as well.
import { BatchClient } from '@speechmatics/batch-client';
import { RealtimeClient, type RealtimeServerMessage } from '@speechmatics/real-time-client';
import type { Driver, HeardFinal, Job } from '../../vendors/compat/driver.ts';

type Config = Parameters<RealtimeClient['start']>[1];

export const speechmaticsUrl = ({ url, model }: Pick<Job, 'url' | 'model'>): string =>
  `${url.replace('http', 'ws')}/compat/speechmatics/v2?${new URLSearchParams({ model })}`;

/** Every message of one session. Rejects with the type of an `Error`. */
export async function recognised(
  job: Job,
  pieces: readonly Uint8Array[],
  config: Partial<Config> = {},
): Promise<RealtimeServerMessage[]> {
  const client = new RealtimeClient({ url: speechmaticsUrl(job) });
  const said: RealtimeServerMessage[] = [];
  const failed = new Promise<never>((_, reject) => {
    client.addEventListener('receiveMessage', ({ data }) => {
      said.push(data);
      if (data.message === 'Error') reject(new Error(`${data.type}: ${data.reason}`));
    });
  });
  const spoken = async () => {
    await client.start(job.key, {
      audio_format: { type: 'raw', encoding: 'pcm_s16le', sample_rate: job.sampleRate },
      transcription_config: { language: 'en', enable_partials: true },
      ...config,
    });
    for (const piece of pieces) client.sendAudio(piece);
    // The client gives up ten seconds behind this by itself, which says nothing of the session: its end is waited for below.
    const ended = new Promise<void>((resolve) => {
      client.addEventListener('receiveMessage', ({ data }) => {
        if (data.message === 'EndOfTranscript') resolve();
      });
    });
    await client.stopRecognition({ noTimeout: true });
    await ended;
  };
  await Promise.race([failed, spoken()]);
  return said;
}

export const speechmaticsRealtime: Driver = {
  client: '@speechmatics/real-time-client',
  dialect: 'speechmatics',
  async live(job, pieces) {
    const said = await recognised(job, pieces);
    return said.flatMap((each): HeardFinal[] =>
      each.message === 'AddTranscript'
        ? [{ text: each.metadata.transcript.trimEnd(), end: each.metadata.end_time }]
        : [],
    );
  },
};

/** It puts `/v2/jobs` at the root of the address. */
export const speechmaticsFiles = ({ url, key }: Pick<Job, 'url' | 'key'>): BatchClient =>
  new BatchClient({ apiKey: key, apiUrl: `${url}/compat/speechmatics/v2`, appId: 'test' });

export const speechmaticsBatch: Driver = {
  client: '@speechmatics/batch-client',
  dialect: 'speechmatics',
  async file(job, wav) {
    const data = new File([new Uint8Array(wav)], 'speech.wav');
    const config = { transcription_config: { language: 'en', model: job.model } };
    return String(await speechmaticsFiles(job).transcribe(data, config, 'text')).trim();
  },
};
