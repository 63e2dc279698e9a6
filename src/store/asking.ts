// How a node without the database asks the one that has it. How requests travel, and are sealed, is src/cluster.

/**
 * Calls the node that keeps the accounts of an organisation (null when it is not known yet). Arguments and answer are plain data,
 * with big integers, bytes and undefined. Rejects with the StoreError or Refusal that the other side threw, else with a
 * StoreError; `unreachable` means that there was no answer.
 */
export type Ask = (
  group: string,
  organisationId: string | null,
  call: string,
  args: readonly unknown[],
  timeoutMs?: number,
) => Promise<unknown>;

/** What is asked for, at the node that answers. */
export interface Asked {
  organisationId: string | null;
  call: string;
  args: readonly unknown[];
}

/** Calls of one kind, at the node that answers. Rejects with StoreError or Refusal; anything else is a fault. */
export type Answering = (asked: Asked) => Promise<unknown>;
