// A bus whose server is behind a network that swallows everything without a word: a network namespace whose link is down.
import { execFileSync, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BusBody } from '../../../../src/cluster/bus/bus.ts';
import { NatsBus, type NatsBusOptions } from '../../../../src/cluster/bus/nats/bus.ts';
import { NatsConnector } from '../../../../src/cluster/bus/nats/connector.ts';
import { type NatsServer, natsServerIsHere, startNatsServer } from '../../../fakes/network/nats-server.ts';
import { settleAll } from '../../../fakes/network/settle-nats.ts';
import { SECRETS } from '../../../fakes/secrets.ts';
import { whenConnected } from '../nats-rig.ts';

const NOTICED_MS = { min: 3_500, max: 9_000 };

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });

// Needs root and `ip netns`; said where it is skipped.
const reason =
  process.getuid?.() !== 0 ? 'only root can make one' : spawnSync('ip', ['netns']).status !== 0 ? '`ip netns`' : '';
if (reason !== '') {
  if (process.env.CI === 'true') throw new Error(`Network namespaces are not there: ${reason}.`);
  console.warn(`Network namespaces are not there: ${reason}; their tests are skipped.`);
}

// The fake says what is missing; under CI that is a failure.
describe.skipIf(!natsServerIsHere || reason !== '')('a bus cut off from its server', () => {
  // Names of interfaces have 15 characters, and other runs may be on the machine.
  const namespace = `vx${process.pid}`;
  const subnet = `10.213.${process.pid % 256}`;
  let server: NatsServer;
  const buses: NatsBus[] = [];

  beforeAll(async () => {
    ip('netns', 'add', namespace);
    ip('link', 'add', `${namespace}a`, 'type', 'veth', 'peer', 'name', `${namespace}b`, 'netns', namespace);
    ip('addr', 'add', `${subnet}.1/24`, 'dev', `${namespace}a`);
    ip('link', 'set', `${namespace}a`, 'up');
    ip('-n', namespace, 'addr', 'add', `${subnet}.2/24`, 'dev', `${namespace}b`);
    ip('-n', namespace, 'link', 'set', `${namespace}b`, 'up');
    server = await startNatsServer({ namespace, host: `${subnet}.2` });
  });
  afterAll(async () => {
    await Promise.all(buses.map((bus) => bus.close()));
    await server?.stop();
    spawnSync('ip', ['link', 'del', `${namespace}a`]);
    spawnSync('ip', ['netns', 'del', namespace]);
  });

  // Past the check of the options, which wants TLS where it is not this machine: here it is.
  async function open(): Promise<NatsBus> {
    const node = `node${buses.length}x`;
    const options: NatsBusOptions = { secrets: SECRETS, servers: [server.url], prefix: 'test', startMs: 5_000, node };
    const connector = new NatsConnector({ ...options, node });
    const bus = new NatsBus(connector, node, options);
    buses.push(bus);
    await connector.join();
    return bus;
  }

  it('notices in about six seconds, refuses at once while it is, and is back when the network is', async () => {
    const [near, far] = [await open(), await open()];
    const heard: BusBody[] = [];
    far.attach('far', ({ body }) => heard.push(body));
    far.serve('echo', (body) => body);
    const send = (n: number) =>
      near.send(far.address('far'), near.address('me'), { type: 'count', n } as BusBody, new Uint8Array(3_200));
    const works = async () => {
      await settleAll([near, far]);
      expect(await near.request('echo', near.address('me'), { type: 'ask' }, 5_000)).toEqual({ type: 'ask' });
    };
    await works();
    expect(send(1)).toBe('accepted');
    await settleAll([near, far]);
    ip('link', 'set', `${namespace}a`, 'down');
    const cutMs = performance.now();
    expect(send(2)).toBe('accepted');
    await Promise.all([whenConnected(near, false), whenConnected(far, false)]);
    expect(performance.now() - cutMs).toBeGreaterThan(NOTICED_MS.min);
    expect(performance.now() - cutMs).toBeLessThan(NOTICED_MS.max);
    expect(send(3)).toBe('disconnected');
    // Long enough for attempts that nobody answers.
    let attempts = 0;
    for await (const { type } of near.link.connection.status()) if (type === 'reconnecting' && ++attempts === 3) break;
    ip('link', 'set', `${namespace}a`, 'up');
    const upMs = performance.now();
    await Promise.all([whenConnected(near, true), whenConnected(far, true)]);
    expect(performance.now() - upMs).toBeLessThan(5_000);
    await works();
    expect(send(4)).toBe('accepted');
    await settleAll([near, far]);
    // What was under way when it was cut is lost, and nothing comes twice or late.
    expect(heard).toEqual([
      { type: 'count', n: 1 },
      { type: 'count', n: 4 },
    ]);
  }, 60_000);
});
