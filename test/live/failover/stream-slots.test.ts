// Streams at a provider whose account may have so many: counted on one node or over all, for a moment longer than they last.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { PlacesOfNode, StreamSlots } from '../../../src/live/failover/stream-slots.ts';
import { LimitsNetwork } from '../../fakes/network/limits-network.ts';

const LINGER_MS = 2_000;
const HOUR_MS = 3_600_000;
const maxOf = (provider: string) => (provider === 'deepgram' ? 4 : undefined);
const stream = (organisationId = 'org_a', slug = 'deepgram/nova-3') => ({
  slug,
  credentialId: 'service',
  organisationId,
});

function onNode() {
  const clock = new SimulatedClock();
  const full: string[] = [];
  const slots = new StreamSlots({ maxOf, places: new PlacesOfNode(), clock, onFull: (name) => full.push(name) });
  const take = async (organisationId?: string) => {
    const slot = await slots.take(stream(organisationId));
    if (slot === undefined) throw new Error('It is not counted.');
    return slot;
  };
  const takeAll = async (organisationId?: string) => {
    let count = 0;
    while (count < 100 && (await take(organisationId)) !== 'full') count++;
    return count;
  };
  return { clock, slots, take, takeAll, full };
}

describe('streams of one account', () => {
  it('are as many as it may have, of all its models together', async () => {
    const { slots, take, full } = onNode();
    for (let count = 0; count < 4; count++) expect(await take()).toHaveProperty('leave');
    expect([await take(), await slots.take(stream('org_a', 'deepgram/flux-general-en'))]).toEqual(['full', 'full']);
    expect(full).toEqual(['deepgram', 'deepgram']);
  });

  it('are counted for two seconds after their end, as the provider may count them, and given back once', async () => {
    const { clock, take, takeAll } = onNode();
    const first = await take();
    await takeAll();
    if (first === 'full') throw new Error('The first was refused.');
    first.leave();
    first.leave();
    clock.increment(LINGER_MS - 1);
    expect(await take()).toBe('full');
    clock.increment(1);
    expect([await take(), await take()]).toEqual([{ leave: expect.any(Function) }, 'full']);
  });

  it.each([
    ['of a provider without a limit', stream('org_a', 'openai/whisper-1')],
    ['on a customer’s own key', { ...stream(), credentialId: 'pk_1' }],
  ])('%s are not counted', (_, guarded) => {
    expect(onNode().slots.take(guarded)).toBeUndefined();
  });
});

describe('an organisation', () => {
  it('has all streams of the account while it is alone', async () => {
    expect(await onNode().takeAll('org_a')).toBe(4);
  });

  it('leaves a quarter of them to others that use it', async () => {
    const { take, takeAll } = onNode();
    await take('org_b').then((slot) => slot !== 'full' && slot.leave());
    expect(await takeAll('org_a')).toBe(3);
  });

  it('has all of them again when the others have not used it for an hour', async () => {
    const { clock, take, takeAll } = onNode();
    await take('org_b').then((slot) => slot !== 'full' && slot.leave());
    clock.increment(HOUR_MS);
    expect(await takeAll('org_a')).toBe(4);
  });
});

describe('over three nodes', () => {
  async function three() {
    const network = new LimitsNetwork();
    const nodes = ['aaaaaa', 'bbbbbb', 'cccccc'].map((name) => network.open(name));
    network.own(nodes[0] as (typeof nodes)[0]);
    await network.pass(3_000);
    const slots = nodes.map(({ limits }) => new StreamSlots({ maxOf, places: limits.places, clock: network.clock }));
    const takeAt = async (index: number) => {
      const taking = slots[index]?.take(stream());
      await network.settle();
      return taking;
    };
    return { network, nodes, takeAt };
  }

  it('there are as many as on one, and those of a node that is gone are free', async () => {
    const { network, nodes, takeAt } = await three();
    const taken = [await takeAt(0), await takeAt(1), await takeAt(2), await takeAt(2)];
    expect(taken).not.toContain('full');
    expect([await takeAt(0), await takeAt(1), await takeAt(2)]).toEqual(['full', 'full', 'full']);
    nodes[2]?.end();
    nodes[0]?.served?.forget('cccccc');
    await network.settle();
    expect([await takeAt(0), await takeAt(1), await takeAt(1)]).toEqual([
      ...[expect.anything(), expect.anything()],
      'full',
    ]);
  });

  it('each node begins its part of them while they cannot be counted', async () => {
    const { nodes, takeAt } = await three();
    if (nodes[0] !== undefined) nodes[0].isFrozen = true;
    if (nodes[1] !== undefined) nodes[1].isCounterAway = true;
    expect([await takeAt(1), await takeAt(1)]).toEqual([expect.anything(), 'full']);
  });
});
