// Changes of keys and organisations reach every node: as the bus announces them, and by asking about the keys in use after announcements
// may have been missed.

import type { Clock } from '../../../machines/clock.ts';
import type { Bus, BusBody, Detach } from '../bus/bus.ts';
import {
  ACCOUNTS_OPEN,
  KEY_CHANGED,
  KEY_REVOKED,
  type KeyChange,
  SUSPENSION,
  type Suspension,
} from '../bus/subjects.ts';
import type { AccountsClient } from './client.ts';

const ID_LENGTH_MAX = 200;

interface AccountChanges {
  revoked(keyId: string): void;
  changed(keyId: string): void;
  suspension(organisationId: string, suspended: boolean): void;
  /** A malformed message on one of these topics. */
  unread?(): void;
}

/** Subscribes to the changes that any node announces, this one included. */
export function listenToAccountChanges(
  bus: Bus,
  { revoked, changed, suspension, unread = () => {} }: AccountChanges,
): Detach {
  const ofKey = (tell: (keyId: string) => void) => (body: BusBody) => {
    const { keyId } = body as Partial<KeyChange>;
    if (isId(keyId)) tell(keyId);
    else unread();
  };
  const detach = [
    bus.subscribe(KEY_REVOKED, ofKey(revoked)),
    bus.subscribe(KEY_CHANGED, ofKey(changed)),
    bus.subscribe(SUSPENSION, (body) => {
      const { organisationId, suspended } = body as Partial<Suspension>;
      if (isId(organisationId) && typeof suspended === 'boolean') suspension(organisationId, suspended);
      else unread();
    }),
  ];
  return () => {
    for (const each of detach) each();
  };
}

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= ID_LENGTH_MAX;

/** Keys in one question. */
const TOGETHER = 16;
const AGAIN_MS = 250;
const AGAIN_MS_MAX = 10_000;

/** What is asked of a key. */
interface KeyState {
  revokedAt: string | null;
  /** Whether its organisation is suspended. */
  suspended: boolean;
}

/** A key with open sessions. */
export interface KeyInUse {
  organisationId: string;
  keyId: string;
}

interface ReconcileOptions {
  store: { findKey(organisationId: string, keyId: string): Promise<KeyState | undefined> };
  /** Keys in use on this node; may contain duplicates. */
  keysInUse(): Iterable<KeyInUse>;
  revoke(keyId: string): void;
  suspend(organisationId: string): void;
}

/**
 * Asks whether each key in use on this node was revoked, or its organisation suspended.
 *
 * Rejects with StoreError when a question failed; the answers before it were applied.
 */
export async function reconcile({ store, keysInUse, revoke, suspend }: ReconcileOptions): Promise<void> {
  const waiting = new Map([...keysInUse()].map((each) => [each.keyId, each]));
  const suspended = new Set<string>();
  const check = async () => {
    for (const [keyId, { organisationId }] of waiting) {
      waiting.delete(keyId);
      const key = await store.findKey(organisationId, keyId);
      // Keys are never removed. A ledger that does not know the key is another or an older one, so nothing ends for it.
      if (key === undefined) continue;
      if (key.revokedAt !== null) revoke(keyId);
      else if (key.suspended) suspended.add(organisationId);
    }
  };
  const checks = await Promise.allSettled(Array.from({ length: TOGETHER }, check));
  for (const organisationId of suspended) suspend(organisationId);
  for (const each of checks) if (each.status === 'rejected') throw each.reason;
}

interface KeepReconciledOptions extends ReconcileOptions {
  bus: Bus;
  /** Absent when this node keeps the accounts itself. */
  client?: Pick<AccountsClient, 'onOwner'>;
  clock: Clock;
  /** The cached state of keys may be out of date. */
  doubt(): void;
  /** Called once each time that it begins to fail. */
  onFault(error: unknown): void;
}

/**
 * Reconciles when the bus is connected again, when another process keeps the accounts, and when that announces that it begins.
 */
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

  /** However many triggers come at once, one run is in progress and at most one more follows. */
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
