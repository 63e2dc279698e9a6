// What src/cluster/bus/bus.ts promises of several nodes, once. The test of an implementation that joins nodes calls this.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Address, Bus, BusBody } from '../../src/cluster/bus/bus.ts';
import type { BusUnderTest } from './bus.suite.ts';

export function busNodesSuite(name: string, start: () => Promise<BusUnderTest>): void {
  describe(`${name} joins nodes`, () => {
    let under: BusUnderTest;
    let near: Bus;
    let far: Bus;
    let third: Bus;

    beforeEach(async () => {
      under = await start();
      near = await under.open();
      far = await under.open();
      third = await under.open();
      await under.settle();
    });
    afterEach(async () => {
      for (const bus of [near, far, third]) await bus.close();
      await under.close();
    });

    const me = (): Address => near.address('sender');
    const heardBy = (bus: Bus, actorId: string) => {
      const heard: { body: BusBody; bytes: number[] | undefined; from: Address; to: Address }[] = [];
      bus.attach(actorId, ({ body, bytes, from, to }) => heard.push({ body, bytes: bytes && [...bytes], from, to }));
      return heard;
    };
    const losses = () => {
      const lost: [to: Address, type: string, reason: string][] = [];
      near.attach(
        'sender',
        () => {},
        (...loss) => lost.push(loss),
      );
      return lost;
    };

    it('delivers a letter with its bytes to the actor of the other node alone', async () => {
      const heard = heardBy(far, 'one');
      const others = [...heardBy(near, 'one'), ...heardBy(third, 'one')];
      expect(near.send(far.address('one'), me(), { type: 'greeting' }, new Uint8Array([0, 1, 255]))).toBe('accepted');
      near.send(far.address('one'), me(), { type: 'bare' });
      await under.settle();
      const to = far.address('one');
      expect(heard).toEqual([
        { body: { type: 'greeting' }, bytes: [0, 1, 255], from: me(), to },
        { body: { type: 'bare' }, bytes: undefined, from: me(), to },
      ]);
      expect(others).toEqual([]);
    });

    it('keeps the order, and lets the sender reuse its bytes', async () => {
      const heard = heardBy(far, 'one');
      const bytes = new Uint8Array(2);
      for (let n = 0; n < 2_000; n++) {
        bytes.fill(n);
        near.send(far.address('one'), me(), { type: 'count', n } as BusBody, bytes);
      }
      await under.settle();
      expect(heard.map(({ body }) => body)).toEqual(Array.from({ length: 2_000 }, (_, n) => ({ type: 'count', n })));
      expect(heard.every(({ bytes: got }, n) => got?.[0] === n % 256 && got[1] === n % 256)).toBe(true);
    });

    it('returns letters without an actor or node to their sender', async () => {
      const lost = losses();
      expect(near.send(far.address('nobody'), me(), { type: 'leg.audio' })).toBe('accepted');
      expect(near.send('zzzzzz/anybody', me(), { type: 'leg.close' })).toBe('accepted');
      await under.settle();
      expect(lost.sort()).toEqual([
        [far.address('nobody'), 'leg.audio', 'unknown_actor'],
        ['zzzzzz/anybody', 'leg.close', 'unknown_node'],
      ]);
      expect(near.deadLetters).toMatchObject({ unknown_actor: 1, unknown_node: 1 });
    });

    it('reports a node that has gone, and an actor that has detached', async () => {
      const lost = losses();
      const detach = far.attach('leaver', () => {});
      detach();
      near.send(far.address('leaver'), me(), { type: 'first' });
      await under.settle();
      await far.close();
      near.send(far.address('leaver'), me(), { type: 'second' });
      await under.settle();
      expect(lost.map(([, type, reason]) => [type, reason])).toEqual([
        ['first', 'unknown_actor'],
        ['second', 'unknown_node'],
      ]);
    });

    it('reports no loss to a detached sender, but counts it', async () => {
      const lost: unknown[] = [];
      const detach = near.attach(
        'sender',
        () => {},
        (...loss) => lost.push(loss),
      );
      near.send('zzzzzz/anybody', me(), { type: 'lost' });
      detach();
      await under.settle();
      expect(lost).toEqual([]);
      expect(near.deadLetters.unknown_node).toBe(1);
    });

    it('contains a fault of a receiver or of a loss listener', async () => {
      far.attach('faulty', () => {
        throw new Error('a fault of the receiver');
      });
      near.attach(
        'sender',
        () => {},
        () => {
          throw new Error('a fault of the sender');
        },
      );
      near.send(far.address('faulty'), me(), { type: 'any' });
      near.send(far.address('nobody'), me(), { type: 'any' });
      const heard = heardBy(far, 'well');
      near.send(far.address('well'), me(), { type: 'any' });
      await under.settle();
      expect(far.deadLetters.handler_failed).toBe(1);
      expect(near.deadLetters.handler_failed).toBe(1);
      expect(heard).toHaveLength(1);
    });

    it('asks one of the nodes that serve, and each of them in time', async () => {
      for (const bus of [far, third]) bus.serve('echo', (body, from) => ({ ...body, type: bus.node, from }) as BusBody);
      await under.settle();
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, n) => near.request('echo', me(), { type: 'echo', n } as BusBody, 5_000)),
      );
      expect(answers.map((answer) => ({ ...answer, type: '' }))).toEqual(
        Array.from({ length: 60 }, (_, n) => ({ type: '', n, from: me() })),
      );
      expect(new Set(answers.map(({ type }) => type))).toEqual(new Set([far.node, third.node]));
    });

    it('asks the near one first', async () => {
      far.serve('echo', () => ({ type: 'far' }));
      near.serve('echo', () => ({ type: 'near' }));
      await under.settle();
      for (let n = 0; n < 20; n++) {
        expect(await near.request('echo', me(), { type: 'echo' }, 5_000)).toEqual({ type: 'near' });
      }
    });

    it('asks the node that is named, and no other', async () => {
      for (const bus of [near, far, third]) bus.serve('name', () => ({ type: bus.node }));
      await under.settle();
      for (const bus of [near, far, third]) {
        expect(await near.requestOf(bus.node, 'name', me(), { type: 'ask' }, 5_000)).toEqual({ type: bus.node });
      }
    });

    it.each<[string, () => string, string, string]>([
      ['a node that is not there', () => 'zzzzzz', 'name', 'unknown_node'],
      ['a node that does not serve it', () => far.node, 'name', 'unknown_actor'],
      ['itself, and does not serve it', () => near.node, 'name', 'unknown_actor'],
      ['a node with an impossible name', () => 'a b\r\nPUB x 0\r\n', 'name', 'unknown_actor'],
      ['for a service with an impossible name', () => far.node, 'na me', 'unknown_actor'],
    ])('fails at once when it asks %s', async (_, node, service, reason) => {
      await expect(near.requestOf(node(), service, me(), { type: 'ask' }, 60_000)).rejects.toMatchObject({
        name: 'BusError',
        reason,
      });
      expect(near.deadLetters).toMatchObject({ [reason]: 1 });
    });

    it('fails at once without a service, after a timeout, and when the far service fails', async () => {
      const ask = (service: string, ms = 60_000) => near.request(service, me(), { type: 'ask' }, ms);
      await expect(ask('nothing')).rejects.toMatchObject({ reason: 'unknown_actor' });
      far.serve('slow', () => new Promise(() => {}));
      far.serve('broken', async () => {
        throw new Error('out of order');
      });
      await under.settle();
      await expect(ask('slow', 30)).rejects.toMatchObject({ reason: 'timeout' });
      await expect(ask('broken')).rejects.toMatchObject({
        reason: 'handler_failed',
        message: expect.stringContaining('out of order'),
      });
    });

    it('loses no request when one of those who serve leaves', async () => {
      const leave = far.serve('echo', (body) => body);
      third.serve('echo', (body) => body);
      await under.settle();
      const asked = Array.from({ length: 400 }, (_, n) => {
        if (n === 200) leave();
        return near.request('echo', me(), { type: 'echo', n } as BusBody, 5_000);
      });
      expect(await Promise.all(asked)).toHaveLength(400);
    });

    it('answers what it was asked before it was closed', async () => {
      let answer = (_: BusBody) => {};
      let asked = () => {};
      const wasAsked = new Promise<void>((resolve) => {
        asked = resolve;
      });
      far.serve('late', () => {
        asked();
        return new Promise<BusBody>((resolve) => {
          answer = resolve;
        });
      });
      await under.settle();
      const answered = near.request('late', me(), { type: 'ask' }, 5_000);
      await wasAsked;
      const closed = far.close();
      answer({ type: 'answered' });
      expect(await answered).toEqual({ type: 'answered' });
      await closed;
    });

    it('publishes once to everyone who listens on every node, the own one included', async () => {
      const heard: string[] = [];
      near.subscribe('news', () => heard.push('near'));
      far.subscribe('news', () => heard.push('far'));
      const leave = far.subscribe('news', () => heard.push('far again'));
      third.subscribe('other', () => heard.push('third'));
      await under.settle();
      near.publish('news', { type: 'headline' });
      await under.settle();
      expect(heard.splice(0).sort()).toEqual(['far', 'far again', 'near']);
      leave();
      leave();
      near.publish('news', { type: 'headline' });
      await under.settle();
      expect(heard.sort()).toEqual(['far', 'near']);
    });
  });
}
