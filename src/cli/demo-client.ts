// The client of `voxgate demo`: any live client would do the same. It says the sentence at the pace of speech over one
// WebSocket and hands on every event; what they mean is left to others.
import WebSocket from 'ws';
import type { ServerEvent } from '../api/listen.ts';
import { CommandError } from './output.ts';

export interface DemoCall {
  url: string;
  key: string;
  model: string;
  fallback: string;
  /** One byte a sample. */
  audio: Uint8Array;
  encoding: 'mulaw' | 'alaw';
  sampleRate: number;
  /** Cuts the call; its reason is what the call rejects with. */
  signal: AbortSignal;
  /** An event, and the line it came in. */
  onEvent(event: ServerEvent, line: string): void;
  /** So many seconds of audio have been sent. */
  onSent(seconds: number): void;
}

const CHUNK_MS = 100;

/** Says everything, then closes. Resolves when the gateway has ended the session, whatever it said before. */
export function call(options: DemoCall): Promise<void> {
  const { url, key, model, fallback, encoding, sampleRate, signal, onEvent } = options;
  const query = new URLSearchParams({ model, fallbacks: fallback, encoding, sample_rate: String(sampleRate) });
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/listen?${query}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    const cut = () => {
      socket.terminate();
      reject(signal.reason);
    };
    socket.on('open', () => sendInRealTime(socket, options));
    socket.on('message', (data) => {
      const line = String(data);
      onEvent(JSON.parse(line) as ServerEvent, line);
    });
    socket.on('error', (error) => reject(new CommandError(`the connection failed: ${error.message}.`)));
    socket.on('close', () => {
      signal.removeEventListener('abort', cut);
      resolve();
    });
    signal.addEventListener('abort', cut);
    if (signal.aborted) cut();
  });
}

/** One chunk each 100 ms, by the clock: a late timer is made up for. Stops by itself when the socket is no longer open. */
function sendInRealTime(socket: WebSocket, { audio, sampleRate, onSent }: DemoCall): void {
  const chunkBytes = (sampleRate * CHUNK_MS) / 1000;
  const startedAt = performance.now();
  let at = 0;
  const send = (): void => {
    if (socket.readyState !== WebSocket.OPEN) return;
    const due = Math.floor((performance.now() - startedAt) / CHUNK_MS) * chunkBytes;
    while (at < Math.min(due, audio.length)) {
      socket.send(audio.subarray(at, at + chunkBytes));
      at = Math.min(at + chunkBytes, audio.length);
      onSent(at / sampleRate);
    }
    if (at < audio.length) setTimeout(send, CHUNK_MS / 2);
    else socket.send('{"type":"close"}');
  };
  send();
}
