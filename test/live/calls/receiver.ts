// A customer's server that takes the events of calls, and says what it is told to.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

export interface Posted {
  headers: Record<string, string>;
  body: string;
  said: { session_id: string | null; call: object; dropped: number; events: Record<string, unknown>[] };
}

/** @param statusOf what the answer to the post of that number is, from 1 */
export async function startReceiver(statusOf: (count: number) => number = () => 204) {
  const posted: Posted[] = [];
  const watchers = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString();
    posted.push({ headers: request.headers as Record<string, string>, body, said: JSON.parse(body) });
    response.writeHead(statusOf(posted.length)).end();
    for (const watch of [...watchers]) watch();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    posted,
    get events() {
      return posted.flatMap(({ said }) => said.events);
    },
    /** Resolves when it is so, asked behind every post. */
    when: (isSo: () => boolean) =>
      new Promise<void>((resolve) => {
        const watch = () => {
          if (!isSo()) return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        watch();
      }),
  };
}
