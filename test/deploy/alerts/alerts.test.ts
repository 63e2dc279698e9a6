// The alerts and the dashboard: each is whole, is understood by Prometheus, and each metric, queue and error code in them is one that
// a running gateway shows; and the page that lists the metrics lists all of them.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { ERROR_CATALOGUE } from '../../../src/api/error-catalogue.ts';
import { REFUSAL_REASONS } from '../../../src/cluster/bus/sealing/refusals.ts';
import { natsServerIsHere, startNatsServer } from '../../fakes/network/nats-server.ts';
import { startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { programOf } from '../../fakes/processes/programs.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import {
  alertExpressions,
  dashboardExpressions,
  dashboardVariables,
  filled,
  alertLines as lines,
  metricsIn,
  metricsOfPage,
  namesIn,
  panels,
} from './observed.ts';

const everywhere = [...alertExpressions, ...dashboardExpressions, ...dashboardVariables];

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

test('gives every alert a unique name, an expression, a time, a severity and a sentence', () => {
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
  expect(alertExpressions).toHaveLength(names.length);
});

test('gives every panel a title, and a query unless it is a row', () => {
  for (const { title, targets } of panels) {
    expect(title).toMatch(/^\S.{3,}/);
    for (const { expr } of targets ?? []) expect(expr).not.toBe('');
  }
  expect(dashboardExpressions.length).toBeGreaterThan(30);
});

const promtool = programOf('promtool');

// Debian's package `prometheus` has it; under CI it is there.
test.skipIf(promtool === undefined)('Prometheus understands every rule, and all that the dashboard asks for', () => {
  const rules = join(import.meta.dirname, '../../../deploy/alerts.yml');
  const asked = join(temporaryDirectory(), 'dashboard.yml');
  const records = dashboardExpressions.map(
    (expression, index) => `      - { record: 'panel:${index}', expr: '${filled(expression).replaceAll("'", "''")}' }`,
  );
  writeFileSync(asked, ['groups:', '  - name: dashboard', '    rules:', ...records, ''].join('\n'));
  for (const file of [rules, asked]) {
    const { status, stderr } = spawnSync(promtool ?? '', ['check', 'rules', file], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  }
});

/** Shown by replicas of the accounts alone: test/cluster/slow/replicas.test.ts. */
const OF_REPLICAS = ['voxgate_accounts_owner', 'voxgate_accounts_entry'];

// Without the server there is no bus to have metrics of; under CI that fails.
test.skipIf(!natsServerIsHere)(
  'uses only metrics and queues of a running gateway, all listed on the page',
  async () => {
    const server = await startNatsServer({ jetStream: true });
    try {
      const secret = 'what all nodes of a gateway have in common'.replaceAll(' ', '-');
      const backups = pathToFileURL(temporaryDirectory()).href;
      const env = {
        ...{ VOXGATE_NATS: server.url, VOXGATE_NODE_ID: 'all-1', VOXGATE_SECRET: secret },
        VOXGATE_BACKUP: backups,
      };
      const live = await startLiveGateway(env);
      const text = await (await live.request('/metrics')).text();
      const metrics = metricsIn(everywhere);
      expect(metrics.length).toBeGreaterThan(15);
      expect(metrics.filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
      expect(
        namesIn(everywhere, /queue="(\w+)"/g).filter((name) => !text.includes(`{queue="${name}",node="all-1"}`)),
      ).toEqual([]);
      const shown = [...text.matchAll(/^# TYPE (voxgate_\w+) /gm)].map(([, name]) => name);
      expect(metricsOfPage('docs/operations/monitoring.md').sort()).toEqual([...shown, ...OF_REPLICAS].sort());
      expect(text).toMatch(
        /^voxgate_build_info\{version="[^"]+",node_version="v[\d.]+",door="\w+",roles="[a-z,]+",node="all-1"\} 1$/m,
      );
      live.gateway.stop();
      await live.gateway.ended;
    } finally {
      await server.stop();
    }
  },
);

test('uses only existing error codes and reasons in alerts', () => {
  const patterns = (label: string) =>
    namesIn(alertExpressions, new RegExp(`\\b${label}=~?"([^"]+)"`, 'g')).flatMap((text) => text.split('|'));
  const unknown = (wanted: string[], known: readonly string[]) =>
    wanted.filter((pattern) => !known.some((each) => new RegExp(`^${pattern}$`).test(each)));
  expect(unknown(patterns('code'), Object.keys(ERROR_CATALOGUE))).toEqual([]);
  expect(unknown(patterns('reason'), REFUSAL_REASONS)).toEqual([]);
});
