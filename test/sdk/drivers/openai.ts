// OpenAI's official SDK, both shapes of its Realtime classes, pointed at the gateway by `baseURL` alone.
import { connect } from 'node:net';
import OpenAI, { toFile } from 'openai';
import { OpenAIRealtimeWS as BetaRealtimeWS } from 'openai/beta/realtime/ws';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type { Driver, HeardFinal, Job } from '../../vendors/compat/driver.ts';

const COMPLETED = 'conversation.item.input_audio_transcription.completed';

/** What is used of both classes. */
interface Realtime {
  on(event: 'event', callback: (event: Told) => void): void;
  on(event: 'error', callback: (error: Error) => void): void;
  send(event: object): void;
  close(): void;
  socket: { on(event: 'close', callback: (code: number, reason: Buffer) => void): void };
}

interface Told {
  type: string;
  item_id?: string;
  transcript?: string;
  delta?: string;
}

export const openaiClient = ({ url, key }: Pick<Job, 'url' | 'key'>): OpenAI =>
  new OpenAI({ apiKey: key, baseURL: `${url}/compat/openai/v1`, maxRetries: 0 });

/** The classes speak TLS, always. Options of `ws`, which they pass on, let them speak to a local port, with parameters of ours. */
function realtimeOf(job: Job, isBeta: boolean): Realtime {
  const { model, sampleRate, url } = job;
  const more = new URLSearchParams({ sample_rate: String(sampleRate) });
  const options = {
    createConnection: () => connect(Number(new URL(url).port), '127.0.0.1'),
    finishRequest: (request: { path: string; end(): void }) => {
      request.path += `&intent=transcription&${more}`;
      request.end();
    },
  };
  const Class = isBeta ? BetaRealtimeWS : OpenAIRealtimeWS;
  return new Class({ model, options: options as never }, openaiClient(job)) as unknown as Realtime;
}

const updateOf = ({ model, sampleRate }: Job, isBeta: boolean, detection: object | null): object =>
  isBeta
    ? {
        type: 'transcription_session.update',
        session: {
          input_audio_format: 'pcm16',
          input_audio_transcription: { model },
          turn_detection: detection,
        },
      }
    : {
        type: 'session.update',
        session: {
          type: 'transcription',
          audio: {
            input: {
              format: { type: 'audio/pcm', rate: sampleRate },
              transcription: { model },
              turn_detection: detection,
            },
          },
        },
      };

/** Sends all of it and commits, and closes when every item that was committed has its words. */
async function transcribed(
  job: Job,
  pieces: readonly Uint8Array[],
  { isBeta = false, detection = null as object | null } = {},
): Promise<Told[]> {
  const realtime = realtimeOf(job, isBeta);
  const told: Told[] = [];
  const count = (type: string) => told.filter((event) => event.type === type).length;
  await new Promise<void>((resolve, reject) => {
    let isCommitted = false;
    realtime.on('error', reject);
    realtime.socket.on('close', (code, reason) => reject(new Error(`${code} ${reason}`)));
    realtime.on('event', (event) => {
      told.push(event);
      if (/session\.created$/.test(event.type)) realtime.send(updateOf(job, isBeta, detection));
      else if (/session\.updated$/.test(event.type)) {
        for (const piece of pieces) {
          const audio = Buffer.from(piece).toString('base64');
          realtime.send({ type: 'input_audio_buffer.append', audio });
        }
        realtime.send({ type: 'input_audio_buffer.commit' });
        isCommitted = true;
      }
      if (isCommitted && count(COMPLETED) > 0 && count(COMPLETED) === count('input_audio_buffer.committed')) resolve();
    });
  }).finally(() => realtime.close());
  return told;
}

const finalsOf = (told: readonly Told[]): HeardFinal[] =>
  told.flatMap(({ type, transcript = '' }) => (type === COMPLETED ? [{ text: transcript }] : []));

export const openaiRealtime: Driver = {
  client: 'openai, realtime',
  dialect: 'openai',
  async file(job, wav) {
    const file = await toFile(wav, 'speech.wav', { type: 'audio/wav' });
    const { text } = await openaiClient(job).audio.transcriptions.create({ file, model: job.model });
    return text;
  },
  live: async (job, pieces) => finalsOf(await transcribed(job, pieces)),
};

export const openaiBetaRealtime: Driver = {
  client: 'openai, beta realtime, with turn detection',
  dialect: 'openai',
  live: async (job, pieces) =>
    finalsOf(await transcribed(job, pieces, { isBeta: true, detection: { type: 'server_vad' } })),
};
