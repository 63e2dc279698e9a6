// What the console tells of all organisations together, and to whom.
import { beforeAll, describe, expect, test } from 'vitest';
import type { GatewayView, MachinesView } from '../../../../src/api/console/console.ts';
import type { HistoryView } from '../../../../src/api/console/gateway.ts';
import { type NodeOfGateway, operatorRoutes } from '../../../../src/live/routes/watch.ts';
import {
  listLiveSessions,
  MachineCounter,
  readHistories,
  serveHistory,
  serveLiveSessions,
} from '../../../../src/live/session/watch/node-queries.ts';
import { MetricsHistory, type Window } from '../../../../src/runtime/telemetry/history.ts';
import { createMetrics, type Metrics } from '../../../../src/runtime/telemetry/metrics.ts';
import { type Browser, openAccount, openConsoleRig, storeOver } from '../../../accounts/people/console-rig.ts';
import { BusNetwork } from '../../../fakes/network/bus-network.ts';
import { SessionRig } from '../../../fakes/session-rig.ts';
import { ledgerRig } from '../../../fakes/store/ledger.ts';

const live = new SessionRig();
const far = new SessionRig();
const network = new BusNetwork(live.clock);
const buses = ['edge01', 'edge02'].map((node) => network.open(node));
const node = (name: string): NodeOfGateway => ({
  id: `${name}.example`,
  node: name,
  roles: ['edge'],
  sessions: 1,
  sessionsMax: 100,
  legs: 1,
  draining: false,
});
let nodes: NodeOfGateway[] = buses.map((bus) => node(bus.node));
/** Of each node. */
const counted: Metrics[] = [];
let wallNowMs = 0;
let operator: Browser;
let other: Browser;
beforeAll(async () => {
  const ledger = ledgerRig();
  ledger.clock.nowMs = Date.now();
  const store = storeOver(ledger);
  const machines = new MachineCounter({ bus: live.bus, nodes: () => [], nowMs: () => live.clock.now() });
  const countMachines = () => machines.count();
  const [near] = buses as [(typeof buses)[number]];
  for (const [index, host] of [live, far].entries()) {
    const bus = buses[index] ?? near;
    serveLiveSessions(bus, host.sessions);
    const metrics = createMetrics();
    metrics.watchSessions(() => ({ live: index + 1 }));
    counted.push(metrics);
    serveHistory(
      bus,
      new MetricsHistory({
        totals: () => metrics.modelTotals(),
        sessions: () => metrics.countSessions(),
        clock: live.clock,
        wallNowMs: () => wallNowMs,
      }),
    );
  }
  const operated = {
    store,
    countMachines,
    nodes: () => nodes,
    listSessions: (asked: readonly string[], wanted: object) => listLiveSessions(near, asked, wanted),
    readHistories: (asked: readonly string[], window: Window) => readHistories(near, asked, window),
    wallNow: () => new Date(wallNowMs),
  };
  const rig = await openConsoleRig({
    store,
    further: [(consoleRoute) => operatorRoutes(consoleRoute, operated)],
  });
  operator = await openAccount(rig, 'operator@example.com');
  other = await openAccount(rig, 'other@example.com');
  // Whose organisation has the first key is who runs the gateway.
  for (const browser of [operator, other]) await browser.call('POST', 'keys', { name: 'own' });
});

const view = async <View>(path: string): Promise<View> =>
  (await operator.get(`/console/api/${path}`)).json() as unknown as View;

describe('the counts of actors', () => {
  const states = async () => (await view<MachinesView>('machines')).states;

  test('include a live session of any organisation until it ends', async () => {
    // Another file may have left some in this process.
    const before = await states();
    const more = async (state: string) => ((await states())[state] ?? 0) - (before[state] ?? 0);
    const client = await live.open();
    await live.advance(1_500);
    for (const state of ['session', 'session.live.link.streaming', 'upstream']) expect(await more(state)).toBe(1);
    client.session.control({ type: 'close' });
    await live.advance(20_000);
    await client.ended();
    expect(await more('session')).toBe(0);
  });
});

