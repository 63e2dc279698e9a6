// After news may have been missed: asks of every key that is in use here whether it was revoked meanwhile, or its organisation
// suspended. When that is, and that it is tried until it was answered, is decided here; what ends, by whoever is told.
import type { Clock } from '../../../machines/clock.ts';
import type { Bus, Detach } from '../../bus/bus.ts';
import { ACCOUNTS_OPEN } from '../../bus/subjects.ts';
import type { Store } from '../../store/store.ts';
import type { AccountsClient } from './client.ts';

/** Keys that are asked for at a time. */
const TOGETHER = 16;
const AGAIN_MS = 250;
const AGAIN_MS_MAX = 10_000;

/** A key that something runs on. */
export interface KeyInUse {
  organisationId: string;
  keyId: string;
}

export interface ReconcileOptions {
  store: Pick<Store, 'findKey'>;
  /** Keys of what is open here; the same may be named more than once. */
  keysInUse(): Iterable<KeyInUse>;
  revoke(keyId: string): void;
  suspend(organisationId: string): void;
}

/** Rejects with StoreError when it could not be found out; what was found out by then was told. */
export async function reconcile({ store, keysInUse, revoke, suspend }: ReconcileOptions): Promise<void> {
  const waiting = new Map([...keysInUse()].map((each) => [each.keyId, each]));
  const suspended = new Set<string>();
  const check = async () => {
    for (const [keyId, { organisationId }] of waiting) {
      waiting.delete(keyId);
      const key = await store.findKey(organisationId, keyId);
      // A key is never removed: a ledger that does not know it is another one, or an older one, and has revoked nothing.
      if (key === undefined) continue;
      if (key.revokedAt !== null) revoke(keyId);
      else if (key.suspended) suspended.add(organisationId);
    }
  };
  const checks = await Promise.allSettled(Array.from({ length: TOGETHER }, check));
  for (const organisationId of suspended) suspend(organisationId);
  for (const each of checks) if (each.status === 'rejected') throw each.reason;
}

export interface KeepReconciledOptions extends ReconcileOptions {
  bus: Bus;
  /** Absent where the accounts are this node's own. */
  client?: Pick<AccountsClient, 'onOwner'>;
  clock: Clock;
  /** What is remembered of keys may be old. */
  doubt(): void;
  /** Once for each time that it begins to fail. */
  onFault(error: unknown): void;
}

/** Reconciles when the bus is back, when another process keeps the accounts, and when that says that it begins to. */
export function keepReconciled(options: KeepReconciledOptions): Detach {
  const { bus, client, clock, doubt, onFault } = options;
  let timer: unknown;
  let tries = 0;
  let isRunning = false;
  let isWanted = false;
  let isClosed = false;
  let endedMs = Number.NEGATIVE_INFINITY;

  async function run(): Promise<void> {
    isRunning = true;
    isWanted = false;
    try {
      await reconcile(options);
      tries = 0;
    } catch (error) {
      if (tries === 0) onFault(error);
      const afterMs = Math.min(AGAIN_MS_MAX, AGAIN_MS * 2 ** tries);
      tries = Math.min(tries + 1, 10);
      if (!isClosed) arm(afterMs);
    }
    isRunning = false;
    endedMs = clock.now();
    if (isWanted) begin();
  }

  function arm(afterMs: number): void {
    clock.clearTimeout(timer);
    timer = clock.setTimeout(begin, afterMs);
  }

  /** However much is told at once, one is under way and one more comes a moment after it. */
  function begin(): void {
    if (isClosed) return;
    isWanted = isRunning;
    if (isRunning) return;
    const restMs = endedMs + AGAIN_MS - clock.now();
    if (restMs > 0) {
      arm(restMs);
      return;
    }
    clock.clearTimeout(timer);
    void run();
  }

  function missed(): void {
    doubt();
    begin();
  }

  const detach = [
    bus.onConnection((isConnected) => isConnected && missed()),
    bus.subscribe(ACCOUNTS_OPEN, missed),
    client?.onOwner(missed) ?? (() => {}),
  ];
  return () => {
    isClosed = true;
    clock.clearTimeout(timer);
    for (const each of detach) each();
  };
}
