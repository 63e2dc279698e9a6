// `GET /v1/sessions` and `GET /v1/sessions/{id}`: live sessions and files of the caller's organisation, with what they cost.
import { Value } from '@sinclair/typebox/value';
import type { Caller } from '../../accounts/auth/permissions.ts';
import { WatchedFrame } from '../../api/console/watching.ts';
import { apiError } from '../../api/errors.ts';
import { readTag, tagsOfText } from '../../api/tags.ts';
import { SESSIONS_LIMIT, type SessionAnswer, type SessionLeg, type SessionList } from '../../api/usage.ts';
import { usageRow, usdOf } from '../../config/prices/price.ts';
import { choiceOf, knownQuery, textOf, timeOf, wholeNumberOf } from '../../http/query.ts';
import { json, type RouteContext } from '../../http/router.ts';
import { fromLedger } from '../../http/store-answer.ts';
import type { SessionEventsStore } from '../../store/session-events.ts';
import type { LedgerStore, SessionRecord, SessionSearch } from '../store/calls.ts';

export interface SessionsDependencies {
  store: Pick<
    LedgerStore & SessionEventsStore,
    'findSession' | 'listSessions' | 'searchSessions' | 'findSessionEvents'
  >;
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
    const search = searchOf(request.query);
    if (search.before !== undefined) await sessionOf(dependencies, organisationId, search.before, 'before');
    const { sessions, next } = await fromLedger(
      isForAll(search) ? listed(store, organisationId, search) : store.searchSessions(organisationId, search),
    );
    const answer: SessionList = {
      object: 'list',
      data: await Promise.all(
        sessions.map(async (record) => ({
          ...(await shown(record, organisationId, dependencies)),
          ...(hasOtherModel(record) ? await had(record, organisationId, dependencies) : {}),
        })),
      ),
      has_more: next !== null,
      next,
    };
    return json(200, answer);
  };

/** An ended live session whose connections say whether another model took over, or was chosen by the client. */
const hasOtherModel = ({ mode, endedAt, model, lines }: SessionRecord): boolean =>
  mode === 'live' && endedAt !== null && lines.some((line) => line.model !== model);

const isForAll = ({ limit: _, before: __, ...search }: SessionSearch): boolean => Object.keys(search).length === 0;

/** As every version of the node with the accounts has it. */
async function listed(
  store: SessionsDependencies['store'],
  organisationId: string,
  { limit, before }: SessionSearch,
): ReturnType<SessionsDependencies['store']['searchSessions']> {
  const records = await store.listSessions(organisationId, limit + 1, before);
  const sessions = records.slice(0, limit);
  return { sessions, next: records.length > limit ? (sessions.at(-1)?.id ?? null) : null };
}

export const getSession =
  (dependencies: SessionsDependencies) =>
  async ({ request, params }: RouteContext, { organisationId }: Pick<Caller, 'organisationId'>) => {
    knownQuery(request.query, '/v1/sessions/{id}', []);
    const record = await sessionOf(dependencies, organisationId, params.id ?? '', 'id');
    const answer = await shown(record, organisationId, dependencies);
    return json(
      200,
      record.endedAt === null ? answer : { ...answer, ...(await had(record, organisationId, dependencies)) },
    );
  };

/** What a session that has ended had, as long as its events are kept. */
async function had(
  { id }: SessionRecord,
  organisationId: string,
  { store }: Pick<SessionsDependencies, 'store'>,
): Promise<Pick<SessionAnswer, 'legs' | 'turns' | 'failovers'>> {
  const last = framesOf(await fromLedger(store.findSessionEvents(organisationId, id))).at(-1);
  if (last?.kind !== 'ended') return {};
  const { legs, turns, failovers } = last;
  return {
    ...(legs && { legs }),
    ...(turns !== undefined && { turns }),
    ...(failovers !== undefined && { failovers }),
  };
}

/** The events that were kept of a session. A later version may have kept others: those that are not known are left out. */
export function framesOf(kept: string | undefined): WatchedFrame[] {
  const frames: unknown = kept === undefined ? [] : JSON.parse(kept);
  return Array.isArray(frames) ? frames.filter((frame) => Value.Check(WatchedFrame, frame)) : [];
}

/** Throws the ApiError `not_found`, in the same words for a session of another organisation and one that never existed. */
export async function sessionOf(
  { store }: Pick<SessionsDependencies, 'store'>,
  organisationId: string,
  id: string,
  param: string,
): Promise<SessionRecord> {
  const record = await fromLedger(store.findSession(organisationId, id));
  if (record !== undefined) return record;
  throw apiError('not_found', 'There is no such session or file in this organisation. GET /v1/sessions lists them.', {
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
  const { tags, redactions } = record;
  const live = endedAt === null ? await describeSession(id, organisationId) : undefined;
  return {
    object: 'session',
    id,
    mode,
    state: endedAt === null ? 'live' : 'ended',
    model,
    key_id: keyId,
    ...(tags === undefined ? {} : { tags: tagsOfText(tags) }),
    opened_at: openedAt,
    ended_at: endedAt,
    reason,
    code,
    audio_seconds: audioMs / 1000,
    usage: lines.map(usageRow),
    cost_usd: usdOf(costMicroUsd),
    held_usd: usdOf(heldMicroUsd),
    ...(redactions === undefined ? {} : { redactions }),
    ...(live === undefined ? {} : { phase: live.state, legs: [...live.legs] }),
  };
}

// The query of `GET /v1/sessions`: which sessions are wanted.
const PARAMETERS = ['limit', 'before', 'state', 'model', 'key', 'from', 'to', 'reason', 'id', 'tag'];

export function searchOf(raw: string): SessionSearch {
  const query = knownQuery(raw, '/v1/sessions', PARAMETERS);
  const wanted = {
    before: query.get('before'),
    state: query.has('state') ? choiceOf(query, 'state', ['live', 'ended']) : undefined,
    model: textOf(query, 'model'),
    keyId: textOf(query, 'key'),
    from: momentOf(query, 'from'),
    to: momentOf(query, 'to'),
    reason: textOf(query, 'reason'),
    idPrefix: textOf(query, 'id'),
    tag: query.has('tag') ? readTag(query.get('tag') ?? '') : undefined,
  };
  const said = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return { limit: wholeNumberOf(query, 'limit', SESSIONS_LIMIT), ...Object.fromEntries(said) };
}

function momentOf(query: ReadonlyMap<string, string>, name: string): string | undefined {
  const ms = timeOf(query, name);
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
