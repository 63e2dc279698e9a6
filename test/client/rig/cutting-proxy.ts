// A WebSocket proxy in front of a gateway that ends connections as a network, a node or a provider would: at a chosen moment, with
// a chosen close code, with or without the words the gateway says before it.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import type { ServerEvent } from '../../../clients/typescript/src/events.ts';

/** When and how a connection ends: after so many bytes of audio, or so many events, whichever comes first. */
export interface Cut {
  audioBytes?: number;
  events?: number;
  /** 1006: the socket is destroyed. */
  code: number;
  /** The error code to tell in an event before it, with a discontinuity and the end of the session, as the gateway does. */
  error?: string;
  /** Instead of the first event of this type. */
  before?: ServerEvent['type'];
  /** Nobody can go on with the session. */
  endsSession?: boolean;
}

export interface CuttingProxy {
  url: string;
  /** Where connections go. */
  target: string | (() => string);
  /** For the connections to come, in their order; those behind the last are not cut. */
  cuts: Cut[];
  /** Offered credentials, one for each connection. */
  credentials: string[];
  /** URLs as they arrived. */
  paths: string[];
  /** Cuts that were made. */
  made: number;
  /** Resolves when so many connections were opened in all. */
  opened(count: number): Promise<void>;
}

export async function startCuttingProxy(gatewayUrl: string): Promise<CuttingProxy> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'bearer' });
  await once(server, 'listening');
  afterAll(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  const waiting = new Set<() => void>();
  const proxy: CuttingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: gatewayUrl,
    cuts: [],
    credentials: [],
    paths: [],
    made: 0,
    opened: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (proxy.paths.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
  server.on('connection', (client, request) => {
    const [, credential = ''] = (request.headers['sec-websocket-protocol'] ?? '').split(/, */);
    proxy.credentials.push(credential);
    proxy.paths.push(request.url ?? '');
    const target = typeof proxy.target === 'string' ? proxy.target : proxy.target();
    relay(client, new WebSocket(target.replace('http', 'ws') + request.url, ['bearer', credential]), proxy);
    for (const look of [...waiting]) look();
  });
  return proxy;
}

function relay(client: WebSocket, gateway: WebSocket, proxy: CuttingProxy): void {
  const cut = proxy.cuts.shift();
  const early: [data: WebSocket.RawData, isBinary: boolean][] = [];
  let bytes = 0;
  let events = 0;
  let isCut = false;
  const look = () => {
    if (isCut || cut === undefined) return;
    if (bytes >= (cut.audioBytes ?? Infinity) || events >= (cut.events ?? Infinity)) cutOff(cut);
  };
  const cutOff = (cut: Cut) => {
    isCut = true;
    proxy.made++;
    end(client, cut);
    // With these codes a gateway has ended the session itself: nobody comes back for it.
    if (cut.code >= 4000 || cut.endsSession) gateway.close(1000);
    else gateway.terminate();
  };
  client.on('message', (data: Buffer, isBinary) => {
    if (isCut) return;
    if (isBinary) bytes += data.length;
    if (gateway.readyState === WebSocket.OPEN) gateway.send(data, { binary: isBinary });
    else early.push([data, isBinary]);
    look();
  });
  gateway.on('open', () => {
    for (const [data, binary] of early) gateway.send(data as Buffer, { binary });
  });
  gateway.on('message', (data, isBinary) => {
    if (!isCut && cut?.before !== undefined && String(data).includes(`"type":"${cut.before}"`)) cutOff(cut);
    if (isCut) return;
    client.send(data as Buffer, { binary: isBinary });
    events++;
    look();
  });
  gateway.on('close', (code, reason) => {
    if (!isCut) client.close(code === 1006 ? 1011 : code, reason);
  });
  gateway.on('error', () => {});
  client.on('error', () => {});
  client.on('close', (code) => {
    if (code === 1000) gateway.close(1000);
    else gateway.terminate();
  });
  look();
}

function end(client: WebSocket, { code, error }: Cut): void {
  if (code === 1006) {
    client.terminate();
    return;
  }
  if (error !== undefined) {
    const head = { session_id: 'ses_x', seq: 99, at: '2026-01-01T00:00:00.000Z' };
    const body = { type: 'upstream_error', code: error, message: 'It ended.', param: null, request_id: 'req_x' };
    const ended = { reason: 'error', audio_seconds: 0, usage: [], cost_usd: '0.00' };
    for (const event of [
      { type: 'discontinuity', ...head, from: 0, to: 1, reason: error },
      { type: 'error', ...head, error: body },
      { type: 'session_ended', ...head, ...ended },
    ])
      client.send(JSON.stringify(event));
  }
  client.close(code, error ?? '');
}
