// An HTTP server that answers from a list, for what no gateway does on demand: each request takes the next answer.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

export interface Arrived {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export type Scripted = (response: ServerResponse) => void;

export interface ScriptedHttp {
  url: string;
  arrived: Arrived[];
  /** Taken from the front; the last one is for all that follow. */
  answers: Scripted[];
}

export async function startScriptedHttp(): Promise<ScriptedHttp> {
  const arrived: Arrived[] = [];
  const script: ScriptedHttp = { url: '', arrived, answers: [] };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const { method = '', url = '', headers } = request;
    arrived.push({ method, url, headers, body: Buffer.concat(chunks) });
    const next = script.answers.length > 1 ? script.answers.shift() : script.answers[0];
    next?.(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  script.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return script;
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Scripted =>
  (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': 'req_1', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

export const refusal = (status: number, type: string, code: string, headers: Record<string, string> = {}): Scripted =>
  json(
    status,
    { error: { type, code, message: `It is ${code}.`, param: 'model', request_id: 'req_2', details: [] } },
    headers,
  );

/** The connection breaks instead of an answer. */
export const broken: Scripted = (response) => {
  response.socket?.destroy();
};

/** Nothing comes. */
export const silent: Scripted = () => {};
