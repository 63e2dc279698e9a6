// What both servers decide from the head of a request: whether it is too large, and whether it is a WebSocket handshake.
// Reading the head off the wire is each server's own work; paths, credentials and parameters are the handlers'.
import { isIPv6, SocketAddress } from 'node:net';
import { type ApiError, apiError } from '../api/errors.ts';

/** What says where a request goes and where it ends, by its lower-case name. */
const ONCE: ReadonlyMap<string, string> = new Map(
  ['Host', 'Content-Length', 'Transfer-Encoding'].map((name) => [name.toLowerCase(), name]),
);

/** The head of a request, gathered header by header. */
export class RequestHead {
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Lower-case names; repeated headers are joined with ", ". */
  readonly headers = new Map<string, string>();
  /** Request line and header lines as they crossed the wire, each line end included. */
  bytes: number;
  /** What was sent twice and may not be: a proxy may have read the other one. */
  repeated: string | undefined;

  /** HTTP/1.1 asks for a `Host`. */
  readonly mustNameHost: boolean;

  constructor(method: string, path: string, query: string, version = '1.1') {
    this.mustNameHost = version !== '1.0';
    this.method = method.toUpperCase();
    this.path = path;
    this.query = query;
    this.bytes = method.length + path.length + (query === '' ? 0 : query.length + 1) + '  HTTP/1.1\r\n\r\n'.length;
  }

  add(name: string, value: string): void {
    const key = name.toLowerCase();
    const earlier = this.headers.get(key);
    if (earlier !== undefined && ONCE.has(key)) this.repeated ??= name;
    this.headers.set(key, earlier === undefined ? value : `${earlier}, ${value}`);
    this.bytes += name.length + value.length + ': \r\n'.length;
  }
}

/**
 * Why it is not clear where a request ends or which host it is for; undefined where it is. A proxy may have read it otherwise, so the
 * connection is closed after the answer, and nothing behind it is read as a request.
 */
export function framingFault({ headers, repeated, mustNameHost }: RequestHead): ApiError | undefined {
  if (repeated !== undefined) {
    return apiError(
      'invalid_request',
      `The header \`${ONCE.get(repeated.toLowerCase())}\` was sent more than once. Send it once.`,
    );
  }
  if (mustNameHost && !headers.has('host')) {
    return apiError('invalid_request', 'The header `Host` is missing. Send the host name of the gateway in it.');
  }
  if (!/^\d+$/.test(headers.get('content-length') ?? '0')) {
    return apiError(
      'invalid_request',
      'The header `Content-Length` is not a number. Send the length of the body in bytes.',
    );
  }
  // Where a library takes any other coding for chunked, a proxy before it may see the body end elsewhere.
  if (!/^chunked$/i.test(headers.get('transfer-encoding') ?? 'chunked')) {
    return apiError(
      'invalid_request',
      'The header `Transfer-Encoding` is not `chunked`, the only coding there is here.',
    );
  }
  return undefined;
}

/** What a request is: an ordinary one, a WebSocket handshake, or neither, with the reason. */
export function classify(head: RequestHead, headerBytesMax: number): 'plain' | 'websocket' | ApiError {
  if (head.bytes > headerBytesMax) return headTooLarge(headerBytesMax);
  const { headers } = head;
  const asks = hasToken(headers.get('upgrade'), 'websocket') && hasToken(headers.get('connection'), 'upgrade');
  if (head.method !== 'GET' || !asks) return 'plain';
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers.get('sec-websocket-key') ?? '')) {
    return apiError(
      'invalid_request',
      'The header `Sec-WebSocket-Key` is not 16 bytes in base64. Use a WebSocket client.',
    );
  }
  if (headers.get('sec-websocket-version') !== '13') {
    return apiError('invalid_request', 'The header `Sec-WebSocket-Version` is not 13, the only version there is.', {
      headers: { 'Sec-WebSocket-Version': '13' },
    });
  }
  return 'websocket';
}

export function headTooLarge(headerBytesMax: number): ApiError {
  return apiError(
    'uri_too_long',
    `URL and headers are longer than ${headerBytesMax} bytes together. Shorten the query or send fewer headers.`,
  );
}

export function hasToken(list: string | undefined, token: string): boolean {
  return (list ?? '').split(',').some((member) => member.trim().toLowerCase() === token);
}

/** Content-Length as a number, infinity when it is longer than any body; undefined when the body is chunked; 0 without a body. */
export function declaredBodyBytes(headers: ReadonlyMap<string, string>): number | undefined {
  if (headers.has('transfer-encoding')) return undefined;
  const declared = Number(headers.get('content-length') ?? 0);
  return Number.isSafeInteger(declared) ? declared : Number.POSITIVE_INFINITY;
}

/** One spelling for one address: IPv4 in dots also when it is mapped into IPv6, IPv6 in its short form. */
export function normaliseAddress(address: string): string {
  const short = isIPv6(address) ? new SocketAddress({ address, family: 'ipv6' }).address : address;
  return short.replace(/^::ffff:(\d+\.\d+\.\d+\.\d+)$/, '$1');
}
