// The live sessions of all organisations, over all nodes: each node is asked for its own when somebody looks. Nothing of what was
// said in them is told.
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Bus, Detach } from '../../bus/bus.ts';
import { LIST_SESSIONS } from '../../bus/subjects.ts';
import type { SessionHost } from '../host.ts';
import { type AskingBus, askEvery } from './ask-every.ts';

/** Of a node, and of all together: the newest. */
const SESSIONS_MAX = 200;
const ORGANISATIONS_MAX = 500;

const Id = Type.String({ minLength: 1, maxLength: 256 });
const Count = Type.Integer({ minimum: 0 });
const OrganisationIds = Type.Array(Id, { maxItems: ORGANISATIONS_MAX });

const ListRequest = Type.Object({
  type: Type.Literal('sessions.list'),
  /** How its id begins. */
  id: Type.Optional(Id),
  /** Part of the slug that was asked for, or of the one that hears it now. */
  model: Type.Optional(Id),
  organisationIds: Type.Optional(OrganisationIds),
});
/** Which sessions are wanted. */
export type SessionsWanted = Omit<Static<typeof ListRequest>, 'type'>;

const Listed = Type.Object({
  type: Type.Literal('sessions.listed'),
  matched: Count,
  /** The newest of those that matched. */
  sessions: Type.Array(
    Type.Object({
      id: Id,
      organisationId: Id,
      model: Id,
      /** Of its latest connection; null before the first. */
      heardBy: Type.Union([Id, Type.Null()]),
      state: Id,
      openedMs: Count,
    }),
    { maxItems: SESSIONS_MAX },
  ),
  /** Whose sessions are live there, whichever are wanted. */
  organisationIds: OrganisationIds,
});
type Listed = Static<typeof Listed>;

export interface LiveSessions {
  /** How many are as wanted, on the nodes that have answered. */
  matched: number;
  /** The newest of them. */
  sessions: (Listed['sessions'][number] & { node: string })[];
  /** Whose sessions are live, as far as there is room. */
  organisationIds: string[];
  silent: string[];
}

export function serveLiveSessions(bus: Pick<Bus, 'serve'>, host: Pick<SessionHost, 'all' | 'describe'>): Detach {
  return bus.serve(LIST_SESSIONS, (body): Listed => {
    const sessions: Listed['sessions'] = [];
    const organisationIds = new Set<string>();
    const wanted = Value.Check(ListRequest, body) ? body : undefined;
    let matched = 0;
    for (const { opening, openedMs } of wanted === undefined ? [] : host.all()) {
      const { sessionId: id, organisationId, request } = opening;
      if (organisationIds.size < ORGANISATIONS_MAX) organisationIds.add(organisationId);
      const { state = 'settling', legs = [] } = host.describe(id) ?? {};
      const session = {
        id,
        organisationId,
        model: request.model,
        heardBy: legs.at(-1)?.model ?? null,
        state,
        openedMs,
      };
      if (!isWanted(session, wanted as SessionsWanted)) continue;
      matched++;
      if (sessions.length < SESSIONS_MAX) sessions.push(session);
    }
    return { type: 'sessions.listed', matched, sessions, organisationIds: [...organisationIds] };
  });
}

function isWanted(
  session: Pick<Listed['sessions'][number], 'id' | 'organisationId' | 'model' | 'heardBy'>,
  { id = '', model = '', organisationIds }: SessionsWanted,
): boolean {
  if (!session.id.startsWith(id)) return false;
  if (!session.model.includes(model) && session.heardBy?.includes(model) !== true) return false;
  return organisationIds === undefined || organisationIds.includes(session.organisationId);
}

/** Never rejects: nodes that do not answer are named. */
export async function listLiveSessions(
  bus: AskingBus,
  nodes: readonly string[],
  wanted: SessionsWanted,
): Promise<LiveSessions> {
  const answers = await askEvery(bus, nodes, LIST_SESSIONS, { type: 'sessions.list', ...wanted } as never, Listed);
  const found = [...answers].flatMap(([node, answer]) => (answer === undefined ? [] : [{ node, ...answer }]));
  const sessions = found.flatMap(({ node, sessions: own }) => own.map((session) => ({ ...session, node })));
  return {
    matched: found.reduce((sum, { matched }) => sum + matched, 0),
    sessions: sessions.sort((one, other) => other.openedMs - one.openedMs).slice(0, SESSIONS_MAX),
    organisationIds: [...new Set(found.flatMap(({ organisationIds }) => organisationIds))].slice(0, ORGANISATIONS_MAX),
    silent: [...answers].flatMap(([node, answer]) => (answer === undefined ? [node] : [])),
  };
}
