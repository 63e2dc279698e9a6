// The one sentence for an address that a door cannot have, and the look whether it can be had at all.
import { type AddressInfo, createServer } from 'node:net';

const UNKNOWN =
  'another program has that port (VOXGATE_PORT takes another one), or this machine does not have that address (VOXGATE_HOST)';
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this process may not open that port; VOXGATE_PORT takes one from 1024 on',
  EADDRINUSE: 'another program has that port; end it, or set VOXGATE_PORT to another one',
  EADDRNOTAVAIL: 'this machine does not have that address; VOXGATE_HOST takes one that it has',
  ENOTFOUND: 'there is no such host; VOXGATE_HOST takes an address of this machine',
};

/** `code` is the system's error code, where it is known. */
export function listenFailure(host: string, port: number, code: string | undefined): string {
  const reason = REASONS[code ?? ''] ?? UNKNOWN;
  return `Cannot listen on ${host.includes(':') ? `[${host}]` : host}:${port}: ${reason}.`;
}

/**
 * Tries to listen there, and stops again. Resolves with the port (a free one when `port` is 0), or with the system's error code
 * when another process listens there or this one may not.
 */
export function tryAddress(host: string, port: number): Promise<{ port: number } | { code: string | undefined }> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve({ code: error.code }));
    // By itself, also in a worker of node:cluster, whose other workers may well listen.
    server.listen({ host, port, exclusive: true }, () => {
      const { port: had } = server.address() as AddressInfo;
      server.close(() => resolve({ port: had }));
    });
  });
}
