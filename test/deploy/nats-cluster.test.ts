// deploy/nats/nats-cluster.conf on three real nats-servers, with the certificates and passwords of deploy/secrets.sh; and the unit
// that starts them. What each user may do is in nats.test.ts: the users are the same file.
import { execFileSync, spawnSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { natsReplicatedLog } from '../../src/cluster/bus/nats/jetstream/replicated-log.ts';
import { hashOfEntry } from '../../src/cluster/bus/replicated-log.ts';
import { logFault } from '../../src/node/replica.ts';
import { currentNats } from '../fakes/network/nats-cluster.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';
import {
  type DeployedNatsCluster,
  makeSecrets,
  monitorOf,
  SERVER_NAMES,
  startDeployedCluster,
  startMember,
} from './nats-cluster-rig.ts';
import { USERS } from './nats-rig.ts';
import { deployFile, substituted } from './proxy-rig.ts';

const SCRIPT = join(import.meta.dirname, '../../deploy/secrets.sh');
const SERVERS = SERVER_NAMES.length;

// Debian's nats-server is too old; the fake says how the current one is built, and under CI that is a failure.
describe.skipIf(!currentNats.isHere)('deploy/nats/nats-cluster.conf', () => {
  let nats: DeployedNatsCluster;
  beforeAll(async () => {
    nats = await startDeployedCluster();
  });
  afterAll(() => nats.stop());

  const status = async <Answer>(index: number, path: string) =>
    (await (await fetch(`${monitorOf(nats.servers[index]!)}${path}`)).json()) as Answer;

  test('syncs each message to the disk, and reports the server as healthy', async () => {
    interface Variables {
      server_name: string;
      jetstream: { config: { sync_always?: boolean } };
    }
    for (const index of nats.servers.keys()) {
      const { server_name, jetstream } = await status<Variables>(index, '/varz');
      expect(server_name).toBe(SERVER_NAMES[index]);
      expect(jetstream.config.sync_always).toBe(true);
      await expect.poll(() => status(index, '/healthz'), { timeout: 20_000 }).toEqual({ status: 'ok' });
    }
  });

  test('admits each user on each server', async () => {
    for (const { port } of nats.servers) {
      for (const user of USERS) {
        const bus = await nats.open(user, { servers: [`tls://127.0.0.1:${port}`] });
        expect(bus.isConnected).toBe(true);
        await bus.close();
      }
    }
  });

  test('refuses another server whose certificate is of another authority', async () => {
    const { directory } = makeSecrets('127.0.0.1');
    const stranger = await startMember(SERVERS, {
      ...{ routePorts: nats.routePorts, secrets: directory, authority: nats.secrets },
    });
    try {
      const refused = () =>
        nats.servers.some(({ log }) => log.some((line) => /TLS route handshake error.*certificate/.test(line)));
      await expect.poll(refused, { timeout: 20_000 }).toBe(true);
      const routes = await Promise.all(
        [...nats.servers.keys()].map((index) => status<{ routes: { remote_name: string }[] }>(index, '/routez')),
      );
      expect(routes.flatMap((each) => each.routes.map(({ remote_name }) => remote_name))).not.toContain('nats-4');
    } finally {
      await stranger.stop();
    }
  });

  test('carries the log of replicated accounts, also after the loss of a server', async () => {
    const bus = await nats.open('accounts');
    expect(logFault(bus.link.connection.info ?? {}, SERVERS)).toBeUndefined();
    const log = natsReplicatedLog(bus, { shard: '0', replicas: SERVERS });
    const first = Buffer.from('first');
    await expect
      .poll(() => log.append(first, hashOfEntry(first), { sequence: 0, id: undefined }).catch(String), {
        timeout: 20_000,
      })
      .toBe(1);
    await nats.servers[0]!.kill();
    const second = Buffer.from('second');
    const append = () => log.append(second, hashOfEntry(second), { sequence: 1, id: hashOfEntry(first) }).catch(String);
    await expect.poll(append, { timeout: 20_000 }).toBe(2);
    await bus.close();
  });
});

describe('deploy/secrets.sh', () => {
  test('makes files that only their owner can read, and a value for every variable', () => {
    const { directory, env } = makeSecrets('nats-1', '10.0.0.1', 'fd00::1');
    expect(statSync(join(directory, 'ca.pem')).mode & 0o777).toBe(0o644);
    for (const name of ['ca.key', 'cert.pem', 'key.pem', 'passwords.conf', 'secrets.env'])
      expect([name, statSync(join(directory, name)).mode & 0o777]).toEqual([name, 0o600]);
    expect(Object.entries(env).filter(([, value]) => value.length < 32)).toEqual([]);
    const certificate = execFileSync('openssl', ['x509', '-in', join(directory, 'cert.pem'), '-noout', '-text'], {
      encoding: 'utf8',
    });
    expect(certificate).toContain('DNS:nats-1, IP Address:10.0.0.1, IP Address:FD00:0:0:0:0:0:0:1');
  });

  test('keeps the secrets of a gateway that runs already', () => {
    const directory = join(temporaryDirectory(), 'secrets');
    const given = { VOXGATE_SECRET: 's'.repeat(32), VOXGATE_VAULT_KEY: 'dmF1bHQ=' };
    execFileSync('sh', [SCRIPT, directory, 'nats-1'], { env: { ...process.env, ...given } });
    const made = execFileSync('cat', [join(directory, 'secrets.env')], { encoding: 'utf8' });
    for (const [name, value] of Object.entries(given)) expect(made).toContain(`${name}=${value}\n`);
  });

  test.each([
    ['no server', [join(temporaryDirectory(), 'new')], 64, 'Name a new directory and at least one NATS server'],
    ['a directory that exists', [temporaryDirectory(), 'nats-1'], 73, 'exists: name a directory that does not'],
  ])('refuses %s', (_, args, code, sentence) => {
    const { status, stderr } = spawnSync('sh', [SCRIPT, ...args], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([code, expect.stringContaining(sentence)]);
  });
});

const hasTool = spawnSync('systemd-analyze', ['--version']).status === 0;
// The tool belongs to the operating system: it is on every machine that would run the unit.
test.skipIf(!hasTool)('passes systemd’s checks as the unit of nats-server, and is well confined', () => {
  const file = join(temporaryDirectory(), 'nats-server.service');
  const program = '/usr/local/bin/nats-server';
  writeFileSync(file, substituted(deployFile('nats/nats-server.service'), [[program, process.execPath]]));
  const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
  expect([verified.status, verified.stderr]).toEqual([0, '']);
  const security = ['security', '--offline=true', '--threshold=20', file];
  const confined = spawnSync('systemd-analyze', security, { encoding: 'utf8' });
  expect(confined.status, confined.stdout + confined.stderr).toBe(0);
});
