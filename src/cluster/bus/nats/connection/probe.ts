// Asks each NATS server for its INFO line before the library connects, because the library keeps the sockets of servers that stay silent.
import { connect } from 'node:net';
import { hostOf } from './options.ts';

const PORT = 4222;
/** The first thing that every NATS server sends, before TLS. */
const INFO = 'INFO ';

/** Resolves when the first server has answered; rejects with the last server's failure. */
export async function probeServers(servers: readonly string[], withinMs: number, signal: AbortSignal): Promise<void> {
  const probes = new AbortController();
  const stop = () => probes.abort();
  signal.addEventListener('abort', stop);
  try {
    await Promise.any(servers.map((server) => probe(new URL(server), withinMs, probes.signal)));
  } catch (error) {
    throw error instanceof AggregateError ? error.errors.at(-1) : error;
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

function probe(url: URL, withinMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (why: string) => reject(new Error(`${url.host} ${why}`));
    if (signal.aborted) return failed('was not asked');
    const socket = connect({ host: hostOf(url), port: Number(url.port || PORT), signal });
    socket.setTimeout(withinMs, () => socket.destroy(new Error('did not answer in time')));
    let said = '';
    socket.on('data', (bytes: Buffer) => {
      said += bytes.toString('latin1', 0, INFO.length);
      if (said.length < INFO.length) return;
      if (said.startsWith(INFO)) resolve();
      else failed('does not speak NATS');
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => failed(reasonOf(error)));
    socket.on('close', () => failed('closed the connection'));
  });
}

function reasonOf({ code, message, errors }: NodeJS.ErrnoException & { errors?: readonly Error[] }): string {
  if (code === 'ECONNREFUSED') return 'refused the connection';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'has no address';
  return code === undefined
    ? message
    : `could not be reached (${code}${errors === undefined ? '' : ', all addresses'})`;
}
