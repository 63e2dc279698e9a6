// Ceilings on spend: how much of each is left, and when half, four fifths or all of it is used. What is spent and held under a ceiling is
// counted by triggers of the tables (migrations.ts), in the transaction of the transfer or hold; so it is exact over all nodes. Runs in
// the caller's transaction. An open hold counts in every period until it ends, as for the daily limit of a key. The time of the entry
// decides which period it is; a clock that goes back does not begin an earlier one again.
import { isDeepStrictEqual } from 'node:util';
import { checkedCeilings } from '../../accounts/keys/ceilings.ts';
import {
  SPEND_PERCENTS,
  type SpendCeiling,
  type SpendPercent,
  type SpendPeriod,
  textOfCeiling,
} from '../../api/spend-ceilings.ts';
import { microUsdOf, usdOf } from '../../config/prices/price.ts';
import type { TableContext } from '../../store/table-context.ts';
import type { HoldRequest, LedgerCalls, PriceBound } from './calls.ts';
import {
  type CeilingName,
  ceilingIn,
  ceilingSentence,
  dayName,
  GATEWAY_SCOPE,
  type ReachedCeiling,
  reachedName,
} from './ceiling-words.ts';

/** Characters of an ISO 8601 time that name the hour, day or month. */
const SPAN_LENGTHS: Readonly<Record<SpendPeriod, number>> = { hour: 13, day: 10, month: 7 };

/** No period is longer: what was reached in it is not kept a second time. */
const KEPT_MS = 40 * 24 * 3_600_000;

export interface CeilingRow {
  scope: string;
  /** Empty for all together. */
  provider: string;
  period: SpendPeriod;
  /** Who is told of it. */
  organisationId: string | null;
  limit: bigint;
  /** A minute of models that it does not bound; null for none. */
  onlyUpTo: bigint | null;
  span: string;
  spent: bigint;
  held: bigint;
  reported: bigint;
}

export interface Room {
  /** What may be held under the ceiling that leaves the least. */
  microUsd: bigint;
  /** The ceiling in words. */
  sentence: string;
  /** Those that leave less than is needed, where each of them has a price up to which models may still be used. */
  onlyUpTo: readonly PriceBound[];
  /** The same of those that leave less than is wanted, where the one that leaves the least has such a price. */
  leaves: readonly PriceBound[];
}

type RoomRequest = Pick<HoldRequest, 'wantedMicroUsd' | 'leastMicroUsd' | 'minuteMicroUsd'> & {
  providers: readonly string[];
};

export interface LedgerCeilings {
  /** Those of the gateway, the organisation and the key. */
  of(organisationId: string, keyId: string): CeilingRow[];
  /** Undefined where none of them bounds the hold: none is about its providers, or all leave models of its price. */
  room(ceilings: readonly CeilingRow[], request: RoomRequest): Room | undefined;
  /** Of those that leave nothing, the prices up to which models may still be used. */
  boundsOf(ceilings: readonly CeilingRow[]): PriceBound[];
  /**
   * Ceilings of which more is used than was reported, which is noted: half, four fifths or all of it.
   *
   * @param keeps they are kept until they are delivered as events
   */
  reached(organisationId: string, keyId: string, keeps?: boolean): ReachedCeiling[];
  /** A hold was refused by the ceiling: all of it is used. */
  refusedBy(sentence: string): ReachedCeiling[];
  /** The key has spent, or holds, what it may spend today. */
  keepDay(organisationId: string, keyId: string): void;
  /** Replaces all of a scope: what is spent and held so far counts under the new ones. */
  replace(scope: string, organisationId: string | null, ceilings: readonly SpendCeiling[]): void;
}

