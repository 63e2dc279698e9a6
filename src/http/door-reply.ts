// How a handler's answer becomes a reply that can be written: faults become the reply of `onFault`, and headers that would
// break the message are a fault. What a refusal looks like is decided by the gateway.
import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';
import type { DoorOptions, Reply, UpgradeAnswer, WholeReply } from './door.ts';
import { abandonBody } from './door-stream.ts';

export type Acceptance = Extract<UpgradeAnswer, { accept: unknown }>;

/** Headers that belong to the connection or to the framing of the message; the door sets them itself. */
const OWN_HEADERS = new Set(['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding', 'upgrade']);

/** Asks a handler; when it rejects, or answers with headers that cannot be written, the answer is that of `onFault`. */
export async function answerOf(ask: () => Promise<Reply>, options: DoorOptions): Promise<Reply> {
  let reply: Reply | undefined;
  try {
    reply = await ask();
    checkHeaders(reply.headers);
    return reply;
  } catch (error) {
    abandonBody(reply?.body);
    return faultReply(error, options);
  }
}

/** The same for a handshake. */
export async function handshakeOf(ask: () => Promise<UpgradeAnswer>, options: DoorOptions): Promise<UpgradeAnswer> {
  try {
    const answer = await ask();
    checkHeaders('accept' in answer ? handshakeHeaders(answer) : answer.refuse.headers);
    return answer;
  } catch (error) {
    return { refuse: faultReply(error, options) };
  }
}

/** What the answer to an accepted handshake says beside the library's own headers. */
export function handshakeHeaders({ protocol, headers = {} }: Acceptance): Record<string, string> {
  return protocol === undefined ? headers : { ...headers, 'Sec-WebSocket-Protocol': protocol };
}

/** The reply of `onFault`, or a bare 500 when even that fails. */
export function faultReply(error: unknown, options: DoorOptions): WholeReply {
  try {
    const reply = options.onFault(error);
    checkHeaders(reply.headers);
    return reply;
  } catch {
    return { status: 500 };
  }
}

/** Throws on a name or value that cannot stand in a header: a line break there would forge headers. */
export function checkHeaders(headers: Record<string, string> = {}): void {
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  }
}

/** The headers to write beside those that the door sets itself. */
export function writableHeaders(headers: Record<string, string> = {}): [name: string, value: string][] {
  return Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name.toLowerCase()));
}

export function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
}
