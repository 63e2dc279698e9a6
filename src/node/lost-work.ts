// What is done about the work of processes that were killed: their holds are given back, their sessions and files closed.
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StaleJobs } from '../jobs/stale-jobs.ts';
import { JOURNAL_SUFFIX } from '../money/ledger/journal.ts';
import { closeLostFiles, LostFiles, LostSessions } from '../money/ledger/lost-work.ts';
import { type Assembly, jobNodeName } from './context.ts';
import type { Store } from './store/store.ts';

const CLOSED_FILES = 'closed files of a process that was killed';

/**
 * Closes sessions of former processes on this node's database that left no journal. On a node without others, journals show which
 * processes run.
 */
export async function closeOwnLost(assembly: Assembly, store: Store): Promise<void> {
  const directory = journalsOf(assembly);
  await endLeasesOfOthers(assembly, store);
  const lost = closeLost(assembly, store, 0, (node) => existsSync(join(directory, `${node}${JOURNAL_SUFFIX}`)));
  assembly.defer(() => lost.close());
}

/**
 * Where no other process has a journal, none works: what those that were killed had held is given back, and their idempotency
 * keys are free, before anything of this one's is. Else both end with their leases.
 */
async function endLeasesOfOthers(assembly: Assembly, store: Store): Promise<void> {
  const { bus, logger, metrics } = assembly;
  const untilMs = Date.now();
  try {
    if (!(await isAlone(assembly))) return;
    const holds = await store.endHolds(untilMs);
    const closed = await closeLostFiles(store, Date.now());
    const files = await store.endIdempotency(untilMs);
    const jobs = await store.failEarlierJobs(jobNodeName(assembly), bus.node);
    if (jobs > 0) logger.warn({ jobs }, 'jobs of a process that was killed have failed');
    if (holds + files > 0) logger.warn({ holds, files }, 'what a process that was killed had held is free again');
    if (closed > 0) logger.warn({ files: closed }, CLOSED_FILES);
  } catch (error) {
    metrics.ledgerFault('leases');
    logger.error({ action: 'leases', err: error }, 'ledger fault');
  }
}

const journalsOf = ({ config }: Pick<Assembly, 'config'>): string => join(config.data.directory, 'usage');

/** Whether no other process works on the database of this node. */
export async function isAlone({ config, bus }: Pick<Assembly, 'config' | 'bus'>): Promise<boolean> {
  if (config.cluster.nats !== undefined) return false;
  const journals = (await readdir(journalsOf({ config }))).filter((name) => name.endsWith(JOURNAL_SUFFIX));
  return journals.every((name) => name === `${bus.node}${JOURNAL_SUFFIX}`);
}

/** Closes sessions of nodes that are gone, and files that nobody works on. */
export function closeLost(
  { bus, clock, config, logger, metrics }: Assembly,
  store: Store,
  graceMs: number,
  isThere: (node: string) => boolean,
): Pick<LostSessions, 'gone' | 'close'> {
  const lost = new LostSessions({
    store,
    clock,
    wallNow: () => new Date(),
    graceMs,
    isThere: (node) => node === bus.node || isThere(node),
    onClosed: (lostNode, sessions) => logger.warn({ lostNode, sessions }, 'sessions of a lost node are closed'),
    onFault: (error) => {
      metrics.ledgerFault('lost sessions');
      logger.error({ action: 'lost sessions', err: error }, 'ledger fault');
    },
  });
  void lost.look();
  const files = new LostFiles({
    store,
    clock,
    wallNowMs: () => Date.now(),
    graceMs,
    onClosed: (count) => logger.warn({ files: count }, CLOSED_FILES),
    onFault: (error) => {
      metrics.ledgerFault('lost files');
      logger.error({ action: 'lost files', err: error }, 'ledger fault');
    },
  });
  const jobs = new StaleJobs({
    store,
    clock,
    leaseMs: config.cluster.jobLeaseMs,
    onLost: (count) => logger.warn({ jobs: count }, 'jobs of lost nodes have failed'),
    onFault: (error) => logger.error({ action: 'stale jobs', err: error }, 'job fault'),
  });
  const stopPostponing = bus.onConnection((isConnected) => isConnected && jobs.postpone());
  return {
    gone: (node) => lost.gone(node),
    close() {
      lost.close();
      files.close();
      stopPostponing();
      jobs.close();
    },
  };
}
