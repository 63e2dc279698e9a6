// The usage history: a ledger restored from a backup hears again of everything that was settled since, once.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { History, replayHistory } from '../../src/ledger/history.ts';
import type { SessionEnd, SessionHead, SessionRecord } from '../../src/store/ledger-calls.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const headOf = (id: string): SessionHead => ({
  id,
  organisationId: 'org_1',
  keyId: 'key_1',
  mode: 'live',
  model: 'loopback/numbered',
  openedAt: '2026-11-01T00:00:00.000Z',
});
const end: SessionEnd = { endedAt: '2026-11-01T00:01:00.000Z', reason: 'done', code: null, audioMs: 7, lines: [] };

/** A ledger that knows some sessions, and refuses others. */
function ledgerWith(known: string[], refused: string[] = []) {
  const settled: string[] = [];
  return {
    settled,
    findSession: async (_: string, id: string) =>
      known.includes(id) ? ({ endedAt: end.endedAt } as SessionRecord) : undefined,
    settleSession: async (head: SessionHead) => {
      if (refused.includes(head.id)) throw new StoreError('not_found', 'There is no such organisation.');
      settled.push(head.id);
      return {} as SessionRecord;
    },
  };
}

async function historyIn(directory: string, days: number, now: () => Date, ids: string[]): Promise<unknown[]> {
  const faults: unknown[] = [];
  const history = new History({ directory, days, wallNow: now, onFault: (error) => faults.push(error) });
  for (const id of ids) history.note(headOf(id), end);
  await history.close();
  return faults;
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => `ses_${index}`);

describe('the usage history', () => {
  it('gives a restored ledger what it lacks, in the order of settling, and nothing that it knows', async () => {
    const directory = join(temporaryDirectory(), 'usage');
    expect(await historyIn(directory, 14, () => new Date('2026-11-01T10:00:00Z'), ids(500))).toEqual([]);
    await historyIn(directory, 14, () => new Date('2026-11-02T10:00:00Z'), ['ses_500']);
    const ledger = ledgerWith(ids(200), ['ses_300']);
    expect(await replayHistory(directory, ledger)).toEqual({ sessions: 501, added: 300, refused: 1, torn: 0 });
    expect(ledger.settled.slice(0, 2)).toEqual(['ses_200', 'ses_201']);
    expect(ledger.settled.at(-1)).toBe('ses_500');
  });

  it('is kept for so many days, one file each, and not at all for none', async () => {
    const directory = temporaryDirectory();
    for (const day of ['01', '02', '03', '04']) {
      await historyIn(directory, 2, () => new Date(`2026-11-${day}T23:59:59Z`), [`ses_${day}`]);
    }
    expect(readdirSync(directory).sort()).toEqual(['2026-11-02.settled', '2026-11-03.settled', '2026-11-04.settled']);
    const empty = temporaryDirectory();
    await historyIn(empty, 0, () => new Date(), ids(3));
    expect(readdirSync(empty)).toEqual([]);
  });

  it('leaves the oldest out when the disk is far behind, and says so', async () => {
    const directory = temporaryDirectory();
    const faults = await historyIn(directory, 14, () => new Date(), ids(10_050));
    expect(faults.length).toBeGreaterThan(0);
    expect((await replayHistory(directory, ledgerWith([]))).sessions).toBe(10_050 - faults.length);
  });

  it('believes no line that was not written whole', async () => {
    const directory = temporaryDirectory();
    await historyIn(directory, 14, () => new Date('2026-11-01T10:00:00Z'), ids(2));
    writeFileSync(join(directory, '2026-11-01.settled'), 'half a li', { flag: 'a' });
    expect(await replayHistory(directory, ledgerWith([]))).toEqual({ sessions: 2, added: 2, refused: 0, torn: 1 });
  });

  it('is nothing where there is none', async () => {
    const nowhere = join(temporaryDirectory(), 'nowhere');
    expect(await replayHistory(nowhere, ledgerWith([]))).toEqual({ sessions: 0, added: 0, refused: 0, torn: 0 });
  });
});
