// Listens to what gateways under test answer over HTTP, and hands it to documented-notes.ts. Loaded once in a process: it puts itself
// in the place of `fetch`. WebSockets are documented-sockets.ts.
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { forgetStandIns, isStandIn, noteAnswer } from './documented-notes.ts';

type Fetch = typeof globalThis.fetch;

// Makes Node load what is behind its own \`fetch\`. Were the product's undici there first, \`fetch\` would go through that one.
void globalThis.Response;

const send: Fetch = globalThis.fetch;

/** The same, and a copy of what gateways answer is looked at. */
globalThis.fetch = async (input, init) => {
  const response = await send(input, init);
  const request = input instanceof Request ? input : undefined;
  const url = request?.url ?? String(input);
  const method = (init?.method ?? request?.method ?? 'GET').toUpperCase();
  const body = init?.body instanceof FormData ? [...init.body.entries()] : init?.body;
  const { status } = response;
  const note = (text: string | Promise<string>) =>
    noteAnswer({ method, url, status, header: (name) => response.headers.get(name) }, text, body ?? undefined);
  const { protocol, port } = new URL(response.url || url);
  if (!isGateway(response.headers.get('x-request-id'), url, port || protocol)) return response;
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) whenRead(response, note);
  else note(response.clone().text());
  return response;
};

/** A stream is left to the test, with its pace and its end; it is looked at when it was read to the end. */
function whenRead(response: Response, note: (text: string) => void): void {
  const { text, body: stream } = response;
  const heard: string[] = [];
  const readText = async () => {
    const all = await text.call(response);
    note(all);
    return all;
  };
  let tapped: ReadableStream | undefined;
  const decoder = new TextDecoder();
  const tap = new TransformStream({
    transform(chunk, controller) {
      heard.push(decoder.decode(chunk, { stream: true }));
      controller.enqueue(chunk);
    },
    flush: () => note(heard.join('')),
  });
  const body = () => {
    tapped ??= stream?.pipeThrough(tap);
    return tapped ?? null;
  };
  Object.defineProperties(response, { text: { value: readText }, body: { get: body } });
}

/** Where gateways have answered in this file: whatever comes from there is looked at, also without an id. */
const gatewayPorts = new Set<string>();

/** Another file may have another server there. */
export function forgetGateways(): void {
  gatewayPorts.clear();
  forgetStandIns();
}

/** Ids of gateways are UUIDs of version 7; those of simulated providers are not. */
function isGateway(id: unknown, url: string, port: string): boolean {
  if (typeof id === 'string' && /^req_[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id)) gatewayPorts.add(port);
  return gatewayPorts.has(port) || (typeof id === 'string' && isStandIn(url));
}

// Requests made with `node:http`, and handshakes that were refused.
subscribe('http.client.response.finish', (message) => {
  const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
  // Whatever host a test made up: the path is what counts.
  const url = `http://gateway${request.path.startsWith('/') ? request.path : '/'}`;
  if (!isGateway(response.headers['x-request-id'], url, `${response.socket.remotePort}`)) return;
  const { push } = response;
  const chunks: Buffer[] = [];
  response.push = (chunk: Buffer | null) => {
    if (chunk !== null) chunks.push(chunk);
    else {
      noteAnswer(
        {
          method: request.method,
          url,
          status: response.statusCode ?? 0,
          header: (name) => (response.headers[name.toLowerCase()] as string | undefined) ?? null,
        },
        Buffer.concat(chunks).toString(),
        undefined,
      );
    }
    return push.call(response, chunk);
  };
});
