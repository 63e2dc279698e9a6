// When the node that has the accounts makes backups, and what a failure or a stop does to them.
import { Writable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { SimulatedClock } from 'xstate';
import { BackupError } from '../../../src/backup/backup-error.ts';
import { copyNameOf } from '../../../src/backup/copy-name.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { Backups } from '../../../src/node/backup/backups.ts';
import type { MadeBackup } from '../../../src/node/backup/make-backup.ts';
import { createLogger } from '../../../src/runtime/telemetry/log.ts';
import { createMetrics } from '../../../src/runtime/telemetry/metrics.ts';

const LEDGER = 'led_0123456789abcdef01234567';
const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Making {
  signal: AbortSignal;
  succeed(): void;
  fail(): void;
}

/** @param newestMs when the newest backup was made, counted from the start */
function rig({ newestMs, env = {} }: { newestMs?: number | Error; env?: Record<string, string> } = {}) {
  const clock = new SimulatedClock();
  const log: string[] = [];
  const destination = new Writable({
    write(line, _, done) {
      log.push(JSON.parse(String(line)).msg);
      done();
    },
  });
  const metrics = createMetrics();
  const making: Making[] = [];
  const wallNowMs = () => START + clock.now();
  const backups = new Backups({
    config: loadConfig({ VOXGATE_BACKUP: 'file:///backups', ...env }, { providers: [] }),
    logger: createLogger('info', destination),
    clock,
    metrics,
    wallNowMs,
    findNewest: async () => {
      if (newestMs instanceof Error) throw newestMs;
      return newestMs === undefined ? undefined : START + newestMs;
    },
    make: (_directory, _settings, signal) =>
      new Promise((resolve, reject) => {
        const madeAtMs = wallNowMs();
        const copy = { ...copyNameOf(LEDGER, madeAtMs, false), byteLength: 1234 };
        const made: MadeBackup = { copy, sessions: 1, transfers: 2, removed: 0, notRemoved: null };
        signal.addEventListener('abort', () => reject(signal.reason));
        making.push({ signal, succeed: () => resolve(made), fail: () => reject(new BackupError('No.')) });
      }),
  });
  const figure = async (name: string) =>
    Number(new RegExp(`^voxgate_${name} (\\S+)$`, 'm').exec((await metrics.read()).body)?.[1]);
  return { backups, clock, log, making, figure };
}

/** Until everything that is due has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

async function begun(options?: Parameters<typeof rig>[0]) {
  const all = rig(options);
  all.backups.begin(LEDGER);
  await settled();
  return all;
}

test('begins a minute after the start, then every hour', async () => {
  const { clock, making, figure, log } = await begun();
  clock.increment(MINUTE - 1);
  expect(making.length).toBe(0);
  clock.increment(1);
  expect(making.length).toBe(1);
  making[0]?.succeed();
  await settled();
  expect(log).toEqual(['backup made']);
  expect([await figure('backups_total{outcome="good"}'), await figure('backup_bytes')]).toEqual([1, 1234]);
  clock.increment(HOUR - 1);
  expect(making.length).toBe(1);
  expect(await figure('backup_age_seconds')).toBeCloseTo(3600, 0);
  clock.increment(1);
  expect(making.length).toBe(2);
});

test('waits after a start until the newest backup is an hour old', async () => {
  const { clock, making, figure } = await begun({ newestMs: -20 * MINUTE });
  expect(await figure('backup_age_seconds')).toBe(1200);
  clock.increment(40 * MINUTE - 1);
  expect(making.length).toBe(0);
  clock.increment(1);
  expect(making.length).toBe(1);
});

test('waits an hour at most for a backup with a time in the future', async () => {
  const { clock, making, figure } = await begun({ newestMs: 1000 * HOUR });
  expect(await figure('backup_age_seconds')).toBe(0);
  clock.increment(HOUR);
  expect(making.length).toBe(1);
});

test('makes backups also where they cannot be listed', async () => {
  const { clock, making, log } = await begun({ newestMs: new BackupError('No.') });
  expect(log).toEqual(['backups could not be listed']);
  clock.increment(MINUTE);
  expect(making.length).toBe(1);
});

test('tries again five minutes after a failure, and counts it', async () => {
  const { clock, making, log, figure } = await begun();
  clock.increment(MINUTE);
  making[0]?.fail();
  await settled();
  expect(log).toEqual(['the backup failed']);
  expect([await figure('backups_total{outcome="failed"}'), await figure('backup_age_seconds')]).toEqual([1, 60]);
  clock.increment(5 * MINUTE);
  expect(making.length).toBe(2);
});

test('never makes two at a time, and gives one up after four hours', async () => {
  const { clock, making, log } = await begun();
  clock.increment(MINUTE);
  clock.increment(3 * HOUR);
  expect(making.length).toBe(1);
  clock.increment(HOUR);
  expect(making[0]?.signal.aborted).toBe(true);
  await settled();
  expect(log).toEqual(['the backup failed']);
});

test('makes a last one when the node stops, after the one in progress has ended', async () => {
  const { backups, clock, making, log } = await begun();
  clock.increment(MINUTE);
  const closed = backups.close();
  expect(making[0]?.signal.aborted).toBe(true);
  await settled();
  expect(making.length).toBe(2);
  making[1]?.succeed();
  await closed;
  expect(log).toEqual(['backup made']);
});

test('does not keep a stopping node longer than it is set to', async () => {
  const { backups, clock, making, log } = await begun({ env: { VOXGATE_BACKUP_STOP_MS: '3000' } });
  const isClosed = vi.fn();
  void backups.close().then(isClosed);
  await settled();
  clock.increment(2999);
  await settled();
  expect(isClosed).not.toHaveBeenCalled();
  clock.increment(1);
  await settled();
  expect(isClosed).toHaveBeenCalled();
  expect(making[0]?.signal.aborted).toBe(true);
  expect(log).toEqual(['the node stops without a last backup']);
});

test('cancels the last backup also where the stop interrupts the list of backups', async () => {
  const { backups, clock, making } = rig({ env: { VOXGATE_BACKUP_STOP_MS: '3000' } });
  backups.begin(LEDGER);
  const closed = backups.close();
  await settled();
  clock.increment(3000);
  await closed;
  expect(making.map(({ signal }) => signal.aborted)).toEqual([true]);
});

test.each<[string, (backups: Backups) => Promise<void>, Record<string, string>]>([
  ['a node that stops at once', (backups) => backups.close({ isAtOnce: true }), {}],
  ['a node that is set to make none', (backups) => backups.close(), { VOXGATE_BACKUP_STOP_MS: '0' }],
  [
    'a node that lost the accounts to another one',
    (backups) => {
      backups.end();
      return backups.close();
    },
    {},
  ],
])('makes no last one on %s', async (_, end, env) => {
  const { backups, clock, making } = await begun({ env });
  await end(backups);
  clock.increment(2 * HOUR);
  expect(making.length).toBe(0);
});

test('does nothing on a node that never had the accounts, or has no place for backups', async () => {
  const follower = rig();
  await follower.backups.close();
  const without = await begun({ env: { VOXGATE_BACKUP: '' } });
  without.clock.increment(2 * HOUR);
  await without.backups.close();
  expect([follower.making, without.making]).toEqual([[], []]);
});
