// deploy/compose.yml as Compose reads it, compared with the gateway, the image, nats-server and Caddy. No container is started here.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DRAIN_TAIL_MS } from '../../src/live/session/host.ts';
import { currentNats } from '../fakes/network/nats-cluster.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';
import { configOf, manifestsAreRead, read } from './manifests.ts';
import { makeSecrets } from './nats-cluster-rig.ts';
import { deployFile, reasonToSkip, substituted } from './proxy-rig.ts';

const FOLDER = join(import.meta.dirname, '../../deploy');
const FILE = join(FOLDER, 'compose.yml');
const NODES = ['edge-1', 'edge-2', 'upstream-1', 'accounts-1', 'accounts-2', 'accounts-3'];
const ONE = { VOXGATE_NATS: 'tls://nats-1:4222', VOXGATE_NATS_REPLICAS: '1' };
const CLOSING_SECONDS = 5;

interface Mounted {
  source: string;
  target: string;
}
interface Service {
  image: string;
  command: string[] | null;
  environment?: Record<string, string>;
  stop_grace_period: string;
  volumes: (Mounted & { type: string })[];
  secrets?: Mounted[];
  configs?: Mounted[];
  networks: Record<string, { aliases?: string[]; ipv4_address?: string } | null>;
  ports?: { host_ip: string; target: number }[];
  [part: string]: unknown;
}
interface Project {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  configs: Record<string, { file: string }>;
}

const IMAGE = Object.fromEntries(
  [...deployFile('Containerfile').matchAll(/(VOXGATE_\w+)=(\S+)/g)].map(([, name, value]) => [name, value] as const),
) as Record<string, string>;

