// Lists of files and jobs, page by page: the newest first.

/** Of what a list shows at a time, whatever was asked for. */
export const PAGE_MAX = 100;

interface Listed {
  readonly id: string;
  readonly createdAt: Date;
}

export const newestFirst = (one: Listed, other: Listed): number =>
  other.createdAt.getTime() - one.createdAt.getTime() || (one.id < other.id ? 1 : -1);

/** Where something stands in its list; it sorts as its time does, which may stand for it. */
export const placeOf = ({ id, createdAt }: Listed): string => `${createdAt.toISOString()}_${id}`;

/**
 * @param all newest first
 * @param limit as it was asked for
 * @param before a place: what comes behind it is shown
 */
export function pageOf<Item extends Listed>(
  all: readonly Item[],
  limit: string | null,
  before?: string | null | undefined,
): { items: readonly Item[]; limit: number; last: Item | undefined } {
  const asked = Number(limit);
  const count = Number.isInteger(asked) && asked > 0 ? Math.min(asked, PAGE_MAX) : PAGE_MAX;
  const rest = before ? all.filter((item) => placeOf(item) < before) : all;
  const items = rest.slice(0, count);
  // The last of a page that others come behind.
  return { items, limit: count, last: rest.length > count ? items.at(-1) : undefined };
}
