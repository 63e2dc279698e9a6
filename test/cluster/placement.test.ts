// Where legs are opened: which node is asked, what speaks against one, and how many legs move when one has too many.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { type Heartbeat, readHeartbeat, type UpstreamState } from '../../src/cluster/membership/heartbeat.ts';
import {
  AGAINST,
  chooseNode,
  GRACE_MS,
  legsToMove,
  type PlacementRequest,
  upstreamPlacement,
} from '../../src/cluster/placement.ts';
import { heartbeatOf } from '../fakes/far-rig.ts';
import { seeded } from '../fakes/random.ts';

const ABLE: UpstreamState = { providers: ['asr', 'other'], credentials: ['asr'], failing: [], shortOf: null };
const request = (more: Partial<PlacementRequest> = {}): PlacementRequest => ({
  provider: 'asr',
  ownKey: false,
  except: new Set(),
  ...more,
});
const node = (name: string, more: Partial<Heartbeat> = {}, state: Partial<UpstreamState> = {}): Heartbeat => ({
  ...heartbeatOf(name),
  upstream: { ...ABLE, ...state },
  ...more,
});

function placementOf(own: Heartbeat, ...others: Heartbeat[]) {
  const clock = new SimulatedClock();
  const nodes = [own, ...others];
  const connection = { isConnected: true, tell: (_: boolean) => {} };
  const random = seeded(1);
  const placement = upstreamPlacement({
    members: { node: own.node, nodes: () => nodes, onNodes: () => () => {} },
    bus: {
      get isConnected() {
        return connection.isConnected;
      },
      onConnection: (listener) => {
        connection.tell = listener;
        return () => {};
      },
    },
    clock,
    random: () => random.next(),
  });
  clock.increment(60_000);
  return { placement, nodes, clock, connection };
}

const edge: Heartbeat = { ...heartbeatOf('me'), roles: ['edge'] };

