// Batches between real nodes: who is sent them, and what becomes of those that find nobody.
import { connect } from '@nats-io/transport-node';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { BusBody } from '../../../src/cluster/bus/bus.ts';
import type { NatsBus } from '../../../src/cluster/bus/nats/bus.ts';
import { type NatsServer, natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { settleAll } from '../../fakes/network/settle-nats.ts';
import { SECRETS } from '../../fakes/secrets.ts';
import { INSIDER, insiderOn } from './insider.ts';
import { busOfTest, serverOfTest } from './nats-rig.ts';

const count = (n: number) => ({ type: 'count', n }) as BusBody;

// The fake says what is missing; under CI that is a failure.
describe.skipIf(!natsServerIsHere)('batches over NATS', () => {
  let server: NatsServer;
  let near: NatsBus;
  let lost: string[];

  beforeEach(async () => {
    server = await serverOfTest();
    near = await busOfTest(server);
    lost = [];
    near.attach(
      'me',
      () => {},
      (to, type, reason) => lost.push(`${to} ${type} ${reason}`),
    );
  });

  /** The kinds of the messages to that node from now on. */
  async function watch(node: string): Promise<{ kinds: string[]; stop(): Promise<void> }> {
    const connection = await connect({ servers: server.url });
    onTestFinished(() => connection.close());
    const kinds: string[] = [];
    const prefix = `test.v1.n.${node}.`;
    connection.subscribe(`${prefix}>`, {
      callback: (_, { subject }) => void kinds.push(subject.charAt(prefix.length)),
    });
    await connection.flush();
    return { kinds, stop: () => connection.close() };
  }

  it('carry what was said in one turn to one node in one NATS message, once the nodes know each other', async () => {
    const far = await busOfTest(server);
    const heard: unknown[] = [];
    for (const name of ['one', 'two'])
      far.attach(name, ({ body, bytes, from }) => heard.push([name, body, bytes?.[0], from]));
    await settleAll([near, far]);
    near.send(far.address('one'), near.address('me'), { type: 'first' });
    await settleAll([near, far]);
    far.send(near.address('me'), far.address('one'), { type: 'first' });
    await settleAll([near, far]);
    const { kinds, stop } = await watch(far.node);
    heard.length = 0;
    const names = Array.from({ length: 100 }, (_, n) => (n % 3 === 0 ? 'one' : 'two'));
    for (const [n, name] of names.entries())
      near.send(far.address(name), near.address('me'), count(n), new Uint8Array([n]));
    near.send(far.address('nobody'), near.address('me'), { type: 'leg.audio' });
    await settleAll([near, far]);
    expect(heard).toEqual(names.map((name, n) => [name, count(n), n, near.address('me')]));
    expect(kinds).toEqual(['b']);
    expect(lost).toEqual([`${far.address('nobody')} leg.audio unknown_actor`]);
    await Promise.all([far.close(), stop()]);
    lost.length = 0;
    for (const name of ['one', 'two']) near.send(far.address(name), near.address('me'), { type: name });
    await settleAll([near]);
    expect(lost).toEqual([`${far.address('one')} one unknown_node`, `${far.address('two')} two unknown_node`]);
  });

  it.each([
    { who: 'an earlier version, which does not know them, is sent one message at a time', more: {}, kind: 'a' },
    { who: 'this version is sent them', more: { batches: 1 }, kind: 'b' },
    { who: 'a later version with another form is sent this one', more: { batches: 2 }, kind: 'b' },
    { who: 'whoever says something else is sent one message at a time', more: { batches: 'yes' }, kind: 'a' },
  ])('$who', async ({ more, kind }) => {
    const insider = await insiderOn(server, SECRETS, more);
    insider.say(`test.v1.n.${near.node}.a.me`, `${INSIDER}/it`, { type: 'hello' });
    await insider.flush();
    for (let round = 0; round < 3; round++) {
      await settleAll([near]);
      await insider.flush();
    }
    const { kinds } = await watch(INSIDER);
    for (const n of [1, 2, 3]) near.send(`${INSIDER}/it`, near.address('me'), count(n));
    await settleAll([near]);
    expect(kinds).toEqual(kind === 'b' ? ['b'] : ['a', 'a', 'a']);
  });
});
