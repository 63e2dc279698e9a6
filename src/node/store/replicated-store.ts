// The store of the replica that owns the accounts: what is written goes through the log, what is read comes from its own database.

import { sinceOfKey } from '../../accounts/keys/calls.ts';
import type { LogCall } from '../../cluster/replication/entry.ts';
import type { ReplicaStore } from '../../cluster/replication/replica-store.ts';
import type { HoldRequest, LedgerCalls, SessionEnd, SessionHead, UsageLine } from '../../money/store/calls.ts';
import {
  KEPT_HOLDS_SINCE,
  LEG_REASONS_SINCE,
  LEG_USAGE_SINCE,
  OWN_SPEND_SINCE,
  REDACTIONS_SINCE,
  STORE_VERSION,
  TAGS_SINCE,
} from '../../store/migrations.ts';
import type { OperatorCall } from '../../store/operator-calls.ts';
import { StoreError } from '../../store/store-error.ts';
import { sinceOfWebhook } from '../../webhooks/store/calls.ts';
import { drawFor } from './draw.ts';
import type { Answer } from './protocol.ts';
import type { SqliteStore } from './sqlite-store.ts';
import { type AsynchronousCalls, CALL_NAMES, type CallName, isCallName, kindOf, type Store, sinceOf } from './store.ts';

const CALLS_MAX = 1024;

/** Writes through the log: `Replica.propose`. */
export type Propose = (calls: readonly LogCall[], version: number) => Promise<Answer[]>;

/** Which operations may be used. */
export interface KnownVersions {
  /** The newest version of which every replica knows the operations. */
  commonVersion(): number;
  /** Replicas that do not know those of that version. */
  olderThan(version: number): readonly string[];
}

const ALL_KNOWN: KnownVersions = { commonVersion: () => STORE_VERSION, olderThan: () => [] };

/**
 * The promises are the store's, with two differences: a call that is rejected as `unreachable` may have been applied, and one that
 * reads may be answered before a write that is not answered yet.
 */
export function createReplicatedStore(
  database: SqliteStore,
  propose: Propose,
  versions: KnownVersions = ALL_KNOWN,
): Store & { readonly waitingCalls: number } {
  let waiting = 0;
  const write = async (name: CallName, given: readonly unknown[]): Promise<unknown> => {
    if (waiting >= CALLS_MAX) {
      throw new StoreError('overflow', `${CALLS_MAX} calls to the store are waiting already: try again in a moment.`);
    }
    const args = understood(name, given, versions.commonVersion());
    const version = name === 'operate' ? sinceOfOperated(args[0] as OperatorCall) : sinceOfCall(name, args);
    if (version > versions.commonVersion()) throw heldBack(name, versions.olderThan(version));
    const { drawn, answered } = drawFor(name, Date.now());
    waiting++;
    try {
      const [answer] = await propose([drawn === undefined ? { name, args } : { name, args, drawn }], version);
      return answered(answeredBy(answer));
    } finally {
      waiting--;
    }
  };
  const calls = CALL_NAMES.map((name) => [
    name,
    isLogged(name)
      ? (...args: unknown[]) => write(name, args)
      : (...args: unknown[]) => Reflect.apply(database[name] as (...args: unknown[]) => unknown, database, args),
  ]);
  return {
    ...(Object.fromEntries(calls) as AsynchronousCalls),
    onKeyRevoked: (listener) => database.onKeyRevoked(listener),
    onSuspension: (listener) => database.onSuspension(listener),
    onOutbox: (listener) => database.onOutbox(listener),
    close: () => database.close(),
    get waitingCalls() {
      return waiting + database.waitingCalls;
    },
  };
}

/** Of the call that an operator's command makes. */
const sinceOfOperated = ({ name, args }: OperatorCall): number =>
  Math.max(sinceOf('operate'), isCallName(name) ? sinceOfCall(name, args) : 1);

/** Replicas of versions that do not know a scope refuse a key with it, and so do those that do not know an event. */
const sinceOfCall = (name: CallName, args: readonly unknown[]): number =>
  Math.max(sinceOf(name), OF_SETTINGS[name]?.(args) ?? 1);

const OF_SETTINGS: Partial<Record<CallName, (args: readonly unknown[]) => number>> = {
  ...{ createKey: sinceOfKey, changeKey: sinceOfKey, setRedactionRule: sinceOfKey },
  setSpendCeilings: ([, ceilings]) => sinceOfKey([{ spendCeilings: ceilings }]),
  setGatewayCeilings: ([ceilings]) => sinceOfKey([{ spendCeilings: ceilings }]),
  ...{ createWebhook: sinceOfWebhook, changeWebhook: sinceOfWebhook },
};

