// `GET /v1/bills/{YYYY-MM}`: one bill across all providers for one month, as JSON, as CSV, or as a page to print.

import type { Caller } from '../../accounts/auth/permissions.ts';
import type { KeyStore } from '../../accounts/keys/calls.ts';
import { apiError } from '../../api/errors.ts';
import type { BillAnswer } from '../../api/usage.ts';
import { choiceOf, knownQuery } from '../../http/query.ts';
import { json, type RouteContext } from '../../http/router.ts';
import type { Reply } from '../../http/server.ts';
import { fromLedger } from '../../http/store-answer.ts';
import { BILL_PAGE_HEADERS, billAnswer, billHtml } from '../bills.ts';
import { billCsv, csvReply } from '../csv.ts';
import type { LedgerStore } from '../store/calls.ts';

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

export interface BillsDependencies {
  store: Pick<LedgerStore & KeyStore, 'billOf' | 'findOrganisation'>;
  wallNow(): Date;
}

export const getBill =
  (dependencies: BillsDependencies) =>
  async ({ request, params }: RouteContext, { organisationId }: Pick<Caller, 'organisationId'>): Promise<Reply> => {
    const query = knownQuery(request.query, '/v1/bills/{YYYY-MM}', ['format']);
    const format = choiceOf(query, 'format', ['json', 'csv', 'html']);
    return billReply(await billFor(dependencies, organisationId, params.month ?? ''), format);
  };

/** The bill of an organisation. Throws an ApiError for what is not a month, or lies ahead. */
export async function billFor(
  { store, wallNow }: BillsDependencies,
  organisationId: string,
  month: string,
): Promise<BillAnswer> {
  if (!MONTH.test(month)) {
    throw apiError('invalid_request', 'A bill is identified by its month, such as /v1/bills/2026-01.', {
      param: 'month',
    });
  }
  const present = wallNow().toISOString().slice(0, 'YYYY-MM'.length);
  if (month > present) throw apiError('not_found', 'There is no bill for a future month.', { param: 'month' });
  const [bill, organisation] = await fromLedger(
    Promise.all([store.billOf(organisationId, month), store.findOrganisation(organisationId)]),
  );
  return billAnswer(bill, organisation ?? { id: organisationId, name: organisationId }, month < present);
}

/** The bill in one of its forms. */
export function billReply(bill: BillAnswer, format: 'json' | 'csv' | 'html'): Reply {
  if (format === 'json') return json(200, bill);
  if (format === 'html') return { status: 200, headers: { ...BILL_PAGE_HEADERS }, body: billHtml(bill) };
  return csvReply(billCsv(bill), `voxgate-${bill.month}`);
}
