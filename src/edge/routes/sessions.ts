// `GET /v1/sessions` and `GET /v1/sessions/{id}`: live sessions and files of the caller's organisation, with what they cost.
import { refuse } from '../../api/errors.ts';
import { SESSIONS_LIMIT, type SessionAnswer, type SessionLeg, type SessionList } from '../../api/usage.ts';
import type { Caller } from '../../auth/permissions.ts';
import { usdOf } from '../../billing/price.ts';
import { usageRow } from '../../billing/usage-row.ts';
import type { SessionRecord } from '../../store/ledger/calls.ts';
import type { Store } from '../../store/store.ts';
import { knownQuery, wholeNumberOf } from '../http/query-values.ts';
import { json, type RouteContext } from '../router.ts';
import { fromLedger } from '../store-answer.ts';

export interface SessionsDependencies {
  store: Pick<Store, 'findSession' | 'listSessions'>;
  /** What a live session is doing; undefined when it is not known. */
  describeSession(sessionId: string, organisationId: string): Described | undefined | Promise<Described | undefined>;
}

interface Described {
  state: string;
  legs: readonly SessionLeg[];
}

export const getSessions =
  (dependencies: SessionsDependencies) =>
  async ({ request }: RouteContext, { organisationId }: Pick<Caller, 'organisationId'>) => {
    const { store } = dependencies;
    const query = knownQuery(request.query, '/v1/sessions', ['limit', 'before']);
    const limit = wholeNumberOf(query, 'limit', SESSIONS_LIMIT);
    const before = query.get('before');
    if (before !== undefined) await sessionOf(dependencies, organisationId, before, 'before');
    const records = await fromLedger(store.listSessions(organisationId, limit + 1, before));
    const answer: SessionList = {
      object: 'list',
      data: await Promise.all(records.slice(0, limit).map((record) => shown(record, organisationId, dependencies))),
      has_more: records.length > limit,
    };
    return json(200, answer);
  };

export const getSession =
  (dependencies: SessionsDependencies) =>
  async ({ request, params }: RouteContext, { organisationId }: Pick<Caller, 'organisationId'>) => {
    knownQuery(request.query, '/v1/sessions/{id}', []);
    const record = await sessionOf(dependencies, organisationId, params.id ?? '', 'id');
    return json(200, await shown(record, organisationId, dependencies));
  };

/** Throws the Refusal `not_found`, in the same words for a session of another organisation and one that never existed. */
export async function sessionOf(
  { store }: Pick<SessionsDependencies, 'store'>,
  organisationId: string,
  id: string,
  param: string,
): Promise<SessionRecord> {
  const record = await fromLedger(store.findSession(organisationId, id));
  if (record !== undefined) return record;
  throw refuse('not_found', 'There is no such session or file in this organisation. GET /v1/sessions lists them.', {
    param,
  });
}

async function shown(
  record: SessionRecord,
  organisationId: string,
  { describeSession }: SessionsDependencies,
): Promise<SessionAnswer> {
  const { id, mode, model, keyId, openedAt, endedAt, reason, code, audioMs, lines, costMicroUsd, heldMicroUsd } =
    record;
  const live = endedAt === null ? await describeSession(id, organisationId) : undefined;
  return {
    object: 'session',
    id,
    mode,
    state: endedAt === null ? 'live' : 'ended',
    model,
    key_id: keyId,
    opened_at: openedAt,
    ended_at: endedAt,
    reason,
    code,
    audio_seconds: audioMs / 1000,
    usage: lines.map(usageRow),
    cost_usd: usdOf(costMicroUsd),
    held_usd: usdOf(heldMicroUsd),
    ...(live === undefined ? {} : { phase: live.state, legs: [...live.legs] }),
  };
}
