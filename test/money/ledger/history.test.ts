// The usage history: a ledger restored from a backup hears again of everything that was settled since, once.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { History } from '../../../src/money/ledger/history/history.ts';
import { replayHistory } from '../../../src/money/ledger/history/replay.ts';
import type { SessionEnd, SessionHead, SessionRecord } from '../../../src/money/store/calls.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

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
    expect(await replayHistory(directory, ledger)).toEqual({ sessions: 501, added: 300, refused: 1, unreadable: 0 });
    expect(ledger.settled.slice(0, 2)).toEqual(['ses_200', 'ses_201']);
    expect(ledger.settled.at(-1)).toBe('ses_500');
  });

  it('continues in a new file when the day’s was moved, and stops when closed', async () => {
    const directory = temporaryDirectory();
    const wallNow = () => new Date('2026-11-01T10:00:00Z');
    const history = new History({ directory, days: 2, wallNow, onFault: () => {} });
    history.note(headOf('ses_1'), end);
    const path = join(directory, '2026-11-01.settled');
    await vi.waitFor(() => expect(readFileSync(path, 'utf8')).toContain('ses_1'));
    rmSync(path);
    history.note(headOf('ses_2'), end);
    await history.close();
    history.note(headOf('ses_3'), end);
    const ledger = ledgerWith([]);
    expect(await replayHistory(directory, ledger)).toMatchObject({ sessions: 1, added: 1 });
    expect(ledger.settled).toEqual(['ses_2']);
  });

  it('stays for the configured days, one file each, and is off for none', async () => {
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
    expect(await replayHistory(directory, ledgerWith([]))).toEqual({
      sessions: 2,
      added: 2,
      refused: 0,
      unreadable: 1,
    });
  });

  it.each([1, 40, 100])(
    'loses one line to a kill %s bytes before its end, and none that came after',
    async (missing) => {
      const directory = temporaryDirectory();
      const path = join(directory, '2026-11-01.settled');
      const now = () => new Date('2026-11-01T10:00:00Z');
      await historyIn(directory, 14, now, ids(3));
      truncateSync(path, readFileSync(path).length - missing);
      await historyIn(directory, 14, now, ['ses_7', 'ses_8']);
      await historyIn(directory, 14, now, ['ses_9']);
      const ledger = ledgerWith([]);
      // Without its last byte alone, a line says all that it should.
      const isWhole = missing === 1;
      expect(await replayHistory(directory, ledger)).toMatchObject({ refused: 0, unreadable: isWhole ? 0 : 1 });
      const first = isWhole ? ids(3) : ids(2);
      expect(ledger.settled).toEqual([...first, 'ses_7', 'ses_8', 'ses_9']);
    },
  );

  it('contains every line after a failed append, once the disk works, and reports the failure', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, '2026-11-01.settled');
    const faults: unknown[] = [];
    const now = () => new Date('2026-11-01T10:00:00Z');
    const history = new History({ directory, days: 14, wallNow: now, onFault: (error) => failed(error) });
    let failed: (error: unknown) => void = () => {};
    const fault = new Promise((resolve) => {
      failed = (error) => resolve(faults.push(error));
    });
    mkdirSync(path);
    for (const id of ids(2)) history.note(headOf(id), end);
    await fault;
    rmdirSync(path);
    history.note(headOf('ses_2'), end);
    await history.close();
    expect(faults).toEqual([expect.objectContaining({ code: 'EISDIR' })]);
    const ledger = ledgerWith([]);
    expect(await replayHistory(directory, ledger)).toMatchObject({ sessions: 3, unreadable: 0 });
    expect(ledger.settled).toEqual(ids(3));
  });

  it('tries once more when it is closed, and keeps to its bound while the disk refuses', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, '2026-11-01.settled');
    mkdirSync(path);
    const faults: Error[] = [];
    const told: (() => void)[] = [];
    const onFault = (error: unknown) => {
      faults.push(error as Error);
      told.shift()?.();
    };
    const history = new History({ directory, days: 14, wallNow: () => new Date('2026-11-01T10:00:00Z'), onFault });
    const refused = new Promise<void>((resolve) => told.push(resolve));
    for (const id of ids(10_000)) history.note(headOf(id), end);
    await refused;
    history.note(headOf('ses_10000'), end);
    expect(faults.at(-1)?.message).toContain('behind');
    rmdirSync(path);
    await history.close();
    expect(existsSync(path)).toBe(true);
    const ledger = ledgerWith([]);
    expect(await replayHistory(directory, ledger)).toMatchObject({ sessions: 10_000, unreadable: 0 });
    expect([ledger.settled[0], ledger.settled.at(-1)]).toEqual(['ses_1', 'ses_10000']);
  });

  it('reads as empty where there is none', async () => {
    const nowhere = join(temporaryDirectory(), 'nowhere');
    expect(await replayHistory(nowhere, ledgerWith([]))).toEqual({ sessions: 0, added: 0, refused: 0, unreadable: 0 });
  });
});
