// The money of a node: the price list in force, the desk that holds and settles, and what processes before left unsettled.
import { join } from 'node:path';
import type { PriceList } from '../billing/price-list.ts';
import { loadPriceList } from '../config/prices.ts';
import { Desk } from '../ledger/desk.ts';
import { FileDesk } from '../ledger/files.ts';
import { type Assembly, knownProviders } from './context.ts';

/** What ended just now is settled before a node stops; what is not is in the journal. */
const SETTLE_MS = 5_000;

export interface Money {
  prices: PriceList;
  desk: Desk;
  files: FileDesk;
}

export async function openMoney({ config, logger, clock, metrics, bus, store, defer }: Assembly): Promise<Money> {
  const prices = loadPriceList([...knownProviders.values()], config.billing);
  const { usageJournalSyncMs: journalSyncMs, ledgerGraceMs: graceMs, usageHistoryDays: historyDays } = config.billing;
  const wallNow = () => new Date();
  const desk = new Desk({
    store,
    clock,
    wallNow,
    node: bus.node,
    settings: { directory: join(config.data.directory, 'usage'), journalSyncMs, graceMs, historyDays },
    onFault: (name, error) => {
      metrics.ledgerFault(name);
      logger.error({ action: name, err: error }, 'ledger fault');
    },
    onSettled: ({ costMicroUsd }) => metrics.settled(Number(costMicroUsd) / 1e6),
  });
  metrics.watchQueue('unsettled_sessions', () => desk.unsettled);
  defer(() => desk.close(SETTLE_MS));
  const recovered = await desk.recover();
  if (recovered.sessions > 0) logger.warn({ ...recovered }, 'usage of a process that was killed is settled');
  logger.info({ version: prices.version }, 'price list');
  return { prices, desk, files: new FileDesk({ desk, clock, wallNow }) };
}
