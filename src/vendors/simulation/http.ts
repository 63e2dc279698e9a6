// HTTP between node:http and a simulator: bounded bodies and requests in, answers out.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { SimulatedAnswer, SimulatedRequest } from '../simulation.ts';

/** Largest body of a request: what the most generous provider takes. */
export const BODY_BYTES_MAX = 2 * 1024 ** 3;

/** The whole body; undefined when it is too large. Rejects when the client went away before its end. */
export async function readBody(request: IncomingMessage, bytesMax = BODY_BYTES_MAX): Promise<Uint8Array | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    bytes += (piece as Buffer).byteLength;
    if (bytes > bytesMax) return undefined;
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}

/** Undefined when its target is no URL. */
export function requestOf(
  request: IncomingMessage,
  body: Uint8Array = new Uint8Array(0),
): SimulatedRequest | undefined {
  const base = `http://${request.headers.host ?? 'localhost'}`;
  const target = request.url ?? '/';
  if (!URL.canParse(target, base)) return undefined;
  const headers = Object.entries(request.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ]);
  return { method: request.method ?? 'GET', url: new URL(target, base), headers: Object.fromEntries(headers), body };
}

/** Writes an answer. After the last one the connection ends, whatever the client still sends. */
export function writeAnswer(response: ServerResponse, answer: SimulatedAnswer, { isLast = false } = {}): void {
  const { headers, text } = written(answer);
  if (isLast) {
    response.req.resume();
    headers.connection = 'close';
  }
  response.writeHead(answer.status, headers).end(text);
}

/** The answer to an upgrade that is refused, with its head. */
export function refusalText(answer: SimulatedAnswer): string {
  const { headers, text } = written(answer);
  const all = { ...headers, 'content-length': String(Buffer.byteLength(text)), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n${lines.join('')}\r\n${text}`;
}

function written({ headers = {}, body }: SimulatedAnswer): { headers: Record<string, string>; text: string } {
  if (body === undefined || typeof body === 'string') return { headers: { ...headers }, text: body ?? '' };
  return { headers: { 'content-type': 'application/json', ...headers }, text: JSON.stringify(body) };
}
