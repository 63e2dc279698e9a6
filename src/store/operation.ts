// One operation of the store: how it is applied, and whether and how a node without the database may call it. Each group of
// operations is declared beside its shapes (as in accounts/keys/calls.ts); node/store/store.ts puts them together. The types make every group complete:
// a call without its operation does not compile, nor does one whose remote arguments differ.

/**
 * Calls that write share a commit with those that wait beside them.
 *
 * `notes`: writes data that may be lost when the power fails. It is committed without waiting for the disk. A hold is such a note: a
 * machine that lost power uses none of the money. `alone`: works outside any transaction, after all earlier calls were answered.
 */
export type CallKind = 'reads' | 'notes' | 'writes' | 'alone';

/** The kind of an argument, which is checked before the store sees it; with `?` it may be left out. */
type Kind<Argument> = Argument extends string
  ? 'text'
  : Argument extends Uint8Array
    ? 'bytes'
    : Argument extends number
      ? 'number'
      : Argument extends boolean
        ? 'flag'
        : Argument extends bigint
          ? 'money'
          : Argument extends readonly unknown[]
            ? 'list'
            : Argument extends object
              ? 'object'
              : never;

type Kinds<Arguments extends readonly unknown[]> = Readonly<{
  [Index in keyof Arguments]: Kind<Arguments[Index]> | `${Kind<Arguments[Index]>}?`;
}>;

/**
 * Where the arguments name the organisation, so that the call reaches the node that keeps its accounts. `first`: the first argument is
 * its id; `member`: the first argument has it as `organisationId`; `none`: the call is about a key known only by its hash, about
 * people, or about links whose organisation is not known yet.
 */
export type Naming = 'first' | 'member' | 'none';

/** A call from a node without the database. */
export interface RemoteCall<List extends readonly string[] = readonly string[]> {
  readonly names: Naming;
  readonly kinds: List;
}

/** What is drawn at random for each call of an operation before it is queued: the largest number of ids that it takes, and a key. */
export interface Draws {
  readonly ids: number;
  readonly key?: true;
}

/**
 * `since`: the version of the store (migrations.ts) that brought the operation; 1 when absent. With several replicas of the accounts it
 * is refused until all of them know it. What an operation does to the rows never changes after a release: a replica of the release
 * before applies the same entries. A new argument, or another effect, is a new operation.
 *
 * `local`: called only where the database is: all that an operator does, and all that concerns no single organisation. */
export interface Operation<Remote extends RemoteCall | 'local' = RemoteCall | 'local'> {
  readonly kind: CallKind;
  readonly remote: Remote;
  readonly draws?: Draws;
  readonly since?: number;
}

/** One operation for each call of a group. */
export type Operations<Calls> = {
  readonly [Name in keyof Calls]: Calls[Name] extends (...args: infer Arguments) => unknown
    ? Operation<RemoteCall<Kinds<Required<Arguments>>> | 'local'>
    : never;
};

interface Declare {
  (): Operation<'local'>;
  <const Remote extends RemoteCall>(remote: Remote): Operation<Remote>;
}
const operation = (kind: CallKind): Declare =>
  ((remote: RemoteCall | 'local' = 'local') => ({ kind, remote })) as Declare;

export const reads = operation('reads');
export const notes = operation('notes');
export const writes = operation('writes');
export const alone = operation('alone');

/** An operation that makes rows with ids or keys. */
export const drawing = <Remote extends RemoteCall | 'local'>(
  draws: Draws,
  operation: Operation<Remote>,
): Operation<Remote> => ({ ...operation, draws });

const naming =
  <const Names extends Naming>(names: Names) =>
  <const List extends readonly string[]>(...kinds: List) => ({ names, kinds });

export const first = naming('first');
export const member = naming('member');
export const none = naming('none');

/** The calls of a group from another thread. */
export type Asynchronous<Calls> = {
  readonly [Name in keyof Calls]: Calls[Name] extends (...args: infer Arguments) => infer Answer
    ? (...args: Arguments) => Promise<Answer>
    : never;
};

// How a node without the database asks the one that has it. How requests travel, and are sealed, is src/cluster.
/**
 * Calls the node that keeps the accounts of an organisation (null when it is not known yet). Arguments and answer are plain data,
 * with big integers, bytes and undefined. Rejects with the StoreError or ApiError that the other side threw, else with a
 * StoreError; `unreachable` means that there was no answer.
 */
export type Ask = (
  group: string,
  organisationId: string | null,
  call: string,
  args: readonly unknown[],
  timeoutMs?: number,
) => Promise<unknown>;

/** What is requested, at the node that answers. */
export interface Asked {
  organisationId: string | null;
  call: string;
  args: readonly unknown[];
}

/** Calls of one kind, at the node that answers. Rejects with StoreError or ApiError; anything else is a fault. */
export type Answering = (asked: Asked) => Promise<unknown>;
