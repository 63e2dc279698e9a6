// The one sentence for an address that a door cannot have.

const UNKNOWN = 'another program has that port, or this machine does not have that address';
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this process may not open that port',
  EADDRINUSE: 'another program has that port',
  EADDRNOTAVAIL: 'this machine does not have that address',
  ENOTFOUND: 'there is no such host',
};

/** `code` is the system's error code, where it is known. */
export function listenFailure(host: string, port: number, code: string | undefined): string {
  const reason = REASONS[code ?? ''] ?? UNKNOWN;
  return `Cannot listen on ${host.includes(':') ? `[${host}]` : host}:${port}: ${reason}.`;
}
