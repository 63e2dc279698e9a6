// The scripts that browsers are given: what the build made of this folder's page script and of the client.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { builtFolder, workerFile } from '../../../telemetry/worker-file.ts';

export interface Script {
  text: string;
  tag: string;
}

/** By their paths: `/first-page/page-script.js`, `/client/live/live-session.js`. */
export function readScripts(): ReadonlyMap<string, Script> {
  const own = workerFile(import.meta.url, 'page-script');
  const client = builtFolder('client');
  const names = readdirSync(client, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  return new Map([
    ['/first-page/page-script.js', read(own)],
    ...names.map((name) => [`/client/${name.replaceAll('\\', '/')}`, read(new URL(name, client))] as const),
  ]);
}

function read(file: URL): Script {
  // Where the source is, is nothing for browsers.
  const text = readFileSync(file, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
  return { text, tag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
}
