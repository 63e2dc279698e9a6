// The configuration: sources and their order, refusals in one sentence, secrets kept out of everything that is shown.
import { describe, expect, expectTypeOf, test } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { configFields } from '../../src/config/fields.ts';
import { loadConfig } from '../../src/config/load.ts';
import { configReference, printConfig } from '../../src/config/reference.ts';
import type { Config } from '../../src/config/schema.ts';

const CANARY = 'canary-secret-that-must-never-be-shown';
/** Values of members that not any text fits. */
const FITTING: Readonly<Record<string, string>> = {
  ...{ region: 'eu', retention: 'none', url: 'wss://asr.example:9/v1' },
  publicUrl: 'https://asr.example',
  serviceUrl: 'http://presidio.example:3000',
  smtpUrl: 'smtps://mail.example:465',
  mailFrom: 'Voxgate <voxgate@mail.example>',
  ...{ trustedProxies: '10.0.0.0/8, fd00::1', webhookNetworks: '192.0.2.0/24' },
  nats: 'nats://127.0.0.1:4222',
  spendCeilings: '100/day,deepgram:20/month',
  roles: 'edge,upstream,accounts',
  nodeId: 'node-1',
  natsPrefix: 'asr',
  // A folder that is there, without models.
  lastResort: 'local/dictation-en',
  modelsDirectory: `${import.meta.dirname}/prices`,
  vaultKey: `${'A'.repeat(43)}=`,
  vaultKeyPrevious: `${'A'.repeat(43)}=`,
  location: 'file:///backups',
  buckets: 'recordings, archive/{organisation}',
  sealingKey: `${'A'.repeat(43)}=`,
  sealingKeyPrevious: `${'A'.repeat(43)}=`,
  ...{ endpoint: 'http://a', tracesEndpoint: 'http://a', samplerArg: '1', headers: 'a=b', resourceAttributes: 'a=b' },
};
/** Settings that go with others. */
const BESIDE: [names: string[], beside: Record<string, string>][] = [
  pair('VOXGATE_TLS_CERT_FILE', 'VOXGATE_TLS_KEY_FILE'),
  pair('VOXGATE_NATS_CERT_FILE', 'VOXGATE_NATS_KEY_FILE'),
  pair('VOXGATE_NATS_USER', 'VOXGATE_NATS_PASSWORD'),
  pair('VOXGATE_BACKUP_S3_ACCESS_KEY_ID', 'VOXGATE_BACKUP_S3_SECRET_ACCESS_KEY'),
  pair('VOXGATE_AUDIO_S3_ACCESS_KEY_ID', 'VOXGATE_AUDIO_S3_SECRET_ACCESS_KEY'),
  [['VOXGATE_AUDIO_BUCKETS'], { VOXGATE_AUDIO_S3_ACCESS_KEY_ID: CANARY, VOXGATE_AUDIO_S3_SECRET_ACCESS_KEY: CANARY }],
  [['VOXGATE_NATS'], { VOXGATE_SECRET: CANARY }],
  // The packages that send traces are not installed with the project.
  [['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'], { OTEL_SDK_DISABLED: 'true' }],
];
function pair(one: string, other: string): (typeof BESIDE)[number] {
  return [[one, other], { [one]: CANARY, [other]: CANARY }];
}
function without(env: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([each]) => each !== name));
}
const providers = ['local', 'loopback', 'my-asr'];

/** Files by path; `throws` is the error code of a file that cannot be read. */
function load(env: Record<string, string>, files: Record<string, string> = {}): Config {
  const readFile = (path: string) => {
    const text = files[path];
    if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
    return text;
  };
  return loadConfig(env, { providers, readFile });
}

const inFile = (content: unknown) => ({
  env: { VOXGATE_CONFIG: 'v.json' },
  files: { 'v.json': JSON.stringify(content) },
});
const rawFile = (text: string) => ({ env: { VOXGATE_CONFIG: 'v.json' }, files: { 'v.json': text } });

