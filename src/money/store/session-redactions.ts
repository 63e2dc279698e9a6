// How often each class was redacted in a session or file: counts, never text. Written once, by the settlement that has them, in the caller's
// transaction. Most sessions have none.
import type { TableContext } from '../../store/table-context.ts';
import type { Redactions, SessionRecord } from './calls.ts';

/** Those of `sessions`, as `redactionsIn` reads them. */
export const REDACTIONS = `(SELECT json_group_object(class, count) FROM session_redactions
  WHERE session_redactions.session = sessions.number)`;

export const redactionsIn = (text: string | null): Pick<SessionRecord, 'redactions'> =>
  text === null || text === '{}' ? {} : { redactions: JSON.parse(text) as Redactions };

/** Keeps the counts of a session that has none yet. */
export function createSessionRedactions({ database }: Pick<TableContext, 'database'>) {
  const has = database.prepare<[number], number>('SELECT 1 FROM session_redactions WHERE session = ? LIMIT 1').pluck();
  const insert = database.prepare<[number, string, number]>(
    'INSERT INTO session_redactions (session, class, count) VALUES (?, ?, ?)',
  );
  return (session: number, redactions: Redactions): void => {
    if (has.get(session) !== undefined) return;
    for (const [name, count] of Object.entries(redactions)) insert.run(session, name, count);
  };
}
