import type { ComponentChildren } from 'preact';
import { SCROLLING } from './scrolling.ts';

export interface Column<Row> {
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
