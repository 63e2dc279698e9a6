// A file as a live client sends it: in real time, in chunks of 100 ms, printing each event as it comes.
import WebSocket from 'ws';
import type { ServerEvent } from '../../api/listen-events.ts';
import { CommandError, EXIT, print, tell } from '../shared/output.ts';
import type { StatusLine } from '../shared/status-line.ts';
import { samplesOf } from './file-samples.ts';
import { sendInRealTime } from './real-time.ts';

const RATE = 16_000;
const BYTES_PER_SECOND = 2 * RATE;

/** Where to send the file. */
export interface Target {
  url: string;
  key: string;
}

/** What to ask for. */
export interface Wanted {
  file: string;
  model: string;
  json: boolean;
  language: string | undefined;
  params: string | undefined;
  fallbacks: string | undefined;
}

/** Streams the file and prints events until the session has ended. */
export async function liveTranscription(
  { url, key }: Target,
  { file, model, json, language, params, fallbacks }: Wanted,
  line: StatusLine,
): Promise<number> {
  const samples = await samplesOf(file, RATE);
  const query = new URLSearchParams({ model, sample_rate: String(RATE) });
  if (language !== undefined) query.set('language', language);
  if (params !== undefined) query.set('provider_params', params);
  if (fallbacks !== undefined) query.set('fallbacks', fallbacks);
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/listen?${query}`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  const terminal = new Terminal(samples.byteLength / BYTES_PER_SECOND, json, line);
  return new Promise((resolve, reject) => {
    socket.on('open', () => {
      sendInRealTime(socket, samples, BYTES_PER_SECOND, (bytes) => terminal.sent(bytes / BYTES_PER_SECOND));
    });
    socket.on('message', (data) => terminal.show(String(data)));
    socket.on('unexpected-response', (_, response) => {
      const body: Buffer[] = [];
      response.on('data', (chunk: Buffer) => body.push(chunk));
      response.on('end', () => reject(new CommandError(refusalOf(Buffer.concat(body), response.statusCode))));
    });
    socket.on('error', (error) => reject(noConnection(url, error)));
    socket.on('close', (code) => {
      terminal.end();
      resolve(code === 1000 ? EXIT.ok : EXIT.failed);
    });
  });
}

/** The system's word alone says neither where nothing answered nor what to do. */
export const noConnection = (url: string, { message }: Error): CommandError =>
  new CommandError(`no connection to ${url}: ${message}. Is a gateway running there?`);

/** Events as lines; on a terminal also a line of progress that is written over. */
class Terminal {
  readonly #totalSeconds: number;
  readonly #json: boolean;
  readonly #line: StatusLine;
  #seconds = 0;
  #interim = '';

  constructor(totalSeconds: number, json: boolean, line: StatusLine) {
    this.#totalSeconds = totalSeconds;
    this.#json = json;
    this.#line = line;
  }

  sent(seconds: number): void {
    this.#seconds = seconds;
    this.#progress();
  }

  show(line: string): void {
    this.#line.clear();
    const event = JSON.parse(line) as ServerEvent;
    if (this.#json) print(line);
    else if (event.type === 'transcript' && event.is_final) print(event.text);
    else if (event.type === 'error') tell(`error: ${event.error.message}`);
    else if (event.type === 'warning') tell(`warning: ${event.message}`);
    else if (event.type === 'failover') tell(`failover: ${event.from} to ${event.to} (${event.reason})`);
    else if (event.type === 'discontinuity') tell(`lost: ${event.from} s to ${event.to} s (${event.reason})`);
    this.#interim = event.type === 'transcript' && !event.is_final ? event.text : '';
    this.#progress();
  }

  end(): void {
    this.#line.clear();
  }

  #progress(): void {
    const width = Math.max(20, this.#line.columns - 16);
    this.#line.show(`${this.#seconds.toFixed(1)} / ${this.#totalSeconds.toFixed(1)} s  ${this.#interim.slice(-width)}`);
  }
}

function refusalOf(body: Buffer, status: number | undefined): string {
  try {
    return (JSON.parse(body.toString()) as { error: { message: string } }).error.message;
  } catch {
    return `the gateway refused the connection with HTTP ${status}.`;
  }
}
