// The report as a page of Markdown.
import { type Rows, textOf } from '../spread.ts';

/** Columns of a table: the figure's name and what a reader calls it. */
export type Columns = Readonly<Record<string, string>>;

export function tableOf(rows: Rows, columns: Columns): string {
  // Rows of another table of the section have none of these figures.
  const shown = Object.entries(rows).filter(([, figures]) => Object.keys(columns).some((name) => name in figures));
  return markdownTable(
    ['', ...Object.values(columns)],
    shown.map(([row, figures]) => [
      row,
      ...Object.keys(columns).map((name) => (figures[name] === undefined ? '–' : textOf(figures[name]))),
    ]),
  );
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The page with these parts: parts of the same heading are replaced, and all others stay. */
export function pageWith(page: string, introduction: string, parts: Readonly<Record<string, string>>): string {
  const [, ...published] = page.split(/^## /m);
  const all = new Map(
    published.map((part) => {
      const [title = ''] = part.split('\n', 1);
      return [title, part.slice(title.length).trim()];
    }),
  );
  for (const [title, part] of Object.entries(parts)) all.set(title, part);
  return `${[introduction, ...[...all].map(([title, part]) => `## ${title}\n\n${part}`)].join('\n\n')}\n`;
}
