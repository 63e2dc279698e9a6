// Limits over two nodes on a real nats-server: exact while it is there, each node's share while it is not, and the truth after.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createSharedKeyLimits } from '../../../../src/accounts/auth/limits.ts';
import type { Bus } from '../../../../src/cluster/bus/bus.ts';
import { type NatsBus, openNatsBus } from '../../../../src/cluster/bus/nats/bus.ts';
import { RATES_TAKEN } from '../../../../src/cluster/bus/subjects.ts';
import { openClusterLimits } from '../../../../src/cluster/limits/limits.ts';
import { LimitsMessages } from '../../../../src/cluster/limits/messages.ts';
import { serveSlots } from '../../../../src/cluster/limits/slots-service.ts';
import { backgroundClock } from '../../../../src/runtime/telemetry/clock.ts';
import { apiKey } from '../../../fakes/api-keys.ts';
import { type NatsServer, natsServerIsHere, startNatsServer } from '../../../fakes/network/nats-server.ts';
import { SECRETS } from '../../../fakes/secrets.ts';

const messages = new LimitsMessages({ secret: Buffer.from('a secret of the tests of limits over NATS') });
const key = apiKey({ id: 'key_a', organisationId: 'org_a' });

let server: NatsServer | undefined;
const buses: NatsBus[] = [];
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  buses.length = 0;
  await server?.stop();
});

async function node(url: string) {
  const bus: NatsBus = await openNatsBus({ secrets: SECRETS, servers: [url], prefix: 'limits', startMs: 5_000 });
  const edges = () => 2;
  const others = () => buses.filter((each) => each !== bus).map(({ node }) => ({ node, isEarlier: false }));
  const shared = openClusterLimits({ bus, clock: backgroundClock, messages, edges, others, onNodes: () => () => {} });
  buses.push(bus);
  const settings = { requestsPerMinutePerKeyMax: 60, sessionsPerKeyMax: 4, clock: backgroundClock };
  closing.push(
    () => bus.close(),
    () => shared.close(),
  );
  return { bus, shared, limits: createSharedKeyLimits(settings, shared) };
}

const becomes = (bus: Bus, wanted: boolean) =>
  new Promise<void>((resolve) => {
    if (bus.isConnected === wanted) return resolve();
    const detach = bus.onConnection((isConnected) => {
      if (isConnected !== wanted) return;
      detach();
      resolve();
    });
  });

/** When the count answers, and not before. */
async function counts(places: { trusted: number; take(request: typeof PROBE): Promise<object> }) {
  for (;;) {
    const before = places.trusted;
    const taken = await places.take(PROBE);
    if ('leave' in taken) (taken.leave as () => void)();
    if (places.trusted === before) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
const PROBE = { keyId: 'probe', organisationId: 'probe', keyMax: 1_000, organisationMax: null };

// It says itself why, when nats-server is not here.
describe.skipIf(!natsServerIsHere)('limits over NATS', () => {
  test('four sessions of a key on two nodes, two on each while NATS is away, and the truth when it is back', async () => {
    server = await startNatsServer();
    const [one, two] = [await node(server.url), await node(server.url)];
    const served = serveSlots({ bus: one.bus, clock: backgroundClock, messages });
    closing.push(() => served.close());
    await Promise.all([counts(one.shared.places), counts(two.shared.places)]);
    const ends = [];
    for (const each of [one, two, two, two]) ends.push(await each.limits.takeSession(key));
    for (const each of [one, two]) {
      await expect(each.limits.takeSession(key)).rejects.toMatchObject({ code: 'too_many_sessions' });
    }
    ends[3]!();
    ends[2]!();
    await server.kill();
    await Promise.all([becomes(one.bus, false), becomes(two.bus, false)]);
    await one.limits.takeSession(key);
    await two.limits.takeSession(key);
    for (const each of [one, two]) {
      await expect(each.limits.takeSession(key)).rejects.toThrow('on this node, which cannot reach the others');
    }
    await server.restart();
    await Promise.all([becomes(one.bus, true), becomes(two.bus, true)]);
    await Promise.all([counts(one.shared.places), counts(two.shared.places)]);
    // The last that has left may still be on its way.
    await vi.waitFor(() => {
      expect([one.shared.places.size, two.shared.places.size, served.places]).toEqual([2, 2, 4]);
    });
    await expect(one.limits.takeSession(key)).rejects.toThrow('may have 4 sessions at a time. End one');
  }, 60_000);

  test('requests taken on one node are known on the other within half a second', async () => {
    server = await startNatsServer();
    const [one, two] = [await node(server.url), await node(server.url)];
    const heard = new Promise<number>((resolve) => {
      const sentMs = performance.now();
      // Behind the limits of that node, which listen since it was opened.
      two.bus.subscribe(RATES_TAKEN, () => resolve(performance.now() - sentMs));
    });
    for (let count = 0; count < 60; count++) one.limits.takeRequest(key);
    expect(await heard).toBeLessThan(500);
    expect(() => two.limits.takeRequest(key)).toThrow('may make 60 requests per minute');
  });
});
