// What nodes tell each other of models in trouble: told once, held for as long, never passed on, and nothing hostile is believed.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { BusBody, Detach } from '../../../../src/cluster/bus/bus.ts';
import { BREAKER_OPENED, BREAKER_OPENED_FOR } from '../../../../src/cluster/bus/subjects.ts';
import { shareBreakers } from '../../../../src/live/failover/breakers/breaker-hints.ts';
import { Breakers } from '../../../../src/live/failover/breakers/breakers.ts';
import type { Guarded } from '../../../../src/live/failover/breakers/guarded.ts';
import { timersOf } from '../../session/support.ts';

const model = (slug: string, credentialId = 'service'): Guarded => ({ slug, credentialId });
const a = model('a/one');

/** Nodes that hear each other, and everything that was said. */
function nodes(count: number) {
  const clock = new SimulatedClock();
  const said: BusBody[] = [];
  const topics: string[] = [];
  const receivers = new Map<(body: BusBody) => void, string>();
  const drops: string[] = [];
  const all = Array.from({ length: count }, (_, index) => {
    const breakers = new Breakers({
      clock,
      failuresMax: 2,
      openMs: 1_000,
      openMsMax: 60_000,
      onFault: (error) => {
        throw error;
      },
    });
    const bus = {
      node: `node0${index}`,
      publish: (topic: string, body: BusBody) => {
        said.push(body);
        topics.push(topic);
        for (const [receiver, heard] of [...receivers])
          if (heard === topic) receiver(JSON.parse(JSON.stringify(body)) as BusBody);
      },
      subscribe: (topic: string, receive: (body: BusBody) => void): Detach => {
        const receiver = (body: BusBody) => receive(body);
        receivers.set(receiver, topic);
        return () => void receivers.delete(receiver);
      },
    };
    const knows = (slug: string) => slug.startsWith('a/');
    const detach = shareBreakers({ bus, breakers, knows, onDrop: (name) => drops.push(name) });
    return { breakers, bus, detach };
  });
  const open = (guarded: Guarded) => all.map(({ breakers }) => breakers.isOpen(guarded));
  return { clock, said, topics, all, drops, open, receivers };
}

describe('a breaker that opens', () => {
  it('opens the breaker on every node for as long, reported once and not passed on', () => {
    const { clock, said, all, open } = nodes(3);
    const [first] = all;
    first!.breakers.failed(a, { kind: 'next' });
    expect(said).toEqual([]);
    first!.breakers.failed(a, { kind: 'next' });
    expect(open(a)).toEqual([true, true, true]);
    expect(said).toEqual([
      { type: BREAKER_OPENED, node: 'node00', model: 'a/one', credentialId: 'service', openMs: 1_000 },
    ]);
    clock.increment(999);
    expect(open(a)).toEqual([true, true, true]);
    clock.increment(1);
    expect(open(a)).toEqual([false, false, false]);
  });

  it('lets one probe through on each node afterwards, and a success there closes only that', () => {
    const { clock, all, open } = nodes(2);
    const [first, second] = all;
    first!.breakers.failed(a, { kind: 'next', retryAfterMs: 5_000 });
    clock.increment(5_000);
    expect([second!.breakers.begun(a), second!.breakers.begun(a)]).toEqual([true, false]);
    expect(open(a)).toEqual([false, true]);
    second!.breakers.succeeded(a);
    expect([second!.breakers.statusOf('a/one'), first!.breakers.statusOf('a/one')]).toEqual(['up', 'degraded']);
  });

  it('opens for one organisation alone on every node, by a topic that earlier versions ignore', () => {
    const { said, topics, all, open } = nodes(2);
    const [first] = all;
    const anna = { ...a, organisationId: 'org_anna' };
    for (let time = 0; time < 20; time++) first!.breakers.failed(anna, { kind: 'next' });
    expect([open(anna), open({ ...a, organisationId: 'org_ben' }), open(a)]).toEqual([
      [true, true],
      [false, false],
      [false, false],
    ]);
    expect([topics, said[0]]).toMatchObject([[BREAKER_OPENED_FOR], { organisationId: 'org_anna' }]);
    first!.breakers.failed({ ...a, organisationId: 'org_ben' }, { kind: 'next' });
    expect([topics, open({ ...a, organisationId: 'org_cleo' })]).toEqual([
      [BREAKER_OPENED_FOR, BREAKER_OPENED],
      [true, true],
    ]);
  });

  it('leaves a provider’s other endpoints open on every node', () => {
    const { all, open } = nodes(2);
    const [eu, us] = [
      { ...a, endpoint: 'eu' },
      { ...a, endpoint: 'us' },
    ];
    for (let time = 0; time < 2; time++) all[0]!.breakers.failed(eu, { kind: 'next' });
    expect([open(eu), open(us), open(a)]).toEqual([
      [true, true],
      [false, false],
      [false, false],
    ]);
  });

  it('reports again when the provider requests more time, and other nodes wait as long', () => {
    const { clock, said, all, open } = nodes(2);
    for (const retryAfterMs of [2_000, 30_000, 2_500]) all[0]!.breakers.failed(a, { kind: 'next', retryAfterMs });
    expect(said.map((body) => (body as unknown as { openMs: number }).openMs)).toEqual([2_000, 30_000]);
    clock.increment(29_999);
    expect(open(a)).toEqual([true, true]);
  });

  it('reports a refused customer key, but not a refused key of the node’s own configuration', () => {
    const { all, open } = nodes(2);
    all[0]!.breakers.failed(a, { kind: 'account' });
    all[0]!.breakers.failed(model('a/two', 'byok_1'), { kind: 'account' });
    expect([open(a), open(model('a/two', 'byok_1')), open(model('a/two'))]).toEqual([
      [true, false],
      [true, true],
      [false, false],
    ]);
  });

  it('reports and receives nothing after the sharing has ended, and leaves nothing over', () => {
    const { clock, said, all, open, receivers } = nodes(2);
    all[1]!.detach();
    all[0]!.breakers.failed(a, { kind: 'next', retryAfterMs: 5_000 });
    expect([open(a), said.length]).toEqual([[true, false], 1]);
    all[0]!.detach();
    all[0]!.breakers.failed(model('a/two'), { kind: 'next', retryAfterMs: 5_000 });
    for (const { breakers } of all) breakers.close();
    expect([said.length, receivers.size, timersOf(clock)]).toEqual([1, 0, 0]);
  });
});

