// Requests to the node that keeps the accounts, and its answers: nothing of them can be read, made or used again by who has not
// the gateway's secret; and each is done once, whatever the bus does with it.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createAccountsClient } from '../../src/cluster/accounts/client.ts';
import type { Bus, BusBody } from '../../src/cluster/bus/bus.ts';
import { accountsService } from '../../src/cluster/bus/subjects.ts';
import { createRemoteStore } from '../../src/node/store/remote-store.ts';
import type { Answering } from '../../src/store/operation.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { seeded } from '../fakes/random.ts';
import { OPERATOR } from '../fakes/store/ledger.ts';
import { accountsRig, reasonOf, SECRET } from './accounts-rig.ts';

const SERVICE = accountsService('0');
const FROM = 'edge01/accounts' as const;
const OTHER_SECRET = Buffer.from('another secret, of more than thirty-two characters');

/** A group that counts, and answers what it was asked. */
function counting(answer: Answering = async ({ args }) => args) {
  const asked: unknown[] = [];
  const group: Answering = (each) => {
    asked.push(each);
    return answer(each);
  };
  return { asked, groups: new Map([['test', group]]) };
}

describe('the sealed messages', () => {
  test('reveal nothing of the request or its answer', async () => {
    const { client, carried } = accountsRig({ service: counting() });
    await client.ask('test', 'org_canary', 'canaryCall', ['canary text', new Uint8Array(Buffer.from('canary bytes'))]);
    const seen = JSON.stringify(carried);
    const texts = carried.flatMap(({ body, answer }) =>
      [body, answer].map((each) => (each as { sealed?: string }).sealed),
    );
    const decoded = texts.map((text) => Buffer.from(text ?? '', 'base64').toString('latin1')).join('\n');
    expect([seen, decoded].filter((text) => /canary/i.test(text))).toEqual([]);
    expect(carried.length).toBe(2);
  });

  test('differ each time', async () => {
    const { client, carried } = accountsRig({ service: counting() });
    for (let time = 0; time < 20; time++) await client.ask('test', 'org_a', 'same', []);
    expect(new Set(carried.map(({ body }) => (body as { sealed?: string }).sealed)).size).toBe(carried.length);
    expect(new Set(carried.map(({ body }) => (body as { id?: string }).id)).size).toBe(20);
  });
});

