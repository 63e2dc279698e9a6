// ElevenLabs' official SDK, pointed at the gateway by its `baseUrl` alone.
import { type AudioFormat, CommitStrategy, ElevenLabsClient, RealtimeEvents } from '@elevenlabs/elevenlabs-js';
import type { Driver, HeardFinal, Job } from '../../vendors/compat/driver.ts';

export const elevenlabsClient = ({ url, key }: Pick<Job, 'url' | 'key'>): ElevenLabsClient =>
  new ElevenLabsClient({ apiKey: key, baseUrl: `${url}/compat/elevenlabs`, maxRetries: 0 });

/** A word ends with the audio but for what is rounded on the way. */
const ROUNDING_SECONDS = 0.05;

interface Committed {
  text: string;
  words?: { end: number }[];
}

export const elevenlabsRealtime: Driver = {
  client: '@elevenlabs/elevenlabs-js, realtime',
  dialect: 'elevenlabs',
  async file(job, wav) {
    const file = new File([new Uint8Array(wav)], 'speech.wav', { type: 'audio/wav' });
    const heard = await elevenlabsClient(job).speechToText.convert({ modelId: job.model as never, file });
    return 'text' in heard ? heard.text : '';
  },
  async live(job, pieces) {
    const { model, sampleRate } = job;
    const { realtime } = elevenlabsClient(job).speechToText;
    const audioFormat = `pcm_${sampleRate}` as AudioFormat;
    const connection = await realtime.connect({
      ...{ modelId: model, audioFormat, sampleRate, includeTimestamps: true, commitStrategy: CommitStrategy.MANUAL },
    });
    const audioSeconds = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0) / 2 / sampleRate;
    const seconds = job.lastWordSeconds ?? audioSeconds;
    const finals: HeardFinal[] = [];
    // The protocol has no farewell: the client leaves when what it sent was told.
    const heard = new Promise<void>((resolve, reject) => {
      connection.on(RealtimeEvents.COMMITTED_TRANSCRIPT_WITH_TIMESTAMPS, (message: unknown) => {
        const { text, words = [] } = message as Committed;
        const end = words.at(-1)?.end ?? 0;
        finals.push({ text, end });
        if (end >= seconds - ROUNDING_SECONDS) resolve();
      });
      connection.on(RealtimeEvents.ERROR, (error: unknown) => reject(new Error(JSON.stringify(error))));
    });
    heard.catch(() => {});
    try {
      await Promise.race([new Promise((resolve) => connection.on(RealtimeEvents.SESSION_STARTED, resolve)), heard]);
      for (const piece of pieces) connection.send({ audioBase64: Buffer.from(piece).toString('base64') });
      connection.commit();
      await heard;
      return finals;
    } finally {
      connection.close();
    }
  },
};
