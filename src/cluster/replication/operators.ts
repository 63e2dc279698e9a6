// What operators ask of one node that keeps the accounts, as their owner or as a standby: its state, to hand the accounts over, and what
// its database contains.
import type { ReplicaPosition } from '../../store/replica-position.ts';
import { type Bus, type BusBody, BusError, type Detach } from '../bus/bus.ts';
import { OPERATOR_REPLICA } from '../bus/subjects.ts';

/** `single`: the only node, without a log. `joining`: fetches a copy, or waits for NATS. */
export type KeeperRole = 'owner' | 'standby' | 'joining' | 'single';

export interface KeeperState extends Pick<ReplicaPosition, 'epoch'> {
  /** As its operator calls it. */
  id: string;
  role: KeeperRole;
  ledger: string | null;
  /** The last entry of the log that its database contains. */
  entry: number;
  /** Of the gateway. */
  version: string;
  /** Since that entry came, or since the log accepted it; null before the first one. */
  heardMsAgo: number | null;
  /** Whether no other node can own the accounts now. */
  isSure: boolean;
  /** Nodes that keep the accounts, by the settings of this one. */
  replicas: number;
}

/** Of each table the number of rows and a hash of them. */
export interface Content {
  entry: number;
  tables: Record<string, { rows: number; hash: string }>;
}

export interface Audited {
  ok: boolean;
  sessions: number;
  transfers: number;
  faults: readonly string[];
}

export interface Keeper {
  state(): KeeperState;
  /** Hands the accounts over to that node. Rejects with an Error of one sentence for the operator. */
  promote(id: string, incarnation: string): Promise<void>;
  /** What the database contained at that mark. Undefined when it is not known here within some seconds. */
  content(mark: string): Promise<Content | undefined>;
  audit(): Promise<Audited>;
}

type Question =
  | { want: 'state' | 'audit' }
  | { want: 'promote'; id: string; node: string }
  | { want: 'content'; mark: string };

interface Answer extends BusBody {
  type: 'operator.replica.answer';
  value?: unknown;
  /** A sentence for the operator. */
  refused?: string;
}

export function serveKeeper(bus: Pick<Bus, 'serve'>, keeper: Keeper, onFault: (error: unknown) => void): Detach {
  const answerTo = async (question: Partial<Record<string, unknown>>): Promise<unknown> => {
    const { want, id, node, mark } = question;
    if (want === 'state') return keeper.state();
    if (want === 'audit') return keeper.audit();
    if (want === 'content' && typeof mark === 'string') return (await keeper.content(mark)) ?? null;
    if (want === 'promote' && typeof id === 'string' && typeof node === 'string') {
      await keeper.promote(id, node);
      return null;
    }
    throw new Refused('This version of the gateway knows no such question.');
  };
  return bus.serve(OPERATOR_REPLICA, async (body): Promise<Answer> => {
    try {
      return { type: 'operator.replica.answer', value: await answerTo(body as unknown as Record<string, unknown>) };
    } catch (error) {
      if (!(error instanceof Refused)) onFault(error);
      const refused = error instanceof Refused ? error.message : 'The node could not do it: its log says why.';
      return { type: 'operator.replica.answer', refused };
    }
  });
}

/** What an operator asked for and does not get, in one sentence. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

const STATE_MS = 2_000;

export interface Keepers {
  /** Undefined when that node keeps no accounts, or does not answer. */
  state(node: string): Promise<KeeperState | undefined>;
  /** Each rejects with Refused or BusError. */
  promote(owner: string, to: { id: string; node: string }, timeoutMs: number): Promise<void>;
  content(node: string, mark: string, timeoutMs: number): Promise<Content | undefined>;
  audit(node: string, timeoutMs: number): Promise<Audited>;
}

/** Asks nodes, each by its incarnation. */
export function askKeepers(bus: Pick<Bus, 'address' | 'requestOf'>): Keepers {
  const ask = async (node: string, question: Question, timeoutMs: number): Promise<unknown> => {
    const body = { type: OPERATOR_REPLICA, ...question };
    const answer = (await bus.requestOf(node, OPERATOR_REPLICA, bus.address('operator'), body, timeoutMs)) as Answer;
    if (typeof answer.refused === 'string') throw new Refused(answer.refused);
    return answer.value;
  };
  return {
    state: (node) =>
      ask(node, { want: 'state' }, STATE_MS).then(
        (value) => value as KeeperState,
        (error: unknown) => {
          if (error instanceof BusError || error instanceof Refused) return undefined;
          throw error;
        },
      ),
    promote: async (owner, to, timeoutMs) => void (await ask(owner, { want: 'promote', ...to }, timeoutMs)),
    content: async (node, mark, timeoutMs) =>
      ((await ask(node, { want: 'content', mark }, timeoutMs)) as Content | null) ?? undefined,
    audit: async (node, timeoutMs) => (await ask(node, { want: 'audit' }, timeoutMs)) as Audited,
  };
}