describe('the live sessions of all organisations', () => {
  const list = (query = '') => view<GatewayView>(`operator/sessions${query}`);
  const idOf = async (browser: Browser) =>
    ((await browser.get('/console/api/me')).json() as unknown as { organisation: { id: string } }).organisation.id;

  test('lists sessions of every node with organisation, model and state, without content', async () => {
    const own = await live.open({}, await idOf(operator));
    const others = await far.open({}, await idOf(other));
    const { nodes: known, matched, data } = await list();
    expect(known.map(({ id, state }) => [id, state])).toEqual([
      ['edge01.example', 'serving'],
      ['edge02.example', 'serving'],
    ]);
    expect(matched).toBe(2);
    const rows = data.map(({ organisation, node: on, ...row }) => ({ name: organisation.name, on, ...row }));
    const common = { model: 'loopback/script', heard_by: 'loopback/script', opened_at: '1970-01-01T00:00:00.000Z' };
    expect(rows).toEqual(
      [
        { client: own, name: 'operator@example.com', on: 'edge01.example' },
        { client: others, name: 'other@example.com', on: 'edge02.example' },
      ].map(({ client, ...row }) => ({
        ...row,
        ...common,
        id: client.session.opening.sessionId,
        state: expect.any(String),
      })),
    );
  });

  test.each([
    ['?organisation=OTHER@', ['other@example.com']],
    ['?organisation=org_nobody', []],
    ['?organisation=nobody', []],
    ['?model=loopback', ['operator@example.com', 'other@example.com']],
    ['?model=deepgram', []],
    ['?id=ses_', ['operator@example.com', 'other@example.com']],
    ['?id=ses_never', []],
  ])('finds sessions by %s', async (query, names) => {
    const { matched, data } = await list(query);
    expect(data.map(({ organisation }) => organisation.name)).toEqual(names);
    expect(matched).toBe(names.length);
  });

  test('lists the 200 newest, and gives the total', async () => {
    const organisationId = await idOf(other);
    for (let count = 0; count < 201; count++) await far.open({}, organisationId);
    const { matched, data } = await list('?organisation=other');
    expect([matched, data.length]).toEqual([202, 200]);
  });

  test('names a node that does not answer', async () => {
    nodes = [...nodes, node('edge03')];
    const { nodes: known, matched } = await list();
    expect(known.map(({ state }) => state)).toEqual(['serving', 'serving', 'silent']);
    expect(matched).toBe(203);
  });
});

describe('data about all organisations', () => {
  test.each(['machines', 'operator/sessions'])('%s: to members of the gateway’s own only', async (path) => {
    const { status, code, text } = await other.get(`/console/api/${path}`);
    expect([status, code]).toEqual([403, 'operator_only']);
    expect(text).toContain('the gateway’s first organisation');
    expect((await operator.get(`/console/api/${path}`)).status).toBe(200);
    expect((await operator.get(`/console/api/${path}?colour=red`)).code).toBe('invalid_request');
  });
});

describe('the history of the metrics', () => {
  const history = (query = '') => view<HistoryView>(`operator/history${query}`);
  const named = ({ series }: HistoryView, name: string) => series.find((each) => each.name === name);

  test('gives rates and percentiles over all nodes, by model and by node, from /metrics', async () => {
    nodes = buses.map((bus) => node(bus.node));
    wallNowMs = Date.UTC(2026, 0, 2, 12);
    const [one, two] = counted as [Metrics, Metrics];
    for (const metrics of [one, two]) {
      metrics.attempted('live', 'a/b');
      metrics.underWay('live', 'a/b', 1);
      for (const seconds of [0.15, 0.15, 0.15, 0.25]) metrics.finalTold('a/b', seconds);
    }
    two.attempted('live', 'a/b');
    two.attemptFailed('live', 'a/b', 'stalled');
    two.failedOver('live', 'a/b', 'stalled');
    two.attempted('file', 'c/d');
    two.fileAnswered('c/d', 1.5);
    const byModel = await history();
    expect([byModel.nodes, byModel.silent]).toEqual([['edge01.example', 'edge02.example'], []]);
    expect(byModel.series.map(({ name }) => name)).toEqual(['all', 'a/b', 'c/d']);
    expect(named(byModel, 'a/b')?.total).toEqual({
      attempts: 3,
      under_way: 2,
      error_rate: 0.3333,
      failover_rate: 0.3333,
      final: [0.1667, 0.28],
    });
    expect(named(byModel, 'c/d')?.total).toEqual({
      attempts: 1,
      under_way: 0,
      error_rate: 0,
      failover_rate: 0,
      file: [1.5, 1.95],
    });
    expect(named(byModel, 'all')?.total.under_way).toBe(3);
    const byNode = await history('?by=node');
    expect(named(byNode, 'edge01.example')?.total).toMatchObject({ attempts: 1, under_way: 1, error_rate: 0 });
    expect(named(byNode, 'edge02.example')?.total).toMatchObject({ attempts: 3, under_way: 2 });
    expect(byNode.times).toHaveLength(120);
    expect(byNode.times.at(-1)).toBe(wallNowMs / 1000);
    expect((await history('?window=day')).times).toHaveLength(144);
  });

  test('counts each event once, in its step, with no step before its node ran', async () => {
    const [one] = counted as [Metrics];
    wallNowMs += 60_000;
    one.attempted('live', 'a/b');
    await history();
    const { series } = await history();
    const points = series.find(({ name }) => name === 'a/b')?.points ?? [];
    expect(points.slice(-3).map((point) => point?.attempts)).toEqual([3, undefined, 1]);
    expect(points.slice(0, -3).every((point) => point === null)).toBe(true);
  });

  test('names a node that does not answer, and leaves it out', async () => {
    nodes = [...nodes, node('edge03')];
    expect((await history()).silent).toEqual(['edge03.example']);
  });

  test('refuses an unknown window, and other organisations', async () => {
    const answer = await operator.get('/console/api/operator/history?window=year');
    expect([answer.status, JSON.stringify(answer.json())]).toEqual([
      400,
      expect.stringContaining('`window` is hour, day'),
    ]);
    expect((await other.get('/console/api/operator/history')).status).toBe(403);
  });
});