describe('the choice of a node', () => {
  test('compares two at random, and asks the one with fewer legs', () => {
    const candidates = [30, 20, 10].map((legs, index) => ({ node: `n${index}`, legs, against: 0 }));
    const random = (...numbers: number[]) => {
      let at = 0;
      return () => numbers[at++] ?? 0;
    };
    expect(chooseNode(candidates, random(0, 0))).toBe('n1');
    expect(chooseNode(candidates, random(0, 0.99))).toBe('n2');
    expect(chooseNode(candidates, random(0.34, 0.99))).toBe('n1');
    expect(chooseNode(candidates.slice(0, 1), random(0.5, 0.5))).toBe('n0');
    expect(chooseNode([], random())).toBeUndefined();
  });

  test('prefers fewer objections, and never the one with most legs of several', () => {
    const candidate = fc.record({
      legs: fc.nat(100),
      against: fc.subarray(Object.values(AGAINST)).map((all) => all.reduce((sum, each) => sum + each, 0)),
    });
    const property = fc.property(fc.array(candidate, { minLength: 1 }), fc.nat(), (all, seed) => {
      const random = seeded(seed);
      const candidates = all.map((each, index) => ({ ...each, node: `n${index}` }));
      const name = chooseNode(candidates, () => random.next());
      const chosen = candidates.find(({ node }) => node === name);
      const least = Math.min(...candidates.map(({ against }) => against));
      expect(chosen?.against).toBe(least);
      const best = candidates.filter(({ against }) => against === least);
      if (best.length > 1)
        expect(best.some((other) => other !== chosen && other.legs >= (chosen?.legs ?? 0))).toBe(true);
    });
    fc.assert(property, { seed: 1, numRuns: 1_000 });
  });

  test.each<[string, Heartbeat[], Partial<PlacementRequest>, string]>([
    ['the one with the credential', [node('a', {}, { credentials: [] }), node('b', { legs: 9 })], {}, 'b'],
    ['any that knows the provider of an own key', [node('a', {}, { providers: [] }), node('b')], { ownKey: true }, 'b'],
    ['an earlier version, which does not say', [{ ...node('a'), upstream: undefined }], {}, 'a'],
    ['the one with fewer legs', [node('a', { legs: 9 }), node('b')], {}, 'b'],
    ['the one with room', [node('a', {}, { shortOf: 'memory' }), node('b', { legs: 9 })], {}, 'b'],
    ['the one that reaches it', [node('a', {}, { failing: ['asr'] }), node('b', { legs: 9 })], {}, 'b'],
    ['one that fails elsewhere', [node('a', {}, { failing: ['other'] }), node('b', { legs: 9 })], {}, 'a'],
    ['the one that was not left', [node('a'), node('b', { legs: 9 })], { avoid: 'a' }, 'b'],
    ['the one that was left, alone', [node('a')], { avoid: 'a' }, 'a'],
    ['the one that was not asked', [node('a'), node('b', { legs: 9 })], { except: new Set(['a']) }, 'b'],
    ['the one that stays', [node('a', { draining: true }), node('b', { legs: 9 })], {}, 'b'],
    ['the one that drains, alone', [node('a', { draining: true })], {}, 'a'],
    [
      'the one that has the server',
      [node('a'), node('b', { legs: 9 }, { credentials: ['asr', 'custom/Own.Model-1'] })],
      { provider: 'custom/Own.Model-1' },
      'b',
    ],
    ['no node without the server', [node('a'), node('b')], { provider: 'custom/Own.Model-1' }, 'nobody'],
    ['no node without the credential', [node('a', {}, { credentials: [] })], {}, 'nobody'],
    ['no other node', [node('a')], { except: new Set(['a']) }, 'nobody'],
    ['any node, where none is known', [], {}, 'anybody'],
  ])('%s is asked', (_, others, more, expected) => {
    const choice = placementOf(edge, ...others).placement.choose(request(more));
    expect(typeof choice === 'string' ? choice : choice.node).toBe(expected);
  });

  test.each<[string, Heartbeat, string]>([
    ['itself, even if others have fewer legs', node('me', { legs: 90 }), 'me'],
    ['itself, while it drains', node('me', { draining: true }), 'me'],
    ['another without the credential', node('me', {}, { credentials: [] }), 'a'],
    ['another while it cannot reach the provider', node('me', {}, { failing: ['asr'] }), 'a'],
    ['another while it has no room', node('me', {}, { shortOf: 'time' }), 'a'],
  ])('asks for its own sessions %s', (_, own, expected) => {
    expect(placementOf(own, node('a')).placement.choose(request())).toEqual({ node: expected });
  });

  test('those that come in between two heartbeats are spread, and a heartbeat has them in it', () => {
    const { placement, nodes } = placementOf(edge, node('a'), node('b'), node('c'));
    const count = (times: number) => {
      const counts: Record<string, number> = {};
      for (let leg = 0; leg < times; leg++) {
        const choice = placement.choose(request());
        if (typeof choice !== 'string') counts[choice.node] = (counts[choice.node] ?? 0) + 1;
      }
      return Object.values(counts).sort((one, other) => one - other);
    };
    const [least = 0, , most = 0] = count(300);
    expect(most - least).toBeLessThan(10);
    nodes.splice(1, 3, node('a', { legs: 500 }), node('b', { legs: 500 }), node('c', { legs: 0 }));
    expect(count(100).at(-1)).toBeGreaterThan(50);
  });

  test('skips one that did not answer, or could not reach the provider, until it reports again', () => {
    const { placement, nodes } = placementOf(edge, node('a'), node('b', { legs: 90 }));
    placement.missed('a');
    expect(placement.choose(request())).toEqual({ node: 'b' });
    nodes[1] = node('a');
    expect(placement.choose(request())).toEqual({ node: 'a' });
    placement.unreachable('a', 'asr');
    expect(placement.choose(request())).toEqual({ node: 'b' });
    nodes[1] = node('a');
    expect(placement.choose(request())).toEqual({ node: 'a' });
  });

  test('ignores what a node had before a loss of the bus', () => {
    const { placement, nodes, connection } = placementOf(edge, node('back', { legs: 20 }), node('late', { legs: 20 }));
    connection.tell(true);
    nodes[1] = node('back', { legs: 2 });
    expect(placement.choose(request())).toEqual({ node: 'late' });
    nodes[2] = node('late', { legs: 20 });
    expect(placement.choose(request())).toEqual({ node: 'back' });
  });

  test('waits for one that is late after a loss of the bus, up to a limit', () => {
    const { placement, clock, connection } = placementOf(edge, node('back', { legs: 20 }), node('late', { legs: 20 }));
    connection.tell(true);
    const counts = { back: 0, late: 0 };
    /** Forty sessions ask; those whose node is not there ask again. */
    const ask = () => {
      const choice = placement.choose(request());
      if (typeof choice === 'string') return;
      counts[choice.node as 'back' | 'late']++;
      if (choice.node === 'late') placement.missed('late');
    };
    for (let session = 0; session < 40; session++) ask();
    // Whoever was first has not everything: the others ask for the late one again.
    expect(counts.late).toBeGreaterThan(counts.back * 3);
    clock.increment(GRACE_MS);
    placement.missed('late');
    counts.late = 0;
    for (let session = 0; session < 10; session++) ask();
    expect(counts.late).toBe(0);
  });
});

