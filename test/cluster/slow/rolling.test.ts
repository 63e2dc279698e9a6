// A rolling restart: each node of a gateway in turn is told to end, ends in order, and is started again, while people speak. Whoever
// follows the hint loses no word and pays for each once. CLUSTER_FULL=1: 300 of them, five times around.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { SessionEvent, SessionSummary } from '../../../clients/typescript/src/index.ts';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { Balancer } from '../rig/balancer.ts';
import { Caller, peakPerSecond, secondsOf } from '../rig/caller.ts';
import { Cluster, type ClusterNode, MICRO_USD_PER_MS } from '../rig/cluster.ts';

const isFull = process.env.CLUSTER_FULL === '1';
const SESSIONS = isFull ? 300 : 12;
const ROUNDS = isFull ? 5 : 1;
/** Turns as people make them, and quicker ones where it is to be over soon. */
const TURN_SECONDS = isFull ? 5 : 2;
const DRAIN_SECONDS = 60;
/** Twelve people and five processes take ten times as long on a busy machine. */
const TIMEOUT_MS = isFull ? 900_000 : 240_000;
const NODES = { a: 'edge,upstream', b: 'edge,upstream', c: 'edge,upstream', keeper: 'accounts' };
/** Nobody is to be refused for being many, or lost because the machine is late. */
const ROOM = {
  VOXGATE_SESSION_PING_MS: '120000',
  VOXGATE_SESSION_PONG_MS: '60000',
  VOXGATE_SESSIONS_PER_KEY_MAX: '100000',
  VOXGATE_SESSIONS_PER_ORGANISATION_MAX: '100000',
  VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '1000000',
  VOXGATE_HANDSHAKES_PER_ADDRESS_MAX: '100000',
  VOXGATE_SESSION_DRAIN_MS: String(1000 * DRAIN_SECONDS),
};

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** People who begin to speak one after the other, each when the one before is heard; resolves when all of them are. */
async function callers(url: string, key: string, count: number): Promise<Caller[]> {
  const all: Caller[] = [];
  for (let index = 0; index < count; index++) {
    const caller = new Caller(url, key, TURN_SECONDS);
    ends.push(() => caller.terminate());
    all.push(caller);
    await caller.started;
  }
  return all;
}

const journalsOf = ({ directory }: ClusterNode): string[] => {
  const files = readdirSync(directory, { recursive: true }) as string[];
  return files.filter((file) => file.endsWith('.journal')).map((file) => join(directory, file));
};

const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0);

// It says itself why, when something that it needs is not here.
describe.skipIf(!natsServerIsHere)('a rolling restart of the nodes', () => {
  it('loses no final, one node after the other, and bills each second once', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const settings = Object.entries(NODES).map(([id, roles]) => [id, { roles }]);
    const cluster = await Cluster.start(Object.fromEntries(settings), ROOM);
    const edges = ['a', 'b', 'c'].map((id) => cluster.node(id));
    const balancer = await Balancer.start(edges);
    ends.push(() => balancer.end());
    const people = await callers(balancer.url, cluster.key, SESSIONS);
    const connectionsBefore = balancer.cameAtMs.length;
    const restartsMs: number[] = [];

    for (let round = 0; round < ROUNDS; round++) {
      for (const node of [...edges, cluster.node('keeper')]) {
        const held = balancer.connections(node);
        const startedAtMs = performance.now();
        expect(await node.end('SIGTERM')).toBe(0);
        const endedAtMs = performance.now();
        expect(journalsOf(node)).toEqual([]);
        await node.start();
        restartsMs.push(performance.now() - startedAtMs);
        const times = [endedAtMs - startedAtMs, performance.now() - endedAtMs].map(Math.round);
        if (isFull)
          console.info(`${round} ${node.id}: ${held} sessions left in ${times[0]} ms, back in ${times[1]} ms`);
      }
    }

    const summaries = await Promise.all(people.map((caller) => caller.finish()));
    expectToldEachTime(people);
    const moved = sum(summaries.map(({ reconnections }) => reconnections));
    expect(moved).toBeGreaterThanOrEqual(SESSIONS * ROUNDS * (2 / 3));
    await expectMoneyExact(cluster, people, summaries);
    const again = people.flatMap(({ connections }) => connections.slice(1));
    const startedMs = again.flatMap(({ startedAtMs }) => startedAtMs ?? []);
    const figures = {
      sessions: SESSIONS,
      finals: sum(people.map(({ finals }) => finals.length)),
      restarts: restartsMs.length,
      reconnections: moved,
      peakPerSecond: peakPerSecond(startedMs),
      attempts: again.length,
      attemptsPeakPerSecond: peakPerSecond(balancer.cameAtMs.slice(connectionsBefore)),
      attemptsWithoutNode: balancer.refused,
      restartMsMax: Math.round(Math.max(...restartsMs)),
    };
    console.info(`rolling restart: ${JSON.stringify(figures)}`);
  });
});

