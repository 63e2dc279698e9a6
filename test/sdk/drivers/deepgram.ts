// Deepgram's official SDK, pointed at the gateway by its `environment` alone.
import { DeepgramClient } from '@deepgram/sdk';
import type { Driver, HeardFinal, Job } from '../../vendors/compat/driver.ts';

const ONCE = { reconnectAttempts: 0, shouldReconnect: () => false };

/** What is used of the SDK's sockets; both versions of the protocol have it. */
interface Socket {
  on(event: 'message', callback: (message: never) => void): void;
  on(event: 'close', callback: (event: { code: number; reason: string }) => void): void;
  on(event: 'error', callback: (error: Error) => void): void;
  connect(): unknown;
  waitForOpen(): Promise<unknown>;
  sendMedia(bytes: Uint8Array): void;
  sendCloseStream(message: { type: 'CloseStream' }): void;
}

export function deepgramClient({ url, key }: Pick<Job, 'url' | 'key'>): DeepgramClient {
  const base = `${url}/compat/deepgram`;
  const socketUrl = base.replace('http', 'ws');
  return new DeepgramClient({
    apiKey: key,
    environment: { base, production: socketUrl, agent: socketUrl, agentRest: base },
    maxRetries: 0,
  });
}

/** Connects, sends all of it, and gives the messages up to the close. */
async function spoken<Message>(socket: Socket, pieces: readonly Uint8Array[]): Promise<Message[]> {
  const messages: Message[] = [];
  socket.on('message', (message) => messages.push(message));
  const closed = new Promise<void>((resolve, reject) => {
    socket.on('close', ({ code, reason }) => (code === 1000 ? resolve() : reject(new Error(`${code} ${reason}`))));
    socket.on('error', reject);
  });
  socket.connect();
  await Promise.race([socket.waitForOpen(), closed]);
  for (const piece of pieces) socket.sendMedia(piece);
  socket.sendCloseStream({ type: 'CloseStream' });
  await closed;
  return messages;
}

interface Results {
  type: string;
  is_final: boolean;
  start: number;
  duration: number;
  channel: { alternatives: { transcript: string }[] };
}

export const deepgramNova: Driver = {
  client: '@deepgram/sdk, listen v1',
  dialect: 'deepgram',
  async live(job, pieces) {
    const { model, sampleRate } = job;
    const socket = await deepgramClient(job).listen.v1.connect({
      ...{ model, encoding: 'linear16', sample_rate: sampleRate, interim_results: 'true', ...ONCE },
    } as never);
    const messages = await spoken<Results>(socket as Socket, pieces);
    return messages.flatMap(({ type, is_final, start, duration, channel }): HeardFinal[] =>
      type === 'Results' && is_final
        ? [{ text: channel.alternatives[0]?.transcript ?? '', end: start + duration }]
        : [],
    );
  },
  async file(job, wav) {
    const heard = await deepgramClient(job).listen.v1.media.transcribeFile(wav, { model: job.model } as never);
    const { results } = heard as { results: { channels: { alternatives: { transcript: string }[] }[] } };
    return results.channels[0]?.alternatives[0]?.transcript ?? '';
  },
};

interface TurnInfo {
  type: string;
  event: string;
  transcript: string;
  audio_window_end: number;
}

export const deepgramFlux: Driver = {
  client: '@deepgram/sdk, listen v2',
  dialect: 'deepgram',
  async live(job, pieces) {
    const { model, sampleRate } = job;
    const socket = await deepgramClient(job).listen.v2.connect({
      ...{ model, encoding: 'linear16', sample_rate: sampleRate, ...ONCE },
    } as never);
    const messages = await spoken<TurnInfo>(socket as Socket, pieces);
    return messages.flatMap(({ event, transcript, audio_window_end }) =>
      event === 'EndOfTurn' ? [{ text: transcript, end: audio_window_end }] : [],
    );
  },
};
