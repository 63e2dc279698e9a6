// A month's bill: exact, complete, and harmless in every form it is given in.
import { Value } from '@sinclair/typebox/value';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiError } from '../../../src/api/errors.ts';
import { BillAnswer } from '../../../src/api/usage.ts';
import { usdOf } from '../../../src/config/prices/price.ts';
import type { RouteContext } from '../../../src/http/router.ts';
import type { Reply } from '../../../src/http/server.ts';
import { BILL_PAGE_HEADERS, billHtml } from '../../../src/money/bills.ts';
import { billCsv } from '../../../src/money/csv.ts';
import { getBill } from '../../../src/money/routes/bills.ts';
import { type DirectStore, directStore } from '../../fakes/store/direct-store.ts';
import {
  creditOf,
  endOf,
  headOf,
  lineOf,
  OPERATOR,
  perMinute,
  perSession,
  START_MS,
} from '../../fakes/store/ledger.ts';

let rig: DirectStore;
let us: { organisationId: string; keyId: string };
let them: { organisationId: string; keyId: string };

beforeEach(() => {
  rig = directStore();
  us = rig.customer({ credit: 10_000_000n });
  them = rig.customer({ credit: 10_000_000n });
});

const wallNow = () => new Date(rig.clock.nowMs);
const jsonOf = (reply: Reply) => JSON.parse(reply.body as string);
const refusal = (code: string, param: string) => expect.objectContaining({ code, extras: { param } }) as ApiError;

const bill = (month: string, format = '', who = us) => {
  const request = { query: format === '' ? '' : `format=${format}` };
  const context = { request, params: { month }, requestId: 'req_1' } as unknown as RouteContext;
  return getBill({ store: rig.store, wallNow })(context, who);
};

/** A session of so many milliseconds. */
function heard(id: string, ms: number, { model = 'loopback/script', own = false } = {}): void {
  const now = wallNow().toISOString();
  const head = headOf(us, id, { openedAt: now, model });
  rig.ledger.settleSession(head, endOf([lineOf(ms, perMinute(60_000n), { model, own })], { endedAt: now }));
}

const HOSTILE = `=HYPERLINK("http://evil","x")<script>alert('&')</script>`;

