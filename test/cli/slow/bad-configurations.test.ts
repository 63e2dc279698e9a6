// Configurations that cannot be used, as the process meets them: one sentence that names the setting, 78, no stack trace, no abort.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Serving } from '../../fakes/processes/serving.ts';
import { voxgate, voxgateProcess } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

/** None of them may come as far as to serve. */
const serve = (env: Record<string, string>) =>
  voxgate(['serve'], { VOXGATE_PORT: '0', VOXGATE_DATA_DIRECTORY: temporaryDirectory(), ...env });

const SECRET = 'a-secret-of-more-than-32-characters-0123';
const NATS = { VOXGATE_NATS: 'nats://127.0.0.1:4222', VOXGATE_SECRET: SECRET };
const notJson = () => write('{"server": ');
const write = (text: string) => {
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, text);
  return file;
};

/** What is set, and what the sentence must name. */
const BAD: [Record<string, string>, string][] = [
  [{ VOXGATE_PORT: '70000' }, 'from 0 to 65535'],
  [{ VOXGATE_PORT: 'http' }, 'VOXGATE_PORT (server.port)'],
  [{ VOXGATE_PORT: '-1' }, 'VOXGATE_PORT'],
  [{ VOXGATE_HOST: 'http://localhost' }, 'VOXGATE_HOST'],
  [{ VOXGATE_HOST: 'localhost:80' }, 'without a port'],
  [{ VOXGATE_DOOR: 'deno' }, 'one of auto, uws, node'],
  [{ VOXGATE_TLS_CERT_FILE: write('PEM') }, 'VOXGATE_TLS_KEY_FILE'],
  [{ VOXGATE_TLS_CERT_FILE: write('PEM'), VOXGATE_TLS_KEY_FILE: '/nowhere/key.pem' }, 'ENOENT'],
  [{ VOXGATE_DEEPGRAM_API_KEY: 'x' }, 'is DEEPGRAM_API_KEY'],
  [{ VOXGATE_TRUSTED_PROXIES: 'nginx' }, 'VOXGATE_TRUSTED_PROXIES'],
  [{ VOXGATE_TRUSTED_PROXIES: '::/0' }, 'not the whole Internet'],
  [{ VOXGATE_SECRET: 'short' }, '32 to 1024 characters'],
  [{ VOXGATE_VAULT_KEY: 'abc' }, '32 bytes in base64'],
  [{ VOXGATE_VAULT_KEY_PREVIOUS: 'abc' }, 'VOXGATE_VAULT_KEY_PREVIOUS'],
  [{ VOXGATE_METRICS_TOKEN: 'short' }, 'VOXGATE_METRICS_TOKEN'],
  [{ VOXGATE_SESSION_IDLE_MS: '5' }, 'from 100 to 3600000'],
  [{ VOXGATE_SESSION_PING_MS: '5s' }, '"5s"'],
  [{ VOXGATE_SESSION_LONGEST_MS: '9999999999' }, 'session.longestMs'],
  [{ VOXGATE_SESSION_DRAIN_MS: '-1' }, 'session.drainMs'],
  [{ VOXGATE_SESSION_MEMORY_BYTES_MAX: '2MB' }, 'session.memoryBytesMax'],
  [{ VOXGATE_SESSION_UNREAD_EVENTS_MAX: '0' }, 'session.unreadEventsMax'],
  [{ VOXGATE_HEADER_BYTES_MAX: '65536' }, 'from 1024 to 16384'],
  [{ VOXGATE_HANDSHAKE_TIMEOUT_MS: '0' }, 'limits.handshakeTimeoutMs'],
  [{ VOXGATE_SESSIONS_PER_KEY_MAX: '0' }, 'limits.sessionsPerKeyMax'],
  [{ VOXGATE_LAG_MS_MAX: '1' }, 'limits.lagMsMax'],
  [{ VOXGATE_BREAKER_OPEN_MS: '1' }, 'upstream.breakerOpenMs'],
  [{ VOXGATE_RECOGNISER_WORKERS: 'all' }, 'recogniser.workers'],
  [{ VOXGATE_LOG_LEVEL: 'loud' }, 'VOXGATE_LOG_LEVEL'],
  [{ VOXGATE_DEEPGRAM_URL: 'deepgram.example' }, 'VOXGATE_DEEPGRAM_URL'],
  [{ VOXGATE_DEEPGRAM_URL: 'https://user:pw@deepgram.example' }, 'without user name'],
  [{ DEEPGRAM_API_KEY: 'two words' }, 'DEEPGRAM_API_KEY'],
  [{ VOXGATE_DEPGRAM_URL: 'https://a.example' }, 'VOXGATE_DEEPGRAM_URL'],
  [{ VOXGATE_PROT: '80' }, 'VOXGATE_PORT'],
  [{ VOXGATE_CONFIG: '/nowhere/voxgate.json' }, 'VOXGATE_CONFIG'],
  [{ VOXGATE_CONFIG: notJson() }, 'is not valid JSON'],
  [{ VOXGATE_CONFIG: write('[]') }, 'VOXGATE_CONFIG'],
  [{ VOXGATE_CONFIG: write('{"server": {"prt": 1}}') }, 'server.port'],
  [{ VOXGATE_CONFIG: write('{"server": 8080}') }, 'server'],
  [{ VOXGATE_PRICES_FILE: '/nowhere/prices.json' }, 'VOXGATE_PRICES_FILE'],
  [{ VOXGATE_PRICES_FILE: write('{"deepgram/nova-3": {"live": {"unit": "minute", "amount": "-1"}}}') }, 'amount'],
  [{ VOXGATE_PUBLIC_URL: 'gateway.example' }, 'VOXGATE_PUBLIC_URL'],
  [{ VOXGATE_SMTP_URL: 'http://mail.example' }, 'VOXGATE_SMTP_URL'],
  [{ VOXGATE_DATA_DIRECTORY: write('a file') }, '/file'],
  [{ VOXGATE_NATS: '127.0.0.1:4222' }, 'nats://'],
  [{ VOXGATE_NATS: 'nats://127.0.0.1:4222' }, 'VOXGATE_SECRET'],
  [{ ...NATS, VOXGATE_NATS: 'nats://10.1.2.3:4222' }, 'tls://'],
  [{ ...NATS, VOXGATE_ROLES: 'edge,proxy' }, 'VOXGATE_ROLES'],
  [{ ...NATS, VOXGATE_NODE_ID: 'Node 1' }, 'VOXGATE_NODE_ID'],
  [{ VOXGATE_ROLES: 'edge' }, 'VOXGATE_NATS'],
];