// Where it is read from says how the program is built, and fails under CI.
describe.skipIf(!manifestsAreRead)('deploy/compose.yml', () => {
  const secrets = makeSecrets('nats-1', 'nats-2', 'nats-3');
  const project = (profile: string, env: Record<string, string> = {}) =>
    read<Project>(['compose', FILE, profile], { ...secrets.env, ...env });
  const three = manifestsAreRead ? project('three') : { services: {}, secrets: {}, configs: {} };
  const one = manifestsAreRead ? project('one', ONE) : three;
  const service = (name: string, of = three) => of.services[name] as Service;

  test('has the nodes of a gateway, with one NATS server or three', () => {
    expect(Object.keys(three.services).sort()).toEqual([...NODES, 'caddy', 'nats-1', 'nats-2', 'nats-3'].sort());
    expect(Object.keys(one.services).sort()).toEqual([...NODES, 'caddy', 'nats'].sort());
  });

  test.each(NODES)('starts %s with settings that it accepts', (name) => {
    const [role = ''] = name.split('-');
    for (const of of [three, one]) {
      const { environment = {}, volumes, secrets: mounted, stop_grace_period, ...rest } = service(name, of);
      const { cluster, session, data } = configOf({ ...IMAGE, ...environment });
      expect(cluster).toMatchObject({ roles: role, nodeId: name, natsUser: role, natsReplicas: of === three ? 3 : 1 });
      expect(cluster.natsPassword).toBe(secrets.env[`${role.toUpperCase()}_PASSWORD`]);
      expect(cluster.accountsReplicas).toBe(role === 'accounts' ? 3 : 1);
      expect(data.vaultKey).toBe(role === 'accounts' ? secrets.env.VOXGATE_VAULT_KEY : undefined);
      expect(mounted).toEqual([{ source: 'ca.pem', target: cluster.natsCaFile }]);
      expect(volumes).toEqual([expect.objectContaining({ type: 'volume', source: name, target: data.directory })]);
      const [, minutes = 0, seconds = 0] = /^(?:(\d+)m)?(\d+)s$/.exec(stop_grace_period) ?? [];
      expect(Number(minutes) * 60 + Number(seconds)).toBeGreaterThanOrEqual(
        (session.drainMs + DRAIN_TAIL_MS) / 1000 + CLOSING_SECONDS,
      );
      expect(rest).toMatchObject({ read_only: true, cap_drop: ['ALL'], ulimits: { nofile: 65_536 } });
      const reached = cluster.nats?.split(',').map((url) => new URL(url).hostname) ?? [];
      const names = Object.entries(of.services).flatMap(([own, { networks }]) => [
        own,
        ...(networks.inside?.aliases ?? []),
      ]);
      expect(reached.filter((host) => !names.includes(host))).toEqual([]);
    }
  });

  test('mounts files that there are, or that deploy/secrets.sh makes', () => {
    for (const of of [three, one]) {
      for (const { file } of Object.values(of.configs)) expect([file, existsSync(file)]).toEqual([file, true]);
      for (const { file } of Object.values(of.secrets)) {
        expect(file).toBe(join(FOLDER, 'secrets', basename(file)));
        expect(existsSync(join(secrets.directory, basename(file)))).toBe(true);
      }
      for (const { configs = [], secrets: mounted = [] } of Object.values(of.services)) {
        expect(configs.filter(({ source }) => of.configs[source] === undefined)).toEqual([]);
        expect(mounted.filter(({ source }) => of.secrets[source] === undefined)).toEqual([]);
      }
    }
  });

  test.each([
    ['three', 'nats-1'],
    ['three', 'nats-3'],
    ['one', 'nats'],
  ])(
    'gives nats-server what it needs, with %s: %s',
    // Debian's nats-server is too old; under CI a missing one fails.
    { skip: !currentNats.isHere },
    (profile, name) => {
      const of = profile === 'one' ? one : three;
      const { command, environment, configs = [], secrets: mounted = [], volumes } = service(name, of);
      const directory = temporaryDirectory();
      const inside = (target: string) => join(directory, basename(target));
      for (const { source, target } of configs) cpSync(of.configs[source]!.file, inside(target));
      for (const { source, target } of mounted)
        cpSync(join(secrets.directory, basename(of.secrets[source]!.file)), inside(target));
      const file = inside(command?.[1] ?? '');
      const config = readFileSync(file, 'utf8');
      writeFileSync(file, substituted(config, [['/etc/nats', directory]]));
      const checked = spawnSync(currentNats.path, ['-t', command?.[0] ?? '', file], {
        env: environment ?? {},
        encoding: 'utf8',
      });
      expect([checked.status, checked.stderr]).toEqual([0, expect.stringContaining('is valid')]);
      expect(config).toContain(`store_dir: "${volumes[0]?.target}"`);
      const routes = [...config.matchAll(/tls:\/\/([^:"]+):6222/g)].map(([, host]) => host);
      expect(routes.filter((host) => three.services[host ?? ''] === undefined)).toEqual([]);
    },
  );

  const reason = reasonToSkip('caddy', 'version');
  // Needs the program; the reason was printed above.
  test.skipIf(reason !== undefined)('puts Caddy before both edge nodes, which trust it', () => {
    const { environment = {}, configs, networks, ports } = service('caddy');
    expect(configs).toEqual([{ source: 'Caddyfile', target: '/etc/caddy/Caddyfile' }]);
    const adapted = spawnSync('caddy', ['adapt', '--config', join(FOLDER, 'Caddyfile')], {
      env: { ...process.env, ...environment },
      encoding: 'utf8',
    });
    expect([adapted.status, adapted.stderr]).toEqual([0, expect.not.stringContaining('rror')]);
    const dialled = [...adapted.stdout.matchAll(/"dial":"([^"]+)"/g)].map(([, address]) => address);
    expect(dialled).toEqual(['edge-1', 'edge-2'].map((name) => `${name}:${IMAGE.VOXGATE_PORT}`));
    for (const name of ['edge-1', 'edge-2'])
      expect(service(name).environment?.VOXGATE_TRUSTED_PROXIES).toBe(networks.inside?.ipv4_address);
    expect(ports?.map(({ host_ip, target }) => [host_ip, target])).toEqual([
      ['127.0.0.1', 80],
      ['127.0.0.1', 443],
    ]);
  });

  test('does not start without the secrets, and says where they are', () => {
    expect(() => read(['compose', FILE, 'three'])).toThrow(
      /VOXGATE_SECRET is missing a value: is in the file secrets.env/,
    );
  });

  test('is read strictly: an unknown key is an error', () => {
    const copy = join(temporaryDirectory(), 'compose.yml');
    writeFileSync(
      copy,
      substituted(deployFile('compose.yml'), [['  restart: unless-stopped\n', '  restarts: always\n']]),
    );
    expect(() => read(['compose', copy, 'three'], secrets.env)).toThrow(/restarts/);
  });
});
