// The console's page and the files that it loads, as the build made them of src/console. The page is the same at each of its
// paths; what it shows there is its own business.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { CONSOLE_PATHS } from '../../../../api/console/pages.ts';
import type { ConsoleStatus } from '../../../../api/console/status.ts';
import { refuse } from '../../../../api/errors.ts';
import { releaseVersion } from '../../../../documents/version.ts';
import { builtFolder } from '../../../../telemetry/worker-file.ts';
import type { DoorRequest, Reply } from '../../../door.ts';
import { STAY_WITH_TLS } from '../../../http/stay-with-tls.ts';
import { json, type Route, type RouteContext } from '../../../router.ts';
import { baseOf, type DocumentsDependencies } from '../../documents.ts';
import { isPrivateRequest, type Reach } from '../reach.ts';

export interface AppDependencies extends Pick<DocumentsDependencies, 'publicUrl'> {
  reach: Reach;
  canMail: boolean;
  hasOutbox: boolean;
}

const PAGE = 'index.html';
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

interface File {
  bytes: Buffer;
  /** Made when it is wanted first, off the event loop; undefined for sound and fonts, which gain nothing. */
  compressed(): Promise<Buffer> | undefined;
  type: string;
  tag: string;
}

export function appRoutes(dependencies: AppDependencies): Route[] {
  const files = readFiles();
  return [
    { method: 'GET', path: '/console/api/status', handle: async ({ request }) => status(request, dependencies) },
    {
      method: 'GET',
      path: '/console/assets/:name',
      handle: async ({ request, params }) => asset(request, files, params.name ?? ''),
    },
    ...CONSOLE_PATHS.map((path) => ({
      method: 'GET',
      path,
      handle: async ({ request }: RouteContext) => page(request, files, dependencies),
    })),
  ];
}

function status(request: DoorRequest, { canMail, hasOutbox, reach }: AppDependencies): Reply {
  const answer: ConsoleStatus = {
    version: releaseVersion(),
    sign_up: canMail,
    ...(hasOutbox && isPrivateRequest(reach, request) ? { outbox: '/console/outbox' } : {}),
  };
  return json(200, answer);
}

async function page(
  request: DoorRequest,
  files: ReadonlyMap<string, File>,
  dependencies: AppDependencies,
): Promise<Reply> {
  const file = files.get(PAGE);
  if (file === undefined) throw refuse('not_found', 'This gateway was built without its console: run `npm run build`.');
  const { reach, publicUrl } = dependencies;
  const origin = new URL(baseOf(request, { publicUrl, tls: reach.tls })).origin.replace(/^http/, 'ws');
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
  return served(request, file, {
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': 'microphone=(self)',
    'X-Frame-Options': 'DENY',
    ...(reach.tls ? STAY_WITH_TLS : {}),
  });
}

async function asset(request: DoorRequest, files: ReadonlyMap<string, File>, name: string): Promise<Reply> {
  const file = files.get(`assets/${name}`);
  if (file === undefined) throw refuse('not_found', 'The console has no such file. Load its page again.');
  // Its name changes with what it holds.
  return served(request, file, { 'Cache-Control': 'public, max-age=31536000, immutable' });
}

async function served(
  { headers: asked }: DoorRequest,
  { bytes, compressed, type, tag }: File,
  own: Record<string, string>,
): Promise<Reply> {
  const headers = { ...own, ETag: tag, Vary: 'Accept-Encoding', 'Content-Type': type };
  if (asked.get('if-none-match') === tag) return { status: 304, headers };
  const takesBrotli = /(?:^|[\s,])br(?:[\s,;]|$)/.test(asked.get('accept-encoding') ?? '');
  const body = takesBrotli ? await compressed() : undefined;
  if (body === undefined) return { status: 200, headers, body: bytes };
  return { status: 200, headers: { ...headers, 'Content-Encoding': 'br' }, body };
}

/** By their paths in the folder of the build; none where the console was not built. */
function readFiles(): ReadonlyMap<string, File> {
  const folder = builtFolder('console');
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
  return new Map(names.filter((name) => /\.\w+$/.test(name)).map((name) => [name, read(new URL(name, folder))]));
}

function read(url: URL): File {
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
