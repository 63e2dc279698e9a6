// A page of a list, as Gladia's clients ask for it: an offset and a limit, and addresses of the pages beside it.

import { type JobMeans, pageOf } from '../../compat/jobs.ts';
import { jsonAnswer } from '../../compat/request.ts';
import { countIn, type JsonObject } from '../../kit/json.ts';

/** @param all newest first */
export function listed<Item extends { readonly id: string; readonly createdAt: Date }>(
  path: string,
  all: readonly Item[],
  { query, url }: Pick<JobMeans, 'query' | 'url'>,
  summaryOf: (item: Item) => JsonObject,
) {
  const offset = countIn(Number(query.get('offset'))) ?? 0;
  const { items, limit, last } = pageOf(all.slice(offset), query.get('limit'));
  const at = (from: number) => url(`${path}?offset=${from}&limit=${limit}`);
  const next = last === undefined ? null : at(offset + items.length);
  return jsonAnswer({ first: at(0), current: at(offset), next, items: items.map(summaryOf) });
}