it(`${BAD.length} of them end the start with 78 and one sentence each`, { timeout: 60_000 }, async () => {
  const outcomes = [];
  for (const [env] of BAD) outcomes.push(await serve(env));
  for (const [index, { code, errors }] of outcomes.entries()) {
    const [env, named] = BAD[index]!;
    expect([env, code]).toEqual([env, 78]);
    expect(errors).toMatch(/^voxgate: [^\n]*\.\n$/);
    expect(errors).toContain(named);
    expect(errors).not.toContain(SECRET);
  }
});

describe('a fault found when the process starts: one sentence, then the end', () => {
  const begin = (env: Record<string, string>) => voxgateProcess(['serve'], { VOXGATE_PORT: '0', ...env });

  it.each(['uws', 'node'])('ends the start for an invalid certificate, on the server %s', async (adapter) => {
    const [cert, key] = [write('no certificate'), write('no key')];
    const env = { VOXGATE_TLS_CERT_FILE: cert, VOXGATE_TLS_KEY_FILE: key, VOXGATE_DOOR: adapter };
    const { code, errors } = await begin({ ...env, VOXGATE_DATA_DIRECTORY: temporaryDirectory() });
    expect([1, 78]).toContain(code);
    expect(errors).toMatch(/^voxgate: [^\n]*\.\n$/);
  });

  it('ends the start for a port in use, as argument or setting', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = String((other.address() as AddressInfo).port);
    const directory = { VOXGATE_DATA_DIRECTORY: temporaryDirectory() };
    for (const outcome of [
      await voxgateProcess(['serve', '--port', port], directory),
      await begin({ ...directory, VOXGATE_PORT: port }),
    ]) {
      expect(outcome.code).toBe(1);
      expect(outcome.errors).toMatch(/^voxgate: Cannot listen on [^\n]*set VOXGATE_PORT to another one\.\n$/);
    }
    other.close();
  });

  it('ends the start for an invalid port argument', async () => {
    const { code, errors } = await voxgateProcess(['serve', '--port', '70000']);
    expect([code, errors]).toEqual([64, 'voxgate: --port takes a whole number from 0 to 65535.\n']);
  });

  it('lists all wrong settings, one a line, and ignores a Kubernetes Service named voxgate', async () => {
    const wrong = { VOXGATE_PROT: '1', VOXGATE_DOOR: 'bun', VOXGATE_DEEPGRAM_API_KEY: 'x' };
    const ofService = { VOXGATE_PORT: 'tcp://10.96.0.12:8080', VOXGATE_SERVICE_HOST: '10.96.0.12' };
    const { code, errors } = await begin({ ...wrong, ...ofService });
    expect([code, errors.split('\n').length]).toEqual([78, 5]);
    const good = await voxgateProcess(['config', 'check'], ofService);
    expect([good.code, good.errors]).toEqual([
      0,
      expect.stringContaining('VOXGATE_PORT, VOXGATE_SERVICE_HOST: set by'),
    ]);
  });

  it('ends the start for a secret that others may read', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'secret'), SECRET);
    chmodSync(join(directory, 'secret'), 0o644);
    const { code, errors } = await begin({ VOXGATE_DATA_DIRECTORY: directory });
    expect([code, errors]).toEqual([78, expect.stringMatching(/^voxgate: [^\n]*secret[^\n]*\.\n$/)]);
  });

  it('ends the start for a changed vault key, and the right one starts again', async () => {
    const [one, other] = [randomBytes(32), randomBytes(32)].map((key) => key.toString('base64')) as [string, string];
    const directory = temporaryDirectory();
    const env = { VOXGATE_DATA_DIRECTORY: directory };
    const first = await Serving.start({ env: { ...env, VOXGATE_VAULT_KEY: one } });
    expect(await first.end('SIGTERM')).toEqual([0, null]);
    const { code, errors } = await begin({ ...env, VOXGATE_VAULT_KEY: other });
    expect([code, errors]).toEqual([78, expect.stringMatching(/^voxgate: [^\n]*key[^\n]*\.\n$/)]);
    expect(errors).not.toContain(other);
    const again = await Serving.start({ env: { ...env, VOXGATE_VAULT_KEY: other, VOXGATE_VAULT_KEY_PREVIOUS: one } });
    expect(await again.end('SIGTERM')).toEqual([0, null]);
  });
});
