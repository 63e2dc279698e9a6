// Sessions of simulated OpenAI: a client that speaks numbered audio.
import type { Clock } from '../../../machines/clock.ts';
import { simulator } from '../../../src/vendors/openai/simulator/index.ts';
import { type EarSource, numberedEar } from '../../../src/vendors/simulation/ears.ts';
import type { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { Client, serve } from './client.ts';

const RATE = 24_000;
export const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
export const COMPLETED = `${TRANSCRIPTION}.completed`;

export interface Setting {
  faults?: string[];
  ear?: EarSource;
  clock?: Clock;
}

export interface Dial {
  path?: string;
  protocols?: string[];
  headers?: Record<string, string>;
}

export interface OpenaiError {
  code: string | null;
  param: string | null;
  event_id: string | null;
  message: string;
}

export class OpenaiClient extends Client {
  constructor({ url }: SimulatorServer, dial: Dial = {}) {
    const { path = '/v1/realtime?intent=transcription', protocols, headers = { authorization: 'Bearer sk' } } = dial;
    super(`${url}${path}`, headers, protocols);
  }

  /** Seconds of numbered audio. */
  speak(from: number, to: number): void {
    const audio = Buffer.from(numberedAudio(Math.round(from * RATE), Math.round(to * RATE))).toString('base64');
    this.send({ type: 'input_audio_buffer.append', audio });
  }

  commit(): void {
    this.send({ type: 'input_audio_buffer.commit', event_id: 'mine' });
  }

  /** The next error that comes, or the one that has come. */
  async error(): Promise<OpenaiError> {
    return (await this.message('error')).error as OpenaiError;
  }

  get transcripts(): unknown[] {
    return this.all(COMPLETED).map(({ transcript }) => transcript);
  }
}

export const start = ({ ear = numberedEar({ turnSeconds: 2 }), ...setting }: Setting = {}): Promise<SimulatorServer> =>
  serve({ simulator, ear, ...setting });

export const updateOf = (input: object) => ({
  type: 'session.update',
  event_id: 'mine',
  session: { type: 'transcription', audio: { input } },
});

/** A connection whose session was created. */
export async function created(setting: Setting = {}, dial?: Dial): Promise<OpenaiClient> {
  const client = new OpenaiClient(await start(setting), dial);
  await client.message('session.created');
  return client;
}

export async function begun(model: string, setting: Setting = {}, input: object = {}): Promise<OpenaiClient> {
  const client = await created(setting);
  client.send(updateOf({ transcription: { model }, ...input }));
  await client.message('session.updated');
  return client;
}
