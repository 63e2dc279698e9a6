// `GET /v1/balance`: what the caller's organisation has, what is set aside for work under way, and what is left to spend.
import type { BalanceAnswer } from '../../api/usage.ts';
import type { Caller } from '../../auth/permissions.ts';
import { usdOf } from '../../billing/price.ts';
import type { LedgerStore } from '../../store/ledger/calls.ts';
import { knownQuery } from '../http/query-values.ts';
import { json, type RouteContext } from '../router.ts';
import { fromLedger } from '../store-answer.ts';

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
