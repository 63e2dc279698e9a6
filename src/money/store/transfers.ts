// Transfers between two accounts, the balances they add up to, and the limits of organisations and keys. Everything here runs
// in the caller's transaction.
import { usdOf } from '../../config/prices/price.ts';
import type { Actor } from '../../store/audit-log.ts';
import { noOrganisation } from '../../store/store-error.ts';
import type { TableContext } from '../../store/table-context.ts';
import type { Balance, Credit, LedgerTransfer } from './calls.ts';
import { requireCredit } from './checks.ts';

export interface NewTransfer extends Pick<LedgerTransfer, 'id' | 'kind' | 'debit' | 'credit' | 'microUsd' | 'note'> {
  /** ISO 8601 UTC: one reading of the clock for all that belongs to a posting, so that none of it is on another day. */
  at: string;
  /** Number of the session, for usage. */
  session: number | null;
}

export interface LedgerTransfers {
  transfer(transfer: NewTransfer): void;
  /** Makes the organisation's account when it is the first time. Throws `not_found`. */
  openAccount(organisationId: string): void;
  /** Throws `not_found`. */
  balanceOf(organisationId: string): Balance;
  addCredit(credit: Credit, by: Actor): boolean;
}

const REVENUE = 'house:revenue';
const HOUSE_ACCOUNTS: Readonly<Record<Credit['kind'], string>> = {
  welcome: 'house:welcome',
  top_up: 'house:payments',
  adjustment: 'house:adjustments',
};

/** The transfer that pays for usage. */
export function usageTransfer(
  organisationId: string,
  rest: Omit<NewTransfer, 'kind' | 'debit' | 'credit'>,
): NewTransfer {
  return { ...rest, kind: 'usage', debit: organisationId, credit: REVENUE };
}

export function createLedgerTransfers({ database, nowText, audit }: TableContext): LedgerTransfers {
  const insertTransfer = database.prepare<[string, string, string, string, string, bigint, number | null, string]>(
    'INSERT INTO transfers (id, at, kind, debit, credit, micro_usd, session, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const transferExists = database.prepare<[string], number>('SELECT 1 FROM transfers WHERE id = ?').pluck();
  const post = database.prepare<[bigint, string]>(
    'UPDATE balances SET posted_micro_usd = posted_micro_usd + ? WHERE account = ?',
  );
  const insertAccount = database.prepare<[string]>('INSERT INTO balances (account) VALUES (?)');
  const balance = database
    .prepare<
      [string],
      { balanceMicroUsd: bigint; heldMicroUsd: bigint; creditLimitMicroUsd: bigint | null; isOpen: bigint }
    >(
      `SELECT coalesce(posted_micro_usd, 0) AS balanceMicroUsd, coalesce(held_micro_usd, 0) AS heldMicroUsd,
              credit_limit_micro_usd AS creditLimitMicroUsd, account IS NOT NULL AS isOpen
       FROM organisations LEFT JOIN balances ON account = id WHERE id = ?`,
    )
    .safeIntegers();

  function transfer({ id, at, kind, debit, credit, microUsd, session, note }: NewTransfer): void {
    insertTransfer.run(id, at, kind, debit, credit, microUsd, session, note);
    post.run(-microUsd, debit);
    post.run(microUsd, credit);
  }

  function rowOf(organisationId: string) {
    const row = balance.get(organisationId);
    if (row === undefined) throw noOrganisation(organisationId);
    return row;
  }

  function balanceOf(organisationId: string): Balance {
    const { balanceMicroUsd, heldMicroUsd, creditLimitMicroUsd } = rowOf(organisationId);
    const availableMicroUsd =
      creditLimitMicroUsd === null ? null : balanceMicroUsd - heldMicroUsd + creditLimitMicroUsd;
    return { balanceMicroUsd, heldMicroUsd, creditLimitMicroUsd, availableMicroUsd };
  }

  function openAccount(organisationId: string): void {
    if (rowOf(organisationId).isOpen === 0n) insertAccount.run(organisationId);
  }

  const addCredit = database.transaction((credit: Credit, by: Actor): boolean => {
    const { organisationId, kind, microUsd, uniqueKey, note } = credit;
    requireCredit(credit);
    openAccount(organisationId);
    const id = `credit:${uniqueKey}`;
    if (transferExists.get(id) !== undefined) return false;
    const house = HOUSE_ACCOUNTS[kind];
    transfer({
      id,
      at: nowText(),
      kind,
      debit: microUsd > 0n ? house : organisationId,
      credit: microUsd > 0n ? organisationId : house,
      microUsd: microUsd > 0n ? microUsd : -microUsd,
      session: null,
      note,
    });
    audit({
      by,
      organisationId,
      action: kind === 'adjustment' ? 'credit.adjusted' : 'credit.added',
      target: organisationId,
      detail: { kind, usd: usdOf(microUsd), uniqueKey, note },
    });
    return true;
  });

  return { transfer, openAccount, balanceOf, addCredit: (credit, by) => addCredit.immediate(credit, by) };
}
