import { describe, expect, test } from 'vitest';
import { hashOfEntry } from '../../../src/cluster/bus/replicated-log.ts';
import type { LogEntry } from '../../../src/cluster/replication/entry.ts';
import type { ReplicaEnd } from '../../../src/cluster/replication/replica.ts';
import { add, entryOf } from './model-store.ts';
import { Rig } from './replica-rig.ts';

describe('a replica', () => {
  test('owns the log once it has been silent, and answers what is in the log and in its database', async () => {
    const rig = new Rig();
    const { replica, store } = rig.replica();
    await replica.start();
    await rig.run(2_900);
    expect(replica.role).toBe('following');
    await expect(replica.propose([add(1, 'a', 5)])).rejects.toMatchObject({ reason: 'unreachable', isUnsent: true });
    await rig.run(600);
    expect({ role: replica.role, isSure: replica.isSure }).toEqual({ role: 'owning', isSure: true });
    const answered = replica.propose([add(1, 'a', 5), add(2, 'a', -9)]);
    await rig.run(100);
    expect(await answered).toEqual(['booked', 'refused']);
    expect(store.booked).toEqual([1]);
    expect(rig.server.messages).toHaveLength(2);
  });

  test('puts the calls that wait into one entry, and answers each caller with its own', async () => {
    const rig = new Rig();
    const { replica } = rig.replica();
    await replica.start();
    await rig.run(3_500);
    const before = rig.server.messages.length;
    const all = [1, 2, 3, 4].map((id) => replica.propose([add(id, 'a', id)]));
    await rig.run(100);
    expect((await Promise.all(all)).flat()).toEqual(['booked', 'booked', 'booked', 'booked']);
    expect(rig.server.messages.length - before).toBe(2);
  });

  test('follows an owner, and takes over within the time of a takeover after the owner was cut off', async () => {
    const rig = new Rig();
    const { first, second } = await rig.pair();
    expect(second.store.booked).toEqual([1]);
    first.log.isCut = true;
    const lost = first.replica.propose([add(2, 'a', 1)]).catch((error: unknown) => error);
    await rig.run(2_000);
    expect(first.replica.isSure).toBe(false);
    await rig.run(2_500);
    expect(second.replica.role).toBe('owning');
    first.log.isCut = false;
    await rig.run(5_000);
    expect(await lost).toMatchObject({ reason: 'unreachable', isUnsent: false });
    expect({ role: first.replica.role, ends: first.ends }).toEqual({ role: 'ended', ends: ['deposed'] });
    expect(second.store.booked).toEqual([1]);
  });

  test('hands over at once when it is released, with everything that was waiting answered', async () => {
    const rig = new Rig();
    const first = rig.replica();
    const second = rig.replica({ claimDelayMs: 50 });
    await first.replica.start();
    await second.replica.start();
    await rig.run(3_300);
    const answered = first.replica.propose([add(1, 'a', 5)]);
    const released = first.replica.release();
    await rig.run(600);
    await released;
    expect(await answered).toEqual(['booked']);
    expect(second.replica.role).toBe('owning');
    expect(second.store.booked).toEqual([1]);
  });

  test('writes again what the log has lost of its end', async () => {
    const rig = new Rig();
    const { first, second } = await rig.pair();
    rig.server.forget(1);
    const next = first.replica.propose([add(2, 'a', 5)]);
    await rig.run(1_000);
    expect(await next).toEqual(['booked']);
    expect(second.store.content).toBe(first.store.content);
    expect(second.ends).toEqual([]);
  });

  test.each<[string, ReplicaEnd, Partial<LogEntry>]>([
    ['of another ledger', 'foreign', { ledger: 'led_1' }],
    ['of a newer version', 'version', { version: 2 }],
    ['behind a gap', 'behind', { number: 5 }],
    ['that follows another entry with a higher epoch', 'diverged', { number: 1, previous: 'other', epoch: 9 }],
  ])('ends at an entry %s', async (_, reason, change) => {
    const rig = new Rig();
    const { replica, store, ends } = rig.replica();
    await replica.start();
    const first = await rig.write(entryOf(1, [add(1, 'a', 5)]), undefined);
    await rig.run(100);
    const { outcome } = await store.position();
    await rig.write({ ...entryOf(2), previous: hashOfEntry(first), outcome, ...change }, first);
    await rig.run(100);
    expect({ ends, booked: store.booked }).toEqual({ ends: [reason], booked: [1] });
  });

  test('ends when the same entries led to another content at the owner', async () => {
    const rig = new Rig();
    const { replica, ends } = rig.replica();
    await replica.start();
    const first = await rig.write(entryOf(1, [add(1, 'a', 5)]), undefined);
    await rig.write({ ...entryOf(2), previous: hashOfEntry(first), outcome: 'another' }, first);
    await rig.run(100);
    expect(ends).toEqual(['different']);
  });

  test('ignores malformed entries and those of a deposed owner', async () => {
    const rig = new Rig();
    const { replica, store, ends } = rig.replica();
    await replica.start();
    const first = await rig.write({ ...entryOf(1, [add(1, 'a', 5)]), epoch: 2 }, undefined);
    rig.server.append(Buffer.from('no entry'), 'none', { sequence: 1, id: undefined });
    await rig.write({ ...entryOf(2, [add(2, 'a', 5)]), previous: 'other', epoch: 1 }, undefined);
    await rig.run(100);
    const { outcome } = await store.position();
    const next = { ...entryOf(2, [add(3, 'a', 5)]), previous: hashOfEntry(first), epoch: 2, outcome };
    await rig.write(next, undefined);
    await rig.run(100);
    expect({ ends, booked: store.booked, ignored: replica.ignored }).toEqual({ ends: [], booked: [1, 3], ignored: 2 });
  });

  test('refuses calls that no entry takes', async () => {
    const rig = new Rig();
    const { replica } = rig.replica();
    await replica.start();
    await rig.run(3_500);
    const many = Array.from({ length: 257 }, (_, id) => add(id, 'a', 1));
    await expect(replica.propose(many)).rejects.toMatchObject({ reason: 'invalid', isUnsent: true });
    const large = { name: 'add', args: ['x'.repeat(1_000_000)] };
    // A character of three bytes: what counts is what NATS carries.
    const wide = { name: 'add', args: ['語'.repeat(400_000)] };
    for (const call of [large, wide]) {
      await expect(replica.propose([call])).rejects.toMatchObject({ reason: 'invalid', isUnsent: true });
    }
  });
});
