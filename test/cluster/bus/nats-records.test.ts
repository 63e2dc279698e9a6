// Records on a real nats-server: they outlive every process and connection, and nobody writes over what they have not read.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { natsRecords } from '../../../src/cluster/bus/nats/jetstream/records.ts';
import { openLink } from '../../fakes/network/nats-link.ts';
import { type NatsServer, natsServerIsHere, startNatsServer } from '../../fakes/network/nats-server.ts';

// Skipped without the program; under CI that fails.
describe.skipIf(!natsServerIsHere)('records on NATS', () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNatsServer({ jetStream: true });
  });
  afterAll(() => server.stop());

  test('keep the latest value, across a server restart, separate by prefix', async () => {
    const bus = await openLink(server.url, 'one');
    const records = natsRecords(bus);
    expect(await records.read('ledger.0')).toBeUndefined();
    const first = await records.write('ledger.0', { n: 1 }, 0);
    const second = await records.write('ledger.0', { n: 2 }, first as number);
    await server.restart();
    await bus.becomes(true);
    expect(await records.read('ledger.0')).toEqual({ value: { n: 2 }, sequence: second });
    expect(await natsRecords(await openLink(server.url, 'two')).read('ledger.0')).toBeUndefined();
  });

  test('accept one of several writers that read the same', async () => {
    const all = await Promise.all(
      Array.from({ length: 5 }, async () => natsRecords(await openLink(server.url, 'race'))),
    );
    const written = await Promise.all(all.map((records, n) => records.write('name', { n }, 0)));
    expect(written.filter((sequence) => sequence !== undefined)).toHaveLength(1);
    expect((await all[0]!.read('name'))?.value).toEqual({ n: written.findIndex((sequence) => sequence !== undefined) });
  });

  test('cannot be had without the server', async () => {
    const bus = await openLink(server.url, 'away');
    await server.kill();
    await bus.becomes(false);
    await expect(natsRecords(bus).read('name')).rejects.toMatchObject({ reason: 'disconnected' });
    await server.restart();
  });
});