describe('GET /v1/bills/{month}', () => {
  function usedAndPaid(): void {
    heard('a', 90_000);
    heard('b', 60_000, { model: 'deepgram/nova-3', own: true });
    rig.ledger.addCredit(creditOf(us.organisationId, 5_000_000n, { note: HOSTILE }), OPERATOR);
    rig.ledger.addCredit(creditOf(us.organisationId, -250_000n, { note: 'a\r\n"correction", of\t-1' }), OPERATOR);
  }

  it('gives one bill across all providers, with customer keys at zero', async () => {
    usedAndPaid();
    const answer = jsonOf(await bill('2026-11'));
    expect(Value.Check(BillAnswer, answer)).toBe(true);
    expect(answer).toMatchObject({
      month: '2026-11',
      final: false,
      organisation: { id: us.organisationId },
      opening_balance_usd: '0.00',
      credits: [{ amount_usd: '10.00' }, { amount_usd: '5.00', note: HOSTILE }, { amount_usd: '-0.25' }],
      usage: [
        { model: 'deepgram/nova-3', byok: true, sessions: 1, audio_seconds: 60, cost_usd: '0.00' },
        { model: 'loopback/script', byok: false, sessions: 1, audio_seconds: 90, cost_usd: '0.09' },
      ],
      total_usd: '0.09',
      closing_balance_usd: '14.66',
    });
    rig.clock.nowMs = Date.parse('2026-12-01T00:00:00Z');
    expect(jsonOf(await bill('2026-11'))).toMatchObject({ final: true, closing_balance_usd: '14.66' });
    expect(jsonOf(await bill('2026-12'))).toMatchObject({ opening_balance_usd: '14.66', total_usd: '0.00', usage: [] });
    expect(jsonOf(await bill('2026-11', '', them)).usage).toEqual([]);
  });

  it.each(['2026-1', '2026-13', '2026-00', '2026', '2026-11-01', 'now', '../../x'])(
    'refuses %s as a month',
    async (month) => {
      await expect(bill(month)).rejects.toEqual(refusal('invalid_request', 'month'));
    },
  );

  it('refuses a future month, and an unknown format', async () => {
    await expect(bill('2026-12')).rejects.toEqual(refusal('not_found', 'month'));
    await expect(bill('2026-11', 'pdf')).rejects.toEqual(refusal('invalid_request', 'format'));
  });

  it('gives a CSV table that adds up, with no text as a formula', async () => {
    usedAndPaid();
    const { body, headers } = await bill('2026-11', 'csv');
    expect(headers).toMatchObject({
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': 'attachment; filename="voxgate-2026-11.csv"',
    });
    const rows = parseCsv(body as string);
    expect(new Set(rows.map((row) => row.length))).toEqual(new Set([10]));
    expect(rows.find(([type, , , , , , , amount]) => type === 'credit' && amount === '5.00')?.[8]).toBe(`'${HOSTILE}`);
    expect(rows.find(([type, , , , , , , amount]) => type === 'credit' && amount === '-0.25')?.[8]).toBe(
      'a\r\n"correction", of\t-1',
    );
    const micro = (amount: string) => Math.round(Number(amount) * 1_000_000);
    const amounts = rows.slice(1).map((row) => micro(row[7]!));
    expect(amounts.slice(0, -1).reduce((sum, each) => sum + each)).toBe(amounts.at(-1));
  });

  it('gives a page without script or request, its style in the policy, every text escaped', async () => {
    usedAndPaid();
    const { body, headers } = await bill('2026-11', 'html');
    const page = body as string;
    expect(page).not.toMatch(/<script|javascript:|\son\w+=|src=|href=|url\(|@import|style="/i);
    expect(page).toContain('=HYPERLINK(&quot;http://evil&quot;,&quot;x&quot;)&lt;script&gt;alert(&#39;&amp;&#39;)');
    expect(page).toContain('@media print');
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
    const digest = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(style))).toString('base64');
    const policy = headers?.['Content-Security-Policy'] ?? '';
    expect(policy).toContain(`style-src 'sha256-${digest}'`);
    for (const part of ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'none'"]) {
      expect(policy).toContain(part);
    }
    expect(policy).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'Content-Type': 'text/html; charset=utf-8',
      'Cross-Origin-Opener-Policy': 'same-origin',
    });
    expect(headers).toEqual(BILL_PAGE_HEADERS);
  });

  it('adds up to the micro-dollar for any usage and payments', async () => {
    const step = fc.oneof(
      fc.record({ ms: fc.integer({ min: 0, max: 10_000_000 }), micro: fc.integer({ min: 1, max: 99_999 }) }),
      fc.record({ credit: fc.integer({ min: 1, max: 5_000_000 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const who = rig.customer({ limit: null });
        rig.clock.nowMs = START_MS;
        for (const [number, each] of steps.entries()) {
          const id = `${who.organisationId}-${number}`;
          if ('credit' in each) rig.ledger.addCredit(creditOf(who.organisationId, BigInt(each.credit)), OPERATOR);
          else {
            const price = number % 5 === 0 ? perSession(BigInt(each.micro)) : perMinute(BigInt(each.micro));
            rig.ledger.settleSession(headOf(who, id), endOf([lineOf(each.ms, price)]));
          }
        }
        const answer = jsonOf(await bill('2026-11', '', who)) as BillAnswer;
        const micro = (amount: string) => BigInt(Math.round(Number(amount) * 1_000_000));
        const total = answer.usage.reduce((sum, { cost_usd }) => sum + micro(cost_usd), 0n);
        const credits = answer.credits.reduce((sum, { amount_usd }) => sum + micro(amount_usd), 0n);
        expect(answer.total_usd).toBe(usdOf(total));
        expect(answer.closing_balance_usd).toBe(usdOf(micro(answer.opening_balance_usd) + credits - total));
        expect(answer.closing_balance_usd).toBe(usdOf(rig.ledger.balanceOf(who.organisationId).balanceMicroUsd));
      }),
      { numRuns: 40, seed: 5 },
    );
  });

  it('survives any text in every format', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const made = billOf(text);
        const [, , row = []] = parseCsv(billCsv(made));
        const [cell = ''] = row.slice(8);
        expect(cell === text || cell === `'${text}`).toBe(true);
        expect(/^[=+\-@\t\r]/.test(cell) && !/^-?\d+(\.\d+)?$/.test(cell)).toBe(false);
        const page = billHtml(made).replace(/<style>.*?<\/style>/s, '');
        expect(page.match(/<[a-z/!][^<>]*>/gi)?.length).toBe(page.match(/</g)?.length);
      }),
      { numRuns: 500, seed: 9 },
    );
  });
});

const billOf = (text: string): BillAnswer => ({
  object: 'bill',
  month: '2026-11',
  final: true,
  currency: 'USD',
  organisation: { id: 'org_1', name: text },
  opening_balance_usd: '0.00',
  credits: [{ at: '2026-11-01T00:00:00.000Z', kind: 'top_up', amount_usd: '1.00', note: text }],
  usage: [],
  total_usd: '0.00',
  closing_balance_usd: '1.00',
});

/** RFC 4180, read strictly. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  while (cell.lastIndex < text.length) {
    const found = cell.exec(text);
    if (found === null) throw new Error('This is no CSV.');
    rows.at(-1)!.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
    if (found[3] === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
}
