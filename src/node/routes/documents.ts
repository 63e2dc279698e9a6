// `/openapi.json`, `/asyncapi.json` and `/docs`: for anyone, from anywhere. What they say is made in src/docs.
import { apiError, printable } from '../../api/errors.ts';
import { createDocuments, type Documents, type Served } from '../../docs/documents.ts';
import { parseQuery } from '../../http/query.ts';
import type { Route } from '../../http/router.ts';
import type { Reply, ServerRequest } from '../../http/server.ts';
import { releaseVersion } from '../../runtime/version.ts';
import type { Provider } from '../../vendors/kit/provider.ts';

export interface DocumentsDependencies {
  providers: ReadonlyMap<string, Provider>;
  /** Where clients reach this gateway, if that is configured; else the address that they requested is believed. */
  publicUrl?: string | undefined;
  /** Whether the server itself terminates TLS. No when absent. */
  tls?: boolean;
}

/** How long a client may cache a page before it revalidates. */
const CACHE_SECONDS = 300;
const HOST = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;
const HOST_UNKNOWN = '127.0.0.1:8080';

/** Made once: they are the same for every gateway of a process. */
const made = new WeakMap<DocumentsDependencies['providers'], Documents>();

function documentsOf(providers: DocumentsDependencies['providers']): Documents {
  const known = made.get(providers);
  if (known !== undefined) return known;
  const documents = createDocuments({ version: releaseVersion(), providers: [...providers.values()] });
  made.set(providers, documents);
  return documents;
}

export function documentRoutes(dependencies: DocumentsDependencies): Route[] {
  const documents = documentsOf(dependencies.providers);
  const page = (name: string, request: ServerRequest): Reply => {
    const found = documents.page(name, baseOf(request, dependencies));
    if (found === undefined) throw apiError('not_found', 'There is no such page. /docs lists those there are.');
    // It has the host that was requested: what one client made up is not shown to the next.
    return replyWith(found, request, 'private');
  };
  return [
    {
      method: 'GET',
      path: '/openapi.json',
      handle: async ({ request }) => replyWith(documents.openapi, request, 'public'),
    },
    {
      method: 'GET',
      path: '/asyncapi.json',
      handle: async ({ request }) => replyWith(documents.asyncapi, request, 'public'),
    },
    {
      method: 'GET',
      path: '/llms.txt',
      handle: async ({ request }) => replyWith(documents.llms(baseOf(request, dependencies)), request, 'private'),
    },
    {
      method: 'GET',
      path: '/docs/search',
      handle: async ({ request }) =>
        replyWith(documents.search(wordsOf(request), baseOf(request, dependencies)), request, 'private'),
    },
    { method: 'GET', path: '/docs', handle: async ({ request }) => page('', request) },
    { method: 'GET', path: '/docs/:page', handle: async ({ request, params }) => page(params.page ?? '', request) },
    {
      method: 'GET',
      path: '/docs/:folder/:page',
      handle: async ({ request, params }) => page(`${params.folder}/${params.page}`, request),
    },
  ];
}

const WORDS_LENGTH_MAX = 200;

function wordsOf({ query }: ServerRequest): string {
  const { q = '', ...others } = Object.fromEntries(parseQuery(query));
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw apiError(
      'invalid_request',
      `\`${printable(unknown)}\` is not a parameter of the search; \`q\` is the only one.`,
    );
  }
  if (q.length <= WORDS_LENGTH_MAX) return q;
  throw apiError('invalid_request', `\`q\` is a text of at most ${WORDS_LENGTH_MAX} characters.`, { param: 'q' });
}

function replyWith({ headers, body }: Served, request: ServerRequest, caches: 'public' | 'private'): Reply {
  const common = {
    ...headers,
    'Cache-Control': `${caches}, max-age=${CACHE_SECONDS}`,
    'Access-Control-Allow-Origin': '*',
  };
  const known = request.headers.get('if-none-match')?.split(',') ?? [];
  const isKnown = known.some((tag) => tag.trim().replace(/^W\//, '') === headers.ETag);
  return isKnown ? { status: 304, headers: common } : { status: 200, headers: common, body };
}

/** The address as the reader reached it, so that examples can be copied. */
export function baseOf(
  { headers }: Pick<ServerRequest, 'headers'>,
  { publicUrl, tls = false }: Pick<DocumentsDependencies, 'publicUrl' | 'tls'>,
): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '');
  const host = headers.get('host') ?? '';
  const scheme = tls ? 'https' : 'http';
  const isHost = HOST.test(host) && URL.canParse(`${scheme}://${host}`);
  return `${scheme}://${isHost ? host : HOST_UNKNOWN}`;
}
