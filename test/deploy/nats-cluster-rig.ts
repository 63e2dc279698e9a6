// Three nats-servers with deploy/nats/nats-cluster.conf, and what deploy/secrets.sh made for them: ports and paths are those of the
// test, every other line is the file's.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type NatsBus, type NatsBusOptions, openNatsBus } from '../../src/cluster/bus/nats/bus.ts';
import { freePorts } from '../fakes/free-ports.ts';
import { currentNats } from '../fakes/network/nats-cluster.ts';
import { type NatsServer, startNatsServer } from '../fakes/network/nats-server.ts';
import { SECRETS } from '../fakes/secrets.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';
import type { User } from './nats-rig.ts';
import { deployFile, substituted } from './proxy-rig.ts';
import { environmentOf } from './served-process.ts';

export const SERVER_NAMES = ['nats-1', 'nats-2', 'nats-3'] as const;
const SCRIPT = join(import.meta.dirname, '../../deploy/secrets.sh');

/** The files of deploy/secrets.sh, in a new directory. */
export function makeSecrets(...servers: string[]): { directory: string; env: Record<string, string> } {
  const directory = join(temporaryDirectory(), 'secrets');
  execFileSync('sh', [SCRIPT, directory, ...servers], { stdio: 'pipe' });
  return { directory, env: environmentOf(readFileSync(join(directory, 'secrets.env'), 'utf8')) };
}

export interface DeployedNatsCluster {
  servers: NatsServer[];
  secrets: string;
  routePorts: readonly number[];
  /** A bus of that user, which the test closes. */
  open(user: User, options?: Partial<NatsBusOptions>): Promise<NatsBus>;
  stop(): Promise<void>;
}

/** One of the three servers. `secrets`: the directory of its certificate, where it is not that of the others. */
export function startMember(
  index: number,
  { routePorts, secrets, authority = secrets }: { routePorts: readonly number[]; secrets: string; authority?: string },
): Promise<NatsServer> {
  const users = substituted(deployFile('nats/users.conf'), [
    ['include ./passwords.conf', readFileSync(join(authority, 'passwords.conf'), 'utf8')],
  ]);
  const config = substituted(deployFile('nats/nats-cluster.conf'), [
    ['listen: "0.0.0.0:4222"\n', ''],
    ['127.0.0.1:8222', '127.0.0.1:-1'],
    ['$SERVER_NAME', SERVER_NAMES[index] ?? `nats-${index + 1}`],
    ['listen: "0.0.0.0:6222"', `listen: "127.0.0.1:${routePorts[index]}"`],
    ...SERVER_NAMES.map((name, other) => [`tls://${name}:6222`, `tls://127.0.0.1:${routePorts[other]}`] as const),
    ['/etc/nats/cert.pem', join(secrets, 'cert.pem')],
    ['/etc/nats/key.pem', join(secrets, 'key.pem')],
    ['/etc/nats/ca.pem', join(authority, 'ca.pem')],
    ['/var/lib/nats', join(temporaryDirectory(), 'store')],
    ['include ./users.conf', users],
  ]);
  return startNatsServer({ config, program: currentNats.path });
}

export async function startDeployedCluster(): Promise<DeployedNatsCluster> {
  const { directory: secrets, env } = makeSecrets('127.0.0.1', ...SERVER_NAMES);
  const routePorts = await freePorts(SERVER_NAMES.length + 1);
  const servers = await Promise.all(SERVER_NAMES.map((_, index) => startMember(index, { routePorts, secrets })));
  const open = (user: User, options: Partial<NatsBusOptions> = {}) =>
    openNatsBus({
      secrets: SECRETS,
      servers: servers.map(({ port }) => `tls://127.0.0.1:${port}`),
      user,
      password: env[`${user.toUpperCase()}_PASSWORD`] ?? '',
      caFile: join(secrets, 'ca.pem'),
      prefix: 'voxgate',
      startMs: 20_000,
      ...options,
    });
  const stop = async () => void (await Promise.all(servers.map((server) => server.stop())));
  return { ...{ servers, secrets, routePorts }, open, stop };
}

/** Resolves with the address of the monitoring endpoint of a server. */
export function monitorOf({ log }: NatsServer): string {
  const [, port] = /Starting http monitor on 127\.0\.0\.1:(\d+)/.exec(log.join('\n')) ?? [];
  if (port === undefined) throw new Error('The server has no monitoring endpoint.');
  return `http://127.0.0.1:${port}`;
}
