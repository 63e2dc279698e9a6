// The documents of the project, which are Markdown in its folder docs: read when the documents are made, and served as HTML, as Markdown
// and as `/llms.txt`.
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';
import { escaped, table } from '../../runtime/html.ts';
import { code } from './highlight.ts';

/** Compiled files lie one folder deeper, and so does what they are built with. */
const FOLDER = new URL('../../../docs/', import.meta.url);
const INDEX = 'README.md';
const LOCAL_LINK = /\]\(([\w/-]+\.md)\)/g;

interface Guide {
  /** In the address: `guides/failover`; empty for the first page. */
  name: string;
  title: string;
  /** The heading of the first page under which it is linked; empty for the first page itself. */
  section: string;
  /** As it is written. */
  text: string;
  page(): MarkdownPage;
}

/** Those that the first page links to, in its order. */
export function readGuides(folder: URL = FOLDER): readonly Guide[] {
  const index = readFileSync(new URL(INDEX, folder), 'utf8');
  const sections = new Map([[INDEX, ''], ...linksBySection(index)]);
  const served = new Set(sections.keys());
  return [...sections].map(([file, section]) =>
    guideOf(file, section, file === INDEX ? index : readFileSync(new URL(file, folder), 'utf8'), served),
  );
}

function linksBySection(index: string): [file: string, section: string][] {
  return index.split(/^## /m).flatMap((part) => {
    const section = part.slice(0, part.indexOf('\n'));
    return [...part.matchAll(LOCAL_LINK)].map(([, file = '']): [string, string] => [file, section]);
  });
}

function guideOf(file: string, section: string, text: string, served: ReadonlySet<string>): Guide {
  let made: MarkdownPage | undefined;
  return {
    name: nameOf(file),
    title: /^# (.+)$/m.exec(text)?.[1] ?? file,
    section,
    text,
    page: () => {
      made ??= markdownPage(text, (href) => targetOf(href, file, served));
      return made;
    },
  };
}

const nameOf = (file: string): string => (file === INDEX ? '' : file.replace(/\.md$/, ''));
/** Of a file of the folder. */
const docsAddress = (file: string): string => `/docs/${nameOf(file)}`.replace(/\/$/, '');

function targetOf(href: string, from: string, served: ReadonlySet<string>): ReturnType<Links> {
  if (/^(?:https:\/\/|#)/.test(href)) return { address: href };
  const [path = '', ...anchor] = href.split('#');
  const file = posix.join('docs', posix.dirname(from), path);
  const own = posix.relative('docs', file);
  return served.has(own) ? { address: [docsAddress(own), ...anchor].join('#') } : { file };
}

interface MarkdownPage {
  /** Its first heading, which is not in the content. */
  title: string;
  /** HTML. */
  content: string;
}

/** Where a link leads: an address, or the path of a file that is not served, which is named then. */
type Links = (href: string) => { address: string } | { file: string };

/** Markdown as HTML, in the shapes of html.ts. HTML in it is escaped, and links lead where the caller says. */
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

/** Examples are written for a gateway on the reader's machine; they are shown for the one that serves them. */
const withBase = (text: string, base: string): string =>
  text.replaceAll('ws://127.0.0.1:8080', base.replace(/^http/, 'ws')).replaceAll('http://127.0.0.1:8080', base);

/** A document for programs: its Markdown as it is written. */
export const markdownFor = ({ text }: Pick<Guide, 'text'>, base: string): string => withBase(text, base);

/** As llmstxt.org has it: a title, a summary, and links by section, out of the first page. */
export function llmsText(guides: readonly Guide[], base: string): string {
  const [index] = guides;
  const [head = '', ...sections] = (index?.text ?? '').split(/^(?=## )/m);
  const [, summary = ''] = head.split('\n\n');
  const linked = sections
    .join('')
    .replaceAll(/\]\(([\w/-]+\.md)\)/g, (_, file: string) => `](${base}${docsAddress(file)}.md)`);
  return `# Voxgate

> ${summary.replaceAll('\n', ' ')}

## For programs

- [OpenAPI](${base}/openapi.json): the HTTP interface
- [AsyncAPI](${base}/asyncapi.json): the live interface

${withBase(linked, base)}`;
}
