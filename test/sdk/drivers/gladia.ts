// Gladia's official SDK, pointed at the gateway by its `apiUrl` alone.
import { GladiaClient, type LiveV2InitRequest, type LiveV2WebSocketMessage } from '@gladiaio/sdk';
import type { Driver, HeardFinal, Job } from '../../vendors/compat/driver.ts';

export const gladiaClient = ({ url, key }: Pick<Job, 'url' | 'key'>): GladiaClient =>
  new GladiaClient({ apiKey: key, apiUrl: url, httpRetry: { maxAttempts: 1 } });

/** Every message of one session. Rejects with what the client makes of a refusal, or of an end that is none in order. */
export async function recorded(
  { url, key, model, sampleRate }: Job,
  pieces: readonly Uint8Array[],
  config: object = {},
): Promise<LiveV2WebSocketMessage[]> {
  const client = gladiaClient({ url, key });
  const asked = {
    ...{ encoding: 'wav/pcm', bit_depth: 16, sample_rate: sampleRate, channels: 1, model },
    messages_config: {
      ...{ receive_partial_transcripts: true, receive_lifecycle_events: true, receive_acknowledgments: true },
    },
    ...config,
  };
  const session = client.liveV2().startSession(asked as LiveV2InitRequest);
  const said: LiveV2WebSocketMessage[] = [];
  session.on('message', (message) => said.push(message));
  const ended = new Promise<void>((resolve, reject) => {
    session.on('error', reject);
    session.once('ended', ({ code, reason }) => (code === 1000 ? resolve() : reject(new Error(`${code} ${reason}`))));
  });
  const connected = new Promise<void>((resolve) => session.once('connected', () => resolve()));
  await Promise.race([connected, ended]);
  for (const piece of pieces) session.sendAudio(piece);
  session.stopRecording();
  await ended;
  return said;
}

export const gladiaLive: Driver = {
  client: '@gladiaio/sdk, live',
  dialect: 'gladia',
  async file(job, wav) {
    const audio = new File([new Uint8Array(wav)], 'speech.wav');
    const heard = await gladiaClient(job)
      .preRecordedV2()
      .transcribe(audio, { model: job.model as never }, { interval: 50 });
    return heard.result?.transcription?.full_transcript ?? '';
  },
  async live(job, pieces) {
    const said = await recorded(job, pieces);
    return said.flatMap((each): HeardFinal[] =>
      each.type === 'transcript' && each.data.is_final
        ? [{ text: each.data.utterance.text, end: each.data.utterance.end }]
        : [],
    );
  },
};
