// What all nodes are asked at once, when somebody looks: for their live sessions, the states of their machines, and what they remember of
// their metrics. Nothing of what was said in a session is in the answers.
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { MachinesView } from '../../../api/console/console.ts';
import type { Bus, BusBody, Detach } from '../../../cluster/bus/bus.ts';
import { COUNT_MACHINES, LIST_SESSIONS, READ_HISTORY } from '../../../cluster/bus/subjects.ts';
import { countsOfProcess, PROCESS_ID } from '../../../runtime/actors.ts';
import type { MetricsHistory, Slot, Window } from '../../../runtime/telemetry/history.ts';
import type { SessionHost } from '../host.ts';

/** A node that does not answer in this time is told of as silent. */
const ANSWER_MS = 1_000;
const NODES_MAX = 256;
/** Live sessions of a node, and of all together: the newest. */
const SESSIONS_MAX = 200;
const ORGANISATIONS_MAX = 500;
/** The same counts of machines are given for this long. */
const COUNTS_FRESH_MS = 1_000;

const Count = Type.Integer({ minimum: 0 });

type AskingBus = Pick<Bus, 'node' | 'requestOf' | 'address'>;

/** By node, in their order; undefined of one that did not answer, or not in these words. Never rejects. */
async function askEvery<Schema extends TSchema>(
  bus: AskingBus,
  nodes: readonly string[],
  service: string,
  body: BusBody,
  schema: Schema,
): Promise<Map<string, Static<Schema> | undefined>> {
  const from = bus.address(service);
  const asked = nodes.slice(0, NODES_MAX).map(async (node) => {
    const answer: unknown = await bus.requestOf(node, service, from, body, ANSWER_MS).catch(() => undefined);
    return [node, Value.Check(schema, answer) ? answer : undefined] as const;
  });
  return new Map(await Promise.all(asked));
}

const Id = Type.String({ minLength: 1, maxLength: 256 });
const OrganisationIds = Type.Array(Id, { maxItems: ORGANISATIONS_MAX });

const ListRequest = Type.Object({
  type: Type.Literal('sessions.list'),
  /** How its id begins. */
  id: Type.Optional(Id),
  /** Part of the slug that was requested, or of the one that hears it now. */
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

const Counted = Type.Object({
  type: Type.Literal('machines.counted'),
  process: Type.String({ maxLength: 64 }),
  states: Type.Record(Type.String({ maxLength: 256 }), Type.Integer({ minimum: 0 })),
});
type Counted = Static<typeof Counted>;

export interface MachineCounterOptions {
  bus: AskingBus & Pick<Bus, 'serve'>;
  /** All nodes that are known, this one maybe among them. */
  nodes(): string[];
  nowMs(): number;
}

/** How many actors of each machine are in each state now. */
export class MachineCounter {
  readonly #options: MachineCounterOptions;
  readonly #detach: Detach;
  #latest: { atMs: number; counts: Promise<MachinesView> } | undefined;

  constructor(options: MachineCounterOptions) {
    this.#options = options;
    this.#detach = options.bus.serve(
      COUNT_MACHINES,
      (): Counted => ({ type: 'machines.counted', process: PROCESS_ID, states: countsOfProcess() }),
    );
  }

  /** Never rejects. */
  count(): Promise<MachinesView> {
    const nowMs = this.#options.nowMs();
    if (this.#latest === undefined || nowMs - this.#latest.atMs >= COUNTS_FRESH_MS)
      this.#latest = { atMs: nowMs, counts: this.#ask(new Date(nowMs).toISOString()) };
    return this.#latest.counts;
  }

  close(): void {
    this.#detach();
  }

  async #ask(at: string): Promise<MachinesView> {
    const { bus, nodes } = this.#options;
    const asked = [...new Set([bus.node, ...nodes()])];
    const answers = await askEvery(bus, asked, COUNT_MACHINES, { type: 'machines.count' }, Counted);
    const counts: MachinesView = { at, nodes: [], silent: [], states: {} };
    const processes = new Set<string>();
    for (const [node, answer] of answers) {
      counts[answer === undefined ? 'silent' : 'nodes'].push(node);
      if (answer === undefined || processes.has(answer.process)) continue;
      processes.add(answer.process);
      for (const [state, count] of Object.entries(answer.states))
        counts.states[state] = (counts.states[state] ?? 0) + count;
    }
    return counts;
  }
}

const Counts = Type.Array(Count, { maxItems: 32 });
const WindowName = Type.Union([Type.Literal('hour'), Type.Literal('day')]);
const HistoryRequest = Type.Object({ type: Type.Literal('history.read'), window: WindowName });
const Remembered = Type.Object({
  type: Type.Literal('history.remembered'),
  slots: Type.Array(
    Type.Object({
      atMs: Type.Integer(),
      sessions: Count,
      models: Type.Array(
        Type.Object({
          model: Type.String({ maxLength: 256 }),
          attempts: Count,
          failures: Count,
          failovers: Count,
          underWay: Count,
          partial: Counts,
          final: Counts,
          file: Counts,
        }),
        { maxItems: 64 },
      ),
    }),
    { maxItems: 512 },
  ),
});
type Remembered = Static<typeof Remembered>;

export function serveHistory(bus: Pick<Bus, 'serve'>, history: Pick<MetricsHistory, 'slots'>): Detach {
  return bus.serve(READ_HISTORY, async (body): Promise<Remembered> => {
    const slots = Value.Check(HistoryRequest, body) ? await history.slots(body.window) : [];
    return {
      type: 'history.remembered',
      slots: slots.map(({ atMs, sessions, models }) => ({
        atMs,
        sessions,
        models: [...models].map(([model, figures]) => ({ model, ...figures })),
      })),
    };
  });
}

/** By node; undefined of one that did not answer. Never rejects. */
export async function readHistories(
  bus: AskingBus,
  nodes: readonly string[],
  window: Window,
): Promise<Map<string, Slot[] | undefined>> {
  const answers = await askEvery(bus, nodes, READ_HISTORY, { type: 'history.read', window } as BusBody, Remembered);
  return new Map([...answers].map(([node, answer]) => [node, answer?.slots.map(slotOf)] as const));
}

const slotOf = ({ models, ...slot }: Remembered['slots'][number]): Slot => ({
  ...slot,
  models: new Map(models.map(({ model, ...figures }) => [model, figures])),
});
