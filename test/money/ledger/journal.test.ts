// The usage journal and what is recovered from it: bounded loss after a kill, torn lines, live processes left alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import {
  Journal,
  type JournalEntry,
  type JournalRecord,
  lineOf,
  recordsOf,
} from '../../../src/money/ledger/journal.ts';
import { recoverUsage, unsettledIn } from '../../../src/money/ledger/recovery.ts';
import type { SessionEnd, SessionHead } from '../../../src/money/store/calls.ts';
import { isRunning, thisProcess } from '../../../src/runtime/process-identity.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { seeded } from '../../fakes/random.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const headOf = (id: string): SessionHead => ({
  id,
  organisationId: 'org_1',
  keyId: 'key_1',
  mode: 'live',
  model: 'loopback/numbered',
  openedAt: '2026-11-01T00:00:00.000Z',
});
const used = (id: string, audioMs: number): JournalRecord => ({
  type: 'used',
  head: headOf(id),
  at: '2026-11-01T00:00:04.000Z',
  audioMs,
  lines: [
    {
      model: 'loopback/numbered',
      own: false,
      audioMs,
      price: { unit: 'minute', microUsd: 9_007_199_254_740_993n, minimumMicroUsd: 0n },
    },
  ],
});
const end: SessionEnd = {
  endedAt: '2026-11-01T00:01:00.000Z',
  reason: 'client_closed',
  code: null,
  audioMs: 7,
  lines: [],
};

/** An entry whose usage a test sets. */
class Counted implements JournalEntry {
  readonly id: string;
  audioMs = 0;
  private written = -1;

  constructor(id: string) {
    this.id = id;
  }

  record(whole: boolean) {
    if (this.written === this.audioMs && !whole) return undefined;
    this.written = this.audioMs;
    return used(this.id, this.audioMs);
  }
}

function journalIn(directory: string, clock = new SimulatedClock(), node = 'abc123') {
  const faults: unknown[] = [];
  const journal = new Journal({ directory, node, clock, syncMs: 4_000, onFault: (error) => faults.push(error) });
  const read = () => recordsOf(readFileSync(join(directory, `${node}.journal`), 'utf8')).records;
  return { journal, clock, faults, read };
}

const recoverIn = async (directory: string, nowMs = Date.now()) => {
  const settled: { head: SessionHead; end: SessionEnd }[] = [];
  const faults: unknown[] = [];
  const recovered = await recoverUsage({
    directory,
    node: 'recovr',
    wallNow: () => new Date(nowMs),
    settle: async (head, how) => settled.push({ head, end: how }),
    onFault: (error) => faults.push(error),
  });
  return { ...recovered, settled, faults };
};

describe('the written journal', () => {
  it('holds the latest usage of each open session, at each sync, for this user alone', async () => {
    const directory = join(temporaryDirectory(), 'usage');
    const { journal, clock, read, faults } = journalIn(directory);
    const [first, second] = [new Counted('ses_1'), new Counted('ses_2')];
    journal.keep(first);
    journal.keep(second);
    first.audioMs = 3_000;
    clock.increment(4_000);
    await journal.sync();
    first.audioMs = 7_000;
    await journal.sync();
    await journal.sync();
    expect(read().map((record) => record.type)).toEqual(['begun', 'used', 'used', 'used']);
    expect(read().slice(1)).toEqual([used('ses_1', 3_000), used('ses_2', 0), used('ses_1', 7_000)]);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, 'abc123.journal')).mode & 0o777).toBe(0o600);
    expect(faults).toEqual([]);
  });

  it('needs no strike-out where the file never had it', async () => {
    const { journal, read } = journalIn(temporaryDirectory());
    journal.keep(new Counted('ses_1'));
    await journal.sync();
    journal.keep(new Counted('ses_2'));
    journal.crossOut('ses_2');
    await journal.sync();
    journal.crossOut('ses_1');
    await journal.sync();
    expect(read().map(({ type }) => type)).toEqual(['begun', 'used', 'settled']);
    await journal.close();
  });

  it('loses its line at settlement, and stops its timer without open sessions', async () => {
    const directory = temporaryDirectory();
    const { journal, clock, read } = journalIn(directory);
    journal.keep(new Counted('ses_1'));
    await journal.sync();
    journal.crossOut('ses_1');
    await journal.sync();
    expect(unsettledIn(read())).toEqual([]);
    expect((Reflect.get(clock, 'timeouts') as Map<unknown, unknown>).size).toBe(0);
    await journal.close();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('stays on the disk where something is unsettled at the end', async () => {
    const directory = temporaryDirectory();
    const { journal, read } = journalIn(directory);
    const entry = new Counted('ses_1');
    journal.keep(entry);
    await journal.sync();
    entry.audioMs = 1_234;
    await journal.close();
    expect(unsettledIn(read())[0]!.end.audioMs).toBe(1_234);
  });

  it('repeats whole after a failed write', async () => {
    const directory = join(temporaryDirectory(), 'usage');
    const { journal, faults, read } = journalIn(directory);
    writeFileSync(directory, 'in the way');
    journal.keep(new Counted('ses_1'));
    await journal.sync();
    expect(faults).toHaveLength(1);
    unlinkSync(directory);
    await journal.sync();
    expect(read().map((record) => record.type)).toEqual(['begun', 'used']);
  });

  it('begins a new file before the old one grows without bound', async () => {
    const directory = temporaryDirectory();
    const { journal } = journalIn(directory);
    const entries = Array.from({ length: 2_000 }, (_, index) => new Counted(`ses_${index}`));
    for (const entry of entries) journal.keep(entry);
    for (let round = 1; round <= 40; round++) {
      for (const entry of entries) entry.audioMs = round;
      await journal.sync();
    }
    const { size } = statSync(join(directory, 'abc123.journal'));
    expect(size).toBeLessThan(8_388_608 + 2_000 * 400);
    await journal.close();
  });
});

