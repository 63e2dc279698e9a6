// The clients of the bench of failovers, in a process of their own: live sessions of numbered audio in real time, each in a
// phase of its own, that note when they are told of a failover, and say in the end whether any sample was lost.
import WebSocket from 'ws';
import type { ServerEvent } from '../../src/api/listen-events.ts';
import { numberedAudio } from '../../test/fakes/audio/numbered-audio.ts';
import { gapsIn } from '../../test/simulation/whole.ts';
import { nowMs } from './figures.ts';

export interface LoadOptions {
  url: string;
  key: string;
  sessions: number;
  sampleRate: number;
  model: string;
  fallback: string;
  /** Where the fallback's provider is reached without the gateway, and so many connections to it are made at a time. */
  probeUrl: string;
  dials: number;
}

/** `probe`: connects to the fallback's provider as often as there are sessions. */
export type LoadOrder = 'probe' | 'stop';

export interface LoadResult {
  failovers: number;
  closedInOrder: number;
  /** Sessions whose finals tell of every sample once. */
  whole: number;
  problems: string[];
}

/** Times on the machine's monotonic clock; milliseconds that each connection took, and since the first was begun. */
export type LoadReport =
  | 'open'
  | { connectMs: number[]; sinceFirstMs: number[] }
  | { failoverAtMs: number[] }
  | LoadResult;

const FRAME_MS = 50;
const TICK_MS = 5;
const OPENED_AT_A_TIME = 20;
const PROBLEMS_MAX = 5;

interface Client {
  socket: WebSocket;
  /** The phases are even, so that the load is. */
  beganAtMs: number;
  sentFrames: number;
  finals: Extract<ServerEvent, { type: 'transcript' }>[];
  failoverAtMs: number | undefined;
  failovers: number;
  closeCode: number | undefined;
}

const options = JSON.parse(process.argv[2] as string) as LoadOptions;
const frameSamples = (options.sampleRate * FRAME_MS) / 1000;
const clients: Client[] = [];
const tell = (report: LoadReport): void => void process.send?.(report);
const query = new URLSearchParams({
  model: options.model,
  fallbacks: JSON.stringify([{ model: options.fallback }]),
  sample_rate: String(options.sampleRate),
  interim_results: 'false',
});
let stopping = false;

function open(): Promise<void> {
  const socket = new WebSocket(`${options.url.replace('http', 'ws')}/v1/listen?${query}`, {
    headers: { authorization: `Bearer ${options.key}` },
    perMessageDeflate: false,
  });
  const client: Client = {
    socket,
    beganAtMs: Number.POSITIVE_INFINITY,
    sentFrames: 0,
    finals: [],
    failoverAtMs: undefined,
    failovers: 0,
    closeCode: undefined,
  };
  socket.on('message', (data) => hear(client, JSON.parse(String(data)) as ServerEvent));
  socket.on('close', (code) => {
    client.closeCode = code;
  });
  return new Promise((resolve, reject) => {
    socket.on('open', () => {
      client.beganAtMs = nowMs() + (clients.length / options.sessions) * FRAME_MS;
      clients.push(client);
      resolve();
    });
    socket.on('error', reject);
  });
}

function hear(client: Client, event: ServerEvent): void {
  if (event.type === 'transcript' && event.is_final) client.finals.push(event);
  if (event.type !== 'failover') return;
  client.failovers++;
  client.failoverAtMs ??= nowMs();
  const told = clients.flatMap(({ failoverAtMs }) => failoverAtMs ?? []);
  if (told.length === options.sessions) tell({ failoverAtMs: told });
}

/** Every client's frames as they are due. */
function stream(): void {
  if (stopping) return;
  for (const client of clients) {
    const due = Math.floor((nowMs() - client.beganAtMs) / FRAME_MS);
    for (; client.sentFrames < due; client.sentFrames++) {
      const from = client.sentFrames * frameSamples;
      client.socket.send(numberedAudio(from, from + frameSamples));
    }
  }
  setTimeout(stream, TICK_MS);
}

async function probe(): Promise<void> {
  const connectMs: number[] = [];
  const sinceFirstMs: number[] = [];
  const firstMs = nowMs();
  let left = options.sessions;
  const connectOn = async (): Promise<void> => {
    while (left-- > 0) {
      const beganMs = nowMs();
      const socket = new WebSocket(options.probeUrl, { headers: { authorization: 'Token simulated' } });
      await new Promise<void>((resolve, reject) => socket.on('open', resolve).on('error', reject));
      connectMs.push(nowMs() - beganMs);
      sinceFirstMs.push(nowMs() - firstMs);
      socket.terminate();
    }
  };
  await Promise.all(Array.from({ length: options.dials }, connectOn));
  tell({ connectMs, sinceFirstMs });
}

async function stop(): Promise<void> {
  stopping = true;
  await Promise.all(
    clients.map(({ socket }) => {
      const closed = new Promise((resolve) => socket.once('close', resolve));
      if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"close"}');
      return socket.readyState === WebSocket.CLOSED ? undefined : closed;
    }),
  );
  const gaps = clients.map(({ finals, sentFrames }) =>
    gapsIn(finals, sentFrames * frameSamples, options.sampleRate, []),
  );
  tell({
    failovers: clients.reduce((sum, { failovers }) => sum + failovers, 0),
    closedInOrder: clients.filter(({ closeCode }) => closeCode === 1000).length,
    whole: gaps.filter(({ length }) => length === 0).length,
    problems: gaps.flat().slice(0, PROBLEMS_MAX),
  });
  process.disconnect();
}

process.on('message', (order: LoadOrder) => void (order === 'probe' ? probe() : stop()));
process.on('disconnect', () => process.exit());
stream();
for (let opened = 0; opened < options.sessions; opened += OPENED_AT_A_TIME)
  await Promise.all(Array.from({ length: Math.min(OPENED_AT_A_TIME, options.sessions - opened) }, open));
tell('open');