describe('sources', () => {
  test('default every value as documented without any source', () => {
    const config = load({});
    expect(config.server).toEqual({
      host: '127.0.0.1',
      port: 8080,
      door: 'auto',
      tlsCertFile: undefined,
      tlsKeyFile: undefined,
      queryCredentials: 'on',
      ...{ trustedProxies: undefined, webhookNetworks: undefined },
    });
    expect(config.data).toEqual({
      directory: './data',
      databaseMissing: 'make',
      secret: undefined,
      secretPrevious: undefined,
    });
    expect(config.limits).toEqual({
      headerBytesMax: 8192,
      jsonBodyBytesMax: 65536,
      fileBytesMax: 1024 ** 3,
      textFrameBytesMax: 65536,
      startMessageBytesMax: 262_144,
      binaryFrameBytesMax: 64 * 1024 ** 2,
      largeMessagesMax: 8,
      // What a quarter of this machine's memory holds.
      largeMessageSocketsMax: expect.toSatisfy((sockets: number) => Number.isInteger(sockets) && sockets >= 4),
      handshakeTimeoutMs: 10_000,
      sessionsPerKeyMax: 100,
      sessionsPerOrganisationMax: 1_000,
      filesPerKeyMax: 100,
      filesPerOrganisationMax: 1_000,
      requestsPerMinutePerKeyMax: 600,
      tokensPerMinutePerKeyMax: 60,
      failedAuthenticationsPerMinuteMax: 20,
      socketFramesPerSecondMax: 50_000,
      socketBytesPerSecondMax: 4 * 1024 ** 2,
      socketMessagesPerSecondMax: 50,
      organisationFramesPerSecondMax: 100_000,
      organisationMessagesPerSecondMax: 2_000,
      handshakesMax: 1_000,
      handshakesPerAddressMax: 256,
      sessionsPerNodeMax: 10_000,
      legsPerNodeMax: 10_000,
      lagMsMax: 200,
    });
    expect(config.session).toEqual({
      idleMs: 600_000,
      suspendMs: 20_000,
      latency: 'balanced',
      longestMs: 4 * 3_600_000,
      resumeMs: 60_000,
      ...{ pingMs: 15_000, pongMs: 10_000 },
      memoryBytesMax: 2 * 1024 ** 2,
      ...{ replayMs: 60_000, replaySpoolMs: 1_800_000 },
      spoolNodeBytesMax: 8 * 1024 ** 3,
      unreadBytesMax: 65536,
      unreadEventsMax: 256,
      drainMs: 60_000,
      upstreamRetries: 1,
      retryMs: 15_000,
      backOffMs: 100,
      closeMs: 20_000,
      settleMs: 5_000,
      returnToPrimary: 'off',
      returnMs: 60_000,
      hearEmptyAgain: 'off',
    });
    expect(config.batch).toEqual({ timeoutMs: 600_000, memoryBytesMax: 2 * 1024 ** 2, hearEmptyAgain: 'on' });
    expect(config.recogniser).toEqual({
      workers: expect.any(Number),
      streamsMax: 200,
      streamsPerOrganisationMax: 150,
      cpuSecondsPerMinutePerOrganisationMax: 30 * config.recogniser.workers,
      queueBytesMax: 2 * 1024 ** 2,
      dictationSlots: expect.any(Number),
      dictationStreamsMax: Math.min(48, 6 * config.recogniser.dictationSlots),
    });
    expect(config.recogniser.workers).toBeGreaterThanOrEqual(1);
    const absent = { url: undefined, apiKey: undefined, region: undefined, retention: undefined };
    expect(config.providers).toEqual({ local: absent, loopback: absent, 'my-asr': absent });
    expect(config.log).toEqual({ level: 'info' });
  });

  test('let the environment override the file, and the file the defaults', () => {
    const { files } = inFile({
      server: { port: 1000, host: 'file.example' },
      providers: { local: { apiKey: 'from-file' } },
    });
    const config = load({ VOXGATE_CONFIG: 'v.json', VOXGATE_PORT: '2000', LOCAL_API_KEY: 'from-env' }, files);
    expect(config.server).toMatchObject({ port: 2000, host: 'file.example', door: 'auto' });
    expect(config.providers.local!.apiKey).toBe('from-env');
  });

  test('set every value by its variable and by its member of the file', () => {
    for (const field of configFields(providers)) {
      const beside = BESIDE.find(([names]) => names.includes(field.env))?.[1] ?? {};
      const value = field.schema.minimum ?? field.schema.default ?? FITTING[field.path.at(-1)!] ?? CANARY;
      const files: Record<string, string> = { [CANARY]: 'PEM' };
      const at = (config: Config) =>
        field.path.reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], config);
      expect(at(load({ ...beside, [field.env]: String(value) }, files)), field.env).toEqual(value);
      const content = field.path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
      files['v.json'] = JSON.stringify(content);
      expect(
        at(load({ ...without(beside, field.env), VOXGATE_CONFIG: 'v.json' }, files)),
        field.path.join('.'),
      ).toEqual(value);
    }
  });

  test('treat an empty variable as absent', () => {
    expect(load({ VOXGATE_PORT: '', VOXGATE_SECRET: '', VOXGATE_CONFIG: '', LOCAL_API_KEY: '' })).toEqual(load({}));
  });

  test('variables of other programs are none of our business', () => {
    expect(load({ PATH: '/bin', SOME_API_KEY: 'x', voxgate_port: '1' })).toEqual(load({}));
  });

  test('allow the commands’ API key in a gateway’s environment', () => {
    expect(load({ VOXGATE_KEY: 'sk_vox_x' })).toEqual(load({}));
  });

  test('give the types that the parts of the gateway rely on', () => {
    expectTypeOf<Config['server']['door']>().toEqualTypeOf<'auto' | 'uws' | 'node'>();
    expectTypeOf<Config['server']['tlsCertFile']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Config['limits']['fileBytesMax']>().toEqualTypeOf<number>();
    expectTypeOf<Config['log']['level']>().toEqualTypeOf<
      'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
    >();
    expectTypeOf<Omit<Config['providers'][string], 'streamsMax'>>().toEqualTypeOf<
      Record<'url' | 'apiKey' | 'region' | 'retention', string | undefined>
    >();
    expectTypeOf<Config['providers'][string]['streamsMax']>().toEqualTypeOf<number | undefined>();
  });
});

