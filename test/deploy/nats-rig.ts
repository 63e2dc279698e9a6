// nats-servers with the files of deploy/ as their configuration: paths and passwords are those of the test, every other line is
// the files'.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { type NatsBus, type NatsBusOptions, openNatsBus } from '../../src/cluster/bus/nats/bus.ts';
import { type NatsServer, startNatsServer } from '../fakes/network/nats-server.ts';
import { SECRETS } from '../fakes/secrets.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';
import { deployFile, substituted } from './proxy-rig.ts';

export const USERS = ['node', 'edge', 'upstream', 'accounts'] as const;
/** A role of nodes, or the operators' commands. */
export type User = (typeof USERS)[number] | 'operator';

export const passwordOf = (user: User): string => `${user}-password`;

/** A certificate for the name of this machine and a number of it, which is its own authority. */
export function certificate(
  directory: string,
  name: string,
  address = '127.0.0.1',
): { certFile: string; keyFile: string } {
  const [certFile, keyFile] = [join(directory, `${name}.pem`), join(directory, `${name}.key`)];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=nats', '-addext', `subjectAltName=DNS:localhost,IP:${address}`];
  execFileSync('openssl', ['req', '-x509', ...curve, ...names, '-keyout', keyFile, '-out', certFile], {
    stdio: 'ignore',
  });
  return { certFile, keyFile };
}

export interface DeployedNats {
  server: NatsServer;
  caFile: string;
  directory: string;
  /** A bus of that user, which the test closes. */
  open(user: User, options?: Partial<NatsBusOptions>): Promise<NatsBus>;
}

/** The file, and the authority of its certificate, for a server at that address. */
export function deployedConfig(directory: string, address?: string): { config: string; caFile: string } {
  const { certFile: caFile, keyFile } = certificate(directory, 'server', address);
  const passwords = [...USERS, 'operator' as const]
    .map((user) => `${user.toUpperCase()}_PASSWORD: "${passwordOf(user)}"`)
    .join('\n');
  const config = substituted(deployFile('nats/nats-server.conf').replace(/^listen:.*$/m, ''), [
    ['include ./users.conf', deployFile('nats/users.conf')],
    ['include ./passwords.conf', passwords],
    ['/etc/nats/cert.pem', caFile],
    ['/etc/nats/key.pem', keyFile],
    ['/var/lib/nats', join(directory, 'store')],
  ]);
  return { config, caFile };
}

export async function startDeployedNats(): Promise<DeployedNats> {
  const directory = temporaryDirectory();
  const { config, caFile } = deployedConfig(directory);
  const server = await startNatsServer({ config });
  const servers = [`tls://127.0.0.1:${server.port}`];
  const open = (user: User, options: Partial<NatsBusOptions> = {}) =>
    openNatsBus({
      secrets: SECRETS,
      servers,
      user,
      password: passwordOf(user),
      caFile,
      prefix: 'voxgate',
      startMs: 5_000,
      ...options,
    });
  return { server, caFile, directory, open };
}
