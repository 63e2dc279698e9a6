import type { TableContext } from '../../../store/table-context.ts';

const DAY_MS = 86_400_000;

/** Sign-ups of a group of addresses in the last 24 hours. */
export function createSignUpCount({ database, nowMs }: TableContext) {
  const prune = database.prepare<[number]>('DELETE FROM sign_ups WHERE at_ms <= ?');
  const count = database.prepare<[string], number>('SELECT count(*) FROM sign_ups WHERE client = ?').pluck();
  const insert = database.prepare<[string, number]>('INSERT INTO sign_ups (client, at_ms) VALUES (?, ?)');
  return {
    take(clientGroup: string, max: number): boolean {
      prune.run(nowMs() - DAY_MS);
      if (count.get(clientGroup)! >= max) return false;
      insert.run(clientGroup, nowMs());
      return true;
    },
  };
}
