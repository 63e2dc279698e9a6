// `GET /` for curl and its like: a few lines of text.

import type { Reply } from '../../../../http/door.ts';
import { releaseVersion } from '../../../../runtime/version.ts';

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