export function createLedgerCeilings({
  database,
  nowText,
}: Pick<TableContext, 'database' | 'nowText'>): LedgerCeilings {
  const statements = prepare(database);
  const spanOf = (period: SpendPeriod): string => nowText().slice(0, SPAN_LENGTHS[period]);
  /** As the row stands in the current period. */
  const current = (row: CeilingRow): CeilingRow => {
    const span = spanOf(row.period);
    return span > row.span ? { ...row, span, spent: 0n, reported: 0n } : row;
  };

  /** Once for each name. */
  function keep(name: string, organisationId: string, detail: object): void {
    const at = nowText();
    const oldest = new Date(Date.parse(at) - KEPT_MS).toISOString();
    statements.forget.run(oldest);
    statements.keep.run({ name, organisationId, at, detail: JSON.stringify({ at, ...detail }) });
  }

  function keptReached(reached: ReachedCeiling): ReachedCeiling {
    const { organisationId, limitMicroUsd, usedMicroUsd, onlyUpToMicroUsd: _, ...named } = reached;
    if (organisationId === null) return reached;
    const amounts = { limit_usd: usdOf(limitMicroUsd), used_usd: usdOf(usedMicroUsd) };
    keep(reachedName(reached), organisationId, { ...named, ...amounts });
    return { ...reached, isKept: true };
  }

  const ownerOf = (row: CeilingRow): string | null => row.organisationId ?? statements.operator.get() ?? null;

  return {
    refusedBy(sentence) {
      const name = ceilingIn(sentence);
      const row = name && statements.inScope.all(name.scope).find((each) => isOf(each, name));
      if (name === undefined || row === undefined) return [];
      const now = current(row);
      const { scope, provider, period, span, spent } = now;
      if (now.reported < 100n) statements.report.run({ scope, provider, period, span, spent, reported: 100 });
      return [keptReached({ ...name, organisationId: ownerOf(row), percent: 100, usedMicroUsd: row.limit })];
    },
    keepDay(organisationId, keyId) {
      const date = nowText().slice(0, SPAN_LENGTHS.day);
      keep(dayName(keyId, date), organisationId, { keyId });
    },
    of: (organisationId, keyId) => statements.of.all(GATEWAY_SCOPE, organisationId, keyId).map(current),
    room(ceilings, { providers, wantedMicroUsd, leastMicroUsd, minuteMicroUsd }) {
      let least: { microUsd: bigint; ceiling: CeilingRow } | undefined;
      const short: CeilingRow[] = [];
      const limiting: CeilingRow[] = [];
      for (const ceiling of ceilings) {
        if (ceiling.provider !== '' && !providers.includes(ceiling.provider)) continue;
        if (ceiling.onlyUpTo !== null && minuteMicroUsd !== undefined && minuteMicroUsd <= ceiling.onlyUpTo) continue;
        const microUsd = roomOf(ceiling);
        if (microUsd <= 0n || microUsd < leastMicroUsd) short.push(ceiling);
        if (microUsd < wantedMicroUsd) limiting.push(ceiling);
        if (least === undefined || microUsd < least.microUsd) least = { microUsd, ceiling };
      }
      if (least === undefined) return undefined;
      const onlyUpTo = short.every((each) => each.onlyUpTo !== null) ? short.flatMap(boundOf) : [];
      const leaves = least.ceiling.onlyUpTo === null ? [] : limiting.flatMap(boundOf);
      return { microUsd: least.microUsd, sentence: ceilingSentence(nameOf(least.ceiling)), onlyUpTo, leaves };
    },
    boundsOf: (ceilings) => ceilings.filter((each) => roomOf(each) <= 0n).flatMap(boundOf),
    reached(organisationId, keyId, keeps = false) {
      const reached: ReachedCeiling[] = [];
      for (const row of statements.of.all(GATEWAY_SCOPE, organisationId, keyId).map(current)) {
        const percent = percentOf(row);
        if (percent === 0 || BigInt(percent) <= row.reported) continue;
        const { scope, provider, period, span, spent } = row;
        statements.report.run({ scope, provider, period, span, spent, reported: percent });
        const one = { ...nameOf(row), organisationId: ownerOf(row), percent, usedMicroUsd: spent + row.held };
        reached.push(keeps ? keptReached(one) : one);
      }
      return reached;
    },
    replace(scope, organisationId, ceilings) {
      const before = statements.inScope.all(scope);
      statements.remove.run(scope);
      for (const { usd, period, provider = '', only_up_to } of ceilings) {
        const limit = microUsdOf(usd);
        const onlyUpTo = only_up_to === undefined ? null : microUsdOf(only_up_to);
        const span = spanOf(period);
        const known = before.find((each) => each.provider === provider && each.period === period);
        const names = { scope, provider, period };
        if (known !== undefined) {
          statements.insert.run({ ...known, limit, onlyUpTo, reported: known.limit === limit ? known.reported : 0n });
          continue;
        }
        const spent = statements.spent.get({ ...names, span })!;
        const held = statements.held.get({ scope, provider })!;
        statements.insert.run({ ...names, organisationId, limit, onlyUpTo, span, spent, held, reported: 0n });
      }
    },
  };
}

const isOf = (row: CeilingRow, { provider, period, limitMicroUsd }: CeilingName): boolean =>
  row.provider === provider && row.period === period && row.limit === limitMicroUsd;

function percentOf({ limit, spent, held }: CeilingRow): SpendPercent | 0 {
  const used = (spent + held) * 100n;
  return [...SPEND_PERCENTS].reverse().find((percent) => used >= BigInt(percent) * limit) ?? 0;
}

const nameOf = ({ scope, provider, period, span, limit, onlyUpTo }: CeilingRow): CeilingName => ({
  ...{ scope, provider, period, span, limitMicroUsd: limit },
  ...(onlyUpTo === null ? {} : { onlyUpToMicroUsd: onlyUpTo }),
});

const roomOf = ({ limit, spent, held }: CeilingRow): bigint => limit - spent - held;

const boundOf = ({ provider, onlyUpTo }: CeilingRow): PriceBound[] =>
  onlyUpTo === null ? [] : [{ provider, microUsd: onlyUpTo }];

/** Whether a hold of the row `holds` counts for the provider of a ceiling. */
const COUNTS = `(@provider = '' OR instr(coalesce(providers, ' ' || substr(model, 1, instr(model || '/', '/') - 1) || ' '), ' ' || @provider || ' ') > 0)`;

