// The process that floods: sockets that are written to as fast as they take it, for a bounded time, and what became of each.
import { connect, type Socket } from 'node:net';
import { handshake } from '../../fakes/raw-socket.ts';

export interface FloodOptions {
  url: string;
  path: string;
  key: string;
  sockets: number;
  /** One or more frames, in hexadecimal, again and again. */
  framesHex: string;
  /** Written once, in front of them. */
  firstHex?: string;
  secondsMax: number;
}

export interface FloodReport {
  bytesWritten: number;
  /** How each socket ended: its close code, `cut` without one, `open` where it was still there. */
  ends: (number | 'cut' | 'open')[];
  /** How many got an `error` event with this text in it. */
  told: Record<string, number>;
}

/** What is written at a time. */
const BLOCK_BYTES = 64 * 1024;
/** Written before the flood counts as under way. */
const UNDER_WAY_BYTES = 64 * 1024;

const options = await new Promise<FloodOptions>((resolve) =>
  process.once('message', resolve as (message: unknown) => void),
);
const frames = Buffer.from(options.framesHex, 'hex');
const block = Buffer.concat(Array.from({ length: Math.ceil(BLOCK_BYTES / frames.length) }, () => frames));

let bytesWritten = 0;
let stopped = false;
const floods: { socket: Socket; tail: string; end: number | 'cut' | 'open' }[] = [];

function flood(): void {
  const { hostname, port } = new URL(options.url);
  const socket = connect(Number(port), hostname);
  const entry: (typeof floods)[number] = { socket, tail: '', end: 'open' };
  floods.push(entry);
  let upgraded = false;
  const pour = () => {
    while (!stopped && !socket.destroyed) {
      bytesWritten += block.length;
      if (bytesWritten > UNDER_WAY_BYTES) underWay();
      if (!socket.write(block)) return;
    }
  };
  socket.on('connect', () => socket.write(handshake(options.path, [`Authorization: Bearer ${options.key}`])));
  socket.on('drain', pour);
  socket.on('data', (chunk: Buffer) => {
    const text = chunk.toString('latin1');
    // What matters comes last: the error, and the close frame.
    entry.tail = (entry.tail + text).slice(-16_384);
    if (upgraded || !entry.tail.includes('\r\n\r\n')) return;
    upgraded = true;
    if (options.firstHex !== undefined) socket.write(Buffer.from(options.firstHex, 'hex'));
    pour();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    entry.end = closeCodeOf(entry.tail) ?? 'cut';
    if (floods.every(({ end }) => end !== 'open')) stop();
  });
  socket.on('end', () => socket.destroy());
}

/** The code of a close frame at the end, with its reason in words. */
function closeCodeOf(tail: string): number | undefined {
  for (let at = Math.max(0, tail.length - 127); at < tail.length - 3; at++) {
    if (tail.charCodeAt(at) !== 0x88 || tail.charCodeAt(at + 1) !== tail.length - at - 2) continue;
    return tail.charCodeAt(at + 2) * 256 + tail.charCodeAt(at + 3);
  }
  return undefined;
}

let told = false;
function underWay(): void {
  if (told) return;
  told = true;
  process.send?.({ underWay: true });
}

function stop(): void {
  if (stopped) return;
  stopped = true;
  underWay();
  const codes = floods.map(({ tail }) => [...tail.matchAll(/"code":"([a-z_]+)"/g)].at(-1)?.[1]);
  const report: FloodReport = { bytesWritten, ends: floods.map(({ end }) => end), told: {} };
  for (const code of codes) if (code !== undefined) report.told[code] = (report.told[code] ?? 0) + 1;
  process.send?.({ report }, () => process.exit(0));
}

process.on('message', stop);
process.on('disconnect', () => process.exit(1));
setTimeout(stop, options.secondsMax * 1000);
for (let n = 0; n < options.sockets; n++) flood();
