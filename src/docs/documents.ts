// Everything that is served of the documents: two documents for programs, made from the code, and pages for people. Who may have
// them, and caches, are the edge's business.
import { createHash } from 'node:crypto';
import { escaped } from '../runtime/html.ts';
import type { Provider } from '../vendors/kit/provider.ts';
import { asyncapiDocument } from './asyncapi.ts';
import { openapiDocument } from './openapi.ts';
import { type MenuGroup, PAGE_HEADERS, page, readFrame } from './pages/frame.ts';
import { llmsText, markdownFor, readGuides } from './pages/guides.ts';
import { livePage, restPage } from './pages/reference.ts';
import { searchOf } from './pages/search.ts';

/** The pages that are made from the two documents, by their names in the address. */
const MADE = { rest: 'HTTP reference', live: 'Live reference' } as const;
/** Where they stand in the menu: before the pages that are linked under this heading. */
const MADE_SECTION = 'Reference';

/** Ready to be sent. */
export interface Served {
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface Documents {
  readonly openapi: Served;
  readonly asyncapi: Served;
  /** Of every page; the first one's is empty. */
  readonly names: readonly string[];
  /**
   * @param name as in the address: `rest`, `guides/failover`; with `.md` behind it as it is written
   * @param base where this gateway is, as the reader reached it: `https://stt.example.com`
   */
  page(name: string, base: string): Served | undefined;
  /** The page of what was found. */
  search(query: string, base: string): Served;
  /** What there is to read, for programs that read: `/llms.txt`. */
  llms(base: string): Served;
}

export function createDocuments({
  version,
  providers,
}: {
  version: string;
  providers: readonly Provider[];
}): Documents {
  const openapi = openapiDocument({ version, providers });
  const asyncapi = asyncapiDocument({ version, providers });
  const guides = readGuides();
  const made = { rest: () => restPage(openapi), live: () => livePage(asyncapi) };
  const pages = new Map<string, { title: string; content(): string }>([
    ...guides.map((guide) => [guide.name, { title: guide.title, content: () => guide.page().content }] as const),
    ...Object.entries(MADE).map(
      ([name, title]) => [name, { title, content: made[name as keyof typeof MADE] }] as const,
    ),
  ]);
  const menu: MenuGroup[] = [...new Set(guides.map(({ section }) => section))].map((section) => ({
    title: section || 'Start',
    links: [
      ...(section === MADE_SECTION
        ? Object.entries(MADE).map(([name, title]) => [addressOf(name), title] as const)
        : []),
      ...guides
        .filter((guide) => guide.section === section)
        .map(({ name, title }) => [addressOf(name), title] as const),
    ],
  }));
  const frame = readFrame();
  const htmlOf = (title: string, current: string, content: string) => page(frame, { title, current, menu, content });
  const search = searchOf([...pages].map(([name, found]) => ({ ...found, address: addressOf(name) })));
  return {
    search: (query, base) => served(withBase(htmlOf('Search', '/docs/search', search(query)), base), PAGE_HEADERS),
    llms: (base) => served(llmsText(guides, base), TEXT_HEADERS),
    openapi: served(JSON.stringify(openapi), JSON_HEADERS),
    asyncapi: served(JSON.stringify(asyncapi), JSON_HEADERS),
    names: [...pages.keys()],
    page(name, base) {
      const found = pages.get(name);
      if (found === undefined) {
        const guide = guides.find((each) => `${each.name}.md` === name);
        return guide && served(markdownFor(guide, base), MARKDOWN_HEADERS);
      }
      return served(withBase(htmlOf(found.title, addressOf(name), found.content()), base), PAGE_HEADERS);
    },
  };
}

const addressOf = (name: string): string => (name === '' ? '/docs' : `/docs/${name}`);

const TEXT_HEADERS = { 'Content-Type': 'text/plain; charset=utf-8' };
const MARKDOWN_HEADERS = { 'Content-Type': 'text/markdown; charset=utf-8' };
const JSON_HEADERS = { 'Content-Type': 'application/json; charset=utf-8' };

const served = (body: string, headers: Readonly<Record<string, string>>): Served => {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { headers: { ...headers, ETag: `"${hash}"` }, body };
};

/** Examples say where the reader's own gateway is. */
const withBase = (html: string, base: string): string =>
  html.replaceAll('{base}', () => escaped(base)).replaceAll('{socket}', () => escaped(base.replace(/^http/, 'ws')));
