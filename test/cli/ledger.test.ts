// `voxgate ledger` as an operator meets it: the verdict of the audit, the export, and the drill of backup and restore.

import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { openSqliteStore, type SqliteStore } from '../../src/node/store/sqlite-store.ts';
import { keepDatabase } from '../../src/store/keep-database.ts';
import { startVoxgate, voxgate } from '../fakes/processes/voxgate.ts';
import { headOf, holdOf, ledgerRig } from '../fakes/store/ledger.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const BY = { type: 'operator', id: 'test' } as const;

/** A data directory with so many credits of one organisation. */
async function directoryWith(credits: number): Promise<string> {
  const directory = temporaryDirectory();
  const store = await openSqliteStore({ directory });
  const { id } = await store.createOrganisation('Acme', 0n, BY);
  await addCredits(store, id, credits);
  await store.close();
  return directory;
}

async function addCredits(store: SqliteStore, organisationId: string, count: number, from = 1): Promise<void> {
  const credit = (number: number) =>
    ({ organisationId, kind: 'top_up', microUsd: BigInt(number), uniqueKey: `c${number}`, note: '' }) as const;
  for (let number = from; number < from + count; number += 500) {
    const page = Array.from({ length: Math.min(500, from + count - number) }, (_, index) => credit(number + index));
    await Promise.all(page.map((each) => store.addCredit(each, BY)));
  }
}

const on =
  (directory: string) =>
  (...args: string[]) =>
    voxgate(['ledger', ...args], { VOXGATE_DATA_DIRECTORY: directory });

describe('voxgate ledger audit', () => {
  it('ends with 0 where all agrees, and says so for people and as one last line of JSON', async () => {
    const ledger = on(await directoryWith(3));
    const human = await ledger('audit');
    expect(human).toMatchObject({
      code: 0,
      output: expect.stringMatching(/transfers +3\n.*\n.*\nThe ledger agrees\.\n$/),
    });
    const { code, output } = await ledger('audit', '--json');
    expect([code, JSON.parse(output.trimEnd().split('\n').at(-1)!)]).toEqual([
      0,
      {
        ok: true,
        sessions: 0,
        transfers: 3,
        openHolds: 0,
        oldestHoldMs: null,
        sumUsd: '0.00',
        faults: [],
        decisions: [],
      },
    ]);
  });

  it('ends with 1 and names the fault where a balance is not what its transfers make it', async () => {
    const directory = await directoryWith(3);
    const database = keepDatabase(new Database(join(directory, 'voxgate.db')));
    database.exec('UPDATE balances SET posted_micro_usd = posted_micro_usd + 1');
    database.close();
    const human = await on(directory)('audit');
    expect(human).toMatchObject({
      code: 1,
      output: expect.stringMatching(/fault +\S.*\nThe ledger does not agree\.\n$/s),
    });
    const { code, output } = await on(directory)('audit', '--json');
    expect(output.trimEnd().split('\n').at(-1)).toMatch(/^\{"ok":false,/);
    const verdict = JSON.parse(output.trimEnd().split('\n').at(-1)!) as { ok: boolean; faults: string[] };
    expect([code, verdict.ok]).toEqual([1, false]);
    expect(verdict.faults.length).toBeGreaterThan(0);
  });
});

describe('voxgate ledger audit of a node that was killed with money held', () => {
  it.each([
    ['agrees once the leases are over, however long ago', [60_000, 400_000], 0],
    ['agrees while they are not', [0], 2],
  ])('%s', async (_, agesMs, openHolds) => {
    for (const agoMs of agesMs) {
      const [running, directory] = [temporaryDirectory(), temporaryDirectory()];
      const { ledger, clock, customer, database } = ledgerRig(join(running, 'voxgate.db'));
      clock.nowMs = Date.now() - agoMs;
      const who = customer({ credit: 1_000_000n });
      const openedAt = new Date(clock.nowMs).toISOString();
      for (const id of ['ses_1', 'ses_2'])
        ledger.openSession(headOf(who, id, { openedAt }), holdOf(60_000n, 0n, 60_000));
      for (const name of readdirSync(running)) copyFileSync(join(running, name), join(directory, name));
      database.close();
      const { code, output, errors } = await on(directory)('audit', '--json');
      expect([code, errors]).toEqual([0, '']);
      expect(output).toMatch(/^\{"ok":true,[^\n]*\}\n$/);
      expect(JSON.parse(output)).toMatchObject({ openHolds, faults: [] });
    }
  });
});

describe('voxgate ledger export', () => {
  it('prints every transfer once and in order, over several pages', async () => {
    const { code, output } = await on(await directoryWith(2_300))('export');
    expect(code).toBe(0);
    const rows = output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { number: number; usd: string });
    expect(rows).toHaveLength(2_300);
    expect(rows.every(({ number }, index) => index === 0 || number > rows[index - 1]!.number)).toBe(true);
    expect(new Set(rows.map(({ usd }) => usd)).size).toBe(2_300);
    expect(rows[0]).toMatchObject({
      id: 'credit:c1',
      kind: 'top_up',
      debit: 'house:payments',
      usd: '0.000001',
      sessionId: null,
    });
  });

  it('begins after a number, and prints nothing after the last', async () => {
    const ledger = on(await directoryWith(3));
    const all = (await ledger('export')).output.trimEnd().split('\n');
    const { number } = JSON.parse(all[0]!) as { number: number };
    expect((await ledger('export', '--after', String(number))).output.trimEnd().split('\n')).toEqual(all.slice(1));
    expect(await ledger('export', '--after', '9000')).toMatchObject({ code: 0, output: '' });
  });

  it('ends quietly when its reader has enough', async () => {
    const child = startVoxgate(['ledger', 'export'], { VOXGATE_DATA_DIRECTORY: await directoryWith(2_300) });
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    for await (const _ of createInterface({ input: child.stdout })) break;
    child.stdout.destroy();
    if (child.exitCode === null) await once(child, 'exit');
    expect([child.exitCode, errors]).toEqual([0, '']);
  });
});

