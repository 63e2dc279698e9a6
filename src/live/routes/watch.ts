// What is told of all organisations together: to members of the gateway's own first organisation only.

import type { ConsoleContext, ConsoleRoute } from '../../accounts/console-login/console-route.ts';
import type { Endpoint } from '../../accounts/console-login/roles.ts';
import type { KeyStore } from '../../accounts/keys/calls.ts';
import type { GatewayView, MachinesView } from '../../api/console/console.ts';
import type { HistoryView } from '../../api/console/gateway.ts';
import { apiError } from '../../api/errors.ts';
import type { Heartbeat } from '../../cluster/membership/heartbeat.ts';
import { choiceOf, knownQuery, textOf } from '../../http/query.ts';
import { json, type Route } from '../../http/router.ts';
import { fromLedger } from '../../http/store-answer.ts';
import { type Slot, seriesOf, type Window } from '../../runtime/telemetry/history.ts';
import type { LiveSessions, SessionsWanted } from '../session/watch/node-queries.ts';

export type NodeOfGateway = Pick<Heartbeat, 'id' | 'node' | 'roles' | 'sessions' | 'sessionsMax' | 'legs' | 'draining'>;

export interface OperatorRoutesDependencies {
  store: Pick<KeyStore, 'isOperator' | 'findOrganisation'>;
  countMachines(): Promise<MachinesView>;
  nodes(): NodeOfGateway[];
  listSessions(nodes: readonly string[], wanted: SessionsWanted): Promise<LiveSessions>;
  /** By node; undefined of one that did not answer. */
  readHistories(nodes: readonly string[], window: Window): Promise<ReadonlyMap<string, readonly Slot[] | undefined>>;
  wallNow(): Date;
}

export function operatorRoutes(consoleRoute: ConsoleRoute, dependencies: OperatorRoutesDependencies): Route[] {
  const { store, countMachines } = dependencies;
  const forOperator = (endpoint: Endpoint, answer: (context: ConsoleContext) => Promise<unknown>) =>
    consoleRoute(endpoint, async (context) => {
      if (!(await fromLedger(store.isOperator(context.organisationId)))) {
        throw apiError(
          'operator_only',
          'This page covers all organisations, so only members of the gateway’s first organisation can see it.',
        );
      }
      return json(200, await answer(context));
    });
  return [
    forOperator('GET machines', async ({ request }) => {
      knownQuery(request.query, '/console/api/machines', []);
      return countMachines();
    }),
    forOperator('GET operator/sessions', sessionsOfAll(dependencies)),
    forOperator('GET operator/history', historyOfAll(dependencies)),
  ];
}

const historyOfAll =
  ({ nodes, readHistories, wallNow }: OperatorRoutesDependencies) =>
  async ({ request }: ConsoleContext): Promise<HistoryView> => {
    const query = knownQuery(request.query, '/console/api/operator/history', ['window', 'by']);
    const window = choiceOf(query, 'window', ['hour', 'day']);
    const by = choiceOf(query, 'by', ['model', 'node']);
    const present = nodes().filter(({ roles }) => roles.includes('edge'));
    const histories = await readHistories(
      present.map(({ node }) => node),
      window,
    );
    const answered = present.flatMap(({ id, node }) => {
      const slots = histories.get(node);
      return slots === undefined ? [] : [{ node: id, slots }];
    });
    const now = wallNow();
    return {
      at: now.toISOString(),
      window,
      by,
      nodes: answered.map(({ node }) => node),
      silent: present.filter(({ node }) => histories.get(node) === undefined).map(({ id }) => id),
      ...seriesOf(answered, { window, by, nowMs: now.getTime() }),
    };
  };

const sessionsOfAll =
  ({ store, nodes, listSessions, wallNow }: OperatorRoutesDependencies) =>
  async ({ request }: ConsoleContext): Promise<GatewayView> => {
    const query = knownQuery(request.query, '/console/api/operator/sessions', ['id', 'model', 'organisation']);
    const [id, model, organisation] = ['id', 'model', 'organisation'].map((name) => textOf(query, name));
    const present = nodes();
    const asked = present.filter(({ roles }) => roles.includes('edge')).map(({ node }) => node);
    const namesOf = async (ids: readonly string[]) => {
      const found = await fromLedger(Promise.all(ids.map((each) => store.findOrganisation(each))));
      return new Map(ids.map((each, index) => [each, found[index]?.name ?? null]));
    };
    const idsOf = async (text: string): Promise<string[]> => {
      if (text.startsWith('org_')) return [text];
      const names = await namesOf((await listSessions(asked, {})).organisationIds);
      const isLike = (name: string | null) => name?.toLowerCase().includes(text.toLowerCase()) === true;
      return [...names].flatMap(([each, name]) => (isLike(name) ? [each] : []));
    };
    const { matched, sessions, silent } = await listSessions(asked, {
      ...(id !== undefined && { id }),
      ...(model !== undefined && { model }),
      ...(organisation !== undefined && { organisationIds: await idsOf(organisation) }),
    });
    const names = await namesOf([...new Set(sessions.map(({ organisationId }) => organisationId))]);
    const idOfNode = new Map(present.map((each) => [each.node, each.id]));
    return {
      at: wallNow().toISOString(),
      nodes: present.map(({ id: name, node, roles, sessions: count, sessionsMax, legs, draining }) => ({
        id: name,
        node,
        state: silent.includes(node) ? 'silent' : draining ? 'draining' : 'serving',
        roles,
        sessions: count,
        sessions_max: sessionsMax,
        legs,
      })),
      matched,
      data: sessions.map((session) => ({
        id: session.id,
        organisation: { id: session.organisationId, name: names.get(session.organisationId) ?? null },
        model: session.model,
        heard_by: session.heardBy,
        state: session.state,
        node: idOfNode.get(session.node) ?? session.node,
        opened_at: new Date(session.openedMs).toISOString(),
      })),
    };
  };
