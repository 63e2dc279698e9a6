// The WebSocket that is used: the one that was given, the browser's own, or `ws` in Node, whose oldest supported version has none.
import { ConnectionError } from '../errors.ts';
import { isNode } from '../runtime.ts';

/** As much of a WebSocket as is used: a browser's, Node's own and that of `ws` have it. */
export interface WebSocketLike {
  readonly readyState: number;
  readonly bufferedAmount: number;
  binaryType: string;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'error', listener: (event: object) => void): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: { code: number; reason: string }) => void): void;
}

export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike;

/** The constructor to use. */
export async function webSocketOf(given: WebSocketConstructor | undefined): Promise<WebSocketConstructor> {
  if (given !== undefined) return given;
  const { WebSocket: own } = globalThis as unknown as { WebSocket?: WebSocketConstructor };
  if (!isNode() && own !== undefined) return own;
  try {
    const { NodeWebSocket } = await import('./node-web-socket.ts');
    return NodeWebSocket;
  } catch (cause) {
    if (own !== undefined) return own;
    throw new ConnectionError('There is no WebSocket here: install `ws`, give one as `webSocket`, or use Node 22.', {
      code: 'connection_failed',
      cause,
    });
  }
}
