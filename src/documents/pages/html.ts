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

/** Cells are HTML. Where there is no room for columns, each cell stands below the name of its own. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const names = head.map((cell) => cell.replaceAll(/<[^>]*>/g, ''));
  const line = (cells: readonly string[]) =>
    `<tr>${cells.map((cell, column) => `<td data-name="${names[column] ?? ''}">${cell}</td>`).join('')}</tr>`;
  const heads = head.map((cell) => `<th scope="col">${cell}</th>`).join('');
  return `<div class="wide"><table>\n<thead><tr>${heads}</tr></thead>\n<tbody>\n${rows.map(line).join('\n')}\n</tbody>\n</table></div>`;
}

export const code = (text: string): string => `<pre><code>${escaped(text)}</code></pre>`;

/** A heading that can be linked to. `id` and `title` are texts. */
export const heading = (level: 2 | 3 | 4, id: string, title: string): string =>
  `<h${level} id="${escaped(id)}"><a href="#${escaped(id)}">${inline(title)}</a></h${level}>`;

export const STYLE = `
:root { color-scheme: light dark; --text: #1c1c1e; --page: #fff; --line: #d1d1d6; --quiet: #f2f2f7; --link: #0a58ca; }
@media (prefers-color-scheme: dark) { :root { --text: #f2f2f7; --page: #1c1c1e; --line: #48484a; --quiet: #2c2c2e; --link: #8ab4f8; } }
* { box-sizing: border-box; }
body { font: 1rem/1.55 system-ui, sans-serif; color: var(--text); background: var(--page); max-width: 80rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; overflow-wrap: break-word; }
a { color: var(--link); }
nav { border-bottom: 1px solid var(--line); padding-bottom: .6rem; }
nav a { display: inline-block; padding: .3rem .8rem .3rem 0; }
nav a[aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
h1 { font-size: 1.7rem; } h2 { margin-top: 2.6rem; } h3 { margin-top: 2rem; } h4 { margin-bottom: .3rem; }
h2 a, h3 a, h4 a { color: inherit; text-decoration: none; } h2 a:hover, h3 a:hover, h4 a:hover { text-decoration: underline; }
code { font: .9em/1.5 ui-monospace, monospace; background: var(--quiet); padding: .1em .25em; border-radius: .2rem; }
pre { background: var(--quiet); padding: .8rem 1rem; border-radius: .4rem; overflow-x: auto; } pre code { padding: 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
td:first-child { min-width: 11rem; } td:nth-child(2) { min-width: 6rem; } th { overflow-wrap: break-word; }
.search { display: flex; gap: .4rem; max-width: 24rem; margin: .6rem 0; } .search input { flex: 1; min-width: 0; } .search input, .search button { font: inherit; padding: .3rem .6rem; }
aside nav { border: 0; } aside nav a { display: block; padding: .2rem 0; } .found li { margin-bottom: .8rem; }
@media (min-width: 64rem) {
  .columns { display: grid; grid-template-columns: 14rem minmax(0, 1fr); gap: 2.5rem; }
  aside { position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); overflow-y: auto; font-size: .92rem; padding-top: 1.6rem; }
}
@media (max-width: 64rem) {
  .columns { display: flex; flex-direction: column; } main { min-width: 0; } aside { display: contents; } aside nav { order: -1; }
  aside nav[aria-label="Further pages"] { order: 1; border-top: 1px solid var(--line); margin-top: 2rem; }
}
@media (max-width: 48rem) {
  td:first-child, td:nth-child(2) { min-width: 0; }
  table, tbody, tr, td { display: block; } thead { display: none; }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--line); } td { border: 0; padding: .1rem 0; } td:empty { display: none; }
  td::before { content: attr(data-name); display: block; font-size: .8rem; opacity: .65; } td:first-child::before { display: none; }
}
`;

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
 * @param body HTML; whatever came from outside has gone through `escaped`
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

export const PAGE_HEADERS: Readonly<Record<string, string>> = pageHeaders(STYLE, { forms: `'self'` });

/** A text and where it leads. */
export type Link = readonly [address: string, text: string];

/** Where else to go from a page: from every page, and from those of its folder. */
export interface Navigation {
  always: readonly Link[];
  near: readonly Link[];
}

/**
 * @param title a text
 * @param current the address of the page
 * @param content HTML
 */
export function page(title: string, current: string, { always, near }: Navigation, content: string): string {
  const here = [...content.matchAll(/<h2 id="([^"]*)"><a [^>]*>(.*?)<\/a><\/h2>/g)];
  const menus = [
    ...(here.length < 2
      ? []
      : [
          menu(
            'On this page',
            here.map(([, id, text]) => `<a href="#${id}">${text}</a>`),
          ),
        ]),
    ...(near.length < 2 ? [] : [navigation('Further pages', near, current)]),
  ];
  const body = `${navigation('Documents', always, current)}
<form class="search" role="search" action="/docs/search"><input type="search" name="q" aria-label="Words to look for" required maxlength="200"><button>Search</button></form>
<div class="columns">
<aside>${menus.join('\n')}</aside>
<main>
<h1>${escaped(title)}</h1>
${content}
</main>
</div>`;
  return htmlPage(title, STYLE, body);
}

function navigation(label: string, links: readonly Link[], current: string): string {
  const each = links.map(
    ([address, text]) =>
      `<a href="${escaped(address)}"${address === current ? ' aria-current="page"' : ''}>${escaped(text)}</a>`,
  );
  return `<nav aria-label="${label}">${each.join('\n')}</nav>`;
}

/** Links under the name of what they are. */
const menu = (label: string, links: readonly string[]): string =>
  `<nav aria-label="${label}"><strong>${label}</strong>\n${links.join('\n')}</nav>`;
