// A page of the documents as a whole: its frame is the console's, as the build made it of src/console/docs.html, and its menu has
// every page there is.
import { existsSync, readFileSync } from 'node:fs';
import { escaped } from '../../runtime/html.ts';
import { consoleFolder } from '../../runtime/telemetry/worker-file.ts';

/** A text and where it leads. */
export type Link = readonly [address: string, text: string];

/** Pages of one kind, under its name. */
export interface MenuGroup {
  title: string;
  links: readonly Link[];
}

/** Of a gateway that was built without its console: everything is there, and nothing has a style. */
const BARE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title></head>
<body>
{content}
<form role="search" action="/docs/search"><input type="search" name="q" aria-label="Search the docs" required maxlength="200"></form>
<nav aria-label="Documents">{menu}</nav>
</body>
</html>
`;

export function readFrame(): string {
  const file = new URL('docs.html', consoleFolder());
  return existsSync(file) ? readFileSync(file, 'utf8') : BARE;
}

/** Style, font and script are the console's own files; nothing comes from anywhere else. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `font-src 'self'`,
    `img-src 'self'`,
    `base-uri 'none'`,
    `form-action 'self'`,
    `frame-ancestors 'none'`,
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
};

interface PageParts {
  /** A text. */
  title: string;
  /** The address of the page. */
  current: string;
  menu: readonly MenuGroup[];
  /** HTML. */
  content: string;
}

export function page(frame: string, { title, current, menu, content }: PageParts): string {
  const parts: Readonly<Record<string, string>> = {
    title: escaped(title),
    menu: menu.map((group) => groupHtml(group, current)).join('\n'),
    content: `<main class="page" id="content">
<article class="article">
<h1>${escaped(title)}</h1>
${content}
</article>
${onThisPage(content)}
</main>`,
  };
  return frame.replaceAll(/\{(title|menu|content)\}/g, (_, name: string) => parts[name] as string);
}

const groupHtml = ({ title, links }: MenuGroup, current: string): string => `<section>
<h2>${escaped(title)}</h2>
<ul>
${links.map(([address, text]) => `<li><a href="${escaped(address)}"${address === current ? ' aria-current="page"' : ''}>${escaped(text)}</a></li>`).join('\n')}
</ul>
</section>`;

function onThisPage(content: string): string {
  const here = [...content.matchAll(/<h2 id="([^"]*)"><a [^>]*>(.*?)<\/a><\/h2>/g)];
  if (here.length < 2) return '';
  const items = here.map(([, id, text]) => `<li><a href="#${id}">${text}</a></li>`);
  return `<nav class="here" aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n${items.join('\n')}\n</ul>\n</nav>`;
}
