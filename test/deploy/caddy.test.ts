// deploy/Caddyfile in the real Caddy, before a real gateway.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePorts } from '../fakes/free-ports.ts';
import { hostileRequestSuite } from './hostile-requests.suite.ts';
import { proxySuite, timesSuite } from './proxy.suite.ts';
import {
  deployFile,
  HOST,
  ProxyProcess,
  proxyDirectory,
  type RunningProxy,
  reasonToSkip,
  substituted,
} from './proxy-rig.ts';
import { severalNodesSuite } from './several-nodes.suite.ts';

const file = deployFile('Caddyfile');
const CLOSE_DELAY = 'stream_close_delay 5h';

/** Whether this Caddy can keep live sessions over a reload: 2.7 or newer. */
function keepsStreams(): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(execFileSync('caddy', ['version'], { encoding: 'utf8' })) ?? [];
  return Number(major) > 2 || Number(minor) >= 7;
}

async function startCaddy(...ports: number[]): Promise<RunningProxy> {
  const { directory, certFile, keyFile, ca } = proxyDirectory();
  const [port = 0] = await freePorts(1);
  const accessLog = join(directory, 'access.log');
  const admin = `unix/${join(directory, 'admin.sock')}`;
  const site = substituted(file, [
    [`\n{$SITE:${HOST}} {`, `\n{$SITE:${HOST}} {\n\tbind 127.0.0.1\n\ttls ${certFile} ${keyFile}`],
    ['/var/log/caddy/voxgate.log', accessLog],
    ...(keepsStreams() ? [[`# ${CLOSE_DELAY}`, CLOSE_DELAY] as const] : []),
  ]);
  const config = join(directory, 'Caddyfile');
  writeFileSync(config, `{\n\tadmin ${admin}\n\tauto_https disable_redirects\n}\n${site}`);
  const env = {
    ...{ HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory },
    SITE: `https://${HOST}:${port}`,
    NODES: ports.map((each) => `127.0.0.1:${each}`).join(' '),
  };
  const which = ['--config', config, '--adapter', 'caddyfile'];
  const caddy = new ProxyProcess('caddy', ['run', ...which], env);
  await caddy.says(/serving initial configuration/);
  return {
    url: `https://${HOST}:${port}`,
    ca,
    // Answers when the new configuration serves.
    async reload() {
      const options = { env: { ...process.env, ...env }, stdio: 'pipe' } as const;
      execFileSync('caddy', ['reload', ...which, '--address', admin, '--force'], options);
    },
    async stop() {
      await caddy.end('SIGTERM');
      return readFileSync(accessLog, 'utf8');
    },
  };
}

const reason = reasonToSkip('caddy', 'version');
// Needs the program; the reason was printed above.
describe.skipIf(reason !== undefined)('Caddy', () => {
  proxySuite({ start: startCaddy, reloadKeepsSessions: reason === undefined && keepsStreams() });
  hostileRequestSuite(startCaddy, false);
  // It asks the nodes itself.
  severalNodesSuite({ start: startCaddy, mark: async () => {} });
});

test('has one node and the name of the guide unless variables say otherwise', () => {
  expect(file).toMatch(/^\{\$SITE:stt\.example\.com\} \{$/m);
  expect(file).toContain('reverse_proxy {$NODES:127.0.0.1:8080} {');
});

timesSuite(file, { idle: /keepalive (\d+)s/ });
