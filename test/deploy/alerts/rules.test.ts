// What the alert rules fire for, as Prometheus evaluates them: the trouble of one node among several, and nothing that passes.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { programOf } from '../../fakes/processes/programs.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { alertLines } from './observed.ts';

const promtool = programOf('promtool');
const MINUTES = 120;

interface Case {
  alert: string;
  /** Values each minute, by node: promtool's notation. */
  series: Readonly<Record<string, string>>;
  labels?: string;
  /** The metric with labels beside `node`. */
  metric: string;
  /** When it is asked, and the nodes that it names then; `null` for a rule about all nodes. */
  at: string;
  fires: readonly (string | null)[];
}

const steady = (value: number | string) => `${value}x${MINUTES}`;

const CASES: Readonly<Record<string, Case>> = {
  'one of three nodes does not hear of the accounts': {
    alert: 'VoxgateAccountsAway',
    metric: 'voxgate_accounts_nodes',
    series: { a: steady(1), b: `1x10 0x${MINUTES}`, c: steady(1) },
    at: '15m',
    fires: ['b'],
  },
  'one of three nodes gets no answer of the accounts': {
    alert: 'VoxgateAccountsUnreachable',
    metric: 'voxgate_accounts_reachable',
    series: { a: steady(1), b: steady(1), c: `1x10 0x${MINUTES}` },
    at: '15m',
    fires: ['c'],
  },
  'one of three nodes sees fewer nodes': {
    alert: 'VoxgateNodeGone',
    metric: 'voxgate_nodes',
    series: { a: steady(3), b: steady(3), c: `3x10 1x${MINUTES}` },
    at: '20m',
    fires: [null],
  },
  'all nodes hear of each other': {
    alert: 'VoxgateNodeGone',
    metric: 'voxgate_nodes',
    series: { a: steady(3), b: steady(3), c: steady(3) },
    at: '20m',
    fires: [],
  },
  'one of two ledgers has usage that it refused': {
    alert: 'VoxgateUsagePutAside',
    metric: 'voxgate_usage_put_aside',
    series: { a: steady(0), b: steady(2) },
    at: '20m',
    fires: ['b'],
  },
  'the clock of one node is behind': {
    alert: 'VoxgateClockSkew',
    metric: 'voxgate_clock_skew_seconds',
    series: { a: steady(0), b: steady(4), c: steady('-0.2') },
    at: '20m',
    fires: ['b'],
  },
  'a frozen NATS server has delivered late, once': {
    alert: 'VoxgateForgedMessages',
    metric: 'voxgate_bus_refused_total{reason="stale"}',
    series: { a: `0x10 235x${MINUTES}`, b: `0x10 235x${MINUTES}` },
    at: '15m',
    fires: [],
  },
  'late messages that stop': {
    alert: 'VoxgateStaleMessages',
    metric: 'voxgate_bus_refused_total{reason="stale"}',
    series: { a: `0x10 235x${MINUTES}` },
    at: '45m',
    fires: [],
  },
  'late messages that continue': {
    alert: 'VoxgateStaleMessages',
    metric: 'voxgate_bus_refused_total{reason="stale"}',
    labels: 'reason: stale',
    series: { a: `0+5x${MINUTES}` },
    at: '45m',
    fires: ['a'],
  },
  'the owner of the accounts has made no backup for three hours': {
    alert: 'VoxgateBackupOld',
    metric: 'voxgate_backup_age_seconds',
    series: { a: steady(10_860) },
    at: '15m',
    fires: ['a'],
  },
  'a backup every hour': {
    alert: 'VoxgateBackupOld',
    metric: 'voxgate_backup_age_seconds',
    series: { a: `0+60x60 0+60x60` },
    at: '90m',
    fires: [],
  },
  'one backup failed': {
    alert: 'VoxgateBackupFailed',
    metric: 'voxgate_backups_total{outcome="failed"}',
    labels: 'outcome: failed',
    series: { a: `0x10 1x${MINUTES}`, b: steady(0) },
    at: '15m',
    fires: ['a'],
  },
  'a message that was really sent again': {
    alert: 'VoxgateForgedMessages',
    metric: 'voxgate_bus_refused_total{reason="replayed"}',
    labels: 'reason: replayed',
    series: { a: `0x10 1x${MINUTES}`, b: steady(0) },
    at: '15m',
    fires: ['a'],
  },
};

const textOf = (name: string): { severity: string; summary: string } => {
  const first = alertLines.indexOf(`      - alert: ${name}`);
  const [, severity = ''] = /severity: (\w+)/.exec(alertLines[first + 3] ?? '') ?? [];
  const [, summary = ''] = /summary: ("[^"]+")/.exec(alertLines[first + 4] ?? '') ?? [];
  return { severity, summary };
};

function testOf({ alert, metric, series, labels = '', at, fires }: Case): string {
  const { severity, summary } = textOf(alert);
  const [, name = '', more = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(metric) ?? [];
  const inputs = Object.entries(series).map(
    ([node, values]) =>
      `      - { series: '${name}{node="${node}"${more === '' ? '' : `,${more}`}}', values: '${values}' }`,
  );
  const value = (node: string | null) => series[node ?? '']?.split(/[x ]/)[0] ?? '';
  const alerts = fires.map((node) => {
    const told = summary
      .replaceAll('{{ $labels.node }}', node ?? '')
      .replaceAll('{{ $labels.reason }}', labels.replace('reason: ', ''))
      .replaceAll('{{ $value }}', value(node));
    const named = [`severity: ${severity}`, ...(node === null ? [] : [`node: ${node}`]), ...(labels ? [labels] : [])];
    return `          - { exp_labels: { ${named.join(', ')} }, exp_annotations: { summary: ${told} } }`;
  });
  return [
    `  - interval: 1m`,
    `    input_series:`,
    ...inputs,
    `    alert_rule_test:`,
    `      - eval_time: ${at}`,
    `        alertname: ${alert}`,
    alerts.length === 0 ? `        exp_alerts: []` : `        exp_alerts:`,
    ...alerts,
  ].join('\n');
}

// Debian's package `prometheus` has it; under CI it is there.
test.skipIf(promtool === undefined).each(Object.entries(CASES))('%s', (_, each) => {
  const rules = join(import.meta.dirname, '../../../deploy/alerts.yml');
  const file = join(temporaryDirectory(), 'rules.test.yml');
  writeFileSync(file, `rule_files: [${rules}]\nevaluation_interval: 1m\ntests:\n${testOf(each)}\n`);
  const { status, stdout, stderr } = spawnSync(promtool ?? '', ['test', 'rules', file], { encoding: 'utf8' });
  expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
});