describe('voxgate ledger backup and restore', () => {
  it('copies while a gateway has the directory open, and puts the copy back once it has stopped', async () => {
    const directory = await directoryWith(5);
    const gateway = await openSqliteStore({ directory });
    const { id } = (await gateway.listOrganisations())[0]!;
    const copy = join(temporaryDirectory(), 'copy.db');
    const made = await on(directory)('backup', copy);
    expect(made).toMatchObject({ code: 0, output: expect.stringMatching(/5 transfers; its ledger agrees\.\n$/) });
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    await addCredits(gateway, id, 2, 6);

    const refused = await on(directory)('restore', copy, '--force');
    expect(refused).toMatchObject({ code: 1, output: '', errors: expect.stringContaining('stop the gateway') });
    expect((await gateway.auditLedger()).transfers).toBe(7);
    await gateway.close();

    const unforced = await on(directory)('restore', copy);
    expect(unforced).toMatchObject({ code: 1, errors: expect.stringMatching(/^voxgate: [^\n]*--force[^\n]*\n$/) });
    const restored = await on(directory)('restore', copy, '--force');
    expect(restored).toMatchObject({ code: 0, output: expect.stringContaining('5 transfers') });
    const kept = readdirSync(directory).filter((name) => name.includes('before-restore'));
    expect(kept).toHaveLength(1);
    expect(restored.errors).toContain(kept[0]);
    expect((await on(directory)('audit', '--json')).output).toContain('"transfers":5');
  });

  it('says how many lines of the usage history it could not read, when there are any', async () => {
    const directory = await directoryWith(1);
    const copy = join(temporaryDirectory(), 'copy.db');
    await on(directory)('backup', copy);
    const whole = await on(directory)('restore', copy, '--force');
    expect([whole.code, whole.output]).toEqual([0, expect.not.stringContaining('could not be read')]);
    mkdirSync(join(directory, 'usage'));
    writeFileSync(join(directory, 'usage', '2026-11-01.settled'), 'half a li\nand ano');
    const torn = await on(directory)('restore', copy, '--force');
    expect([torn.code, torn.output]).toEqual([0, expect.stringMatching(/^2 lines of .* could not be read\.$/m)]);
  });

  it('names a file that is there already, and leaves it as it is', async () => {
    const directory = await directoryWith(1);
    const { code, errors } = await on(directory)('backup', join(directory, 'voxgate.db'));
    expect([code, errors]).toEqual([64, expect.stringContaining('already')]);
    expect((await on(directory)('audit')).code).toBe(0);
  });

  it('refuses an invalid backup with 1 and one sentence', async () => {
    const directory = await directoryWith(1);
    for (const file of [join(directory, 'nothing.db'), join(directory, 'voxgate.db')]) {
      const { code, errors } = await on(directory)('restore', file, '--force');
      expect([file, code]).toEqual([file, 1]);
      expect(errors).toMatch(/^voxgate: [^\n]+\.\n$/);
    }
  });
});
