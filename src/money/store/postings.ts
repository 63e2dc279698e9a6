// What a session used becomes transfers: each line is posted as far as it was not posted before, so a statement told again, or
// told late, changes nothing. Runs in the caller's transaction.
import { billedMsOf, costMicroUsd, type ExactPrice, lineCostMicroUsd } from '../../config/prices/price.ts';
import { StoreError } from '../../store/store-error.ts';
import type { TableContext } from '../../store/table-context.ts';
import type { FileCharge, UsageLine } from './calls.ts';
import { type LedgerTransfers, usageTransfer } from './transfers.ts';

/** A session as the tables know it. */
export interface SessionRow {
  number: number;
  id: string;
  organisationId: string;
  keyId: string;
  /** Slug that was requested. */
  model: string;
}

export interface LedgerPostings {
  /**
   * Posts the difference to what was posted before and returns its sum in micro-USD. A line that is not told of stays as it is.
   *
   * @param whenLess what to do with a line that says less than before, or another price: `refuse` it as `invalid`, or `keep`
   * what was said before. What is billed never becomes less.
   */
  post(session: SessionRow, lines: readonly UsageLine[], whenLess: 'refuse' | 'keep'): bigint;
}

interface LineRow {
  audioMs: bigint;
  connectionMs: bigint;
  unit: ExactPrice['unit'];
  microUsd: bigint;
  minimumMicroUsd: bigint;
  cost: bigint;
  counted: bigint;
  postings: bigint;
}

const DAY_LENGTH = 10;

export function createLedgerPostings(
  { database, nowText }: TableContext,
  { transfer }: Pick<LedgerTransfers, 'transfer'>,
): LedgerPostings {
  const lineBefore = database
    .prepare<[number, string, number, number], LineRow>(
      `SELECT audio_ms AS audioMs, connection_ms AS connectionMs, unit, price_micro_usd AS microUsd, minimum_micro_usd AS minimumMicroUsd,
              cost_micro_usd AS cost, counted_micro_usd AS counted, postings
       FROM session_lines WHERE session = ? AND model = ? AND own = ? AND rate = ?`,
    )
    .safeIntegers();
  const insertLine = database.prepare<
    [number, string, number, number, number, number, string, bigint, bigint, bigint, number]
  >(
    `INSERT INTO session_lines
       (session, model, own, rate, audio_ms, connection_ms, unit, price_micro_usd, minimum_micro_usd, cost_micro_usd, postings)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const growLine = database.prepare<[number, number, bigint, number, number, string, number, number]>(
    `UPDATE session_lines SET audio_ms = ?, connection_ms = ?, cost_micro_usd = ?, postings = ?
     WHERE session = ? AND model = ? AND own = ? AND rate = ?`,
  );
  const countLine = database.prepare<[bigint, number, string, number]>(
    'UPDATE session_lines SET counted_micro_usd = ? WHERE session = ? AND model = ? AND own = 1 AND rate = ?',
  );
  const countSpend = database.prepare<{ session: number; at: string; model: string; microUsd: bigint }>(
    'INSERT INTO own_spend (session, at, model, micro_usd) VALUES (@session, @at, @model, @microUsd)',
  );
  const spend = database.prepare<[string, string, bigint]>(
    `INSERT INTO key_spend (key_id, day, micro_usd) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET micro_usd = micro_usd + excluded.micro_usd`,
  );

  function postLine(session: SessionRow, line: UsageLine, whenLess: 'refuse' | 'keep', at: string): bigint {
    const own = line.own ? 1 : 0;
    const rate = line.rate ?? 0;
    const before = lineBefore.get(session.number, line.model, own, rate);
    if (before !== undefined && whenLess === 'refuse') requireGrowth(session, line, before);
    const price = before ?? line.price;
    const audioMs = Math.max(line.audioMs, Number(before?.audioMs ?? 0n));
    const connectionMs = Math.max(line.connectionMs ?? 0, Number(before?.connectionMs ?? 0n));
    const cost = lineCostMicroUsd({ price, audioMs, connectionMs, own: line.own });
    const difference = cost - (before?.cost ?? 0n);
    // Costs grow with audio and time, and the price stays, so this is a fault of ours. Nothing of the call is kept then.
    if (difference < 0n) throw new Error(`the bill of session ${session.id} would shrink`);
    const postings = Number(before?.postings ?? 0n) + (difference > 0n ? 1 : 0);
    if (before === undefined) {
      const { unit, microUsd, minimumMicroUsd } = line.price;
      insertLine.run(
        session.number,
        line.model,
        own,
        rate,
        audioMs,
        connectionMs,
        unit,
        microUsd,
        minimumMicroUsd,
        cost,
        postings,
      );
    } else if (audioMs > Number(before.audioMs) || connectionMs > Number(before.connectionMs)) {
      growLine.run(audioMs, connectionMs, cost, postings, session.number, line.model, own, rate);
    }
    if (line.counted === true || (before !== undefined && before.counted > 0n))
      count(session, line, costMicroUsd(price, billedMsOf({ audioMs, connectionMs })), before?.counted ?? 0n, at);
    if (difference > 0n) {
      transfer(
        usageTransfer(session.organisationId, {
          id: `${session.id}:${line.model}:${own}:${postings}${rate === 0 ? '' : `:rate-${rate}`}`,
          at,
          microUsd: difference,
          session: session.number,
          note: line.model,
        }),
      );
    }
    return difference;
  }

  /** What an own key used counts under ceilings on spend: the difference to what was counted before. */
  function count(session: SessionRow, { model, own, rate = 0 }: UsageLine, inAll: bigint, before: bigint, at: string) {
    if (!own || inAll <= before) return;
    countLine.run(inAll, session.number, model, rate);
    countSpend.run({ session: session.number, at, model, microUsd: inAll - before });
  }

  return {
    post(session, lines, whenLess) {
      // The transfers and the key's spend are of one day, also when midnight passes meanwhile.
      const at = nowText();
      let posted = 0n;
      for (const line of lines) posted += postLine(session, line, whenLess, at);
      if (posted > 0n) spend.run(session.keyId, at.slice(0, DAY_LENGTH), posted);
      return posted;
    },
  };
}

function requireGrowth(
  { id }: SessionRow,
  { model, own, audioMs, connectionMs = 0, price }: UsageLine,
  before: LineRow,
): void {
  if (audioMs < Number(before.audioMs)) {
    throw new StoreError(
      'invalid',
      `Session ${id} had ${before.audioMs} ms with ${model} and cannot have ${audioMs} ms now: usage is reported as a total.`,
    );
  }
  if (connectionMs < Number(before.connectionMs)) {
    throw new StoreError(
      'invalid',
      `Session ${id} had a connection to ${model} for ${before.connectionMs} ms and cannot have had it for ${connectionMs} ms now.`,
    );
  }
  // Of an own key the price is known once a ceiling is set; the line keeps the one that it began with.
  const isSame =
    own ||
    (price.unit === before.unit &&
      price.microUsd === before.microUsd &&
      price.minimumMicroUsd === before.minimumMicroUsd);
  if (!isSame) throw new StoreError('invalid', `Session ${id} keeps the price of ${model} that it began with.`);
}

// Records beside a charge: what the charge of a file is based on, and, when a charge exceeds its hold, why it was made. Work of a
// provider is always charged in full; the audit reports holds that were too small. Runs in the caller's transaction.
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
