// `GET /`: the first page, for a browser; a few lines for a terminal. Beside it the scripts that the page loads: its own, and
// the client's, as they are compiled.
import { releaseVersion } from '../../../documents/version.ts';
import type { DoorRequest, Reply } from '../../door.ts';
import type { Route, RouteContext } from '../../router.ts';
import { isPrivateRequest, type Reach } from '../console/reach.ts';
import { baseOf, type DocumentsDependencies } from '../documents.ts';
import { homePage } from './page.ts';
import { readScripts, type Script } from './scripts.ts';
import type { SetUp } from './set-up.ts';

export interface HomeDependencies extends Pick<Reach, 'isPrivate'>, Pick<DocumentsDependencies, 'publicUrl' | 'tls'> {
  isReady(): boolean;
  setUp: SetUp;
}

export function homeRoutes(dependencies: HomeDependencies): Route[] {
  return [
    { method: 'GET', path: '/', handle: async ({ request }) => home(request, dependencies) },
    { method: 'GET', path: '/favicon.ico', handle: async () => ICON },
    ...[...readScripts()].map(([path, script]) => ({
      method: 'GET',
      path,
      handle: async ({ request }: RouteContext) => scriptReply(script, request),
    })),
  ];
}

/** The console's icon: browsers ask for one here wherever they show a page. */
const ICON: Reply = {
  status: 200,
  headers: { 'Content-Type': 'image/svg+xml', 'Cache-Control': 'public, max-age=86400' },
  body: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f766e"/><g fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"><path d="M7 14v4M12 10v12M17 6v20M22 12v8M26 15v2"/></g></svg>',
};

function scriptReply({ text, tag }: Script, { headers: asked }: DoorRequest): Reply {
  const headers = { ETag: tag, 'Cache-Control': 'no-cache', 'Content-Type': 'text/javascript; charset=utf-8' };
  return asked.get('if-none-match') === tag ? { status: 304, headers } : { status: 200, headers, body: text };
}

function home(request: DoorRequest, dependencies: HomeDependencies): Reply {
  const { isReady, setUp } = dependencies;
  const base = baseOf(request, dependencies);
  const reply = request.headers.get('accept')?.includes('text/html')
    ? homePage({ base, isReady: isReady(), setUp, isOperator: isPrivateRequest(dependencies, request) })
    : terminalText(base, isReady());
  return { ...reply, headers: { ...reply.headers, Vary: 'Accept' } };
}

/** For curl and its like. */
function terminalText(base: string, isReady: boolean): Reply {
  const body = `Voxgate ${releaseVersion()}, ${isReady ? 'ready' : 'draining'}

  files      POST ${base}/v1/audio/transcriptions
  live       ${base.replace(/^http/, 'ws')}/v1/listen
  models     ${base}/v1/models
  documents  ${base}/docs
             for programs /llms.txt, /openapi.json, /asyncapi.json
  health     /healthz, /readyz
`;
  return { status: 200, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body };
}
