// A live client, as any program could be one: audio over one WebSocket at the pace of speech.
import WebSocket from 'ws';
import type { ServerEvent } from '../../api/listen-events.ts';
import { CommandError } from './output.ts';

const CHUNK_MS = 100;

/**
 * Sends one chunk each 100 ms, by the clock: a late timer is made up for. Stops when the socket is no longer open.
 *
 * @param onSent called with the bytes sent so far
 */
export function sendInRealTime(
  socket: WebSocket,
  audio: Uint8Array,
  bytesPerSecond: number,
  onSent: (bytes: number) => void,
): void {
  const chunkBytes = (bytesPerSecond * CHUNK_MS) / 1000;
  const startedAt = performance.now();
  let at = 0;
  const send = (): void => {
    if (socket.readyState !== WebSocket.OPEN) return;
    const due = Math.floor((performance.now() - startedAt) / CHUNK_MS) * chunkBytes;
    while (at < Math.min(due, audio.byteLength)) {
      socket.send(audio.subarray(at, at + chunkBytes));
      at = Math.min(at + chunkBytes, audio.byteLength);
      onSent(at);
    }
    if (at < audio.byteLength) setTimeout(send, CHUNK_MS / 2);
    else socket.send('{"type":"close"}');
  };
  send();
}

export interface DemoCall {
  url: string;
  key: string;
  model: string;
  fallback?: string;
  /** How many times as fast as speech; once when absent. */
  pace?: number;
  /** One byte a sample. */
  audio: Uint8Array;
  encoding: 'mulaw' | 'alaw';
  sampleRate: number;
  /** Cuts the call, which then rejects with its reason. */
  signal: AbortSignal;
  /** An event, and the line it came in. */
  onEvent(event: ServerEvent, line: string): void;
  /** Seconds of audio sent so far. */
  onSent(seconds: number): void;
}

/** Sends all audio, then closes. Resolves when the gateway has ended the session, also after an error event. */
export function call(options: DemoCall): Promise<void> {
  const { url, key, model, fallback, pace = 1, audio, encoding, sampleRate, signal, onEvent, onSent } = options;
  const query = new URLSearchParams({ model, encoding, sample_rate: String(sampleRate) });
  if (fallback !== undefined) query.set('fallbacks', fallback);
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/listen?${query}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    const cut = () => {
      socket.terminate();
      reject(signal.reason);
    };
    socket.on('open', () => sendInRealTime(socket, audio, sampleRate * pace, (bytes) => onSent(bytes / sampleRate)));
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
