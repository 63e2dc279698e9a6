// A client of simulated OpenAI that sends what a test wants and keeps what it hears.
import { WebSocket } from 'ws';
import type { Clock } from '../../../machines/clock.ts';
import { simulator } from '../../../src/providers/openai/simulator/index.ts';
import { type EarSource, numberedEar } from '../../../src/simulator/ears.ts';
import { SimulatorServer } from '../../../src/simulator/server.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';

const RATE = 24_000;
export const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
const LIVE = '/v1/realtime?intent=transcription';

export interface Event {
  type: string;
  item_id?: string;
  previous_item_id?: string | null;
  transcript?: string;
  error?: { code: string | null; param: string | null; event_id: string | null; message: string };
  [member: string]: unknown;
}

/** The simulator of the running test. */
export let server: SimulatorServer | undefined;
const clients: Client[] = [];

/** Call after each test. */
export async function closeAll(): Promise<void> {
  for (const client of clients.splice(0)) client.socket.terminate();
  await server?.close();
}

export class Client {
  readonly socket: WebSocket;
  readonly events: Event[] = [];
  closed: [number, string] | undefined;
  refused: { status: number; code: string | null } | undefined;
  private readonly waiting = new Set<() => void>();

  constructor(url: string, protocols: string[], headers: Record<string, string>) {
    this.socket = new WebSocket(url, protocols, { headers });
    clients.push(this);
    this.socket.on('message', (data: Buffer) => {
      this.events.push(JSON.parse(data.toString()) as Event);
      this.look();
    });
    this.socket.on('close', (code, reason) => {
      this.closed = [code, reason.toString()];
      this.look();
    });
    this.socket.on('error', () => {});
    this.socket.on('unexpected-response', (_, response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => {
        const { error } = JSON.parse(Buffer.concat(pieces).toString()) as { error: { code: string | null } };
        this.refused = { status: response.statusCode ?? 0, code: error.code };
        this.look();
      });
    });
  }

  send(event: object | string): void {
    this.socket.send(typeof event === 'string' ? event : JSON.stringify(event));
  }

  speak(from: number, to: number): void {
    const audio = Buffer.from(numberedAudio(Math.round(from * RATE), Math.round(to * RATE))).toString('base64');
    this.send({ type: 'input_audio_buffer.append', audio });
  }

  commit(): void {
    this.send({ type: 'input_audio_buffer.commit', event_id: 'mine' });
  }

  until(reached: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!reached()) return;
        this.waiting.delete(look);
        resolve();
      };
      this.waiting.add(look);
      look();
    });
  }

  heard(type: string, times = 1): Promise<void> {
    return this.until(() => this.all(type).length >= times);
  }

  all(type: string): Event[] {
    return this.events.filter((event) => event.type === type);
  }

  get transcripts(): (string | undefined)[] {
    return this.all(`${TRANSCRIPTION}.completed`).map(({ transcript }) => transcript);
  }

  private look(): void {
    for (const wake of this.waiting) wake();
  }
}

export interface Setting {
  faults?: string[];
  ear?: EarSource;
  clock?: Clock;
  path?: string;
  protocols?: string[];
  headers?: Record<string, string>;
}

export async function connect({ faults = [], ear = numberedEar({ turnSeconds: 2 }), clock, ...dial }: Setting = {}) {
  server = await SimulatorServer.start({ simulator, ear, faults, ...(clock === undefined ? {} : { clock }) });
  return dialled(dial);
}

export function dialled({ path = LIVE, protocols = [], headers = { authorization: 'Bearer sk' } }: Setting): Client {
  return new Client(`${server?.url.replace('http', 'ws')}${path}`, protocols, headers);
}

export const updateOf = (input: object) => ({
  type: 'session.update',
  event_id: 'mine',
  session: { type: 'transcription', audio: { input } },
});

/** A connection whose session was created. */
export async function created(setting: Setting = {}): Promise<Client> {
  const client = await connect(setting);
  await client.heard('session.created');
  return client;
}

export async function begun(model: string, setting: Setting = {}, input: object = {}): Promise<Client> {
  const client = await created(setting);
  client.send(updateOf({ transcription: { model }, ...input }));
  await client.heard('session.updated');
  return client;
}
