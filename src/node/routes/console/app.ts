// The console's page and the files that it loads. The page is the same at each of its paths; what it shows there is its own
// business. At `/` a terminal gets a few lines instead.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { isPrivateRequest, type Reach } from '../../../accounts/console-login/reach.ts';
import { page } from '../../../accounts/people/pages/forms.ts';
import type { ConsoleStatus, SetUp } from '../../../api/console/gateway.ts';
import { CONSOLE_PATHS } from '../../../api/console/pages.ts';
import { type ApiError, apiError, printable } from '../../../api/errors.ts';
import { STAY_WITH_TLS } from '../../../http/proxies.ts';
import { isForBrowser, json, type Route } from '../../../http/router.ts';
import type { Reply, ServerRequest, WholeReply } from '../../../http/server.ts';
import { escaped } from '../../../runtime/html.ts';
import { consoleFolder } from '../../../runtime/telemetry/worker-file.ts';
import { releaseVersion } from '../../../runtime/version.ts';
import { baseOf, type DocumentsDependencies } from '../documents.ts';

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
  const get = (path: string, handle: (request: ServerRequest, name: string) => Promise<Reply>): Route => ({
    method: 'GET',
    path,
    handle: ({ request, params }) => handle(request, params.name ?? ''),
  });
  const shown = (request: ServerRequest) => consolePage(request, files.get(PAGE), dependencies);
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

async function moved({ path, query }: ServerRequest): Promise<Reply> {
  const now = path.slice(FORMER.length) || '/';
  return { status: 308, headers: { Location: query === '' ? now : `${now}?${query}` } };
}

function status(request: ServerRequest, { isPrivate, isReady, setUp }: AppDependencies): Reply {
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

async function consolePage(
  request: ServerRequest,
  found: BuiltFile | undefined,
  { publicUrl, tls = false }: AppDependencies,
): Promise<Reply> {
  if (found === undefined) {
    throw apiError('not_found', 'This gateway was built without its console: run `npm run build`.');
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

async function file(request: ServerRequest, found: BuiltFile | undefined, caching: string): Promise<Reply> {
  if (found === undefined) throw apiError('not_found', 'The console has no such file. Load its page again.');
  return served(request, found, { 'Cache-Control': caching });
}

// The files of the console, as the build made them of src/console: read once, compressed when they are wanted first.
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  wav: 'audio/wav',
  woff2: 'font/woff2',
};

const compress = promisify(brotliCompress);
/** Of 11: beyond it the first reader would wait for a second. */
const QUALITY = { [constants.BROTLI_PARAM_QUALITY]: 7 };

export interface BuiltFile {
  bytes: Buffer;
  /** Made when it is wanted first, off the event loop; undefined for sound and fonts, which gain nothing. */
  compressed(): Promise<Buffer> | undefined;
  type: string;
  tag: string;
}

/** By their paths in the folder of the build; none where the console was not built. */
export function readFiles(): ReadonlyMap<string, BuiltFile> {
  const folder = consoleFolder();
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
  return new Map(names.filter((name) => /\.\w+$/.test(name)).map((name) => [name, read(new URL(name, folder))]));
}

/** @param own what the answer says beside what every file's does */
export async function served(
  { headers: asked }: ServerRequest,
  { bytes, compressed, type, tag }: BuiltFile,
  { Vary = '', ...own }: Record<string, string>,
): Promise<Reply> {
  const varies = Vary === '' ? 'Accept-Encoding' : `${Vary}, Accept-Encoding`;
  const headers = { ...own, ETag: tag, Vary: varies, 'Content-Type': type };
  if (asked.get('if-none-match') === tag) return { status: 304, headers };
  const takesBrotli = /(?:^|[\s,])br(?:[\s,;]|$)/.test(asked.get('accept-encoding') ?? '');
  const body = takesBrotli ? await compressed() : undefined;
  if (body === undefined) return { status: 200, headers, body: bytes };
  return { status: 200, headers: { ...headers, 'Content-Encoding': 'br' }, body };
}

function read(url: URL): BuiltFile {
  const bytes = readFileSync(url);
  const ending = url.pathname.slice(url.pathname.lastIndexOf('.') + 1);
  const type = TYPES[ending] ?? 'application/octet-stream';
  return {
    bytes,
    compressed: ['wav', 'woff2'].includes(ending) ? () => undefined : once(() => compress(bytes, { params: QUALITY })),
    type,
    tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
  };
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}

// `GET /` for curl and its like: a few lines of text.
export function terminalText(base: string, isReady: boolean): Reply {
  const body = `Voxgate ${releaseVersion()}, ${isReady ? 'ready' : 'draining'}

  files      POST ${base}/v1/audio/transcriptions
  live       ${base.replace(/^http/, 'ws')}/v1/listen
  models     ${base}/v1/models
  console    ${base}/ in a browser
  documents  ${base}/docs
             for programs /llms.txt, /openapi.json, /asyncapi.json
  health     /healthz, /readyz
`;
  return { status: 200, headers: { 'Content-Type': 'text/plain; charset=utf-8', Vary: 'Accept' }, body };
}

// The page that a browser gets at an address where nothing is. Programs get the refusal as JSON.
const PATH_SHOWN_MAX = 200;
const LINKS = '<p><a href="/">Console</a> · <a href="/docs">Documents</a></p>';

/** @param hasConsole whether this node serves people and clients */
export function notFoundPage({ path }: ServerRequest, { message }: ApiError, hasConsole: boolean): WholeReply {
  const shown = escaped(printable(path.slice(0, PATH_SHOWN_MAX)));
  const said = hasConsole ? `Nothing is at <code>${shown}</code> on this gateway.` : escaped(message);
  const reply = page(404, 'There is no such page', `<p>${said}</p>${hasConsole ? LINKS : ''}`, false);
  return { ...reply, headers: { ...reply.headers, Vary: 'Accept' } };
}
