// Three real nats-servers that are one: whichever is killed, the two others go on with what all of them keep.

import { randomBytes } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { goProgram } from '../../../scripts/install/go-programs.js';
import { freePorts } from '../free-ports.ts';
import { type NatsServer, startNatsServer } from './nats-server.ts';

const SERVERS = 3;
const ASK_MS = 500;
const ASKED_MAX = 60;

export interface NatsCluster {
  servers: readonly NatsServer[];
  /** Of all of them, as it is written in the configuration. */
  urls: string[];
  startLate(): Promise<void>;
  /** Resolves when every server has all messages of the stream: a server that was lost is there again. */
  whole(stream: string): Promise<void>;
  stop(): Promise<void>;
}

/** The version that replicas of the accounts need, newer than Debian's. Without it a test is skipped; under CI that fails. */
export const currentNats = goProgram('nats-server');
if (!currentNats.isHere) {
  const reason = 'The current nats-server is not built: `node scripts/install/go-programs.js nats-server`';
  if (process.env.CI === 'true') throw new Error(`${reason}. No test is skipped under CI.`);
}

export interface NatsClusterOptions {
  /** Servers that do not start before `startLate`. */
  late?: number;
  /** The path of another `nats-server` than the installed one. */
  program?: string;
  /** A message is on the disks of most servers before it is acknowledged. */
  syncsAlways?: boolean;
}

/** Resolves when they have a leader for JetStream. The caller stops it. */
export async function startNatsCluster(options: NatsClusterOptions = {}): Promise<NatsCluster> {
  const { late = 0, program, syncsAlways = false } = options;
  const name = `test-${randomBytes(4).toString('hex')}`;
  const routePorts = await freePorts(SERVERS);
  const routes = routePorts.map((port) => `nats-route://127.0.0.1:${port}`).join(', ');
  const start = (port: number, index: number) =>
    startNatsServer({
      jetStream: true,
      syncsAlways,
      ...(program !== undefined && { program }),
      config: `server_name: ${name}-${index}\ncluster { name: ${name}, listen: "127.0.0.1:${port}", routes: [${routes}] }`,
    });
  const servers = await Promise.all(routePorts.slice(late).map((port, index) => start(port, index + late)));
  const urls = servers.map(({ url }) => url);
  await jetStreamLeads(urls);
  return {
    servers,
    urls,
    async startLate() {
      servers.push(...(await Promise.all(routePorts.slice(0, late).map(start))));
    },
    whole: (stream) =>
      asked(urls, async (connection) => {
        const { streams } = await jetstreamManager(connection, { timeout: ASK_MS });
        const { cluster } = await streams.info(stream);
        const others = cluster?.replicas ?? [];
        if (others.length < SERVERS - 1 || !others.every(({ current }) => current))
          throw new Error('A server is behind.');
      }),
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** A server that has no leader yet answers nothing. */
const jetStreamLeads = (servers: string[]): Promise<void> =>
  asked(servers, async (connection) => void (await jetstreamManager(connection, { timeout: ASK_MS })));

/** Asks until it succeeds. */
async function asked(servers: string[], work: (connection: NatsConnection) => Promise<void>): Promise<void> {
  const connection: NatsConnection = await connect({ servers });
  try {
    for (let times = 1; ; times++) {
      try {
        await work(connection);
        return;
      } catch (error) {
        if (times === ASKED_MAX) throw error;
        await after(ASK_MS);
      }
    }
  } finally {
    await connection.close();
  }
}
