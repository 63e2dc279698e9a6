// A place in the log at which all replicas of the accounts compare their contents.
import { type Operations, writes } from './operation.ts';
import type { TableBase } from './table-base.ts';

export interface ContentMarkCalls {
  /** Each replica keeps its content as of this call for a while, to be compared with the others under that id. */
  markContent(id: string): void;
}

export const CONTENT_MARK_OPERATIONS = {
  markContent: { ...writes(), since: 3 },
} as const satisfies Operations<ContentMarkCalls>;

export function createContentMark({ database, nowText }: TableBase): ContentMarkCalls {
  const mark = database.prepare<[string, string]>(
    `INSERT INTO content_mark (number, id, at) VALUES (1, ?, ?)
     ON CONFLICT (number) DO UPDATE SET id = excluded.id, at = excluded.at`,
  );
  return { markContent: (id) => void mark.run(id, nowText()) };
}
