// Messages of Azure's WebSocket: lines of headers, an empty one, and a body. In binary frames the length of the lines stands before
// them. None of it is documented: the official client writes and reads it so.
import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';
import { type JsonObject, objectOf } from '../kit/json.ts';

/** Which request of a connection a message belongs to, and when it began. */
export interface RequestName {
  id: string;
  at: string;
}

const linesOf = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

export const textFrame = (path: string, { id, at }: RequestName, body: object): string =>
  `${linesOf({ Path: path, 'X-RequestId': id, 'X-Timestamp': at, 'Content-Type': 'application/json' })}\r\n${JSON.stringify(body)}`;

/** The binary frames of one request: their lines are always the same. */
export class AudioFrames {
  readonly #head: Buffer;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ id, at }: RequestName) {
    this.#headers = { Path: 'audio', 'X-RequestId': id, 'X-Timestamp': at };
    this.#head = headOf(this.#headers);
  }

  /** The first of a request: a RIFF header that leaves the length open. */
  first(sampleRate: number): Buffer {
    const head = headOf({ ...this.#headers, 'Content-Type': 'audio/x-wav' });
    return Buffer.concat([head, riffHeader(sampleRate)]);
  }

  of(audio: Uint8Array): Buffer {
    return Buffer.concat([this.#head, audio]);
  }

  /** Ends the audio of the request. */
  last(): Buffer {
    return Buffer.from(this.#head);
  }
}

function headOf(headers: Readonly<Record<string, string>>): Buffer {
  const lines = Buffer.from(linesOf(headers), 'latin1');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(lines.length);
  return Buffer.concat([length, lines]);
}

function riffHeader(sampleRate: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  header.write('data', 36);
  return header;
}

/** A text message of the service. Names of headers are in any case, and the space behind them is left out at times. */
export function messageIn(text: string): { path: string; requestId: string | undefined; body: JsonObject } {
  const [head = '', ...rest] = text.split(/\r?\n\r?\n/);
  const headers = new Map<string, string>();
  for (const line of head.split(/\r?\n/)) {
    const at = line.indexOf(':');
    if (at > 0) headers.set(line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim());
  }
  return {
    path: headers.get('path')?.toLowerCase() ?? '',
    requestId: headers.get('x-requestid'),
    body: objectOf(rest.join('\n\n')),
  };
}
