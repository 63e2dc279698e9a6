// A generated page of docs/reference: a title, the sentences before the tables, the tables.
import { table } from './table.ts';

export const COMMAND = 'npm run reference';

export type Block = string | { head: readonly string[]; rows: readonly (readonly string[])[] };

/** @param source what the page is made from, for whoever wants to change it */
export function page(title: string, source: string, blocks: readonly Block[]): string {
  const texts = blocks.map((block) => (typeof block === 'string' ? block.trim() : table(block.head, block.rows)));
  return `<!-- Made by \`${COMMAND}\` from ${source}. Do not edit by hand. -->\n${[`# ${title}`, ...texts].join('\n\n')}\n`;
}
