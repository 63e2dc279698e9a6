// deploy/nginx.conf in the real nginx, before a real gateway.
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

const file = deployFile('nginx.conf');

interface RunningNginx extends RunningProxy {
  /** Marks the node on that port as `down`, or not. */
  mark(port: number, isDown: boolean): Promise<void>;
}

async function startNginx(...ports: number[]): Promise<RunningNginx> {
  const { directory, certFile, keyFile, ca } = proxyDirectory();
  const [port = 0] = await freePorts(1);
  const accessLog = join(directory, 'access.log');
  const node = 'server 127.0.0.1:8080 max_fails=0;';
  const nodeAt = (each: number, mark = '') => node.replace('8080', `${each}`).replace(';', `${mark};`);
  const site = substituted(file, [
    [node, ports.map((each) => nodeAt(each)).join(' ')],
    ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
    ['listen [::]:443 ssl;', ''],
    [`/etc/letsencrypt/live/${HOST}/fullchain.pem`, certFile],
    [`/etc/letsencrypt/live/${HOST}/privkey.pem`, keyFile],
    ['/var/log/nginx/voxgate.log', accessLog],
  ]);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  // What is around the file is the operating system's: /etc/nginx/nginx.conf.
  const main = [
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'daemon off; pid nginx.pid; worker_processes 1; error_log stderr notice;',
    'events { worker_connections 256; }',
    `http { ${temporary.join(' ')} include site.conf; }`,
  ];
  writeFileSync(join(directory, 'site.conf'), site);
  writeFileSync(join(directory, 'nginx.conf'), main.join('\n'));
  const nginx = new ProxyProcess('nginx', ['-p', directory, '-c', 'nginx.conf', '-e', 'stderr']);
  await nginx.says(/start worker process \d/);
  const reload = async () => {
    const from = nginx.lines;
    nginx.child.kill('SIGHUP');
    await nginx.says(/gracefully shutting down/, from);
  };
  return {
    url: `https://${HOST}:${port}`,
    ...{ ca, reload },
    async mark(each, isDown) {
      writeFileSync(
        join(directory, 'site.conf'),
        isDown ? substituted(site, [[nodeAt(each), nodeAt(each, ' down')]]) : site,
      );
      await reload();
    },
    async stop() {
      await nginx.end('SIGQUIT');
      return readFileSync(accessLog, 'utf8');
    },
  };
}

const reason = reasonToSkip('nginx', '-v');
// Needs the program; the reason was printed above.
describe.skipIf(reason !== undefined)('nginx', () => {
  proxySuite({ start: startNginx, reloadKeepsSessions: true });
  hostileRequestSuite(startNginx, true);
  // It is told of a node that is not ready.
  severalNodesSuite({ start: startNginx, mark: (proxy, port, isReady) => proxy.mark(port, !isReady) });
});

timesSuite(file, {
  answer: /proxy_read_timeout (\d+)h;/,
  send: /proxy_send_timeout (\d+)h;/,
  idle: /keepalive_timeout (\d+)s;/,
});

test('keeps nginx from trusting, storing or logging what it should not', () => {
  expect(file).not.toMatch(/^[^#]*(\$request_uri|\$request\b|\$args|\$query_string|\$http_x_forwarded_for)/m);
  expect(file).toMatch(/^\s+proxy_request_buffering off;$/m);
  expect(file).toMatch(/^\s+proxy_buffering off;$/m);
});
