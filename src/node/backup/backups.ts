// The backups of the node that has the accounts: at an interval, soon again after a failure, and when the node stops. A backup that fails is a
// log line and a figure, and never more.
import type { Clock } from '../../../machines/clock.ts';
import { BackupError } from '../../backup/backup-error.ts';
import type { Config } from '../../config/schema.ts';
import type { Logger } from '../../runtime/telemetry/log.ts';
import type { Metrics } from '../../runtime/telemetry/metrics.ts';
import type { MadeBackup } from './make-backup.ts';
import { backUpBeside, newestBeside } from './thread.ts';

const MINUTE = 60_000;
/** After the start, when what was left behind is settled. */
const FIRST_MS = MINUTE;
const AGAIN_MS = 5 * MINUTE;
/** A backup that takes longer is given up. */
const BACKUP_MS_MAX = 4 * 3_600_000;
const LIST_MS_MAX = 2 * MINUTE;

export interface BackupsOptions {
  config: Pick<Config, 'backup' | 'data'>;
  logger: Logger;
  clock: Clock;
  metrics: Metrics;
  /** Tests make none in threads. */
  make?: typeof backUpBeside;
  findNewest?: typeof newestBeside;
  wallNowMs?: () => number;
}

export class Backups {
  readonly #options: Required<BackupsOptions>;
  #ledger: string | undefined;
  #timer: unknown;
  #running: { abort: AbortController; ended: Promise<void> } | undefined;
  #isClosed = false;
  /** When the last good backup was made; until there is one, when this node began to make them. */
  #goodMs = 0;
  #bytes = 0;

  constructor(options: BackupsOptions) {
    this.#options = { make: backUpBeside, findNewest: newestBeside, wallNowMs: Date.now, ...options };
  }

  /** This node has the accounts of that ledger, from now on. Does nothing where the settings name no place for backups. */
  begin(ledger: string): void {
    const { config, metrics, wallNowMs } = this.#options;
    if (config.backup.location === undefined || this.#isClosed) return;
    this.#ledger = ledger;
    this.#goodMs = wallNowMs();
    metrics.watchGauge(
      'backup_age_seconds',
      'Time since the last good backup of the accounts was begun, or since the start of a node that has none yet.',
      () => Math.max(0, wallNowMs() - this.#goodMs) / 1000,
    );
    metrics.watchGauge(
      'backup_bytes',
      'Size of the last good backup of this node; 0 before the first one.',
      () => this.#bytes,
    );
    void this.#plan(ledger);
  }

  /** Another node has the accounts: what this one has is old from now on, and no longer backed up. */
  end(): void {
    const { clock } = this.#options;
    this.#isClosed = true;
    this.#ledger = undefined;
    clock.clearTimeout(this.#timer);
    this.#running?.abort.abort();
  }

  /** Makes the last backup, unless `isAtOnce`. Resolves after `VOXGATE_BACKUP_STOP_MS` at the latest; never rejects. */
  async close({ isAtOnce = false } = {}): Promise<void> {
    const { clock, config, logger } = this.#options;
    const { stopMs } = config.backup;
    const isWanted = this.#ledger !== undefined && !isAtOnce && stopMs > 0;
    const before = this.#running?.ended;
    this.end();
    if (!isWanted) return;
    let isLate = false;
    let timer: unknown;
    const late = new Promise<void>((resolve) => {
      timer = clock.setTimeout(() => {
        isLate = true;
        resolve();
      }, stopMs);
    });
    // What was under way has ended before: its thread may be in the middle of a copy.
    const last = Promise.resolve(before).then(() => (isLate ? false : this.#run(BACKUP_MS_MAX)));
    await Promise.race([last, late]);
    clock.clearTimeout(timer);
    if (!isLate) return;
    this.#running?.abort.abort();
    logger.warn({ stopMs }, 'the node stops without a last backup');
  }

  /** The first backup is due one interval after the newest that is there, so that restarts do not add any. */
  async #plan(ledger: string): Promise<void> {
    const { clock, config, findNewest, logger, wallNowMs } = this.#options;
    const { intervalMs } = config.backup;
    const abort = new AbortController();
    const timer = clock.setTimeout(() => abort.abort(), LIST_MS_MAX);
    this.#running = { abort, ended: Promise.resolve() };
    let dueMs = FIRST_MS;
    try {
      const newestMs = await findNewest(ledger, config.backup, abort.signal);
      if (newestMs !== undefined) {
        this.#goodMs = newestMs;
        // A backup with a time in the future was made with a wrong clock.
        dueMs = Math.min(intervalMs, Math.max(FIRST_MS, newestMs + intervalMs - wallNowMs()));
      }
    } catch (error) {
      if (!this.#isClosed) logger.warn({ reason: sentenceOf(error) }, 'backups could not be listed');
    } finally {
      clock.clearTimeout(timer);
    }
    this.#forget(abort);
    this.#arm(dueMs);
  }

  #arm(afterMs: number): void {
    const { clock, config } = this.#options;
    const { intervalMs } = config.backup;
    if (this.#isClosed) return;
    this.#timer = clock.setTimeout(() => {
      const ended = this.#run(BACKUP_MS_MAX);
      void ended.then((isGood) => this.#arm(isGood ? intervalMs : Math.min(intervalMs, AGAIN_MS)));
    }, afterMs);
  }

  /** Whether it is good. Never rejects. */
  async #run(msMax: number): Promise<boolean> {
    const { clock, config, logger, make, metrics } = this.#options;
    const abort = new AbortController();
    const timer = clock.setTimeout(() => abort.abort(new BackupError(`It was not complete after ${msMax} ms.`)), msMax);
    const made = make(config.data.directory, config.backup, abort.signal);
    this.#running = { abort, ended: made.then(nothing, nothing) };
    try {
      this.#noteGood(await made);
      return true;
    } catch (error) {
      // A stopping node has cancelled it.
      if (!this.#isClosed || !abort.signal.aborted) {
        metrics.backupEnded('failed');
        logger.error({ reason: sentenceOf(error) }, 'the backup failed');
      }
      return false;
    } finally {
      clock.clearTimeout(timer);
      this.#forget(abort);
    }
  }

  /** When a node stops, the last backup may be the running one by now. */
  #forget(abort: AbortController): void {
    if (this.#running?.abort === abort) this.#running = undefined;
  }

  #noteGood({ copy, sessions, transfers, removed, notRemoved }: MadeBackup): void {
    const { logger, metrics } = this.#options;
    this.#goodMs = copy.madeAtMs;
    this.#bytes = copy.byteLength;
    metrics.backupEnded('good');
    logger.info({ backup: copy.name, bytes: copy.byteLength, sessions, transfers, removed }, 'backup made');
    if (notRemoved !== null) logger.warn({ reason: notRemoved }, 'outdated backups could not be removed');
  }
}

const nothing = (): void => {};

const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
