// The load of `npm run bench -- batch`, as a process of its own: so many requests a second, as many as there can be, or a few
// large ones, and how long each took.
import { WAV_HEADER_BYTES, wavHeader } from '../../src/audio/containers/wav.ts';
import { WireClient, wireRequest } from './client.ts';

export interface LoadTask {
  url: string;
  headers: Record<string, string>;
  /** Bytes before and behind the file, empty where the file is the body. */
  before: string;
  after: string;
  fileBytes: number;
  /** At a pace, in a closed loop on so many connections, or once on so many connections. */
  load: { perSecond: number; forMs: number } | { connections: number; forMs: number } | { uploads: number };
}

export interface LoadResult {
  /** Of each request. */
  ms: Float64Array;
  /** Of all of them together. */
  wholeMs: number;
}

const PIECE_BYTES = 1_048_576;

process.on('message', async (task: LoadTask) => process.send?.(await run(task)));
process.once('disconnect', () => process.exit());
process.send?.({ ready: true });

async function run(task: LoadTask): Promise<LoadResult> {
  const request = wireRequest(task.url, task.headers, piecesOf(task));
  const clients: WireClient[] = [];
  const open = () => {
    const client = new WireClient(request);
    clients.push(client);
    return client;
  };
  const startedMs = performance.now();
  const ms = await measured(task.load, open);
  const wholeMs = performance.now() - startedMs;
  for (const client of clients) client.close();
  return { ms: Float64Array.from(ms), wholeMs };
}

async function measured(load: LoadTask['load'], open: () => WireClient): Promise<number[]> {
  if ('perSecond' in load) return paced(load, open);
  if ('uploads' in load) return Promise.all(Array.from({ length: load.uploads }, () => open().send()));
  const endMs = performance.now() + load.forMs;
  const ms: number[] = [];
  const loop = async (client: WireClient) => {
    while (performance.now() < endMs) ms.push(await client.send());
  };
  await Promise.all(Array.from({ length: load.connections }, () => loop(open())));
  return ms;
}

/** In an open loop: a slow answer makes no later request wait. */
async function paced(load: { perSecond: number; forMs: number }, open: () => WireClient): Promise<number[]> {
  const idle: WireClient[] = [];
  const under: Promise<number>[] = [];
  const periodMs = 1_000 / load.perSecond;
  const startedMs = performance.now();
  for (let count = 0; count * periodMs < load.forMs; count++) {
    const waitMs = startedMs + count * periodMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    let client = idle.pop();
    while (client?.isOpen === false) client = idle.pop();
    const used = client ?? open();
    under.push(
      used.send().then((ms) => {
        idle.push(used);
        return ms;
      }),
    );
  }
  return Promise.all(under);
}

/** A WAV file of silence: headers say how long it is, and no sample is worth looking at. */
function piecesOf({ before, after, fileBytes }: LoadTask): Buffer[] {
  const header = wavHeader(16_000, fileBytes - WAV_HEADER_BYTES);
  const small = fileBytes <= PIECE_BYTES;
  if (small)
    return [
      Buffer.concat([Buffer.from(before), header, Buffer.alloc(fileBytes - WAV_HEADER_BYTES), Buffer.from(after)]),
    ];
  const piece = Buffer.alloc(PIECE_BYTES);
  const left = fileBytes - WAV_HEADER_BYTES;
  const whole = Array.from({ length: Math.floor(left / PIECE_BYTES) }, () => piece);
  return [
    Buffer.concat([Buffer.from(before), header]),
    ...whole,
    Buffer.concat([Buffer.alloc(left % PIECE_BYTES), Buffer.from(after)]),
  ];
}
