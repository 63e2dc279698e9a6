// Three real nats-servers that are one: whichever is killed, the two others go on with what all of them keep.
import { randomBytes } from 'node:crypto';
import { connect, type NatsConnection } from 'nats';
import { freePorts } from '../free-ports.ts';
import { type NatsServer, startNatsServer } from './nats-server.ts';

const SERVERS = 3;
const ASK_MS = 500;
const ASKED_MAX = 60;

export interface NatsCluster {
  servers: readonly NatsServer[];
  /** Of all of them, as it is written in the configuration. */
  urls: string[];
  stop(): Promise<void>;
}

/** Resolves when they have a leader for JetStream. Whoever starts it stops it. */
export async function startNatsCluster(): Promise<NatsCluster> {
  const name = `test-${randomBytes(4).toString('hex')}`;
  const routePorts = await freePorts(SERVERS);
  const routes = routePorts.map((port) => `nats-route://127.0.0.1:${port}`).join(', ');
  const servers = await Promise.all(
    routePorts.map((port, index) =>
      startNatsServer({
        jetStream: true,
        config: `server_name: ${name}-${index}\ncluster { name: ${name}, listen: "127.0.0.1:${port}", routes: [${routes}] }`,
      }),
    ),
  );
  const urls = servers.map(({ url }) => url);
  await jetStreamLeads(urls);
  return {
    servers,
    urls,
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** A server that has no leader yet answers nothing. */
async function jetStreamLeads(servers: string[]): Promise<void> {
  const connection: NatsConnection = await connect({ servers });
  try {
    for (let asked = 1; ; asked++) {
      try {
        await connection.jetstreamManager({ timeout: ASK_MS });
        return;
      } catch (error) {
        if (asked === ASKED_MAX) throw error;
      }
    }
  } finally {
    await connection.close();
  }
}