type Bad = { env: Record<string, string>; files?: Record<string, string> };
const env = (name: string, value: string): Bad => ({ env: { [name]: value } });

const NATS_USER = { VOXGATE_NATS_USER: 'edge', VOXGATE_NATS_PASSWORD: CANARY };

/** Bad configurations, and what the sentence must name. */
const BAD: [string, Bad, ...string[]][] = [
  ['another role', env('VOXGATE_ROLES', 'edge,router'), 'VOXGATE_ROLES (cluster.roles)', 'edge,router', '`accounts`'],
  ['no role at all', env('VOXGATE_ROLES', ','), 'VOXGATE_ROLES (cluster.roles)', '`edge`'],
  ['a role without NATS', env('VOXGATE_ROLES', 'edge'), 'VOXGATE_ROLES (cluster.roles)', 'VOXGATE_NATS', 'all roles'],
  ['NATS by another scheme', env('VOXGATE_NATS', 'http://127.0.0.1:4222'), 'VOXGATE_NATS (cluster.nats)', 'nats://'],
  ['NATS without a secret', env('VOXGATE_NATS', 'nats://127.0.0.1:4222'), 'VOXGATE_SECRET (data.secret)', 'every node'],
  [
    'NATS beyond this machine in clear',
    { env: { VOXGATE_NATS: 'nats://10.0.0.1:4222', VOXGATE_SECRET: CANARY, ...NATS_USER } },
    'VOXGATE_NATS (cluster.nats)',
    'tls://',
  ],
  [
    'NATS beyond this machine without credentials',
    { env: { VOXGATE_NATS: 'tls://nats.example:4222', VOXGATE_SECRET: CANARY } },
    'VOXGATE_NATS_CREDENTIALS_FILE (cluster.natsCredentialsFile)',
  ],
  ['a NATS user without password', env('VOXGATE_NATS_USER', 'edge'), 'VOXGATE_NATS_PASSWORD', 'VOXGATE_NATS_USER'],
  [
    'alone without all roles',
    {
      env: {
        VOXGATE_NATS: 'nats://127.0.0.1:4222',
        VOXGATE_SECRET: CANARY,
        VOXGATE_ROLES: 'edge',
        VOXGATE_NATS_MISSING: 'alone',
      },
    },
    'VOXGATE_NATS_MISSING (cluster.natsMissing)',
    'all roles',
  ],
  ['a NATS authority that is not there', env('VOXGATE_NATS_CA_FILE', 'ca.pem'), 'VOXGATE_NATS_CA_FILE', 'ENOENT'],
  ['a node name with a dot', env('VOXGATE_NODE_ID', 'a.b'), 'VOXGATE_NODE_ID (cluster.nodeId)', 'hyphens'],
  ['port above the range', env('VOXGATE_PORT', '65536'), 'VOXGATE_PORT (server.port)', '65536', 'from 0 to 65535'],
  ['port below the range', env('VOXGATE_PORT', '-1'), 'from 0 to 65535'],
  ['port as a word', env('VOXGATE_PORT', 'http'), '"http"', 'from 0 to 65535'],
  ['port with a unit', env('VOXGATE_PORT', '8080/tcp'), '"8080/tcp"'],
  ['port with a fraction', env('VOXGATE_PORT', '80.5'), '"80.5"'],
  ['port in exponent form', env('VOXGATE_PORT', '8e3'), '"8e3"'],
  ['port in hexadecimal', env('VOXGATE_PORT', '0x50'), '"0x50"'],
  ['port with spaces', env('VOXGATE_PORT', ' 80'), '" 80"'],
  ['port beyond the integers', env('VOXGATE_PORT', '9'.repeat(400)), 'VOXGATE_PORT', 'from 0 to 65535'],
  ['host with a port', env('VOXGATE_HOST', 'localhost:8080'), 'VOXGATE_HOST', 'without a port'],
  ['host with a scheme', env('VOXGATE_HOST', 'http://localhost'), 'VOXGATE_HOST', 'a host name or an IP address'],
  ['host with a line break', env('VOXGATE_HOST', 'a\nb'), 'VOXGATE_HOST', '"a\\nb"'],
  ['unknown server adapter', env('VOXGATE_DOOR', 'bun'), 'VOXGATE_DOOR (server.door)', 'one of auto, uws, node'],
  [
    'certificate without key',
    { env: { VOXGATE_TLS_CERT_FILE: 'c.pem' }, files: { 'c.pem': '' } },
    'VOXGATE_TLS_KEY_FILE',
    'both are given or neither',
  ],
  [
    'key without certificate',
    { env: { VOXGATE_TLS_KEY_FILE: 'k.pem' }, files: { 'k.pem': '' } },
    'VOXGATE_TLS_CERT_FILE',
    'both are given or neither',
  ],
  [
    'certificate that is not there',
    { env: { VOXGATE_TLS_CERT_FILE: 'c.pem', VOXGATE_TLS_KEY_FILE: 'k.pem' }, files: { 'k.pem': '' } },
    'VOXGATE_TLS_CERT_FILE',
    '"c.pem"',
    'ENOENT',
  ],
  [
    'key that is written where its file belongs',
    { env: { VOXGATE_TLS_CERT_FILE: 'c.pem', VOXGATE_TLS_KEY_FILE: CANARY }, files: { 'c.pem': '' } },
    'VOXGATE_TLS_KEY_FILE',
    'names a file that cannot be read',
  ],
  [
    'directory with a null character',
    inFile({ data: { directory: 'a\0b' } }),
    'VOXGATE_DATA_DIRECTORY (data.directory)',
  ],
  ['empty directory in the file', inFile({ data: { directory: '' } }), 'VOXGATE_DATA_DIRECTORY'],
  ['short secret', env('VOXGATE_SECRET', 'canary'), 'VOXGATE_SECRET (data.secret)', '32 to 1024 characters'],
  ['short previous secret', env('VOXGATE_SECRET_PREVIOUS', 'canary'), 'VOXGATE_SECRET_PREVIOUS (data.secretPrevious)'],
  ['proxies by name', env('VOXGATE_TRUSTED_PROXIES', 'nginx'), 'VOXGATE_TRUSTED_PROXIES (server.trustedProxies)'],
  ['proxies that are everybody', env('VOXGATE_TRUSTED_PROXIES', '0.0.0.0/0'), 'not the whole Internet'],
  ['no token per key', env('VOXGATE_TOKENS_PER_MINUTE_PER_KEY_MAX', '0'), 'limits.tokensPerMinutePerKeyMax'],
  ['secret with a space', env('VOXGATE_SECRET', `${CANARY} ${CANARY}`), 'VOXGATE_SECRET'],
  ['secret in the file that is a number', inFile({ data: { secret: 12 } }), 'VOXGATE_SECRET (data.secret)'],
  ['headers larger than the library can read', env('VOXGATE_HEADER_BYTES_MAX', '16385'), 'from 1024 to 16384'],
  ['no headers at all', env('VOXGATE_HEADER_BYTES_MAX', '0'), 'limits.headerBytesMax'],
  ['JSON bodies too large', env('VOXGATE_JSON_BODY_BYTES_MAX', '1073741824'), 'limits.jsonBodyBytesMax'],
  ['a file limit with a unit', env('VOXGATE_FILE_BYTES_MAX', '1GB'), '"1GB"', 'limits.fileBytesMax'],
  ['text frames too large', env('VOXGATE_TEXT_FRAME_BYTES_MAX', '1048577'), 'from 1024 to 1048576'],
  ['binary frames too large', env('VOXGATE_BINARY_FRAME_BYTES_MAX', '9999999999'), 'limits.binaryFrameBytesMax'],
  ['no time for a handshake', env('VOXGATE_HANDSHAKE_TIMEOUT_MS', '0'), 'from 100 to 60000'],
  ['no session per key', env('VOXGATE_SESSIONS_PER_KEY_MAX', '0'), 'limits.sessionsPerKeyMax'],
  ['negative rate', env('VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX', '-600'), '-600'],
  ['no session per node', env('VOXGATE_SESSIONS_PER_NODE_MAX', '0'), 'limits.sessionsPerNodeMax'],
  ['idle time in seconds', env('VOXGATE_SESSION_IDLE_MS', '30'), 'from 100 to 3600000'],
  ['sessions of a week', env('VOXGATE_SESSION_LONGEST_MS', '604800000'), 'session.longestMs'],
  ['a timer past 2^31', env('VOXGATE_SESSION_PING_MS', '2147483648'), 'session.pingMs'],
  ['pong time as text in the file', inFile({ session: { pongMs: '10000' } }), '"10000"', 'session.pongMs'],
  ['null in the file', inFile({ session: { memoryBytesMax: null } }), 'null', 'session.memoryBytesMax'],
  ['a fraction in the file', inFile({ session: { replayMs: 1000.5 } }), '1000.5', 'session.replayMs'],
  ['an array in the file', inFile({ session: { drainMs: [1] } }), '[1]', 'session.drainMs'],
  ['negative spool', env('VOXGATE_SESSION_SPOOL_NODE_BYTES_MAX', '-1'), 'session.spoolNodeBytesMax'],
  ['endless retries', env('VOXGATE_SESSION_UPSTREAM_RETRIES', 'Infinity'), 'from 0 to 10'],
  ['no unread events', env('VOXGATE_SESSION_UNREAD_EVENTS_MAX', '0'), 'session.unreadEventsMax'],
  ['batch limit as boolean', inFile({ batch: { timeoutMs: true } }), 'true', 'batch.timeoutMs'],
  ['no worker', env('VOXGATE_RECOGNISER_WORKERS', '0'), 'from 1 to 64'],
  ['unknown level', env('VOXGATE_LOG_LEVEL', 'verbose'), 'one of trace, debug, info, warn, error, fatal, silent'],
  ['level in capitals', env('VOXGATE_LOG_LEVEL', 'INFO'), '"INFO"'],
  [
    'provider URL without a scheme',
    env('VOXGATE_LOCAL_URL', 'asr.example/v1'),
    'VOXGATE_LOCAL_URL (providers.local.url)',
  ],
  ['provider URL of another scheme', env('VOXGATE_LOCAL_URL', 'ftp://asr.example'), 'an http, https, ws or wss URL'],
  ['provider URL with an impossible port', env('VOXGATE_LOCAL_URL', 'http://asr.example:99999'), 'VOXGATE_LOCAL_URL'],
  [
    'provider URL with a query',
    env('VOXGATE_MY_ASR_URL', 'http://asr.example/?a=1'),
    'VOXGATE_MY_ASR_URL (providers.my-asr.url)',
  ],
  ['provider URL with a password', env('VOXGATE_LOCAL_URL', `http://user:${CANARY}@asr.example`), 'without user name'],
  ['provider key with a space', env('LOCAL_API_KEY', `${CANARY} x`), 'LOCAL_API_KEY (providers.local.apiKey)'],
  ['provider key with a line break', env('LOCAL_API_KEY', `${CANARY}\n`), 'LOCAL_API_KEY'],
  ['mistyped variable', env('VOXGATE_PROT', '80'), '"VOXGATE_PROT"', 'VOXGATE_PORT'],
  ['variable of an unknown provider', env('VOXGATE_LOCALS_URL', 'http://a'), 'VOXGATE_LOCAL_URL'],
  ['variable nothing like any', env('VOXGATE_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', '1'), 'config docs'],
  ['unknown section', inFile({ sever: {} }), '"sever"', 'server'],
  ['unknown member', inFile({ server: { prt: 1 } }), '"server.prt"', 'server.port'],
  ['unknown provider', inFile({ providers: { locl: {} } }), '"providers.locl"', 'providers.local'],
  ['unknown member of a provider', inFile({ providers: { local: { key: CANARY } } }), '"providers.local.key"'],
  ['member named like a method', inFile({ toString: {} }), '"toString"'],
  ['member named __proto__', rawFile('{"__proto__": {"port": 1}}'), '"__proto__"'],
  ['section that is a number', inFile({ server: 8080 }), 'server in the configuration file is no object', 'host, port'],
  ['section that is null', inFile({ session: null }), 'session in the configuration file is no object'],
  ['provider that is a text', inFile({ providers: { local: CANARY } }), 'providers.local', 'url, apiKey'],
  [
    'file that is not there',
    { env: { VOXGATE_CONFIG: '/etc/voxgate.json' } },
    'VOXGATE_CONFIG',
    '"/etc/voxgate.json"',
    'ENOENT',
  ],
  ['file that is not JSON', rawFile(`{"data": {"secret": "${CANARY}"`), 'VOXGATE_CONFIG', 'not valid JSON'],
  ['file that is YAML', rawFile(`secret: ${CANARY}\nport: 80`), 'not valid JSON'],
  ['file that holds a list', rawFile('[]'), 'no JSON object'],
  ['empty file', rawFile(''), 'not valid JSON'],
];

