// A file as a live client sends it: in real time, in chunks of 100 ms, printing each event as it comes.

import { createReadStream, statSync } from 'node:fs';
import WebSocket from 'ws';
import { ApiError } from '../../api/errors.ts';
import type { ServerEvent, TranscriptEvent } from '../../api/listen-events.ts';
import { FileDecodings } from '../../files/decoding/decoding.ts';
import { DECODED } from '../../files/failures.ts';
import { FileDecoder } from '../../files/file-decoder.ts';
import { FileSource } from '../../files/file-source.ts';
import { LegFailed } from '../../live/upstream/leg-failures.ts';
import { systemClock } from '../../runtime/telemetry/clock.ts';
import { sendInRealTime } from '../shared/live-client.ts';
import { CommandError, EXIT, print, tell } from '../shared/output.ts';
import type { StatusLine } from './progress.ts';

/** Of no use to somebody who reads the text alone. */
export const ABOUT_WORD_TIMES = 'words_estimated';

const RATE = 16_000;
const BYTES_PER_SECOND = 2 * RATE;

/** Where to send the file. */
export interface Target {
  url: string;
  key: string;
}

export interface TranscriptionRequest {
  file: string;
  model: string;
  json: boolean;
  language: string | undefined;
  params: string | undefined;
  fallbacks: string | undefined;
  prefer: string | undefined;
  price: string | undefined;
  speechGate: string | undefined;
}

/** Streams the file and prints events until the session has ended. */
export async function liveTranscription(
  { url, key }: Target,
  { file, model, json, language, params, fallbacks, prefer, price, speechGate }: TranscriptionRequest,
  line: StatusLine,
): Promise<number> {
  const samples = await samplesOf(file, RATE);
  const query = new URLSearchParams({ model, sample_rate: String(RATE) });
  if (language !== undefined) query.set('language', language);
  if (params !== undefined) query.set('provider_params', params);
  if (fallbacks !== undefined) query.set('fallbacks', fallbacks);
  if (prefer !== undefined) query.set('prefer', prefer);
  if (price !== undefined) query.set('price', price);
  if (speechGate !== undefined) query.set('speech_gate', speechGate);
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
      response.on('end', () => reject(new CommandError(messageOf(Buffer.concat(body), response.statusCode))));
    });
    socket.on('error', (error) => reject(noConnection(url, error)));
    socket.on('close', (code) => {
      terminal.end();
      resolve(code === 1000 ? EXIT.ok : EXIT.failed);
    });
  });
}

/** The system's message alone says neither which address did not answer nor what to do. */
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
    else if (event.type === 'transcript' && event.is_final) this.#final(event);
    else if (event.type === 'error') tell(`error: ${event.error.message}`);
    else if (event.type === 'warning') {
      if (event.code !== ABOUT_WORD_TIMES) tell(`warning: ${event.message}`);
    } else if (event.type === 'failover') tell(`failover: ${event.from} to ${event.to} (${event.reason})`);
    else if (event.type === 'discontinuity') tell(`lost: ${event.from} s to ${event.to} s (${event.reason})`);
    this.#interim = event.type === 'transcript' && !event.is_final ? event.text : '';
    this.#progress();
  }

  end(): void {
    this.#line.clear();
  }

  /** Nothing of a turn whose text was dropped. */
  #final({ text, no_speech }: TranscriptEvent): void {
    if (!no_speech) print(text);
    else if (text !== '') print(`${text}  (no speech)`);
  }

  #progress(): void {
    const width = Math.max(20, this.#line.columns - 16);
    this.#line.show(`${this.#seconds.toFixed(1)} / ${this.#totalSeconds.toFixed(1)} s  ${this.#interim.slice(-width)}`);
  }
}

function messageOf(body: Buffer, status: number | undefined): string {
  try {
    return (JSON.parse(body.toString()) as { error: { message: string } }).error.message;
  } catch {
    return `the gateway refused the connection with HTTP ${status}.`;
  }
}

/**
 * All samples of an audio file at one rate. Throws a CommandError for a file that cannot be decoded.
 *
 * @param option which names the file, or wants its samples
 */
export async function samplesOf(file: string, sampleRate: number, option = '--live'): Promise<Uint8Array> {
  const decodings = new FileDecodings({ clock: systemClock });
  const signal = new AbortController().signal;
  const pieces: Buffer[] = [];
  try {
    const source = await FileSource.open({
      bytes: statSync(file).isFile() ? statSync(file).size : undefined,
      rawSampleRate: undefined,
      read: () => createReadStream(file),
    });
    const decoder = await FileDecoder.open(source, (opened) => decodings.open(opened, 'cli', signal));
    for await (const piece of decoder.audio(sampleRate, null)) pieces.push(Buffer.from(piece));
  } catch (error) {
    if (error instanceof ApiError) throw new CommandError(error.message);
    if (!(error instanceof LegFailed)) throw error;
    if (error.failure.code !== 'unsupported_format') throw new CommandError(error.failure.message);
    throw new CommandError(
      `${option} takes ${DECODED}, and ${file} is another kind. Convert it: ffmpeg -i ${file} speech.wav`,
    );
  } finally {
    decodings.close();
  }
  return Buffer.concat(pieces);
}
