// The client of `voxgate demo`: any live client would do the same. It says the sentence at the pace of speech over one
// WebSocket and hands on every event; what they mean is left to others.
import WebSocket from 'ws';
import type { ServerEvent } from '../../api/listen-events.ts';
import { CommandError } from '../shared/output.ts';
import { sendInRealTime } from '../speech/real-time.ts';

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
  /** Cuts the call; its reason is what the call rejects with. */
  signal: AbortSignal;
  /** An event, and the line it came in. */
  onEvent(event: ServerEvent, line: string): void;
  /** So many seconds of audio have been sent. */
  onSent(seconds: number): void;
}

/** Says everything, then closes. Resolves when the gateway has ended the session, whatever it said before. */
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
