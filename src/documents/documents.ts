// Everything that is served of the documents, made once from the code: two documents for programs, and pages for people. Who may
// have them, and caches, are the edge's business.
import { createHash } from 'node:crypto';
import type { Provider } from '../providers/provider.ts';
import { asyncapiDocument } from './asyncapi.ts';
import { openapiDocument, operationsOf } from './openapi.ts';
import { escaped, PAGE_HEADERS, page } from './pages/html.ts';
import { indexPage } from './pages/index.ts';
import { livePage } from './pages/live.ts';
import { restPage } from './pages/rest.ts';
import { configurationPage, errorsPage, modelsPage } from './pages/tables.ts';

/** The pages below `/docs/`, by their names in the address. */
const TITLES = {
  rest: 'HTTP reference',
  live: 'Live reference',
  errors: 'Errors and close codes',
  models: 'Models',
  configuration: 'Configuration',
} as const;

type PageName = keyof typeof TITLES;
const FIRST = 'Voxgate';
export const PAGE_NAMES = Object.keys(TITLES) as PageName[];

/** Ready to be sent. */
export interface Served {
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface Documents {
  readonly openapi: Served;
  readonly asyncapi: Served;
  /**
   * @param name as in the address; empty for the first page
   * @param base where this gateway is, as the reader reached it: `https://stt.example.com`
   */
  page(name: string, base: string): Served | undefined;
}

export function createDocuments({
  version,
  providers,
}: {
  version: string;
  providers: readonly Provider[];
}): Documents {
  const openapi = openapiDocument({ version, providers, pages: PAGE_NAMES });
  const asyncapi = asyncapiDocument({ version, providers });
  const contents: Readonly<Record<string, { title: string; content: string }>> = {
    '': { title: FIRST, content: indexPage(version, TITLES) },
    rest: { title: TITLES.rest, content: restPage(openapi, operationsOf(PAGE_NAMES)) },
    live: { title: TITLES.live, content: livePage(asyncapi) },
    errors: { title: TITLES.errors, content: errorsPage() },
    models: { title: TITLES.models, content: modelsPage(providers) },
    configuration: { title: TITLES.configuration, content: configurationPage() },
  };
  const navigation = [['/docs', FIRST] as const, ...PAGE_NAMES.map((name) => [`/docs/${name}`, TITLES[name]] as const)];
  return {
    openapi: served(JSON.stringify(openapi), JSON_HEADERS),
    asyncapi: served(JSON.stringify(asyncapi), JSON_HEADERS),
    page(name, base) {
      const { title, content } = Object.hasOwn(contents, name) ? (contents[name] ?? {}) : {};
      if (title === undefined || content === undefined) return undefined;
      const html = page(title, navigation, name === '' ? '/docs' : `/docs/${name}`, content);
      return served(withBase(html, base), PAGE_HEADERS);
    },
  };
}

const JSON_HEADERS = { 'Content-Type': 'application/json; charset=utf-8' };

const served = (body: string, headers: Readonly<Record<string, string>>): Served => {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { headers: { ...headers, ETag: `"${hash}"` }, body };
};

/** Examples say where the reader's own gateway is. */
const withBase = (html: string, base: string): string =>
  html.replaceAll('{base}', () => escaped(base)).replaceAll('{socket}', () => escaped(base.replace(/^http/, 'ws')));
