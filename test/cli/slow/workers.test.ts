// `voxgate serve --workers`: real processes on one port, over a real nats-server, on both adapters. What is killed comes back, and
// nothing is left when it ends, however it ends.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { loadUws } from '../../../src/http/uws/library.ts';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { voxgate, voxgateProcess } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { WorkersGateway } from './workers-gateway.ts';

const adapters = ['node', ...(hasUws() ? ['uws'] : [])];
const running: WorkersGateway[] = [];
const directories: string[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((gateway) => gateway.end('SIGKILL')));
  for (const directory of directories.splice(0))
    rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
});

async function start(adapter: string, workers: number, env: Record<string, string> = {}): Promise<WorkersGateway> {
  const directory = mkdtempSync(join(tmpdir(), 'voxgate-test-'));
  directories.push(directory);
  const gateway = await WorkersGateway.start(workers, {
    VOXGATE_PORT: '0',
    VOXGATE_DOOR: adapter,
    VOXGATE_DATA_DIRECTORY: directory,
    VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '100000',
    ...env,
  });
  running.push(gateway);
  return gateway;
}

// The program is not on every machine; under CI it must be.
describe.skipIf(!natsServerIsHere).each(adapters)('several processes on the adapter %s', (adapter) => {
  test('take the sessions of one port, with one key, and end in order with 0 at a signal', async () => {
    const gateway = await start(adapter, 3);
    const sessions = await gateway.sessionsOnEach(3);
    for (const session of sessions) session.say(1);
    await Promise.all(sessions.map((session) => session.final()));
    const ended = gateway.end('SIGTERM');
    expect((await Promise.all(sessions.map((session) => session.closed))).every((code) => code === 4200)).toBe(true);
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(gateway.messages('stopped')).toHaveLength(3);
    const { code, output } = await voxgate(['ledger', 'audit'], { VOXGATE_DATA_DIRECTORY: gateway.directory });
    expect([code, output]).toEqual([0, expect.anything()]);
  });

  test('stop at the second signal', async () => {
    const gateway = await start(adapter, 2, { VOXGATE_SESSION_DRAIN_MS: '3600000' });
    const sessions = await gateway.sessionsOnEach(2);
    for (const session of sessions) session.say(0.2);
    gateway.signal('SIGINT');
    await Promise.all([gateway.logged('draining', 2)]);
    expect(await gateway.end('SIGINT')).toEqual({ code: 0, signal: null });
    await Promise.all(sessions.map((session) => session.closed));
  });

  test('start again when they are killed, and the others notice nothing', { timeout: 90_000 }, async () => {
    const gateway = await start(adapter, 3);
    const sessions = await gateway.sessionsOnEach(3);
    for (const victim of [1, 0]) {
      const pid = gateway.pids()[victim] as number;
      process.kill(pid, 'SIGKILL');
      await gateway.logged('listening', gateway.messages('listening').length + 1);
    }
    const left = sessions.filter((session) => session.open);
    expect(left.length).toBeGreaterThan(0);
    for (const session of left) session.say(1);
    await Promise.all(left.map((session) => session.final()));
    for (const session of await gateway.sessionsOnEach(3)) session.say(1);
    expect(await gateway.end('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  test('end with everything they started when the first process is killed', async () => {
    const gateway = await start(adapter, 2);
    const nats = once(await gateway.natsConnection(), 'close');
    const sessions = await gateway.sessionsOnEach(2);
    // Resolves when no process has its standard output any more.
    expect(await gateway.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    await nats;
    await Promise.all(sessions.map((session) => session.closed));
  });

  test('do not take the port of another gateway, which shares it with its own', async () => {
    const gateway = await start(adapter, 2);
    const env = {
      VOXGATE_PORT: String(gateway.port),
      VOXGATE_DATA_DIRECTORY: temporaryDirectory(),
      VOXGATE_DOOR: adapter,
    };
    for (const args of [['serve', '--workers', '2'], ['serve']]) {
      const { code, errors } = await voxgate(args, env);
      expect([code, errors]).toEqual([1, expect.stringContaining('another program has that port;')]);
    }
  });
});

describe('invalid combinations of workers', () => {
  test.each([
    ['0', 64, '--workers takes a whole number from 1 to 64.'],
    ['65', 64, '--workers takes a whole number from 1 to 64.'],
    ['many', 64, '--workers takes a whole number from 1 to 64.'],
    ['1.5', 64, '--workers takes a whole number from 1 to 64.'],
  ])('ends --workers %s with %i and one sentence', async (workers, code, sentence) => {
    const directory = temporaryDirectory();
    const outcome = await voxgateProcess(['serve', '--workers', workers], { VOXGATE_DATA_DIRECTORY: directory });
    expect([outcome.code, outcome.errors]).toEqual([code, `voxgate: ${sentence}\n`]);
  });

  test('reports another program’s port before anything is started', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const env = { VOXGATE_PORT: String(port), VOXGATE_DATA_DIRECTORY: temporaryDirectory(), VOXGATE_WORKERS: '2' };
    const { code, errors, output } = await voxgateProcess(['serve'], env);
    server.close();
    expect([code, errors, output]).toEqual([
      1,
      `voxgate: Cannot listen on 127.0.0.1:${port}: another program has that port; end it, or set VOXGATE_PORT to another one.\n`,
      '',
    ]);
  });

  test('refuses many processes that only keep accounts with 78', async () => {
    const env = {
      VOXGATE_NATS: 'nats://127.0.0.1:1',
      VOXGATE_SECRET: 'a secret of thirty-two characters'.replaceAll(' ', '-'),
      VOXGATE_ROLES: 'accounts',
      VOXGATE_PORT: '0',
      VOXGATE_DATA_DIRECTORY: temporaryDirectory(),
    };
    const { code, errors } = await voxgateProcess(['serve', '--workers', '2'], env);
    expect([code, errors]).toEqual([78, expect.stringMatching(/^voxgate: VOXGATE_ROLES is "accounts".*\.\n$/)]);
  });
});

function hasUws(): boolean {
  try {
    loadUws();
    return true;
  } catch {
    return false;
  }
}
