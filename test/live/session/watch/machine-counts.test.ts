// How many actors are in each state, over all nodes.
import { describe, expect, it } from 'vitest';
import { MemoryBus } from '../../../../src/cluster/bus/memory.ts';
import { COUNT_MACHINES } from '../../../../src/cluster/bus/subjects.ts';
import { MachineCounter } from '../../../../src/live/session/watch/node-queries.ts';
import { countsOfProcess } from '../../../../src/runtime/actors.ts';
import { SessionRig } from '../../../fakes/session-rig.ts';
import { speech } from '../support.ts';

const sum = (state: string) => countsOfProcess()[state] ?? 0;

describe('the counts of actors', () => {
  it('follow each of them through its states, also those that a session invokes, until it ends', async () => {
    const rig = new SessionRig();
    const before = countsOfProcess();
    const client = await rig.open();
    await rig.advance(1_000);
    client.session.audio(speech(1));
    await rig.advance(500);
    for (const state of [
      'session.live.link.streaming',
      'session.live.client.open',
      'upstream.streaming',
      'turn',
      'failover',
    ])
      expect([state, sum(state)]).toEqual([state, (before[state] ?? 0) + 1]);
    client.session.control({ type: 'close' });
    await rig.advance(20_000);
    await client.ended();
    expect(countsOfProcess()).toEqual(before);
  });

  it('add up over the nodes that answer, once per process; the others are named', async () => {
    const bus = new MemoryBus();
    let asked = 0;
    const asking = Object.assign(Object.create(bus) as MemoryBus, {
      node: bus.node,
      serve: bus.serve.bind(bus),
      address: bus.address.bind(bus),
      requestOf: async (node: string, ...rest: [string, never, never, number]) => {
        asked++;
        if (node === 'gone') throw new Error('It is gone.');
        if (node !== bus.node) return { type: 'machines.counted', process: 'other', states: { session: 3 } };
        return bus.requestOf(node, ...rest);
      },
    });
    let nowMs = 0;
    const nodes = () => [bus.node, 'one', 'two', 'gone'];
    const counter = new MachineCounter({ bus: asking, nodes, nowMs: () => nowMs });
    const counts = await counter.count();
    expect(counts).toMatchObject({ nodes: [bus.node, 'one', 'two'], silent: ['gone'] });
    expect(counts.states.session).toBe(3 + sum('session'));
    await counter.count();
    expect(asked).toBe(4);
    nowMs += 1_000;
    await counter.count();
    expect(asked).toBe(8);
    counter.close();
    await expect(bus.request(COUNT_MACHINES, bus.address('test'), { type: 'x' }, 100)).rejects.toThrow();
  });
});
