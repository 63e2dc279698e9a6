// Sessions on one node and their legs on others, which know of each other what they say: a bad node costs nobody anything, one
// without room passes on, and none keeps more than its share.
import { describe, expect, it } from 'vitest';
import { shareBreakers } from '../../../../src/live/failover/breakers/breaker-hints.ts';
import { LOOK_MS } from '../../../../src/live/upstream/service/leg-drain.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../../fakes/audio/numbered-finals.ts';
import { FarRig, type FarRigOptions, NOTHING_FAR_LEFT } from '../../../fakes/far-rig.ts';
import { seeded } from '../../../fakes/random.ts';
import type { RigClient } from '../../../fakes/session-rig.ts';
import { RATE, untilEnded } from '../support.ts';

const numbered = { model: 'loopback/numbered', providerParams: { turn_seconds: 1 } };
const world = (options: FarRigOptions = {}) => new FarRig({ nodes: 2, placed: true, random: seeded(1), ...options });
const cannotDial = async () => {
  throw new Error('It cannot be opened here.');
};
const sizes = ({ nodes }: FarRig) => nodes.map(({ upstream }) => upstream.size);
const codes = (client: RigClient) => client.of('warning').map(({ code }) => code);

async function speak({ rig }: FarRig, clients: readonly RigClient[], fromSecond: number, toSecond: number) {
  for (let second = fromSecond; second < toSecond; second++) {
    for (const { session } of clients) session.audio(numberedAudio(second * RATE, (second + 1) * RATE));
    await rig.advance(1_000);
  }
}

async function expectNothingLost(far: FarRig, clients: readonly RigClient[], seconds: number) {
  for (const { session } of clients) session.control({ type: 'close' });
  for (const client of clients) {
    await untilEnded(far.rig, client);
    expect([client.closeCode, client.of('error'), client.of('failover')]).toEqual([1000, [], []]);
    expectWhole(client.finals, seconds * RATE);
  }
}

describe('a node whose dials fail', () => {
  it('costs no session its start while another one works, and is left alone soon', async () => {
    const far = world({ dialAccessOf: (node) => (node === 0 ? cannotDial : undefined) });
    const clients: RigClient[] = [];
    for (let session = 0; session < 60; session++) {
      clients.push(await far.rig.open(numbered));
      await far.rig.advance(100);
      far.beat();
    }
    expect(sizes(far)).toEqual([0, 60]);
    expect(far.node(0).health.failing()).toEqual(['loopback']);
    expect([far.rig.breakers.size, far.rig.faults]).toEqual([0, []]);
    await speak(far, clients.slice(0, 5), 0, 3);
    await expectNothingLost(far, clients.slice(0, 5), 3);
  });

  it('gets reported as such where no other is left, and opens no breaker elsewhere', async () => {
    const far = world({ nodes: 1, dialAccessOf: () => cannotDial, breakers: { failuresMax: 1 } });
    const hints: unknown[] = [];
    const { breakers } = far.rig;
    const bus = { node: 'edge01', publish: (_: string, body: unknown) => hints.push(body), subscribe: () => () => {} };
    shareBreakers({ bus, breakers, knows: () => true, onDrop: () => {} });
    const failed = await far.rig.open(numbered);
    await untilEnded(far.rig, failed);
    expect(failed.of('error')).toMatchObject([{ error: { code: 'upstream_failed' } }]);
    // Its session blamed nobody: this may be that node's doing.
    expect([breakers.statusOf('loopback/numbered'), hints]).toEqual(['up', []]);
  });

  it('counts against the model once a second one has failed in the same way', () => {
    const { rig } = world({ breakers: { failuresMax: 1 } });
    const hints: string[] = [];
    rig.breakers.onOpened(({ slug }) => hints.push(slug));
    const failure = { kind: 'next', reason: 'connect_failed', code: 'unreachable', message: '' } as const;
    rig.breakers.failed({ slug: 'a/seen-by-one', credentialId: 'service' }, failure);
    rig.breakers.failed({ slug: 'a/seen-by-two', credentialId: 'service' }, { ...failure, confirmed: true });
    rig.breakers.failed({ slug: 'a/answered', credentialId: 'service' }, { ...failure, code: 'http_503' });
    expect(rig.breakers.size).toBe(3);
    expect(hints).toEqual(['a/seen-by-two', 'a/answered']);
  });
});