test.each<[string, Heartbeat[], boolean, boolean]>([
  ['no other node', [], false, true],
  ['a node that holds no connections', [{ ...node('a'), roles: ['edge', 'accounts'] }], false, true],
  ['a node that drains', [node('a', { draining: true })], false, true],
  ['a node that stays', [edge, node('a')], true, true],
  ['a node without the credential', [node('a', {}, { credentials: [] })], true, false],
])('knows with %s whether another opens legs, and what clients may use', (_, others, hasOther, can) => {
  const { placement } = placementOf(edge, ...others);
  expect([placement.hasOther(), placement.hasService('asr')]).toEqual([hasOther, can]);
});

describe('a node with more legs than its share', () => {
  test.each<[number, number, number[], number]>([
    [40, 0, [], 0],
    [40, 0, [0], 5],
    [35, 5, [0], 4],
    [20, 20, [0], 0],
    [25, 0, [20], 0],
    [24, 0, [20, 20], 0],
    [1_000, 0, [0], 20],
    [3, 0, [0], 0],
  ])('moves, with %i, %i of them leaving, and %j elsewhere, %i', (own, leaving, others, expected) => {
    expect(legsToMove(own, leaving, others)).toBe(expected);
  });

  test('reaches its share from any start, never beyond it, and then stops', () => {
    const property = fc.property(fc.array(fc.nat(500), { minLength: 2, maxLength: 6 }), (legs) => {
      const now = [...legs];
      const mean = now.reduce((sum, count) => sum + count, 0) / now.length;
      for (let look = 0; look < 200; look++) {
        // All look at the same time, at what all have said before.
        const moving = now.map((own, at) =>
          legsToMove(
            own,
            0,
            now.filter((_, other) => other !== at),
          ),
        );
        // What follows of what all have said is always the same.
        if (moving.every((count) => count === 0)) break;
        for (const [at, count] of moving.entries()) {
          expect((now[at] as number) - count).toBeGreaterThanOrEqual(count === 0 ? 0 : Math.floor(mean));
          now[at] = (now[at] as number) - count;
          for (let leg = 0; leg < count; leg++) {
            const least = now.indexOf(Math.min(...now));
            now[least] = (now[least] as number) + 1;
          }
        }
      }
      expect(
        now.map((own, at) =>
          legsToMove(
            own,
            0,
            now.filter((_, other) => other !== at),
          ),
        ),
      ).toEqual(now.map(() => 0));
      expect(Math.max(...now)).toBeLessThan(Math.max(mean + 4, mean * 1.25) + 1);
    });
    fc.assert(property, { seed: 1, numRuns: 300 });
  });
});

test('names models on an operator’s own servers among providers in a heartbeat', () => {
  const upstream = { ...ABLE, credentials: ['asr', 'custom/Own.Model-1'], failing: ['custom/Own.Model-1'] };
  expect(readHeartbeat({ ...heartbeatOf('a'), upstream })).toEqual({ ...heartbeatOf('a'), upstream });
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['a text', 'all'],
  ['names that are none', { ...ABLE, providers: ['a b'] }],
  ['more names than there can be', { ...ABLE, credentials: Array(193).fill('asr') }],
  ['another shortage', { ...ABLE, shortOf: 'patience' }],
])('ignores a heartbeat’s capabilities with %s', (_, upstream) => {
  expect(readHeartbeat({ ...heartbeatOf('a'), upstream })).toEqual(heartbeatOf('a'));
});

test('reads a node’s capabilities from its heartbeat', () => {
  expect(readHeartbeat({ ...heartbeatOf('a'), upstream: { ...ABLE, more: 1 } })?.upstream).toEqual(ABLE);
});
