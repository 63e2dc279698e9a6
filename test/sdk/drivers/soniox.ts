// Soniox' official SDK, pointed at the gateway by its addresses alone. Its live client says the key in its first message.
import { SonioxNodeClient } from '@soniox/node';
import { WebSocket } from 'ws';
import type { Driver, HeardFinal, Job } from '../../vendors/compat/driver.ts';

// The client takes the one of its platform, and Node 20 has none.
globalThis.WebSocket ??= WebSocket as unknown as typeof globalThis.WebSocket;

export const sonioxClient = ({ url, key }: Pick<Job, 'url' | 'key'>): SonioxNodeClient =>
  new SonioxNodeClient({
    api_key: key,
    base_url: `${url}/compat/soniox`,
    realtime: { ws_base_url: `${url.replace('http', 'ws')}/compat/soniox/transcribe-websocket` },
  });

export const sonioxRealtime: Driver = {
  client: '@soniox/node, real-time',
  dialect: 'soniox',
  async file(job, wav) {
    const { stt } = sonioxClient(job);
    const heard = await stt.transcribe({
      model: job.model,
      file: Buffer.from(wav),
      filename: 'speech.wav',
      wait: true,
    });
    if (heard.status === 'error') throw new Error(heard.error_message ?? 'failed');
    return heard.transcript?.text ?? '';
  },
  async live(job, pieces) {
    const session = sonioxClient(job).realtime.stt({
      ...{ model: job.model, audio_format: 'pcm_s16le', sample_rate: job.sampleRate, num_channels: 1 },
      enable_endpoint_detection: true,
    });
    const finals: HeardFinal[] = [];
    const failed = new Promise<never>((_, reject) => session.on('error', reject));
    session.on('result', ({ tokens }) => {
      const final = tokens.filter(({ is_final }) => is_final);
      const end = (final.at(-1)?.end_ms ?? 0) / 1_000;
      if (final.length > 0)
        finals.push({
          text: final
            .map(({ text }) => text)
            .join('')
            .trim(),
          end,
        });
    });
    const spoken = async () => {
      await session.connect();
      for (const piece of pieces) session.sendAudio(piece);
      await session.finish();
    };
    await Promise.race([failed, spoken()]);
    return finals;
  },
};
