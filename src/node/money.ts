// The money of a node: the price list in force, reservations and their settlement, and what processes before left unsettled.
import { join } from 'node:path';
import { ceilingsIn } from '../api/spend-ceilings.ts';
import type { PriceList } from '../config/prices/price-list.ts';
import { loadPriceList } from '../config/prices/read-price-list.ts';
import { FileReservations } from '../files/money/file-reservations.ts';
import { History } from '../money/ledger/history/history.ts';
import { type Recovered, recoverUsage } from '../money/ledger/recovery.ts';
import { type ReservationStore, Reservations } from '../money/ledger/reservations.ts';
import { auditBeside } from '../money/store/audit/auditor.ts';
import { StoreError } from '../store/store-error.ts';
import type { WebhookEvents } from '../webhooks/events.ts';
import { SpendReports } from '../webhooks/spend.ts';
import type { Assembly } from './context.ts';
import { NodeTrouble } from './observing/node-trouble.ts';

/** Soon after the start, when what was left behind is settled; then each hour. */
const FIRST_AUDIT_MS = 60_000;
const AUDIT_MS = 3_600_000;
/** What ended just now is settled before a node stops; what is not is in the journal. */
const SETTLE_MS = 5_000;

export interface Money {
  prices: PriceList;
  reservations: Reservations;
  files: FileReservations;
}

/** `store`: what is held and settled with, where that is not the database itself. */
export async function openMoney(
  assembly: Assembly,
  events: WebhookEvents,
  store: ReservationStore = assembly.store,
): Promise<Money> {
  const { config, providers, logger, clock, metrics, bus, defer } = assembly;
  const prices = loadPriceList([...providers.values()], config.billing);
  const { usageJournalSyncMs: journalSyncMs, ledgerGraceMs: graceMs, usageHistoryDays: historyDays } = config.billing;
  const wallNow = () => new Date();
  const unreachable = new NodeTrouble(logger, 'the ledger did not answer');
  const spend = new SpendReports(events, wallNow);
  const reservations = new Reservations({
    store,
    clock,
    wallNow,
    node: bus.node,
    settings: { directory: join(config.data.directory, 'usage'), journalSyncMs, graceMs, historyDays },
    onFault: (name, error) => {
      metrics.ledgerFault(name);
      if (error instanceof StoreError && error.reason === 'unreachable')
        unreachable.add({ action: name, reason: error.message });
      else logger.error({ action: name, err: error }, 'ledger fault');
    },
    onSettled: ({ id, costMicroUsd }) => {
      const usd = Number(costMicroUsd) / 1e6;
      metrics.settled(usd);
      logger.info({ sessionId: id, usd }, 'session settled');
    },
    onDailySpend: (head, isKept) => spend.reached(head, isKept),
    onCeiling: (ceiling) => {
      if (!spend.ceiling(ceiling)) return;
      const { scope, provider, period, percent } = ceiling;
      metrics.spendReached(`${percent}`);
      logger.info(
        { scope, provider: provider === '' ? undefined : provider, period, percent },
        'spend ceiling reached',
      );
    },
  });
  metrics.watchGauge(
    'holds_on_trust',
    'Sessions and files of customers without any limit that started while the ledger did not answer, since the start.',
    () => reservations.unanswered.trusted,
  );
  metrics.watchQueue('unsettled_sessions', () => reservations.unsettled);
  defer(() => reservations.close(SETTLE_MS));
  tellRecovered(logger, await reservations.recover());
  logger.info({ version: prices.version }, 'price list');
  return { prices, reservations, files: new FileReservations({ reservations, clock, wallNow }) };
}

/** What other nodes used is kept beside the ledger as well, on a node that reserves nothing itself. */
export async function openHistory({
  config,
  bus,
  store,
  logger,
  metrics,
  defer,
}: Assembly): Promise<Reservations['noteSettled']> {
  const directory = join(config.data.directory, 'usage');
  const wallNow = () => new Date();
  const onFault = (name: string) => (error: unknown) => {
    metrics.ledgerFault(name);
    logger.error({ action: name, err: error }, 'ledger fault');
  };
  const days = config.billing.usageHistoryDays;
  const history = new History({ directory, days, wallNow, onFault: onFault('usage history') });
  defer(() => history.close());
  // Of a process on this directory that served clients, and was killed.
  const recovered = await recoverUsage({
    directory,
    node: bus.node,
    wallNow,
    settle: async (head, end) => {
      await store.settleSession(head, end);
      history.note(head, end);
    },
    closeLost: store.closeLost.bind(store),
    onFault: onFault('usage recovery'),
  });
  tellRecovered(logger, recovered);
  return (head, end) => history.note(head, end);
}

function tellRecovered(logger: Assembly['logger'], recovered: Recovered): void {
  if (recovered.sessions + recovered.lost > 0)
    logger.warn({ ...recovered }, 'usage of a process that was killed is settled');
}

/** Writes into the audit log that other prices are in force than at the start before. */
export async function notePrices({ config, providers, store, logger }: Assembly): Promise<void> {
  try {
    await store.notePrices(loadPriceList([...providers.values()], config.billing).version);
  } catch (error) {
    logger.error({ err: error }, 'the prices could not be noted');
  }
}

/** The operator's ceilings on spend are kept with the accounts, so that all nodes are held to them. Without the setting they stay. */
export async function noteCeilings({ config, store, logger }: Assembly): Promise<void> {
  const { spendCeilings } = config.billing;
  if (spendCeilings === undefined) return;
  try {
    await store.setGatewayCeilings(ceilingsIn(spendCeilings) ?? []);
  } catch (error) {
    logger.error({ err: error }, 'the spend ceilings of the gateway could not be set');
  }
}

/** Reports a ledger that fails its audit as soon as it does. */
export function auditHourly({ config, logger, clock, metrics, defer }: Assembly): void {
  let timer: unknown;
  let closed = false;
  let oldestHoldSeconds = 0;
  metrics.watchGauge(
    'oldest_hold_seconds',
    'Age of the oldest hold since its last renewal, at the last audit.',
    () => oldestHoldSeconds,
  );
  const arm = (afterMs: number) => {
    if (closed) return;
    timer = clock.setTimeout(() => void audit().finally(() => arm(AUDIT_MS)), afterMs);
  };
  const audit = async () => {
    try {
      const audited = await auditBeside(config.data.directory);
      const { ok, faults, decisions, sessions, transfers, oldestHoldMs } = audited;
      oldestHoldSeconds = (oldestHoldMs ?? 0) / 1000;
      const figures = { sessions, transfers, decisions: decisions.length };
      if (ok) logger.info(figures, 'the ledger agrees');
      else logger.error({ ...figures, faults }, 'the ledger does not agree');
      if (!ok) metrics.ledgerFault('audit');
    } catch (error) {
      logger.error({ err: error }, 'the ledger could not be audited');
    }
  };
  arm(FIRST_AUDIT_MS);
  defer(() => {
    closed = true;
    clock.clearTimeout(timer);
  });
}