describe('a node without room', () => {
  it('passes a leg on, and its other legs stay', async () => {
    const far = world();
    far.node(0).shortOf = 'legs';
    // Nobody has heard of that yet.
    const clients = [];
    for (let session = 0; session < 10; session++) clients.push(await far.rig.open(numbered));
    await far.rig.advance(100);
    expect(sizes(far)).toEqual([0, 10]);
    await speak(far, clients, 0, 2);
    await expectNothingLost(far, clients, 2);
  });

  it('passes a leg on when it also lacks the model it was thought to have', async () => {
    const far = world({ providersOf: (node) => (node === 0 ? new Map() : undefined) });
    const clients = [];
    for (let session = 0; session < 10; session++) clients.push(await far.rig.open(numbered));
    await far.rig.advance(100);
    expect([sizes(far), far.rig.faults]).toEqual([[0, 10], []]);
    await speak(far, clients, 0, 2);
    await expectNothingLost(far, clients, 2);
  });

  it('appears in the error by name where no node has the model', async () => {
    const far = world({ nodes: 1, providersOf: () => new Map() });
    const client = await far.rig.open(numbered);
    client.session.audio(numberedAudio(0, RATE));
    await untilEnded(far.rig, client);
    expect(client.closeCode).toBe(4101);
    const words = far.rig.faults.map(({ error }) => String(error));
    expect(words).toContain('LegUnplaced: The node does not know the model loopback/numbered.');
  });

  it('gets another request where no other has room: the client is warned at both ends', async () => {
    const far = world();
    for (const node of far.nodes) node.shortOf = 'memory';
    far.beat();
    const client = await far.rig.open(numbered);
    await speak(far, [client], 0, 9);
    expect(codes(client)).toEqual(['upstream_waiting']);
    far.node(0).shortOf = undefined;
    await far.rig.advance(2_000);
    expect([codes(client), sizes(far)]).toEqual([
      ['upstream_waiting', 'upstream_reconnected'],
      [1, 0],
    ]);
    await expectNothingLost(far, [client], 9);
    expect(far.leftBehind()).toEqual(NOTHING_FAR_LEFT);
  });

  it('causes no warning while there is no audio to transcribe', async () => {
    const far = world();
    for (const node of far.nodes) node.shortOf = 'time';
    const client = await far.rig.open(numbered);
    await far.rig.advance(9_000);
    expect(codes(client)).toEqual([]);
    client.session.audio(numberedAudio(0, RATE));
    await far.rig.advance(2_000);
    expect(codes(client)).toEqual(['upstream_waiting']);
  });

  it('asks its newest leg to move when memory runs out, and only where there is another node', async () => {
    const far = world({ nodes: 1 });
    const clients = [await far.rig.open(numbered), await far.rig.open(numbered)];
    await speak(far, clients, 0, 1);
    far.node(0).legs.shed();
    await speak(far, clients, 1, 2);
    expect(sizes(far)).toEqual([2]);
    far.add();
    far.node(0).shortOf = 'memory';
    far.node(0).legs.shed();
    await speak(far, clients, 2, 5);
    expect(sizes(far)).toEqual([1, 1]);
    expect(clients.map(codes)).toEqual([[], ['upstream_replaced']]);
    await expectNothingLost(far, clients, 5);
  });
});

describe('a node with more than its share', () => {
  it('asks some sessions at a time to move at the end of a turn, until it has no more, and nothing flaps', async () => {
    const far = world({ nodes: 1 });
    const clients: RigClient[] = [];
    for (let session = 0; session < 20; session++) clients.push(await far.rig.open(numbered));
    await far.rig.advance(100);
    const next = far.add();
    const seen: number[] = [];
    for (let look = 0; look < 10; look++) {
      await speak(far, clients, look * 4, look * 4 + 4);
      far.beat();
      seen.push(next.upstream.size);
    }
    // A few at a time, never back, and then at rest.
    for (const [index, legs] of seen.entries()) expect(legs - (seen[index - 1] ?? 0)).toBeLessThanOrEqual(3);
    expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    expect(seen.at(-1)).toBe(seen.at(-3));
    expect(seen.at(-1)).toBeGreaterThanOrEqual(6);
    expect(seen.at(-1)).toBeLessThanOrEqual(10);
    expect(clients.flatMap(codes)).toEqual(Array.from({ length: next.upstream.size }, () => 'upstream_replaced'));
    await expectNothingLost(far, clients, 40);
    expect(far.leftBehind()).toEqual(NOTHING_FAR_LEFT);
  }, 60_000);

  it('keeps those that the others could not take', async () => {
    const far = world({ nodes: 1 });
    for (let session = 0; session < 20; session++) await far.rig.open(numbered);
    far.add().credentials = [];
    far.beat();
    await far.rig.advance(LOOK_MS * 4);
    expect(sizes(far)).toEqual([20, 0]);
  });
});

it.each([0, 500, 1_500])(
  'spreads legs after a bus loss although one node returns %i ms before the other',
  async (lateMs) => {
    const far = world();
    const clients: RigClient[] = [];
    for (let session = 0; session < 40; session++) clients.push(await far.rig.open(numbered));
    await speak(far, clients, 0, 2);
    far.beat();
    const buses = [far.edge, ...far.nodes.map(({ bus }) => bus)];
    for (const bus of buses) bus.cut();
    await far.rig.advance(12_000);
    expect(sizes(far)).toEqual([0, 0]);
    for (const bus of buses.slice(0, 2)) bus.mend();
    await far.rig.advance(lateMs, 50);
    buses[2]?.mend();
    await far.rig.advance(3_000, 50);
    const split = sizes(far);
    expect(split[0]! + split[1]!).toBe(40);
    expect(Math.min(...split)).toBeGreaterThanOrEqual(12);
    await expectNothingLost(far, clients, 2);
  },
  30_000,
);
