// The tags of sessions and files in the database: one text for each that has some, apart from its row, which never changes. Runs in the
// caller's transaction.
import { type Tag, tagsText } from '../../api/tags.ts';
import type { TableContext } from '../../store/table-context.ts';
import type { SessionHead } from './calls.ts';

/** Where the value of a tag is in the text. */
export const tagPath = (key: string): string => `$."${key}"`;

/** What `TAGGED` is bound to. */
export interface TagBind {
  tagPath: string | null;
  tagValue: string | null;
}

/** Joins the tags of `sessions`. */
export const WITH_TAGS = 'LEFT JOIN session_tags ON session_tags.session = sessions.number';

/** Chooses the sessions with a tag. Without one it chooses all of them, and looks nothing up. */
export const TAGGED = `(@tagPath IS NULL OR EXISTS (
  SELECT 1 FROM session_tags WHERE session = sessions.number AND json_extract(tags, @tagPath) = @tagValue))`;

export const boundTag = (tag: Tag | undefined): TagBind =>
  tag === undefined ? { tagPath: null, tagValue: null } : { tagPath: tagPath(tag.key), tagValue: tag.value };

/** Keeps what a session says of its tags, if it says something. The fields of a file may come behind it, and its tags with its end. */
export function createSessionTags({ database }: Pick<TableContext, 'database'>) {
  const keep = database.prepare<[number, string]>(
    `INSERT INTO session_tags (session, tags) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET tags = excluded.tags WHERE tags <> excluded.tags`,
  );
  return (number: number, { tags }: Pick<SessionHead, 'tags'>): void => {
    if (tags === undefined) return;
    const text = tagsText(tags);
    if (text !== undefined) keep.run(number, text);
  };
}
