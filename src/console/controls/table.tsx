// Lists: tables, and the way from page to page of a long one.
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { SCROLLING } from './page.tsx';

interface Column<Row> {
  title: string;
  /** Right-aligned, with figures of one width. */
  isNumber?: boolean;
  cell(row: Row): ComponentChildren;
}

interface TableProps<Row> {
  /** What the table lists, for screen readers. */
  caption: string;
  rows: readonly Row[];
  idOf(row: Row): string;
  columns: readonly Column<Row>[];
  /** In place of a table without rows: what would be here, and how it gets here. */
  empty: ComponentChildren;
}

/** Where there is no room for columns, a row becomes a card, and each cell has the title of its column before it. */
export function Table<Row>({ caption, rows, idOf, columns, empty }: TableProps<Row>) {
  if (rows.length === 0) return <div class="table empty">{empty}</div>;
  return (
    <section class="table" aria-label={caption} {...SCROLLING}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th scope="col" class={isNumber ? 'number' : ''}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={idOf(row)}>
              {columns.map(({ title, cell, isNumber }) => (
                <td data-title={title} class={isNumber ? 'number' : ''}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface PagerProps<Cursor> {
  /** The entry after which the page begins; undefined begins with the newest. */
  before: Signal<Cursor | undefined>;
  /** The last entry of this page. */
  last: Cursor | undefined;
  hasMore: boolean;
}

/** For a list with the newest entries first. */
export function Pager<Cursor>({ before, last, hasMore }: PagerProps<Cursor>) {
  const go = (to: Cursor | undefined) => {
    before.value = to;
  };
  return (
    <div class="row">
      {before.value === undefined ? null : (
        <button type="button" onClick={() => go(undefined)}>
          Newest
        </button>
      )}
      {hasMore ? (
        <button type="button" onClick={() => go(last)}>
          Older
        </button>
      ) : null}
    </div>
  );
}
