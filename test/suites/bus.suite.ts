// Every promise of src/cluster/bus/bus.ts, once. An implementation's test starts two nodes and calls this.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Address, type Bus, type BusBody, BusError, type Envelope } from '../../src/cluster/bus/bus.ts';

export interface BusUnderTest {
  /** A new bus, alone or on the network of the earlier ones of this test. */
  open(): Promise<Bus>;
  /** Resolves when everything sent so far has arrived. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export function busSuite(name: string, start: () => Promise<BusUnderTest>): void {
  describe(`${name} keeps the promises of the bus`, () => {
    let under: BusUnderTest;
    let bus: Bus;

    beforeEach(async () => {
      under = await start();
      bus = await under.open();
    });
    afterEach(async () => {
      await bus.close();
      await under.close();
    });

    const sender = (): Address => bus.address('sender');
    const collect = (actorId: string) => {
      const received: { body: BusBody; bytes: number[] | undefined; from: Address }[] = [];
      const detach = bus.attach(actorId, ({ body, bytes, from }: Envelope) =>
        received.push({ body, bytes: bytes && [...bytes], from }),
      );
      return { received, detach };
    };

    it('delivers body and bytes to the actor they are addressed to, with the sender’s address', async () => {
      const one = collect('one');
      const two = collect('two');
      expect(bus.send(bus.address('one'), sender(), { type: 'greeting' }, new Uint8Array([1, 2, 3]))).toBe('accepted');
      await under.settle();
      expect(one.received).toEqual([{ body: { type: 'greeting' }, bytes: [1, 2, 3], from: sender() }]);
      expect(two.received).toEqual([]);
    });

    it('keeps the order from one sender to one receiver', async () => {
      const { received } = collect('counter');
      const bodies = Array.from({ length: 1_000 }, (_, n) => ({ type: 'count', n }));
      for (const body of bodies) bus.send(bus.address('counter'), sender(), body);
      await under.settle();
      expect(received.map(({ body }) => body)).toEqual(bodies);
    });

    it('lets the sender reuse its bytes as soon as send returns', async () => {
      const { received } = collect('copier');
      const bytes = new Uint8Array(4);
      for (let n = 0; n < 10; n++) {
        bytes.fill(n);
        bus.send(bus.address('copier'), sender(), { type: 'audio' }, bytes);
      }
      await under.settle();
      expect(received.map((message) => message.bytes)).toEqual(Array.from({ length: 10 }, (_, n) => [n, n, n, n]));
    });

    it('counts a letter to an unknown actor as dead and keeps going', async () => {
      bus.send(bus.address('nobody'), sender(), { type: 'lost' });
      await under.settle();
      expect(bus.deadLetters.unknown_actor).toBe(1);
      const { received } = collect('somebody');
      bus.send(bus.address('somebody'), sender(), { type: 'found' });
      await under.settle();
      expect(received).toHaveLength(1);
    });

    it('counts a letter to an unknown node as dead', async () => {
      bus.send('zzzzzz/anybody', sender(), { type: 'lost' });
      await under.settle();
      expect(bus.deadLetters.unknown_node).toBe(1);
    });

    it('never lets a receiver’s fault reach the sender, and counts it', async () => {
      bus.attach('faulty', () => {
        throw new Error('a fault of the receiver');
      });
      expect(() => bus.send(bus.address('faulty'), sender(), { type: 'any' })).not.toThrow();
      await under.settle();
      expect(bus.deadLetters.handler_failed).toBe(1);
    });

    it('refuses a second actor with the same id, and frees the id on detach, twice without harm', () => {
      const { detach } = collect('unique');
      expect(() => bus.attach('unique', () => {})).toThrow(/unique/);
      detach();
      detach();
      expect(() => bus.attach('unique', () => {})).not.toThrow();
    });

    it('delivers nothing to an actor that detached', async () => {
      const { received, detach } = collect('leaver');
      detach();
      bus.send(bus.address('leaver'), sender(), { type: 'late' });
      await under.settle();
      expect(received).toEqual([]);
    });

    it('answers a request by one of those who serve it', async () => {
      const asked: string[] = [];
      for (const name of ['a', 'b']) {
        bus.serve('echo', async (body) => {
          asked.push(name);
          return { ...body, type: 'echoed' };
        });
      }
      const answers = await Promise.all(
        [1, 2, 3].map((n) => bus.request('echo', sender(), { type: 'echo', n } as BusBody, 1_000)),
      );
      expect(answers).toEqual([1, 2, 3].map((n) => ({ type: 'echoed', n })));
      expect(asked).toHaveLength(3);
    });

    it('fails a request without a service at once', async () => {
      await expect(bus.request('nothing', sender(), { type: 'ask' }, 60_000)).rejects.toMatchObject({
        name: 'BusError',
        reason: 'unknown_actor',
      });
    });

    it('fails a request that gets no answer in time', async () => {
      bus.serve('slow', () => new Promise(() => {}));
      await expect(bus.request('slow', sender(), { type: 'ask' }, 20)).rejects.toMatchObject({ reason: 'timeout' });
    });

    it('fails a request whose service failed, with the reason', async () => {
      bus.serve('broken', () => {
        throw new Error('out of order');
      });
      const failure = await bus.request('broken', sender(), { type: 'ask' }, 1_000).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(BusError);
      expect(failure).toMatchObject({ reason: 'handler_failed', message: expect.stringContaining('out of order') });
    });

    it('reaches its own node by name like any other, and no unknown node', async () => {
      bus.serve('echo', (body) => body);
      expect(await bus.requestOf(bus.node, 'echo', sender(), { type: 'echo' }, 1_000)).toEqual({ type: 'echo' });
      await expect(bus.requestOf(bus.node, 'nothing', sender(), { type: 'ask' }, 60_000)).rejects.toMatchObject({
        reason: 'unknown_actor',
      });
      await expect(bus.requestOf('zzzzzz', 'echo', sender(), { type: 'ask' }, 60_000)).rejects.toMatchObject({
        reason: 'unknown_node',
      });
    });

    it('answers nothing for a service that was withdrawn, twice without harm', async () => {
      const withdraw = bus.serve('echo', (body) => body);
      const stays = bus.serve('other', (body) => body);
      withdraw();
      withdraw();
      await expect(bus.request('echo', sender(), { type: 'ask' }, 60_000)).rejects.toMatchObject({
        reason: 'unknown_actor',
      });
      expect(await bus.request('other', sender(), { type: 'ask' }, 1_000)).toEqual({ type: 'ask' });
      stays();
    });

    it('serves on where one handler is offered twice, and taken back once', async () => {
      const echo = (body: BusBody) => body;
      const withdraw = bus.serve('echo', echo);
      bus.serveLocal('echo', echo);
      withdraw();
      withdraw();
      expect(await bus.request('echo', sender(), { type: 'ask' }, 1_000)).toEqual({ type: 'ask' });
    });

    it('answers its own node alone what is served near, until that is withdrawn', async () => {
      const withdraw = bus.serveLocal('echo', (body) => body);
      expect(await bus.request('echo', sender(), { type: 'echo' }, 1_000)).toEqual({ type: 'echo' });
      expect(await bus.requestOf(bus.node, 'echo', sender(), { type: 'echo' }, 1_000)).toEqual({ type: 'echo' });
      const other = await under.open();
      const asking = other.request('echo', other.address('me'), { type: 'ask' }, 60_000);
      await expect(asking).rejects.toMatchObject({ reason: 'unknown_actor' });
      const named = other.requestOf(bus.node, 'echo', other.address('me'), { type: 'ask' }, 60_000);
      await expect(named).rejects.toMatchObject({ reason: expect.stringMatching(/^unknown_/) });
      await other.close();
      withdraw();
      await expect(bus.request('echo', sender(), { type: 'ask' }, 60_000)).rejects.toMatchObject({
        reason: 'unknown_actor',
      });
    });

    it('reports no loss to a sender whose send already returned it', async () => {
      const lost: unknown[] = [];
      bus.attach(
        'teller',
        () => {},
        (...loss) => lost.push(loss),
      );
      expect(bus.send(bus.address('nobody'), bus.address('teller'), { type: 'lost' })).toBe('unknown_actor');
      await under.settle();
      expect(lost).toEqual([]);
      expect(bus.deadLetters.unknown_actor).toBe(1);
    });

    it('stays connected while it is open, and notifies no removed listener', async () => {
      expect(bus.isConnected).toBe(true);
      const told: boolean[] = [];
      const leave = bus.onConnection((isConnected) => told.push(isConnected));
      leave();
      leave();
      await bus.close();
      expect(told).toEqual([]);
    });

    it('publishes to all subscribers, and to none that left', async () => {
      const heard: string[] = [];
      bus.subscribe('news', () => heard.push('one'));
      const leave = bus.subscribe('news', () => heard.push('two'));
      bus.publish('news', { type: 'headline' });
      await under.settle();
      leave();
      bus.publish('news', { type: 'headline' });
      await under.settle();
      expect(heard.sort()).toEqual(['one', 'one', 'two']);
    });

    it('keeps publishing when one listener throws', async () => {
      const heard: string[] = [];
      bus.subscribe('news', () => {
        throw new Error('not interested');
      });
      bus.subscribe('news', () => heard.push('two'));
      bus.publish('news', { type: 'headline' });
      await under.settle();
      expect(heard).toEqual(['two']);
      expect(bus.deadLetters.handler_failed).toBe(1);
    });

    it('accepts nothing after it was closed', async () => {
      const { received } = collect('late');
      await bus.close();
      expect(bus.send(bus.address('late'), sender(), { type: 'any' })).toBe('disconnected');
      await expect(bus.request('any', sender(), { type: 'ask' }, 100)).rejects.toMatchObject({
        reason: 'disconnected',
      });
      expect(received).toEqual([]);
    });
  });
}
