// deploy/README.md: the names it gives are those of the program.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commands } from '../../src/cli/index.ts';
import { configReference } from '../../src/config/reference.ts';
import { startLiveGateway } from '../fakes/live-gateway.ts';
import { deployFile } from './proxy-rig.ts';

const guide = deployFile('README.md');
const files = [
  'nginx.conf',
  'Caddyfile',
  'voxgate.service',
  'environment',
  'Containerfile',
  'nats/nats-server.conf',
  'alerts.yml',
];
const everything = [guide, ...files.map(deployFile)].join('\n');
const named = (pattern: RegExp, text = guide) => [
  ...new Set([...text.matchAll(pattern)].map((match) => match[1] as string)),
];

test('every file beside it is told of', () => {
  expect(named(/\]\(([^)#:]+)\)/g).sort()).toEqual([...files].sort());
});

test('the package that README.md installs is the one that is packed', () => {
  const root = join(import.meta.dirname, '../..');
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const packed = named(/\b(voxgate-[\d.]+\.tgz)/g, readFileSync(join(root, 'README.md'), 'utf8'));
  expect(packed).toEqual([`${name}-${version}.tgz`]);
});

test('every setting in the guide and in the files beside it exists', () => {
  const reference = configReference();
  const unknown = named(/\b(VOXGATE_[A-Z_]+)\b/g, everything).filter((name) => !reference.includes(`\`${name}\``));
  expect(unknown).toEqual([]);
});

test('every metric that the guide explains exists', async () => {
  const live = await startLiveGateway();
  const metrics = await (await live.request('/metrics')).text();
  const names = named(/\b((?:voxgate|process|nodejs)_[a-z0-9_]+)\b/g);
  expect(names.length).toBeGreaterThan(3);
  // Those of NATS are in alerts.yml as well, whose test has a server.
  const alerts = deployFile('alerts.yml');
  expect(names.filter((name) => !metrics.includes(`# TYPE ${name} `) && !alerts.includes(name))).toEqual([]);
});

test('every command exists, and so does every folder of tests', () => {
  const known = commands.map(({ name }) => name);
  expect(named(/\bsudo voxgate ([a-z]+) /g).filter((name) => !known.includes(name))).toEqual([]);
  expect(named(/`(test\/\w+)`/g).filter((path) => !existsSync(join(import.meta.dirname, '../..', path)))).toEqual([]);
});