describe('the read journal', () => {
  it('matches what was written, up to the first missing or changed byte', () => {
    const records: JournalRecord[] = [
      { type: 'begun', version: 1, process: thisProcess() },
      ...Array.from({ length: 20 }, (_, index) => used(`ses_${index}`, index)),
      { type: 'ended', head: headOf('ses_3'), end },
      { type: 'settled', sessionId: 'ses_5' },
    ];
    const lines = records.map(lineOf);
    const text = lines.join('');
    expect(recordsOf(text)).toEqual({ records, torn: false });
    const random = seeded(11);
    for (let round = 0; round < 300; round++) {
      const at = random.integer(0, text.length - 1);
      let whole = 0;
      for (let bytes = 0; bytes + lines[whole]!.length <= at; whole++) bytes += lines[whole]!.length;
      expect(recordsOf(text.slice(0, at)).records).toEqual(records.slice(0, whole));
      const flipped = `${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`;
      expect(recordsOf(flipped).records).toEqual(records.slice(0, whole));
    }
  });

  it('consists of the last known state of each session', () => {
    const settled = { type: 'settled', sessionId: 'ses_2' } as const;
    const ended = { type: 'ended', head: headOf('ses_3'), end } as const;
    const found = unsettledIn([used('ses_1', 5), used('ses_2', 5), used('ses_3', 5), used('ses_1', 9), settled, ended]);
    expect(found.map(({ head, end: how }) => [head.id, how.audioMs, how.reason])).toEqual([
      ['ses_1', 9, 'recovered'],
      ['ses_3', 7, 'client_closed'],
    ]);
  });

  it('has what was redacted by then', () => {
    const redacted = (audioMs: number, card: number) => ({ ...used('ses_1', audioMs), redactions: { card } });
    const text = [redacted(5, 1), redacted(9, 3), used('ses_2', 5)].map(lineOf).join('');
    const found = unsettledIn(recordsOf(text).records);
    expect(found.map(({ end: how }) => how.redactions)).toEqual([{ card: 3 }, undefined]);
  });
});

describe('recovery', () => {
  it('settles what a killed process left, once, and leaves the journals of those that run alone', async () => {
    const directory = temporaryDirectory();
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
    await once(child, 'spawn');
    const theirs = { ...thisProcess(), pid: child.pid! };
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1');
    theirs.startTicks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!;
    const begun = lineOf({ type: 'begun', version: 1, process: theirs });
    writeFileSync(
      join(directory, 'theirs.journal'),
      begun + lineOf(used('ses_1', 5)) + lineOf(used('ses_1', 7)).slice(0, 50),
    );
    expect(isRunning(theirs)).toBe(true);
    expect((await recoverIn(directory)).settled).toEqual([]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const recovered = await recoverIn(directory);
    expect([recovered.sessions, recovered.torn, recovered.settled[0]?.end.audioMs]).toEqual([1, 1, 5]);
    expect(readdirSync(directory)).toEqual([]);
    expect((await recoverIn(directory)).sessions).toBe(0);
  });

  it('detects a reused process id, and waits a minute for an unknown host', async () => {
    const directory = temporaryDirectory();
    expect(isRunning(thisProcess())).toBe(true);
    expect(isRunning({ ...thisProcess(), startTicks: '1' })).toBe(false);
    // Its system hides when it began: nobody knows whether it is the same.
    expect(isRunning({ ...thisProcess(), startTicks: null })).toBeUndefined();
    const elsewhere = { pid: 1, startTicks: '1', host: 'another-host' };
    expect(isRunning(elsewhere)).toBeUndefined();
    const file = join(directory, 'far.journal');
    writeFileSync(file, lineOf({ type: 'begun', version: 1, process: elsewhere }) + lineOf(used('ses_1', 5)));
    expect((await recoverIn(directory)).sessions).toBe(0);
    expect((await recoverIn(directory, Date.now() + 61_000)).sessions).toBe(1);
  });

  it('keeps a journal whose sessions the ledger did not take', async () => {
    const directory = temporaryDirectory();
    const gone = { ...thisProcess(), startTicks: '1' };
    writeFileSync(
      join(directory, 'a.journal'),
      lineOf({ type: 'begun', version: 1, process: gone }) + lineOf(used('s', 5)),
    );
    const faults: unknown[] = [];
    await recoverUsage({
      directory,
      node: 'recovr',
      wallNow: () => new Date(),
      settle: () => Promise.reject(new Error('busy')),
      onFault: (error) => faults.push(error),
    });
    expect([faults.length, readdirSync(directory)]).toEqual([1, ['a.journal']]);
  });

  it('continues past a session that the ledger never accepts, and spares its own journal', async () => {
    const directory = temporaryDirectory();
    const gone = { ...thisProcess(), startTicks: '1' };
    const text =
      lineOf({ type: 'begun', version: 1, process: gone }) + ['a', 'b', 'c'].map((id) => lineOf(used(id, 5))).join('');
    writeFileSync(join(directory, 'old.journal'), text);
    writeFileSync(join(directory, 'recovr.journal'), text);
    const settled: string[] = [];
    const faults: unknown[] = [];
    const recovered = await recoverUsage({
      directory,
      node: 'recovr',
      wallNow: () => new Date(),
      settle: async ({ id }) => {
        if (id === 'b') throw new StoreError('not_found', 'There is no such organisation.');
        settled.push(id);
      },
      onFault: (error) => faults.push(error),
    });
    expect([settled, faults.length, recovered.left]).toEqual([['a', 'c'], 1, 0]);
    expect(readdirSync(directory)).toEqual(['recovr.journal']);
  });
});