function prepare(database: TableContext['database']) {
  const columns = `scope, provider, period, organisation_id AS organisationId, micro_usd AS "limit",
    only_up_to_micro_usd AS onlyUpTo, span,
    spent_micro_usd AS spent, held_micro_usd AS held, reported`;
  return {
    of: database
      .prepare<[string, string, string], CeilingRow>(
        `SELECT ${columns} FROM spend_ceilings WHERE scope IN (?, ?, ?) ORDER BY scope, provider, period`,
      )
      .safeIntegers(),
    inScope: database
      .prepare<[string], CeilingRow>(`SELECT ${columns} FROM spend_ceilings WHERE scope = ? ORDER BY provider, period`)
      .safeIntegers(),
    remove: database.prepare<[string]>('DELETE FROM spend_ceilings WHERE scope = ?'),
    insert: database.prepare<CeilingRow>(
      `INSERT INTO spend_ceilings
         (scope, provider, period, organisation_id, micro_usd, only_up_to_micro_usd, span, spent_micro_usd, held_micro_usd, reported)
       VALUES (@scope, @provider, @period, @organisationId, @limit, @onlyUpTo, @span, @spent, @held, @reported)`,
    ),
    report: database.prepare<
      Pick<CeilingRow, 'scope' | 'provider' | 'period' | 'span' | 'spent'> & { reported: number }
    >(
      `UPDATE spend_ceilings SET reported = @reported, span = @span, spent_micro_usd = @spent
       WHERE scope = @scope AND provider = @provider AND period = @period`,
    ),
    spent: database
      .prepare<Pick<CeilingRow, 'scope' | 'provider' | 'span'> & { period: string }, bigint>(
        `SELECT coalesce(sum(micro_usd), 0) FROM (
           SELECT micro_usd, session, at, note AS model FROM transfers WHERE kind = 'usage' AND at >= @span
           UNION ALL SELECT micro_usd, session, at, model FROM own_spend WHERE at >= @span
         ) AS spent JOIN sessions ON sessions.number = session
         WHERE (@scope = '${GATEWAY_SCOPE}' OR organisation_id = @scope OR key_id = @scope)
           AND (@provider = '' OR substr(spent.model, 1, instr(spent.model || '/', '/') - 1) = @provider)`,
      )
      .pluck()
      .safeIntegers(),
    held: database
      .prepare<Pick<CeilingRow, 'scope' | 'provider'>, bigint>(
        `SELECT (SELECT coalesce(sum(micro_usd), 0)
           FROM open_holds JOIN holds ON holds.number = hold JOIN sessions ON sessions.number = holds.session
           WHERE (@scope = '${GATEWAY_SCOPE}' OR holds.organisation_id = @scope OR holds.key_id = @scope) AND ${COUNTS})
         + (SELECT coalesce(sum(micro_usd), 0) FROM own_holds
           WHERE (@scope = '${GATEWAY_SCOPE}' OR organisation_id = @scope OR key_id = @scope)
             AND (@provider = '' OR instr(providers, ' ' || @provider || ' ') > 0))`,
      )
      .pluck()
      .safeIntegers(),
    keep: database.prepare<Record<'name' | 'organisationId' | 'at' | 'detail', string>>(
      `INSERT INTO spend_reports (name, organisation_id, at, detail) VALUES (@name, @organisationId, @at, @detail)
       ON CONFLICT DO NOTHING`,
    ),
    forget: database.prepare<[string]>('DELETE FROM spend_reports WHERE at < ?'),
    operator: database.prepare<[], string>('SELECT organisation_id FROM api_keys ORDER BY number LIMIT 1').pluck(),
  };
}

/** Of the whole gateway. Nothing is written where they are as before. */
export function gatewayCeilings(
  { database, audit }: Pick<TableContext, 'database' | 'audit'>,
  ceilings: Pick<LedgerCeilings, 'replace'>,
): LedgerCalls['setGatewayCeilings'] {
  const known = database
    .prepare<[], string>(
      `SELECT provider || ' ' || period || ' ' || micro_usd || ' ' || coalesce(only_up_to_micro_usd, '')
       FROM spend_ceilings WHERE scope = '${GATEWAY_SCOPE}'`,
    )
    .pluck();
  const set = database.transaction((wanted: readonly SpendCeiling[]): void => {
    const checked = checkedCeilings(wanted) ?? [];
    const texts = checked.map(
      ({ provider = '', period, usd, only_up_to }) =>
        `${provider} ${period} ${microUsdOf(usd)} ${only_up_to === undefined ? '' : microUsdOf(only_up_to)}`,
    );
    if (isDeepStrictEqual(known.all().sort(), texts.sort())) return;
    ceilings.replace(GATEWAY_SCOPE, null, checked);
    audit({
      by: { type: 'system', id: 'gateway' },
      organisationId: null,
      action: 'spend-ceilings.changed',
      target: GATEWAY_SCOPE,
      detail: { to: checked.map(textOfCeiling) },
    });
  });
  return (wanted) => set.immediate(wanted);
}
