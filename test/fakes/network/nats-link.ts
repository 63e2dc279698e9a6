// A connection to a nats-server as leases and usage stream see it, without the bus on top of it.
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterEach } from 'vitest';
import type { LinkedBus } from '../../../src/cluster/bus/nats/jetstream/common.ts';
import { SECRETS } from '../secrets.ts';

export interface TestLink extends LinkedBus {
  close(): Promise<void>;
  /** Resolves with the next change of the connection to that. */
  becomes(isConnected: boolean): Promise<void>;
}

const open: NatsConnection[] = [];
// Registered on import, so that one may also be opened inside a test.
afterEach(async () => {
  await Promise.all(open.splice(0).map((connection) => connection.close().catch(() => {})));
});

/** Closed after the test. */
export async function openLink(url: string, prefix = 'test'): Promise<TestLink> {
  const node = `n${Math.random().toString(36).slice(2, 7)}`;
  const connection = await connect({
    servers: url,
    inboxPrefix: `${prefix}.v1.i.${node}`,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 50,
    // The library waits 20 s for a server that was killed before it said its first word.
    timeout: 1_000,
    pingInterval: 500,
    maxPingOut: 2,
  });
  open.push(connection);
  const listeners = new Set<(isConnected: boolean) => void>();
  let isConnected = true;
  const tell = (now: boolean) => {
    if (now === isConnected) return;
    isConnected = now;
    for (const listener of [...listeners]) listener(now);
  };
  void (async () => {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') tell(false);
      if (type === 'reconnect') tell(true);
    }
  })();
  const onConnection = (listener: (isConnected: boolean) => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return {
    node,
    link: { connection, prefix, secrets: SECRETS },
    get isConnected() {
      return isConnected;
    },
    onConnection,
    becomes: (wanted) =>
      new Promise((resolve) => {
        if (isConnected === wanted) return resolve();
        const detach = onConnection((now) => {
          if (now !== wanted) return;
          detach();
          resolve();
        });
      }),
    close: () => connection.close(),
  };
}