describe('refusals', () => {
  test.each(BAD)(
    '%s is refused with one sentence that names the value and what is accepted',
    (_, { env, files }, ...parts) => {
      const error = errorOf(() => load(env, files));
      expect(error).toBeInstanceOf(ConfigError);
      for (const part of parts) expect(error.message).toContain(part);
      expect(error.message).toMatch(/^[^\n]+\.$/);
      expect(error.message.length).toBeLessThan(500);
      expect(error.message).not.toMatch(/\bat .+:\d+/);
    },
  );

  test('hide every secret', () => {
    for (const [, { env, files }] of BAD) expect(errorOf(() => load(env, files)).message).not.toContain('canary');
  });

  test('show at most 60 characters of a value', () => {
    expect(errorOf(() => load({ VOXGATE_DOOR: 'x'.repeat(10_000) })).message.length).toBeLessThan(200);
  });
});

describe('the configuration on display', () => {
  test('prints the values in force without any secret', () => {
    const config = load({ VOXGATE_SECRET: CANARY, LOCAL_API_KEY: CANARY, VOXGATE_PORT: '81' });
    expect(config.data.secret).toBe(CANARY);
    const printed = printConfig(config);
    expect(printed).not.toContain(CANARY);
    expect(JSON.parse(printed)).toMatchObject({ server: { port: 81 }, data: { secret: '[redacted]' } });
  });

  test('lists every value in the reference, with variable, member, range and meaning', () => {
    const lines = configReference().split('\n');
    const rows = lines.filter((line) => line.startsWith('| `') && !line.includes('`custom[]'));
    const fields = configFields(['<provider>']);
    expect(rows).toHaveLength(fields.length);
    for (const field of fields) {
      const row = rows.find((line) => line.includes(`\`${field.path.join('.')}\``))!;
      expect(row).toContain(field.env);
      expect(row.split(' | ')).toHaveLength(5);
    }
    expect(configReference()).toContain('`VOXGATE_<PROVIDER>_URL`');
  });

  test('uses each variable and each place in the file once', () => {
    const fields = configFields(providers);
    expect(new Set(fields.map((field) => field.env)).size).toBe(fields.length);
    expect(new Set(fields.map((field) => field.path.join('.'))).size).toBe(fields.length);
  });
});

function errorOf(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('It was not refused.');
}
