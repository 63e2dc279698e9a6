// The part of the declaration that makes several nodes one gateway: which roles this one has, and how it reaches the others.
import { FormatRegistry, Type } from '@sinclair/typebox';
import { choice, integer, optionalText } from './schema-types.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const GIB = 1024 ** 3;

export const ROLES = ['edge', 'upstream', 'accounts'] as const;
export type Role = (typeof ROLES)[number];

const NATS_URL = /^(nats|tls):\/\/[^\s/?#@,]+$/;
const URLS_MAX = 32;
export const WORKERS_MAX = 64;

FormatRegistry.Set('roles', (text) => rolesOf(text) !== undefined);
FormatRegistry.Set('nats-urls', (text) => natsUrlsOf(text) !== undefined);

/** The roles that a text names, in their own order; undefined when it names anything else, or nothing. */
export function rolesOf(text: string): readonly Role[] | undefined {
  const named = text.split(',').map((name) => name.trim());
  const known: readonly string[] = ROLES;
  if (!named.every((name) => known.includes(name))) return undefined;
  return ROLES.filter((role) => named.includes(role));
}

/** The URLs that a text lists; undefined when any of it is something else. Credentials have variables of their own. */
export function natsUrlsOf(text: string): readonly string[] | undefined {
  const urls = text.split(',').map((url) => url.trim());
  const good = urls.length <= URLS_MAX && urls.every((url) => NATS_URL.test(url) && URL.canParse(url));
  return good ? urls : undefined;
}

const path = (env: string, description: string, more: { quotable?: false } = {}) =>
  optionalText(Type.String({ minLength: 1, maxLength: 4096 }), {
    env,
    accepts: 'the path of a readable file',
    description,
    ...more,
  });
/** In the place of the path somebody may have given the secret itself. */
const secretPath = (env: string, description: string) => path(env, description, { quotable: false });

export const Cluster = Type.Object({
  nats: optionalText(Type.String({ format: 'nats-urls', maxLength: 4096 }), {
    env: 'VOXGATE_NATS',
    accepts: 'one or more URLs such as `nats://127.0.0.1:4222` or `tls://nats.example.com:4222`, separated by commas',
    description:
      'NATS servers that this node shares with others. Without them it is a gateway on its own. Servers on other machines need TLS and credentials.',
    quotable: false,
  }),
  roles: Type.String({
    format: 'roles',
    default: 'edge,upstream,accounts',
    env: 'VOXGATE_ROLES',
    accepts: 'one or more of `edge`, `upstream` and `accounts`, separated by commas',
    description:
      'What this node does: `edge` serves clients, `upstream` holds connections to providers, `accounts` keeps the database. Without NATS it does all.',
  }),
  nodeId: optionalText(Type.String({ pattern: '^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$' }), {
    env: 'VOXGATE_NODE_ID',
    accepts: '1 to 32 small letters, digits and hyphens',
    description: 'Unique name of this node. Generated at each start when absent.',
  }),
  natsUser: optionalText(Type.String({ minLength: 1, maxLength: 256 }), {
    env: 'VOXGATE_NATS_USER',
    accepts: 'a text of 1 to 256 characters',
    description: 'User at the NATS servers; goes with the password.',
  }),
  natsPassword: optionalText(Type.String({ minLength: 1, maxLength: 1024 }), {
    env: 'VOXGATE_NATS_PASSWORD',
    accepts: 'a text of 1 to 1024 characters',
    description: 'Password at the NATS servers.',
    secret: true,
  }),
  natsCredentialsFile: secretPath('VOXGATE_NATS_CREDENTIALS_FILE', 'Credentials file (`.creds`) for the NATS servers.'),
  natsCaFile: path('VOXGATE_NATS_CA_FILE', 'Authority that signed the certificates of the NATS servers, in PEM form.'),
  natsCertFile: path(
    'VOXGATE_NATS_CERT_FILE',
    'Client certificate of this node for the NATS servers; goes with its key.',
  ),
  natsKeyFile: secretPath('VOXGATE_NATS_KEY_FILE', 'Private key of that certificate.'),
  natsPrefix: Type.String({
    pattern: '^[a-z][a-z0-9-]{0,31}$',
    default: 'voxgate',
    env: 'VOXGATE_NATS_PREFIX',
    accepts: '1 to 32 small letters, digits and hyphens, beginning with a letter',
    description: 'Prefix of every subject. Separate gateways that share NATS servers need different prefixes.',
  }),
  workers: integer(
    'VOXGATE_WORKERS',
    1,
    WORKERS_MAX,
    1,
    'Processes that `voxgate serve` runs on its port, each a node. If there are several and no NATS servers, it also runs a `nats-server`.',
  ),
  natsReplicas: integer(
    'VOXGATE_NATS_REPLICAS',
    1,
    5,
    1,
    'Number of NATS servers that store each message: 3 in a cluster of three.',
  ),
  accountsReplicas: integer(
    'VOXGATE_ACCOUNTS_REPLICAS',
    1,
    5,
    1,
    'Number of nodes with the role `accounts` that each keep a copy of the accounts: 3 survive the loss of one. The same on each of them.',
  ),
  jobLeaseMs: integer(
    'VOXGATE_JOB_LEASE_MS',
    3 * SECOND,
    60 * MINUTE,
    MINUTE,
    'How long a node may be silent before other nodes take over its jobs. The same on all nodes.',
  ),
  jobAudioBytesMax: integer(
    'VOXGATE_JOB_AUDIO_BYTES_MAX',
    0,
    1024 * GIB,
    2 * GIB,
    'Audio of unfinished jobs that NATS keeps, so that another node can take them over. Each server with a replica needs this space. With 0, jobs stay with their node.',
  ),
  jobAudioFileBytesMax: integer(
    'VOXGATE_JOB_AUDIO_FILE_BYTES_MAX',
    1,
    64 * GIB,
    GIB,
    'Largest audio file that is kept there; a job with a larger one stays with its node.',
  ),
  natsStartMs: integer(
    'VOXGATE_NATS_START_MS',
    100,
    10 * MINUTE,
    10 * SECOND,
    'How long a start waits for NATS. Then the node exits with an error message.',
  ),
  natsMissing: choice(
    'VOXGATE_NATS_MISSING',
    ['stop', 'alone'],
    'stop',
    'What happens if NATS is unavailable at the start: `stop` ends the node; `alone` starts without it and joins later, if the node has all roles.',
  ),
});