describe('a request', () => {
  test('fails from a node with another secret, with the reason', async () => {
    const { asked, groups } = counting();
    const { edge, refused } = accountsRig({ service: { groups } });
    const stranger = createAccountsClient({ bus: edge, secret: OTHER_SECRET });
    const error = await stranger.ask('test', null, 'call', []).catch((each: unknown) => each);
    expect(error).toMatchObject({ reason: 'unreachable', message: expect.stringContaining('VOXGATE_SECRET') });
    expect([asked, refused]).toEqual([[], ['unread']]);
  });

  test.each([
    ['the asker has the new secret and the other side not yet', OTHER_SECRET, SECRET, SECRET, undefined],
    ['the other side has the new secret and the asker not yet', SECRET, undefined, OTHER_SECRET, SECRET],
  ])('succeeds once while %s', async (_, secret, previousSecret, theirs, theirPrevious) => {
    const { asked, groups } = counting();
    const { client } = accountsRig({
      service: { groups, secret: theirs, previousSecret: theirPrevious },
      client: { secret, previousSecret },
    });
    expect(await client.ask('test', null, 'call', [1n])).toEqual([1n]);
    expect(asked).toHaveLength(1);
  });

  test('succeeds only once: not again, nor under another name, nor from another node', async () => {
    const { asked, groups } = counting();
    const { client, carried, edge, refused } = accountsRig({ service: { groups } });
    await client.ask('test', null, 'call', []);
    const { body } = carried.at(-1)!;
    for (const changed of [{}, { id: 'A'.repeat(16) }, { epoch: '' }, { sealed: `${'A'.repeat(100)}` }]) {
      const again = { ...body, ...changed };
      expect(await edge.request(SERVICE, FROM, again, 1_000)).toMatchObject({ type: 'accounts.unread' });
    }
    expect(await edge.request(SERVICE, 'other1/accounts', body, 1_000)).toMatchObject({ type: 'accounts.unread' });
    expect(asked).toHaveLength(1);
    expect(refused).toEqual(['epoch', 'replayed', 'unread', 'unread', 'unread', 'unread']);
  });

  test('runs once when it arrives twice at once, and both get the answer', async () => {
    let finish = () => {};
    const { asked, groups } = counting(
      async () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    const { client, carried, edge } = accountsRig({ service: { groups } });
    const first = client.ask('test', null, 'call', []);
    await expect.poll(() => asked.length).toBe(1);
    const again = edge.request(SERVICE, FROM, carried.at(-1)!.body, 1_000);
    // What is on its way arrives in its order: when this one has been answered, the other has been there.
    await edge.request(SERVICE, FROM, { type: 'any' }, 1_000);
    finish();
    await first;
    expect(await again).toMatchObject({ type: 'accounts.answer' });
    expect(asked).toHaveLength(1);
  });

  test('fails in a later epoch, at any age', async () => {
    const { asked, groups } = counting();
    const { client, carried, edge, refused } = accountsRig({ service: { groups, idsMax: 3 } });
    for (let time = 0; time < 20; time++) await client.ask('test', null, `${time}`, []);
    expect(asked).toHaveLength(20);
    const before = refused.length;
    for (const { body } of [...carried]) await edge.request(SERVICE, FROM, body, 1_000);
    expect(asked).toHaveLength(20);
    expect(refused.slice(before)).toHaveLength(carried.length);
    expect(new Set(refused)).toEqual(new Set(['epoch', 'replayed']));
  });

  test('fails at the next owner when meant for the former, and is asked there again', async () => {
    const { asked, groups } = counting();
    const { client, carried, edge, service, serve } = accountsRig({ service: { groups } });
    const heard: string[] = [];
    client.onOwner(() => heard.push('another'));
    await client.ask('test', null, 'first', []);
    const { body } = carried.at(-1)!;
    await service.stop();
    serve({ revision: 8, groups });
    expect(await edge.request(SERVICE, FROM, body, 1_000)).toMatchObject({ type: 'accounts.epoch' });
    expect(asked).toHaveLength(1);
    await client.ask('test', null, 'second', []);
    expect([asked.length, heard]).toEqual([2, ['another']]);
  });
});

describe('an answer', () => {
  test.each([
    ['of another call', (bodies: BusBody[]) => bodies.at(-1)!],
    ['that was made up', () => ({ type: 'accounts.answer', parts: 1, sealed: 'A'.repeat(200) })],
    ['that is forged and names an epoch', () => ({ type: 'accounts.epoch', parts: 1, sealed: 'A'.repeat(200) })],
    ['without a form', () => ({ type: 'accounts.answer' })],
    ['of another type', () => ({ type: 'any', parts: 1, sealed: '' })],
  ])('%s is not taken for one', async (_, forge) => {
    const { client, edge, carried } = accountsRig({ service: counting() });
    await client.ask('test', null, 'first', []);
    const answers = carried.map(({ answer }) => answer!);
    const forging = Object.assign(Object.create(edge) as Bus, { request: async () => forge(answers) });
    const victim = createAccountsClient({ bus: forging, secret: SECRET });
    expect(await reasonOf(victim.ask('test', null, 'call', []))).toBe('unreachable');
  });

  test('counts as a fault of the other side when it is not plain data', async () => {
    const { client, faults } = accountsRig({ service: counting(async () => () => {}) });
    expect(await reasonOf(client.ask('test', null, 'call', []))).toBe('failed');
    expect(faults).toHaveLength(1);
  });

  test('hides what was thrown, which is logged at the other side', async () => {
    const { client, faults } = accountsRig({
      service: counting(async () => {
        throw new Error('canary');
      }),
    });
    const error = await client.ask('test', null, 'call', []).catch((each: unknown) => each);
    expect(error).toMatchObject({ reason: 'failed', message: expect.not.stringContaining('canary') });
    expect(faults).toEqual(['test.call: canary']);
  });
});

describe('a long message', () => {
  test.each([10, 700_000, 4_300_000])('travels in parts: %i bytes', async (length) => {
    const { client, carried } = accountsRig({ service: counting() });
    const bytes = new Uint8Array(randomBytes(length));
    const [back] = (await client.ask('test', null, 'echo', [bytes])) as [Uint8Array];
    expect(Buffer.compare(back, bytes)).toBe(0);
    const longest = Math.max(
      ...carried.flatMap(({ body, answer }) => [body, answer].map((each) => JSON.stringify(each).length)),
    );
    expect(longest).toBeLessThan(700_000);
  });

  test('fails by name past 16 parts, before it leaves and when it is answered', async () => {
    const { client } = accountsRig({ service: counting(async () => new Uint8Array(9_000_000)) });
    expect(await reasonOf(client.ask('test', null, 'echo', [new Uint8Array(9_000_000)]))).toBe('invalid');
    expect(await reasonOf(client.ask('test', null, 'long', []))).toBe('invalid');
  });

  test('stays within its bound of memory while incomplete', async () => {
    const { edge, owner, service, client } = accountsRig({ service: counting() });
    for (let index = 0; index < 300; index++) {
      const id = `${index}`.padStart(16, '0');
      const body = { type: 'accounts.ask', v: 1, id, epoch: '', part: 0, parts: 2, sealed: 'A'.repeat(600_000) };
      expect(await edge.request(SERVICE, FROM, body as BusBody, 1_000)).toMatchObject({ type: 'accounts.more' });
    }
    expect(service.waitingLength).toBeLessThanOrEqual(64 * 1024 * 1024);
    expect(await client.ask('test', null, 'still', [1])).toEqual([1]);
    expect(owner.deadLetters.handler_failed).toBe(0);
  });
});

test('throws and executes nothing for any input', async () => {
  const { asked, groups } = counting();
  const { edge, owner, client } = accountsRig({ service: { groups } });
  await client.ask('test', null, 'one', []);
  const random = seeded(3);
  const odd = [undefined, null, 0, -1, 1.5, 17, '', 'A'.repeat(16), {}, [], true, 'A'.repeat(700_000)];
  const any = () => odd[Math.floor(random.next() * odd.length)];
  for (let time = 0; time < 1_000; time++) {
    const type = random.next() < 0.7 ? 'accounts.ask' : 'accounts.rest';
    const body = { type, v: random.next() < 0.9 ? 1 : any(), id: random.next() < 0.8 ? 'A'.repeat(16) : any() };
    const rest = { epoch: any(), part: any(), parts: any(), sealed: any() };
    await edge.request(SERVICE, FROM, { ...body, ...rest } as BusBody, 1_000);
  }
  expect([asked.length, owner.deadLetters.handler_failed]).toEqual([1, 0]);
});

describe('bounds', () => {
  test('limit parallel calls; one more fails with overflow, unexecuted', async () => {
    const waiting: (() => void)[] = [];
    const { asked, groups } = counting(() => new Promise<void>((resolve) => waiting.push(resolve)));
    const { client, service, refused } = accountsRig({ service: { groups, callsMax: 3 } });
    const calls = Array.from({ length: 3 }, () => client.ask('test', null, 'call', []));
    await expect.poll(() => service.running).toBe(3);
    expect(await reasonOf(client.ask('test', null, 'call', []))).toBe('overflow');
    expect([asked.length, refused.at(-1)]).toEqual([3, 'overflow']);
    for (const finish of waiting) finish();
    await Promise.all(calls);
    expect(service.running).toBe(0);
  });

  test('limit waiting calls at a node; one more fails with overflow, unsent', async () => {
    const { client, carried } = accountsRig({
      service: counting(() => new Promise(() => {})),
      client: { callsMax: 2 },
    });
    for (let time = 0; time < 2; time++) client.ask('test', null, 'call', [], 50).catch(() => {});
    const before = carried.length;
    expect(await reasonOf(client.ask('test', null, 'call', []))).toBe('overflow');
    expect(carried.length).toBe(before);
    await expect.poll(() => client.waiting).toBe(0);
  });
});

describe('a call without an answer', () => {
  test.each([
    ['no node keeps the accounts', (rig: ReturnType<typeof accountsRig>) => rig.service.stop()],
    ['the node that did is gone', (rig: ReturnType<typeof accountsRig>) => rig.network.kill('owner1')],
    ['the bus is away', (rig: ReturnType<typeof accountsRig>) => rig.edge.cut()],
  ])('fails at once when %s', async (_, happen) => {
    const rig = accountsRig({ service: counting() });
    await rig.client.ask('test', null, 'call', []);
    await happen(rig);
    const sinceMs = performance.now();
    const error = await rig.client.ask('test', null, 'call', []).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ reason: 'unreachable' });
    expect(performance.now() - sinceMs).toBeLessThan(1_000);
  });

  test('fails in time', async () => {
    const { client } = accountsRig({ service: counting(() => new Promise(() => {})) });
    expect(await reasonOf(client.ask('test', null, 'call', [], 30))).toBe('unreachable');
  });

  test('fails at an owner that has lost its lease', async () => {
    const { asked, groups } = counting();
    const { client } = accountsRig({ service: { groups, isOwner: () => false } });
    expect(await reasonOf(client.ask('test', null, 'call', []))).toBe('unreachable');
    expect(asked).toEqual([]);
  });
});

test('executes every call at most once over a lossy network, with true answers', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const rig = accountsRig({ random: seeded(seed), service: { idsMax: 5 } });
    const { organisationId } = rig.direct.customer();
    const store = createRemoteStore((group, id, call, args) => rig.client.ask(group, id, call, args, 40));
    rig.network.faults = { drop: 0.1, duplicate: 0.2, swap: 0.1 };
    const names = Array.from({ length: 40 }, (_, each) => `call ${each}`);
    const outcomes = await Promise.all(
      names.map((name) => reasonOf(store.createKey(organisationId, { name }, OPERATOR))),
    );
    rig.network.heal();
    const made = rig.direct.ledger.listKeys(organisationId).map(({ name }) => name);
    expect(made.length).toBe(new Set(made).size);
    for (const [index, name] of names.entries()) if (outcomes[index] === undefined) expect(made).toContain(name);
    expect(new Set(outcomes.filter((each) => each !== undefined))).toEqual(new Set(['unreachable']));
  }
});
