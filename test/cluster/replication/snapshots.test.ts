import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { MemoryBus } from '../../../src/cluster/bus/memory.ts';
import { accountsSnapshots } from '../../../src/cluster/bus/subjects.ts';
import { fetchSnapshot, serveSnapshots } from '../../../src/cluster/replication/snapshots.ts';
import { requireSpace } from '../../../src/node/store/disk-space.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { EventClock } from '../../simulation/event-clock.ts';

const SECRET = Buffer.from('a secret that all nodes of the gateway have');

const serving: (() => void)[] = [];
afterEach(() => {
  for (const detach of serving.splice(0)) detach();
});

function rig(bytes: Uint8Array) {
  const bus = new MemoryBus();
  const clock = new EventClock();
  const directory = temporaryDirectory();
  const faults: unknown[] = [];
  const detach = serveSnapshots({
    ...{ bus, clock, secret: SECRET, shard: '0' },
    async make(id) {
      const path = join(directory, `snapshot-${id}.db`);
      writeFileSync(path, bytes);
      return path;
    },
    onFault: (error) => faults.push(error),
  });
  serving.push(detach);
  const ask = (id: string, offset: unknown) =>
    bus.request(
      accountsSnapshots('0'),
      bus.address('test'),
      Object.assign({ type: 'accounts.snapshot' }, { v: 1, id, offset }),
      1_000,
    );
  return { bus, clock, directory, faults, detach, ask, target: join(temporaryDirectory(), 'copy.db') };
}

describe('a copy of the owner’s database', () => {
  test.each([1, 384 * 1024, 1_000_000])('of %i bytes arrives whole', async (size) => {
    const bytes = randomBytes(size);
    const { bus, target, directory, clock } = rig(bytes);
    await fetchSnapshot({ bus, secret: SECRET, shard: '0' }, target);
    expect(readFileSync(target).equals(bytes)).toBe(true);
    // The owner's own file is removed when nobody asks for it any more.
    expect(readdirSync(directory)).toHaveLength(1);
    await clock.run(60_000, () => false);
    await expect.poll(() => readdirSync(directory)).toEqual([]);
  });

  test('cannot be read with another secret', async () => {
    const { bus, target } = rig(randomBytes(100));
    await expect(fetchSnapshot({ bus, secret: Buffer.from('another'), shard: '0' }, target)).rejects.toMatchObject({
      reason: 'handler_failed',
    });
  });

  test('can be read with the previous secret while the secret is changed', async () => {
    const { bus, target } = rig(randomBytes(100));
    await fetchSnapshot({ bus, secret: Buffer.from('the next one'), previousSecret: SECRET, shard: '0' }, target);
    expect(existsSync(target)).toBe(true);
  });

  test('is refused without an owner', async () => {
    const { bus, target, detach } = rig(randomBytes(100));
    detach();
    await expect(fetchSnapshot({ bus, secret: SECRET, shard: '0' }, target)).rejects.toMatchObject({
      reason: 'unknown_actor',
    });
  });

  test('is made three times at once at most, and only from its first piece', async () => {
    const { ask } = rig(randomBytes(100));
    const ids = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(16));
    expect(await ask(ids[0]!, 5)).toMatchObject({ type: 'accounts.snapshot.refused' });
    const answers = await Promise.all(ids.map((id) => ask(id, 0)));
    expect(answers.map(({ type }) => type)).toEqual([
      ...Array.from({ length: 3 }, () => 'accounts.snapshot.piece'),
      'accounts.snapshot.refused',
    ]);
  });

  test.each([
    ['short', 0],
    ['a'.repeat(16), -1],
    ['a'.repeat(16), 1.5],
    ['../../../../etc/pa', 0],
  ])('is refused for the request %s at %s', async (id, offset) => {
    const { ask, directory } = rig(randomBytes(100));
    expect(await ask(id, offset)).toMatchObject({ type: 'accounts.snapshot.refused' });
    expect(readdirSync(directory)).toEqual([]);
  });
});

test('a copy that is cut in the middle is refused, with the reason of its owner', async () => {
  const bus = new MemoryBus();
  const target = join(temporaryDirectory(), 'copy.db');
  const path = join(temporaryDirectory(), 'snapshot.db');
  writeFileSync(path, randomBytes(2_000_000));
  const detach = serveSnapshots({
    ...{ bus, clock: new EventClock(), secret: SECRET, shard: '0' },
    make: async () => path,
    onFault: () => {},
  });
  serving.push(detach);
  const sizes: number[] = [];
  const fetched = fetchSnapshot({ bus, secret: SECRET, shard: '0' }, target, async (bytes) => {
    sizes.push(bytes);
    detach();
  });
  await expect(fetched).rejects.toMatchObject({ reason: 'unknown_actor' });
  expect(sizes).toEqual([2_000_000]);
});

test('an owner without space for a copy says so to the replica that asks for one', async () => {
  const bus = new MemoryBus();
  const detach = serveSnapshots({
    ...{ bus, clock: new EventClock(), secret: SECRET, shard: '0' },
    make: () => requireSpace(temporaryDirectory(), Number.MAX_SAFE_INTEGER).then(() => ''),
    onFault: () => {},
  });
  serving.push(detach);
  const target = join(temporaryDirectory(), 'copy.db');
  await expect(fetchSnapshot({ bus, secret: SECRET, shard: '0' }, target)).rejects.toThrow(
    /gave no copy of its database\. The disk of .* has \d+ MiB of free space/,
  );
});
