// HTML for pages to read: every text is escaped here, and what a browser may do with a page is said here. Nothing comes from
// anywhere else.
import { createHash } from 'node:crypto';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as it may stand in HTML, between tags and in quoted attributes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}

const LINK = /\[([^\]]+)\]\(((?:\/|#|https:\/\/)[^)\s]*)\)/g;

/** A text with `code` and [links](/docs) as HTML; empty lines part paragraphs. */
export function prose(text: string): string {
  return text
    .split('\n\n')
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('\n');
}

/** The same without paragraphs. */
export function inline(text: string): string {
  return text
    .split('`')
    .map((piece, at) => (at % 2 === 1 ? `<code>${escaped(piece)}</code>` : linked(piece)))
    .join('');
}

const linked = (text: string): string => escaped(text).replaceAll(LINK, '<a href="$2">$1</a>');

/** Cells are HTML. Where there is no room for columns, a row becomes a card, and each cell has the name of its column before it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const names = head.map((cell) => cell.replaceAll(/<[^>]*>/g, ''));
  const line = (cells: readonly string[]) =>
    `<tr>${cells.map((cell, column) => `<td data-title="${names[column] ?? ''}">${cell}</td>`).join('')}</tr>`;
  const heads = head.map((cell) => `<th scope="col">${cell}</th>`).join('');
  return `<div class="table"><table>\n<thead><tr>${heads}</tr></thead>\n<tbody>\n${rows.map(line).join('\n')}\n</tbody>\n</table></div>`;
}

/** A heading that can be linked to. `id` and `title` are texts. */
export const heading = (level: 2 | 3 | 4, id: string, title: string): string =>
  `<h${level} id="${escaped(id)}"><a href="#${escaped(id)}">${inline(title)}</a></h${level}>`;

/** What a browser may do with a page beside showing it. Nothing of it when absent. */
interface Allowed {
  /** Where its forms may lead. */
  forms?: `'self'`;
}

/** What a browser may do with a page: show it, in its own style, and what else is allowed. */
export function pageHeaders(style: string, { forms }: Allowed = {}): Record<string, string> {
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = [
    `default-src 'none'`,
    `style-src 'sha256-${hash}'`,
    `img-src 'self'`,
    `base-uri 'none'`,
    `form-action ${forms ?? `'none'`}`,
    `frame-ancestors 'none'`,
  ];
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
  };
}

/**
 * A whole page: no script, no request to anywhere.
 *
 * @param title a text
 * @param body HTML in which all text from outside was passed through `escaped`
 */
export function htmlPage(title: string, style: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`;
}
