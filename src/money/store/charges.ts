// Records beside a charge: what the charge of a file is based on, and, when a charge exceeds its hold, why it was made. Work of a
// provider is always charged in full; the audit reports holds that were too small. Runs in the caller's transaction.

import type { TableContext } from '../../store/table-context.ts';
import type { FileCharge } from './calls.ts';
import type { SessionRow } from './postings.ts';

export interface LedgerCharges {
  /** Once for each session. */
  noteFile(session: SessionRow, file: FileCharge): void;
  /** @param onTrust some of it was let through while the ledger did not answer */
  noteBeyond(session: SessionRow, heldMicroUsd: bigint, postedMicroUsd: bigint, onTrust: boolean): void;
}

export function createLedgerCharges({ database, nowText }: TableContext): LedgerCharges {
  const insertFile = database.prepare<[number, number, number, number, number | null]>(
    'INSERT INTO file_charges (session, audio_ms, channels, audio_ms_max, claimed_ms) VALUES (?, ?, ?, ?, ?)',
  );
  // A hold that expired without a renewal belongs to a delayed process; without a hold, the ledger was never asked.
  const insertBeyond = database.prepare<
    Record<'session', number> &
      Record<'organisationId' | 'at', string> &
      Record<'held' | 'posted', bigint> & { onTrust: 0 | 1 }
  >(
    `INSERT INTO charges_beyond_holds (session, organisation_id, at, held_micro_usd, posted_micro_usd, reason)
     VALUES (@session, @organisationId, @at, @held, @posted, CASE
       WHEN @onTrust THEN 'on_trust'
       WHEN NOT EXISTS (SELECT 1 FROM holds WHERE session = @session) THEN 'never_held'
       WHEN EXISTS (SELECT 1 FROM hold_ends JOIN holds ON holds.number = hold
         WHERE session = @session AND kind = 'expire') THEN 'lease_over'
       ELSE 'less_held' END)`,
  );
  return {
    noteFile({ number }, { audioMs, channels, audioMsMax, claimedMs }) {
      insertFile.run(number, audioMs, channels, audioMsMax, claimedMs ?? null);
    },
    noteBeyond({ number, organisationId }, held, posted, onTrust) {
      insertBeyond.run({ session: number, organisationId, at: nowText(), held, posted, onTrust: onTrust ? 1 : 0 });
    },
  };
}
