// The store of a node that has no database: asks the node that has, by a way that is given to it. And the other end: what such a
// node may ask of the store, checked before it is done. How requests travel, and are sealed, is src/cluster.
import type { Answering, Ask, Asked, Naming } from '../../store/operation.ts';
import { StoreError } from '../../store/store-error.ts';
import { type AsynchronousCalls, CALL_NAMES, type CallName, kindOf, remoteCall, type Store } from './store.ts';

/** What the store's calls are requested as. */
export const STORE_GROUP = 'store';

/** A client waits for the lookup of its key; a write may have to wait for a disk. */
const READ_MS = 3_000;
const WRITE_MS = 10_000;

/**
 * The promises are the store's, with two differences: a call that is rejected as `unreachable` may have been applied, and news
 * (`onKeyRevoked`, `onSuspension`, `onOutbox`) never come this way: they are told on the bus, or concern only the node that has
 * the database. What only that node may do is rejected as `invalid`.
 */
export function createRemoteStore(ask: Ask): Store {
  const calls = CALL_NAMES.map((name) => [name, (...args: unknown[]) => askFor(ask, name, args)]);
  const noNews = () => () => {};
  return {
    ...(Object.fromEntries(calls) as AsynchronousCalls),
    onKeyRevoked: noNews,
    onSuspension: noNews,
    onOutbox: noNews,
    close: async () => {},
  };
}

async function askFor(ask: Ask, name: CallName, args: readonly unknown[]): Promise<unknown> {
  const organisationId = checked({ call: name, args });
  return ask(STORE_GROUP, organisationId, name, args, kindOf(name) === 'reads' ? READ_MS : WRITE_MS);
}

/** The other end: does what may be asked from afar, and nothing that names another organisation than the request. */
export function answerStoreCalls(store: AsynchronousCalls): Answering {
  return async ({ organisationId, call, args }) => {
    if (checked({ call, args }) !== organisationId) {
      throw new StoreError('invalid', `The call ${call} names another organisation than its request.`);
    }
    return Reflect.apply(store[call as CallName] as (...args: unknown[]) => Promise<unknown>, store, args);
  };
}

/**
 * Another node may own the accounts by the time that an owner which was paused answers: what it has only read may be old, and is not
 * answered. What it has written was agreed.
 */
export function whileOwner(answer: Answering, isOwner: () => boolean, isRead: (call: string) => boolean): Answering {
  return async (asked) => {
    const value = await answer(asked);
    if (isRead(asked.call) && !isOwner())
      throw new StoreError('unreachable', 'The node that kept the accounts was paused: ask again.');
    return value;
  };
}

function checked({ call, args }: Pick<Asked, 'call' | 'args'>): string | null {
  const row = remoteCall(call);
  if (row === undefined) {
    throw new StoreError('invalid', 'This call is made only on the node that has the database.');
  }
  if (!haveKinds(args, row.kinds)) throw new StoreError('invalid', `The call ${call} has other arguments.`);
  const organisationId = namedOrganisation(row.names, args);
  if (organisationId === undefined) throw new StoreError('invalid', `The call ${call} names no organisation.`);
  return organisationId;
}

// Checks the arguments of a call from a node without the database, and finds the organisation that they name.
/** Whether arguments are of the kinds that a call has: what is in objects and lists is for the tables to say. */
export function haveKinds(args: readonly unknown[], kinds: readonly string[]): boolean {
  return args.length <= kinds.length && kinds.every((kind, index) => isOfKind(args[index], kind));
}

function isOfKind(value: unknown, kind: string): boolean {
  if (kind.endsWith('?')) return value === undefined || isOfKind(value, kind.slice(0, -1));
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'bytes':
      return value instanceof Uint8Array;
    case 'number':
      return typeof value === 'number';
    case 'flag':
      return typeof value === 'boolean';
    case 'money':
      return typeof value === 'bigint';
    case 'list':
      return Array.isArray(value);
    default:
      return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
  }
}

/** The organisation that arguments name; null where they name none. Undefined where it should be named and is not. */
export function namedOrganisation(names: Naming, [about]: readonly unknown[]): string | null | undefined {
  if (names === 'none') return null;
  const id = names === 'first' ? about : (about as { organisationId?: unknown } | null | undefined)?.organisationId;
  return typeof id === 'string' && id !== '' ? id : undefined;
}
