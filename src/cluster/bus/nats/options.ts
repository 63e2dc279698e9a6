// How a node reaches the NATS servers: addresses, credentials, TLS, and what is not allowed beyond this machine.
import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { type ConnectionOptions, credsAuthenticator, type TlsOptions } from '@nats-io/transport-node';
import { Subjects } from './subjects.ts';

export interface NatsServers {
  /** `nats://host:port` or `tls://host:port`, without credentials in them; at least one. */
  servers: readonly string[];
  user?: string | undefined;
  password?: string | undefined;
  /** A `.creds` file; read at each connection. */
  credentialsFile?: string | undefined;
  /** PEM files. */
  caFile?: string | undefined;
  certFile?: string | undefined;
  keyFile?: string | undefined;
}

/** The connection is given up when a server does not answer pings: after 6 s. */
const PING_MS = 2_000;
const PINGS_OUT_MAX = 2;
/** A server that does not send its INFO line within this time is skipped. */
export const CONNECT_MS = 2_000;

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * What is wrong with the options, in one sentence; undefined when they are fine. Servers beyond this machine need TLS and a
 * credential. Never quotes a credential.
 */
export function checkNatsOptions(options: NatsServers): string | undefined {
  const { servers, user, password, credentialsFile, certFile, keyFile } = options;
  if (servers.length === 0) return 'No NATS server is named; give at least one, such as nats://127.0.0.1:4222.';
  const urls = servers.map((server) => (URL.canParse(server) ? new URL(server) : undefined));
  for (const url of urls) {
    if (url === undefined || !['nats:', 'tls:'].includes(url.protocol) || url.hostname === '') {
      return 'The URL of a NATS server is nats://host:port or tls://host:port.';
    }
    if (url.username !== '' || url.password !== '') {
      return 'The URL of a NATS server must not hold a user or a password; they are given apart from it.';
    }
  }
  if ((user === undefined) !== (password === undefined)) return 'User and password for NATS are given both or neither.';
  if ((certFile === undefined) !== (keyFile === undefined)) {
    return 'Certificate and private key for NATS are given both or neither.';
  }
  const far = (urls as URL[]).find((url) => !isLoopback(hostOf(url)));
  if (far === undefined) return undefined;
  if (far.protocol !== 'tls:') {
    return `The NATS server ${far.host} is not on this machine, so its URL begins with tls:// and the server offers TLS.`;
  }
  if ((user ?? credentialsFile ?? certFile) === undefined) {
    return `The NATS server ${far.host} is not on this machine, so this node needs a user and password, a credentials file or a certificate for it.`;
  }
  return undefined;
}

/** @throws Error when a file cannot be read. */
export function connectionOptions(options: NatsServers, prefix: string, node: string): ConnectionOptions {
  const { user, password, credentialsFile } = options;
  const tls = tlsOptions(options);
  return {
    servers: options.servers.map((server) => new URL(server).host),
    name: `${prefix} ${node}`,
    inboxPrefix: new Subjects(prefix).inbox(node),
    pingInterval: PING_MS,
    maxPingOut: PINGS_OUT_MAX,
    timeout: CONNECT_MS,
    maxReconnectAttempts: -1,
    // Credentials may be changed on the server before they are changed here.
    ignoreAuthErrorAbort: true,
    // The bus delivers this node's own messages itself.
    noEcho: true,
    // This node connects to the configured servers only.
    ignoreClusterUpdates: true,
    // Resolves names of this machine (/etc/hosts) too. With TLS the library sends the name only if it did not resolve it.
    resolve: tls !== undefined,
    ...(user === undefined ? {} : { user, pass: password as string }),
    ...(credentialsFile === undefined ? {} : { authenticator: credentials(credentialsFile) }),
    ...(tls === undefined ? {} : { tls }),
  };
}

function credentials(file: string): NonNullable<ConnectionOptions['authenticator']> {
  let last = readFileSync(file);
  return (nonce) => {
    try {
      last = readFileSync(file);
    } catch {
      // The file is being written, or is gone: use the last credentials.
    }
    return credsAuthenticator(last)(nonce);
  };
}

function tlsOptions({ servers, caFile, certFile, keyFile }: NatsServers): TlsOptions | undefined {
  const urls = servers.map((server) => new URL(server));
  const isAsked = urls.some(({ protocol }) => protocol === 'tls:');
  if (!isAsked && (caFile ?? certFile) === undefined) return undefined;
  const hosts = urls.map(hostOf);
  const identity = {
    // For a server given by its IP address, Node would check a different name.
    checkServerIdentity: (name: string, certificate: PeerCertificate): Error | undefined => {
      if (hosts.includes(name)) return checkServerIdentity(name, certificate);
      const byNumber = hosts.filter((host) => isIP(host) !== 0);
      const failures = byNumber.map((host) => checkServerIdentity(host, certificate));
      if (failures.length === 0) return checkServerIdentity(name, certificate);
      return failures.includes(undefined) ? undefined : failures[0];
    },
  };
  return {
    ...(caFile === undefined ? {} : { caFile }),
    ...(certFile === undefined ? {} : { certFile, keyFile: keyFile as string }),
    ...identity,
  };
}

export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

function isLoopback(host: string): boolean {
  const version = isIP(host);
  return version === 0 ? host === 'localhost' : loopback.check(host, version === 4 ? 'ipv4' : 'ipv6');
}
