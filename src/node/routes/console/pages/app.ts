// The console's page and the files that it loads. The page is the same at each of its paths; what it shows there is its own
// business. At `/` a terminal gets a few lines instead.

import { isPrivateRequest, type Reach } from '../../../../accounts/console-login/reach.ts';
import type { ConsoleStatus, SetUp } from '../../../../api/console/gateway.ts';
import { CONSOLE_PATHS } from '../../../../api/console/pages.ts';
import { refuse } from '../../../../api/errors.ts';
import type { DoorRequest, Reply } from '../../../../http/door.ts';
import { isForBrowser } from '../../../../http/http/for-browser.ts';
import { STAY_WITH_TLS } from '../../../../http/http/stay-with-tls.ts';
import { json, type Route } from '../../../../http/router.ts';
import { releaseVersion } from '../../../../runtime/version.ts';
import { baseOf, type DocumentsDependencies } from '../../documents.ts';
import { type BuiltFile, readFiles, served } from './files.ts';
import { terminalText } from './terminal.ts';

export interface AppDependencies extends Pick<Reach, 'isPrivate'>, Pick<DocumentsDependencies, 'publicUrl' | 'tls'> {
  isReady(): boolean;
  setUp: SetUp;
}

const PAGE = 'index.html';
const ICON = /^assets\/icon-[\w-]+\.svg$/;
/** Where the pages were before they were at the root. */
const FORMER = '/console';

export function appRoutes(dependencies: AppDependencies): Route[] {
  const files = readFiles();
  const icon = [...files].find(([name]) => ICON.test(name))?.[1];
  const get = (path: string, handle: (request: DoorRequest, name: string) => Promise<Reply>): Route => ({
    method: 'GET',
    path,
    handle: ({ request, params }) => handle(request, params.name ?? ''),
  });
  const shown = (request: DoorRequest) => page(request, files.get(PAGE), dependencies);
  return [
    get('/console/api/status', async (request) => status(request, dependencies)),
    // Its name changes with what it holds.
    get('/console/assets/:name', (request, name) => file(request, files.get(`assets/${name}`), IMMUTABLE)),
    // Browsers ask for one here wherever they show a page.
    get('/favicon.ico', (request) => file(request, icon, 'public, max-age=86400')),
    get('/', async (request) =>
      isForBrowser(request) ? shown(request) : terminalText(baseOf(request, dependencies), dependencies.isReady()),
    ),
    ...CONSOLE_PATHS.filter((path) => path !== '/').map((path) => get(path, shown)),
    ...[FORMER, ...CONSOLE_PATHS.map((path) => FORMER + path)].map((path) => get(path, moved)),
  ];
}

const IMMUTABLE = 'public, max-age=31536000, immutable';

async function moved({ path, query }: DoorRequest): Promise<Reply> {
  const now = path.slice(FORMER.length) || '/';
  return { status: 308, headers: { Location: query === '' ? now : `${now}?${query}` } };
}

function status(request: DoorRequest, { isPrivate, isReady, setUp }: AppDependencies): Reply {
  const isOperator = isPrivateRequest({ isPrivate }, request);
  const answer: ConsoleStatus = {
    version: releaseVersion(),
    ready: isReady(),
    sign_up: setUp.mail !== 'nowhere',
    ...(isOperator && setUp.mail === 'outbox' ? { outbox: '/console/outbox' } : {}),
    ...(isOperator ? { set_up: setUp } : {}),
  };
  return json(200, answer);
}

async function page(
  request: DoorRequest,
  found: BuiltFile | undefined,
  { publicUrl, tls = false }: AppDependencies,
): Promise<Reply> {
  if (found === undefined) {
    throw refuse('not_found', 'This gateway was built without its console: run `npm run build`.');
  }
  const origin = new URL(baseOf(request, { publicUrl, tls })).origin.replace(/^http/, 'ws');
  const policy = [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `font-src 'self'`,
    `connect-src 'self' ${origin}`,
    `img-src 'self' data:`,
    `media-src 'self' blob:`,
    `base-uri 'none'`,
    `object-src 'none'`,
    `form-action 'self'`,
    `frame-ancestors 'none'`,
  ];
  return served(request, found, {
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': 'microphone=(self)',
    'X-Frame-Options': 'DENY',
    Vary: 'Accept',
    ...(tls ? STAY_WITH_TLS : {}),
  });
}

async function file(request: DoorRequest, found: BuiltFile | undefined, caching: string): Promise<Reply> {
  if (found === undefined) throw refuse('not_found', 'The console has no such file. Load its page again.');
  return served(request, found, { 'Cache-Control': caching });
}
