// The sentence for an address that a server cannot bind, and the check whether it can be bound.
import { type AddressInfo, createServer } from 'node:net';

/** What sets the address. */
interface Setters {
  host: string;
  port: string;
}

const reasonOf = (code: string | undefined, { host, port }: Setters): string => {
  switch (code) {
    case 'EACCES':
      return `this process may not open that port; ${port} takes one from 1024 on`;
    case 'EADDRINUSE':
      return `another program has that port; end it, or set ${port} to another one`;
    case 'EADDRNOTAVAIL':
      return `this machine does not have that address; ${host} takes one that it has`;
    case 'ENOTFOUND':
      return `there is no such host; ${host} takes an address of this machine`;
    default:
      return `another program has that port (${port} takes another one), or this machine does not have that address (${host})`;
  }
};

const VARIABLES: Setters = { host: 'VOXGATE_HOST', port: 'VOXGATE_PORT' };

/** `code` is the system's error code, where it is known. */
export function listenFailure(host: string, port: number, code: string | undefined, setters = VARIABLES): string {
  const reason = reasonOf(code, setters);
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
    // On its own, also in a worker of node:cluster, whose other workers may well listen.
    server.listen({ host, port, exclusive: true }, () => {
      const { port: had } = server.address() as AddressInfo;
      server.close(() => resolve({ port: had }));
    });
  });
}
