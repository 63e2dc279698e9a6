// Calls of operators that may come twice: a command repeats its call when the node that owned the accounts was lost before it
// answered. The answer of each call is kept for a while under its id, so that a repetition changes nothing.
import { plainOfText, textOfPlain } from '../runtime/plain-data.ts';
import type { Drawn } from './entry.ts';
import { type Operations, writes } from './operation.ts';
import type { TableBase } from './table-base.ts';

/** Longer than a command repeats a call. */
const KEPT_MS = 3_600_000;

/** A call of the store as an operator's command makes it. */
export interface OperatorCall {
  /** Of this call; the same in each repetition. */
  id: string;
  name: string;
  args: readonly unknown[];
  /** What the command has drawn for the call: the text of a new key stays with it. */
  drawn?: Drawn | undefined;
}

export interface OperatorCalls {
  /**
   * Does the call, or gives the answer that it had under that id. A refused call is not remembered.
   *
   * @throws StoreError `invalid` for a call that writes nothing or is none, else what the call throws
   */
  operate(call: OperatorCall): unknown;
}

export const OPERATOR_OPERATIONS = {
  operate: { ...writes(), since: 3 },
} as const satisfies Operations<OperatorCalls>;

export interface OperatorAnswers {
  /** The answer of that call in a list; undefined when it is not known. */
  find(id: string): readonly [unknown] | undefined;
  /** In the commit of the call. */
  keep(id: string, answer: unknown): void;
}

export function createOperatorAnswers({ database, nowMs }: TableBase): OperatorAnswers {
  const find = database.prepare<[string], string>('SELECT answer FROM operator_calls WHERE id = ?').pluck();
  const keep = database.prepare<[string, number, string]>(
    'INSERT INTO operator_calls (id, at_ms, answer) VALUES (?, ?, ?)',
  );
  const forget = database.prepare<[number]>('DELETE FROM operator_calls WHERE at_ms < ?');
  return {
    find(id) {
      const text = find.get(id);
      return text === undefined ? undefined : [plainOfText(text)];
    },
    keep(id, answer) {
      forget.run(nowMs() - KEPT_MS);
      keep.run(id, nowMs(), textOfPlain(answer));
    },
  };
}
