// `GET /v1/balance`: what the caller's organisation has, what is set aside for work under way, and what is left to spend.

import type { Caller } from '../../accounts/auth/permissions.ts';
import type { BalanceAnswer } from '../../api/usage.ts';
import { usdOf } from '../../config/prices/price.ts';
import { knownQuery } from '../../http/http/query-values.ts';
import { json, type RouteContext } from '../../http/router.ts';
import { fromLedger } from '../../http/store-answer.ts';
import type { LedgerStore } from '../store/calls.ts';

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
