// The store as an operator's command has it, which asks the node that owns the accounts. Each call that writes has an id, so that it is
// repeated without harm when the owner changes; what is drawn for it is drawn here. And the other end, on the owner.
import { setTimeout as pause } from 'node:timers/promises';
import { isRecord } from '../../runtime/plain-data.ts';
import { uuidv7 } from '../../runtime/uuid.ts';
import type { Answering, Ask } from '../../store/operation.ts';
import type { OperatorCall } from '../../store/operator-calls.ts';
import { StoreError } from '../../store/store-error.ts';
import { drawFor } from './draw.ts';
import { mayOperate } from './operate.ts';
import { STORE_GROUP } from './remote-store.ts';
import { type AsynchronousCalls, CALL_NAMES, type CallName, isCallName, kindOf, type Store } from './store.ts';

const READ_MS = 10_000;
const WRITE_MS = 10_000;
const AGAIN_MS = 250;
/** Longer than replicas take until one of them owns the accounts. */
export const OWNER_WAIT_MS = 20_000;

export interface OperatorStoreOptions {
  ask: Ask;
  /** How long a call is repeated while no owner answers. */
  waitMs?: number;
}

/**
 * A call is answered once the owner has written it. Rejects with the StoreError of the owner; with `unreachable` and a sentence for
 * the operator when no owner answered in time, which says whether the change may have been made. What only the machine with the
 * database can do is rejected as `invalid`.
 */
export function createOperatorStore({ ask, waitMs = OWNER_WAIT_MS }: OperatorStoreOptions): Store {
  const make = (name: CallName) => {
    if (kindOf(name) === 'reads') return (...args: unknown[]) => read(name, args);
    if (name === 'markContent') return (...args: unknown[]) => read(name, args);
    if (mayOperate(name)) return (...args: unknown[]) => write(name, args);
    return async () => {
      throw new StoreError('invalid', 'This is done on the machine that has the database, and not over NATS.');
    };
  };
  const read = (name: CallName, args: readonly unknown[]) =>
    patiently(waitMs, () => ask(STORE_GROUP, null, name, args, READ_MS), noAnswer);
  const write = async (name: CallName, args: readonly unknown[]) => {
    const nowMs = Date.now();
    const { drawn, answered } = drawFor(name, nowMs);
    const call: OperatorCall = { id: uuidv7(nowMs), name, args, ...(drawn !== undefined && { drawn }) };
    return answered(await patiently(waitMs, () => ask(STORE_GROUP, null, 'operate', [call], WRITE_MS), notKnown));
  };
  const noNews = () => () => {};
  return {
    ...(Object.fromEntries(CALL_NAMES.map((name) => [name, make(name)])) as unknown as AsynchronousCalls),
    onKeyRevoked: noNews,
    onSuspension: noNews,
    onOutbox: noNews,
    close: async () => {},
  };
}

/** Repeats what no owner answered. `sentence`: for the operator, with whether some call may have reached an owner. */
async function patiently<Result>(
  waitMs: number,
  work: () => Promise<Result>,
  sentence: (isUnsent: boolean, seconds: number) => string,
): Promise<Result> {
  const untilMs = performance.now() + waitMs;
  for (let isUnsent = true; ; ) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreError) || error.reason !== 'unreachable') throw error;
      isUnsent &&= error.isUnsent;
      if (performance.now() + AGAIN_MS >= untilMs)
        throw new StoreError('unreachable', sentence(isUnsent, Math.round(waitMs / 1000)), { isUnsent });
    }
    await pause(AGAIN_MS);
  }
}

const noAnswer = (_: boolean, seconds: number): string =>
  `No node that owns the accounts answered within ${seconds} s: VOXGATE_SECRET has to be that of the nodes, and voxgate nodes shows which are there.`;

const notKnown = (isUnsent: boolean, seconds: number): string =>
  isUnsent
    ? `${noAnswer(true, seconds)} Nothing was changed.`
    : `The node that owns the accounts stopped answering, and no other one answered within ${seconds} s. The change may have been made: list what is there before you run the command again.`;

/** The calls of commands, on the owner. It is offered to operators alone: the service may be asked by no other NATS user. */
export function answerOperatorCalls(store: AsynchronousCalls): Answering {
  return async ({ call, args }) => {
    const mayBeMade = isCallName(call) && (kindOf(call) === 'reads' || call === 'markContent' || call === 'operate');
    if (!mayBeMade || (call === 'operate' && !isOperatorCall(args[0]))) {
      throw new StoreError('invalid', 'This is not a call of an operator’s command.');
    }
    return Reflect.apply(store[call] as (...values: unknown[]) => Promise<unknown>, store, args);
  };
}

function isOperatorCall(value: unknown): value is OperatorCall {
  if (!isRecord(value)) return false;
  const { id, name, args } = value;
  return (
    typeof id === 'string' && id.length === 36 && typeof name === 'string' && mayOperate(name) && Array.isArray(args)
  );
}
