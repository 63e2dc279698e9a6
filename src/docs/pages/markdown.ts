// Pages in Markdown as HTML, in the shapes of html.ts. HTML within them is not taken over, and links lead where the caller says.
import { Marked, type Token, type Tokens } from 'marked';
import { escaped, table } from '../../runtime/html.ts';
import { code } from './highlight.ts';

export interface MarkdownPage {
  /** Its first heading, which is not in the content. */
  title: string;
  /** HTML. */
  content: string;
}

/** Where a link leads: an address, or the path of a file that is not served, which is named then. */
export type Links = (href: string) => { address: string } | { file: string };

export function markdownPage(text: string, links: Links): MarkdownPage {
  const marked = new Marked();
  const tokens = marked.lexer(text);
  const headings = tokens.filter((token): token is Tokens.Heading => token.type === 'heading');
  const titles = headings.map(({ tokens: inner }) => plainText(inner));
  const anchors = anchorsOf(titles);
  const ids = new Map(headings.map((token, at) => [token, anchors[at] as string]));
  const taken = new Set(anchors);
  marked.use({ renderer: rendererOf(ids, taken, links) });
  return { title: titles[0] ?? '', content: marked.parser(tokens.filter((token) => token !== headings[0])) };
}

/** The anchors of headings, as Git hosts make them: small letters, hyphens for spaces, a number behind what there is already. */
export function anchorsOf(titles: readonly string[]): string[] {
  const taken = new Set<string>();
  return titles.map((title) => {
    const plain = title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = plain;
    for (let number = 1; taken.has(anchor); number += 1) anchor = `${plain}-${number}`;
    taken.add(anchor);
    return anchor;
  });
}

export const plainText = (tokens: readonly Token[]): string =>
  tokens
    .map((token) => ('tokens' in token && token.tokens ? plainText(token.tokens) : 'text' in token ? token.text : ''))
    .join('');

type Renderer = NonNullable<NonNullable<Parameters<Marked['use']>[0]>['renderer']>;

function rendererOf(ids: ReadonlyMap<Tokens.Heading, string>, taken: Set<string>, links: Links): Renderer {
  return {
    heading(token) {
      const id = escaped(ids.get(token) ?? '');
      return `<h${token.depth} id="${id}"><a href="#${id}">${this.parser.parseInline(token.tokens)}</a></h${token.depth}>\n`;
    },
    code: ({ text, lang = '' }) => `${code(withPlaceholders(text), lang)}\n`,
    table({ header, rows }) {
      const head = header.map(({ tokens }) => this.parser.parseInline(tokens));
      const body = rows.map((row) => row.map(({ tokens }) => this.parser.parseInline(tokens)));
      return `${table(
        head,
        body.map(([first = '', ...rest]) => [anchored(first, taken), ...rest]),
      )}\n`;
    },
    link({ href, tokens }) {
      const target = links(href);
      const inner = this.parser.parseInline(tokens);
      if ('address' in target) return `<a href="${escaped(target.address)}">${inner}</a>`;
      const file = `<code>${escaped(target.file)}</code>`;
      return target.file.endsWith(plainText(tokens)) ? file : `${inner} (${file})`;
    },
    image: ({ text }) => escaped(text),
    html: ({ text }) => (/^\s*<!--[\s\S]*-->\s*$/.test(text) ? '' : escaped(text)),
  };
}

/** A row that begins with a name can be linked to by it. */
function anchored(cell: string, taken: Set<string>): string {
  const [, name] = /^<code>([^<>]+)<\/code>$/.exec(cell) ?? [];
  if (name === undefined || taken.has(name)) return cell;
  taken.add(name);
  return `<code id="${name}">${name}</code>`;
}

/** Examples are written for a gateway on the reader's machine; they are shown for the one that serves them. */
const withPlaceholders = (text: string): string =>
  text.replaceAll('http://127.0.0.1:8080', '{base}').replaceAll('ws://127.0.0.1:8080', '{socket}');