/** Each session that a node ended was told so before, with the hint, and closed with 4200 when a turn had ended. */
function expectToldEachTime(people: readonly Caller[]): void {
  for (const { events, connections } of people) {
    const started = connections.filter(({ startedAtMs }) => startedAtMs !== undefined);
    const ended = started.map(({ hintSeconds, closeCode }) => [hintSeconds, closeCode]);
    const told = Array.from({ length: started.length - 1 }, () => [DRAIN_SECONDS, 4200]);
    expect(ended).toEqual([...told, [undefined, 1000]]);
    const story = events.flatMap((event) => {
      if (event.type === 'warning') return event.code === 'node_draining' ? [event.type] : [];
      return event.type === 'reconnected' ? [event.type] : [];
    });
    expect(story).toEqual(told.flatMap(() => ['warning', 'reconnected']));
    expectTurnsWhole(events);
  }
}

/** No turn is cut: a shorter final is what had come already of the next one, and nothing but the end of the connection follows. */
function expectTurnsWhole(events: readonly SessionEvent[]): void {
  const heard = events.filter(
    ({ type }) => type === 'transcript' || type === 'reconnected' || type === 'session_ended',
  );
  for (const [index, event] of heard.entries()) {
    if (event.type !== 'transcript' || secondsOf(event) === TURN_SECONDS) continue;
    const next = heard[index + 1]?.type;
    expect(next).not.toBe('transcript');
    if (next === 'reconnected') expect(secondsOf(event)).toBeLessThan(TURN_SECONDS / 2);
  }
}

/** What the sessions told of their cost is what was said, is what the ledger has; nothing is left to be settled. */
async function expectMoneyExact(cluster: Cluster, people: readonly Caller[], summaries: readonly SessionSummary[]) {
  const keeper = cluster.node('keeper');
  const left = new Set(summaries.flatMap(({ sessionIds }) => sessionIds));
  const sessions = left.size;
  const isLast = ({ sessionId }: Record<string, unknown>) => {
    left.delete(String(sessionId));
    return left.size === 0;
  };
  await keeper.logged('usage is settled', isLast);
  const saidMicroUsd = sum(people.map(({ samples }) => (samples / 16) * MICRO_USD_PER_MS));
  expect(Math.round(sum(summaries.map(({ costUsd }) => Number(costUsd))) * 1e6)).toBe(saidMicroUsd);
  const headers = { Authorization: `Bearer ${cluster.key}` };
  const response = await fetch(`${cluster.node('a').url}/v1/usage?group_by=model`, { headers });
  const { data } = (await response.json()) as { data: { cost_usd: string; sessions: number }[] };
  expect(data.map((row) => [Math.round(Number(row.cost_usd) * 1e6), row.sessions])).toEqual([[saidMicroUsd, sessions]]);
  for (const node of cluster.nodes.values()) {
    expect(await node.end('SIGTERM')).toBe(0);
    expect(journalsOf(node)).toEqual([]);
  }
  const { code, output } = await voxgate(['ledger', 'audit'], { VOXGATE_DATA_DIRECTORY: keeper.directory });
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringMatching(/agree/) });
}