describe('a hint', () => {
  const good = { type: BREAKER_OPENED, node: 'node99', model: 'a/one', credentialId: 'service', openMs: 5_000 };
  const hear = (body: object) => {
    const rig = nodes(1);
    rig.all[0]!.bus.publish(BREAKER_OPENED, body as BusBody);
    return { isOpen: rig.open(a)[0], drops: rig.drops, size: rig.all[0]!.breakers.size };
  };

  it.each<[string, object, string?]>([
    ['that is whole is taken', good],
    ['with members of a newer version is taken', { ...good, reason: 'later' }],
    ['with an endpoint that is not a name is left out', { ...good, endpoint: 'a b' }, 'unread_breaker_hint'],
    ['of a model that is not here is left out', { ...good, model: 'b/one' }, 'breaker_hint_unknown_model'],
    ['without a time is left out', { ...good, openMs: undefined }, 'unread_breaker_hint'],
    ['for ever is left out', { ...good, openMs: 1e12 }, 'unread_breaker_hint'],
    ['for less than nothing is left out', { ...good, openMs: -1 }, 'unread_breaker_hint'],
    ['of half a millisecond is left out', { ...good, openMs: 0.5 }, 'unread_breaker_hint'],
    ['with a credential that is not an id is left out', { ...good, credentialId: 'a key' }, 'unread_breaker_hint'],
    ['of a model without a name is left out', { ...good, model: '' }, 'unread_breaker_hint'],
    ['of another type is left out', { ...good, type: 'breaker.closed' }, 'unread_breaker_hint'],
  ])('%s', (_, body, drop) => {
    const isTaken = drop === undefined;
    expect(hear(body)).toEqual({ isOpen: isTaken, drops: isTaken ? [] : [drop], size: isTaken ? 1 : 0 });
  });

  it('throws nothing and opens nothing for a hint of any shape', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.object(), fc.record({ type: fc.constant(BREAKER_OPENED), model: fc.anything() })),
        (body) => {
          expect(hear(JSON.parse(JSON.stringify(body)) as object)).toMatchObject({ isOpen: false, size: 0 });
        },
      ),
      { seed: 7, numRuns: 300 },
    );
  });

  it('makes no room for itself: what this node has met stays, however many hints come', () => {
    const { all, drops } = nodes(2);
    const [one, two] = all;
    for (let index = 0; index < 1_000; index++) two!.breakers.failed(model(`a/own-${index}`), { kind: 'account' });
    for (let index = 0; index < 50; index++)
      one!.breakers.failed(model(`a/far-${index}`), { kind: 'next', retryAfterMs: 5_000 });
    expect([two!.breakers.size, two!.breakers.isOpen(model('a/own-0'))]).toEqual([1_000, true]);
    expect(drops).toEqual(Array(50).fill('breaker_hint_no_room'));
    one!.breakers.failed(model('a/own-0'), { kind: 'next', retryAfterMs: 60_000 });
    expect(drops.length).toBe(50);
  });
});