const OF_RENEWALS: readonly CallName[] = ['renewHold', 'holdOwn'];
const OF_SESSIONS: readonly CallName[] = ['openSession', 'settleSession'];

/** Without what not every replica knows yet: a session is billed anyway. */
function understood(name: CallName, given: readonly unknown[], version: number): readonly unknown[] {
  const known = partsUnderstood(name, given, version);
  const args = version < OWN_SPEND_SINCE ? withoutOwnSpend(name, known) : known;
  if (version >= TAGS_SINCE || !OF_SESSIONS.includes(name)) return args;
  const [{ tags: _, ...head }, ...rest] = args as [SessionHead, ...unknown[]];
  return [head, ...rest];
}

function partsUnderstood(name: CallName, given: readonly unknown[], version: number): readonly unknown[] {
  if (name === 'settleSession' && version < LEG_REASONS_SINCE) return endUnderstood(given, version);
  if (version >= KEPT_HOLDS_SINCE || !OF_RENEWALS.includes(name)) return given;
  // All of the hold before is kept then.
  const [head, lines, { keptMicroUsdMax: _, ...hold }] = given as Parameters<LedgerCalls['renewHold']>;
  return [head, lines, hold];
}

/** Redactions are not counted then, and nothing, or only what is known, is added to the usage of legs. */
function endUnderstood([head, end]: readonly unknown[], version: number): readonly unknown[] {
  const { redactions, sentAgain, ...rest } = end as SessionEnd;
  const known: SessionEnd = rest;
  if (version >= REDACTIONS_SINCE && redactions !== undefined) known.redactions = redactions;
  if (version >= LEG_USAGE_SINCE && sentAgain !== undefined)
    known.sentAgain = sentAgain.filter(({ reason }) => reason === 'replayed' || reason === 'failed');
  return [head, known];
}

/** Usage of own provider keys is not counted under ceilings, and what is reached is not kept until it is delivered. */
function withoutOwnSpend(name: CallName, args: readonly unknown[]): readonly unknown[] {
  const uncounted = (lines: readonly UsageLine[]) => lines.map(({ counted: _, ...line }) => line);
  const unkept = ({ keepsReached: _, minuteMicroUsd: __, ...hold }: HoldRequest) => hold;
  if (name === 'openSession') {
    const [head, hold] = args as Parameters<LedgerCalls['openSession']>;
    return [head, unkept(hold)];
  }
  if (name === 'renewHold') {
    const [head, lines, hold] = args as Parameters<LedgerCalls['renewHold']>;
    return [head, uncounted(lines), unkept(hold)];
  }
  if (name !== 'settleSession') return args;
  const [head, end] = args as Parameters<LedgerCalls['settleSession']>;
  return [head, { ...end, lines: uncounted(end.lines) }];
}

function heldBack(name: CallName, older: readonly string[]): StoreError {
  const which = older.length === 0 ? 'The other replicas were not heard yet' : `Not yet upgraded: ${older.join(', ')}`;
  return new StoreError(
    'conflict',
    `Not every replica of the accounts knows ${name}. ${which}. Upgrade all of them, then try again.`,
    { isUnsent: true },
  );
}

const isLogged = (name: CallName): boolean => kindOf(name) === 'writes' || kindOf(name) === 'notes';

function answeredBy(answer: Answer | undefined): unknown {
  if (answer !== undefined && 'value' in answer) return answer.value;
  const { reason, message } = answer?.rejection ?? { reason: 'failed' as const, message: 'The log gave no answer.' };
  throw new StoreError(reason, message);
}

/** The database of a replica, as the replica uses it. */
export const replicaStoreOf = (database: Pick<SqliteStore, 'replica'>): ReplicaStore<Answer> => {
  const ask = <Value>(request: Parameters<SqliteStore['replica']>[0]) => database.replica(request) as Promise<Value>;
  return {
    position: () => ask({ ask: 'position' }),
    // As bytes: a copy of the calls would cost this thread more than the other one their parsing.
    apply: (_, bytes, at) => ask({ ask: 'apply', bytes, ...at }),
    moved: (number, sequence) => ask({ ask: 'moved', number, sequence }),
    kept: (afterNumber) => ask({ ask: 'kept', afterNumber }),
    hashAt: (number) => ask({ ask: 'hashAt', number }),
  };
};
