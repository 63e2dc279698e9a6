// `GET /v1/usage`: what the caller's organisation has used in a stretch of time, by model, provider, day or key.
import type { Caller } from '../../accounts/auth/permissions.ts';
import type { KeyStore } from '../../accounts/keys/calls.ts';
import { apiError } from '../../api/errors.ts';
import { readTag, TAG_KEY } from '../../api/tags.ts';
import {
  type BalanceAnswer,
  USAGE_DAYS_MAX,
  USAGE_ROWS_MAX,
  type UsageGroup,
  type UsageList,
} from '../../api/usage.ts';
import { connectionSeconds, usdOf } from '../../config/prices/price.ts';
import { choiceOf, knownQuery, timeOf } from '../../http/query.ts';
import { json, type RouteContext } from '../../http/router.ts';
import type { Reply } from '../../http/server.ts';
import { fromLedger } from '../../http/store-answer.ts';
import { countedRedactions } from '../counted-redactions.ts';
import { csvReply, usageCsv } from '../csv.ts';
import type { LedgerStore } from '../store/calls.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DAY_LENGTH = 'YYYY-MM-DD'.length;

export interface UsageDependencies {
  store: Pick<LedgerStore & KeyStore, 'usageOf' | 'redactionsOf' | 'findKey'>;
  wallNow(): Date;
}

export const getUsage =
  ({ store, wallNow }: UsageDependencies) =>
  async ({ request }: RouteContext, { organisationId }: Pick<Caller, 'organisationId'>): Promise<Reply> => {
    const query = knownQuery(request.query, '/v1/usage', ['from', 'to', 'group_by', 'key', 'tag', 'format']);
    const format = choiceOf(query, 'format', ['json', 'csv']);
    const { from, to } = stretchOf(query, wallNow());
    const groupBy = groupOf(query);
    const tag = query.has('tag') ? readTag(query.get('tag') ?? '') : undefined;
    const keyId = query.get('key');
    if (keyId !== undefined) await requireKey(store, organisationId, keyId);
    const filter = { ...(keyId === undefined ? {} : { keyId }), ...(tag === undefined ? {} : { tag }) };
    const limit = USAGE_ROWS_MAX + 1;
    const rows = await fromLedger(store.usageOf({ organisationId, from, to, groupBy, ...filter, limit }));
    if (rows.length === limit) throw tooMany();
    const redactions = await fromLedger(countedRedactions(store, { organisationId, from, to, ...filter }));
    const answer: UsageList = {
      object: 'list',
      from,
      to,
      group_by: groupBy,
      data: rows.map(({ group, own, sessions, audioMs, connectionMs, costMicroUsd, countedMicroUsd }) => ({
        group,
        byok: own,
        sessions,
        audio_seconds: audioMs / 1000,
        ...connectionSeconds({ connectionMs }),
        cost_usd: usdOf(costMicroUsd),
        ...(countedMicroUsd > 0n ? { counted_usd: usdOf(countedMicroUsd) } : {}),
      })),
      total: {
        audio_seconds: rows.reduce((sum, { audioMs }) => sum + audioMs, 0) / 1000,
        cost_usd: usdOf(rows.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0n)),
        ...(Object.keys(redactions).length === 0 ? {} : { redactions }),
      },
    };
    return format === 'json'
      ? json(200, answer)
      : csvReply(usageCsv(answer), `voxgate-usage-${from.slice(0, DAY_LENGTH)}`);
  };

const GROUPS = ['model', 'provider', 'day', 'key'] as const;
const GROUP_OF_TAG = new RegExp(`^tag:${TAG_KEY}$`);

function groupOf(query: ReadonlyMap<string, string>): UsageGroup {
  const text = query.get('group_by') ?? 'model';
  if (GROUP_OF_TAG.test(text)) return text as `tag:${string}`;
  const group = GROUPS.find((each) => each === text);
  if (group !== undefined) return group;
  throw apiError(
    'invalid_request',
    `\`group_by\` is ${GROUPS.join(', ')}, or a tag such as \`tag:customer\`; model when absent.`,
    { param: 'group_by' },
  );
}

const tooMany = () =>
  apiError(
    'invalid_request',
    `The tag has more than ${USAGE_ROWS_MAX} values in this period. Request a shorter period, one \`key\`, or one \`tag\`.`,
    { param: 'group_by' },
  );

/** From the beginning of the month until now, where nothing is said. Throws an ApiError for a stretch that is none. */
function stretchOf(query: ReadonlyMap<string, string>, now: Date): { from: string; to: string } {
  const toMs = timeOf(query, 'to') ?? now.getTime();
  const fromMs = timeOf(query, 'from') ?? monthOf(toMs);
  if (fromMs >= toMs)
    throw apiError('invalid_request', '`from` is not before `to`. Swap them, or leave one out.', { param: 'from' });
  if (toMs - fromMs > USAGE_DAYS_MAX * DAY_MS) {
    throw apiError(
      'invalid_request',
      `From \`from\` to \`to\` is more than ${USAGE_DAYS_MAX} days. Request a shorter period.`,
      {
        param: 'from',
      },
    );
  }
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}

/** The beginning of the month that ends, or is in progress, at a time. */
function monthOf(ms: number): number {
  const last = new Date(ms - 1);
  return Date.UTC(last.getUTCFullYear(), last.getUTCMonth());
}

async function requireKey(store: UsageDependencies['store'], organisationId: string, keyId: string): Promise<void> {
  const key = await fromLedger(store.findKey(organisationId, keyId));
  if (key !== undefined) return;
  throw apiError('not_found', 'There is no such key in this organisation. The console lists its keys.', {
    param: 'key',
  });
}

// `GET /v1/balance`: what the caller's organisation has, what is set aside for work in progress, and what is left to spend.
export const getBalance =
  ({ store }: { store: Pick<LedgerStore, 'balanceOf'> }) =>
  async ({ request }: RouteContext, { organisationId }: Pick<Caller, 'organisationId'>) => {
    knownQuery(request.query, '/v1/balance', []);
    const { balanceMicroUsd, heldMicroUsd, availableMicroUsd, creditLimitMicroUsd } = await fromLedger(
      store.balanceOf(organisationId),
    );
    const answer: BalanceAnswer = {
      object: 'balance',
      currency: 'USD',
      balance_usd: usdOf(balanceMicroUsd),
      held_usd: usdOf(heldMicroUsd),
      available_usd: availableMicroUsd === null ? null : usdOf(availableMicroUsd),
      credit_limit_usd: creditLimitMicroUsd === null ? null : usdOf(creditLimitMicroUsd),
    };
    return json(200, answer);
  };
