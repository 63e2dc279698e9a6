// The alerts beside the guide: each is whole, and each metric, queue and error code in them is one that a running gateway shows.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ERROR_CATALOGUE } from '../../src/api/error-catalogue.ts';
import { REFUSAL_REASONS } from '../../src/bus/sealing/refusals.ts';
import { natsServerIsHere, startNatsServer } from '../fakes/network/nats-server.ts';
import { startLiveGateway } from '../fakes/processes/live-gateway.ts';

const lines = readFileSync(join(import.meta.dirname, '../../deploy/alerts.yml'), 'utf8').split('\n');

/** A rule has these lines in this order, and nothing else is in the file. */
const FORMS = [
  /^ {6}- alert: (Voxgate[A-Za-z]+)$/,
  /^ {8}expr: (\S.*)$/,
  /^ {8}for: \d+[smh]$/,
  /^ {8}labels: \{ severity: (?:page|ticket) \}$/,
  /^ {8}annotations: \{ summary: "[^"]+\." \}$/,
] as const;
const OTHERS = /^(?:#.*|groups:| {2}- name: voxgate-[a-z]+| {4}rules:|)$/;

const firsts = lines.flatMap((line, index) => (FORMS[0].test(line) ? [index] : []));
const expressions = firsts.map((index) => FORMS[1].exec(lines[index + 1] ?? '')?.[1] ?? '');
const named = (pattern: RegExp) => [
  ...new Set(expressions.flatMap((each) => [...each.matchAll(pattern)].map(([, name]) => name ?? ''))),
];

test('every alert has a name of its own, an expression, a time, a severity and a sentence', () => {
  const inRules = new Set<number>();
  for (const first of firsts) {
    for (const [at, form] of FORMS.entries()) {
      expect(lines[first + at]).toMatch(form);
      inRules.add(first + at);
    }
  }
  expect(lines.filter((line, index) => !inRules.has(index) && !OTHERS.test(line))).toEqual([]);
  const names = firsts.map((index) => FORMS[0].exec(lines[index] ?? '')?.[1]);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThan(15);
});

// Without the server there is no bus to have metrics of; under CI that fails.
test.skipIf(!natsServerIsHere)('every metric and queue in an alert is one of a running gateway', async () => {
  const server = await startNatsServer({ jetStream: true });
  try {
    const secret = 'what all nodes of a gateway have in common'.replaceAll(' ', '-');
    const env = { VOXGATE_NATS: server.url, VOXGATE_NODE_ID: 'all-1', VOXGATE_SECRET: secret };
    const live = await startLiveGateway(env);
    const text = await (await live.request('/metrics')).text();
    const metrics = named(/\b((?:voxgate|process|nodejs)_[a-z0-9_]+)\b/g);
    expect(metrics.length).toBeGreaterThan(15);
    expect(metrics.filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
    expect(named(/queue="(\w+)"/g).filter((name) => !text.includes(`{queue="${name}",node="all-1"}`))).toEqual([]);
    expect(text).toMatch(
      /^voxgate_build_info\{version="[^"]+",node_version="v[\d.]+",door="\w+",roles="[a-z,]+",node="all-1"\} 1$/m,
    );
    live.gateway.stop();
    await live.gateway.ended;
  } finally {
    await server.stop();
  }
});

test('every error code and reason in an alert is one that there is', () => {
  const patterns = (label: string) =>
    named(new RegExp(`\\b${label}=~?"([^"]+)"`, 'g')).flatMap((text) => text.split('|'));
  const unknown = (wanted: string[], known: readonly string[]) =>
    wanted.filter((pattern) => !known.some((each) => new RegExp(`^${pattern}$`).test(each)));
  expect(unknown(patterns('code'), Object.keys(ERROR_CATALOGUE))).toEqual([]);
  expect(unknown(patterns('reason'), REFUSAL_REASONS)).toEqual([]);
});
